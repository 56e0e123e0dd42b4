"""What a run does to every file, before the language of any is known; and a Fixer for each language."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from cappunc_cli.errors import BadModel, CappuncError, WrongUsage
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.model_choice import Chosen, ModelChoice
from cappunc_cli.files.progress import ProgressCallback
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig, find_member, find_model
from cappunc_cli.version import __version__


@dataclass(frozen=True, slots=True)
class FixRequest:
    """The options that determine results; sent to the workers.

    `common` are the settings of all files, but for model and language. `encoding` is None if it depends on each file.
    """

    choice: ModelChoice
    common: Settings
    encoding: str | None = None

    def check(self) -> None:
        """Raises BadModel or WrongUsage if these options suit no model that files may get."""
        errors = []
        for chosen in self.choice.possible():
            try:
                self.common.for_model(*chosen).check()
            except CappuncError as error:
                errors.append(error)
            else:
                return
        raise errors[0] if errors else WrongUsage("no model is installed")

    def signature(self) -> str:
        """A hash of all that determines results: version, options, and all models that files may need.

        Equal signatures mean that two machines have the same version and models. Raises BadModel.
        """
        common = self.common
        kind = ENGINES[common.engine]
        parts: list[object] = [__version__, common.format, common.attach, common.diacritics, asdict(common.options)]
        parts += [common.numbers, common.apostrophes, self.encoding, self.choice.lang]
        for model, code in self.choice.possible():
            directory = find_model(model, kind)
            others = [find_member(directory, name) for name in ModelConfig.load(directory, kind.config).ensemble]
            # A model's config includes the hashes of its files.
            configs = [(directory / kind.config).read_text("utf-8")]
            configs += [(other / "config.json").read_text("utf-8") for other in others]
            parts.append([code, configs])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class Fixers:
    """A Fixer for each model and language that files need; each loads its model once."""

    def __init__(
        self,
        request: FixRequest,
        warn: Callable[[str], None],
        detail: Callable[[str], None] = lambda _: None,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        self._request = request
        self._listeners = (warn, detail, on_progress)
        self._open: dict[Chosen, Fixer] = {}

    def for_text(self, text: str) -> Fixer:
        """The Fixer for a text. Raises CappuncError if its language has no model."""
        try:
            return self.of(self._request.choice.of_text(text))
        except BadModel as error:
            if self._request.choice.candidates is None:
                raise
            raise CappuncError(error.message) from error  # other files may be in other languages

    def of(self, chosen: Chosen) -> Fixer:
        """The Fixer for a model and a language. Raises BadModel and WrongUsage."""
        if chosen not in self._open:
            settings = self._request.common.for_model(*chosen)
            settings.check()
            self._open[chosen] = Fixer(settings, *self._listeners)
        return self._open[chosen]
