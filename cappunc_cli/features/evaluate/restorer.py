"""The model that `cappunc eval` scores: stripped words in, restored words and probabilities out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation.calibration import fold_columns
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import as_read, probabilities, rewrite


@dataclass(frozen=True, slots=True)
class Restorer:
    """A model and the options with which it is scored; probabilities are folded like the marks."""

    model: Model
    options: Options
    fold: Mapping[str, str]

    def identity(self) -> str:
        """Name and hash for the signature, and those of the other models of an ensemble."""
        code = self.options.conventions(self.model.config).code
        configs = [self.model.config, *(member.config for member, _ in self.model.members(code))]
        return "+".join(f"{config.name}@{next(iter(config.files.values()), 'unknown')[:12]}" for config in configs)

    def described(self) -> dict[str, str]:
        """The options for the signature, most important first."""
        options = self.options
        return {
            "pauses": "yes" if options.pauses else "no",
            "marks": options.marks or "all",
            "sensitivity": f"{options.sensitivity:g}",
            **({"style": options.style} if options.style != "standard" else {}),
            "window": "/".join(map(str, options.windows(self.model.config))),
            "device": self.model.engine.device.split(":")[0],
        }

    def restore(self, words: Sequence[Word]) -> tuple[list[str], Rows]:
        """New texts, and the probabilities of no mark, comma, period and question mark, of shape [words, 4]."""
        read = as_read(words, self.model, self.options)
        rows = probabilities(read.parts, self.model, self.options)
        texts = read.joined(rewrite(read.parts, rows, self.model, self.options))
        last = np.append(np.diff(read.owners) > 0, True)  # the mark of a word is that of its last part
        return texts, fold_columns(rows[last, len(CASE_CLASSES) :], MARK_CLASSES, self.fold)
