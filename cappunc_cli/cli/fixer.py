"""One text through reading, restoring, writing and the last check; the model is opened once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.labels import strip

if TYPE_CHECKING:
    from cappunc_cli.restoration.pipeline import Model, Options
    from cappunc_cli.words import Notice


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed text, what was odd in it, and how many words, marks and capitals changed."""

    text: str
    format: str
    notices: tuple[Notice, ...]
    words: int
    marks: int
    capitals: int


class Fixer:
    """`fix` for many texts with one model, which is loaded for the first text that has words."""

    def __init__(
        self, model: str, device: str, format_name: str | None, options: Options, warn: Callable[[str], None]
    ) -> None:
        self._name = model
        self._device = device
        self._format = format_name
        self._options = options
        self._warn = warn

    @cached_property
    def model(self) -> Model:
        """The loaded model; raises BadModel for whatever keeps it from being used."""
        from cappunc_cli.restoration.pipeline import load_model

        try:
            model = load_model(self._name, self._device)
        except CappuncError as error:
            raise BadModel(error.message, error.path, error.line) from error
        if model.engine.warning:
            self._warn(model.engine.warning)
        return model

    def fix(
        self, text: str, name: str, spell: Callable[[str], str], progress: Callable[[int, int], None] | None = None
    ) -> Fixed:
        """Fix one text; `name` helps to tell its format, `spell` writes it for its encoding.

        `progress` hears how many words of how many are done. Raises CappuncError; the
        result, as spelled, has passed `formats.verify`.
        """
        from cappunc_cli import formats
        from cappunc_cli.restoration.pipeline import restore

        # A silent recording gives an empty file, whatever its format would ask for.
        document = formats.read(text, name, self._format if text.strip() else None)
        old = [word.text for word in document.words]
        heard = (lambda done: progress(done, len(old))) if progress else None
        new = restore(document.words, self.model, self._options, heard) if old else []
        output = spell(formats.write(document, new)) if new != old else text
        formats.verify(document, output)
        return Fixed(output, document.format, document.notices, len(old), *_changes(old, new))


def _changes(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many words have another mark, and how many another case."""
    marks = capitals = 0
    for before, after in zip(old, new, strict=True):
        if before != after:
            (_, was), (_, now) = strip(before), strip(after)
            marks += was.mark != now.mark
            capitals += (was.case, was.form) != (now.case, now.form)
    return marks, capitals
