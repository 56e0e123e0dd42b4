"""The stretches of a document in several languages, each with the Fixer that restores it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadModel, UnknownModel
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.progress import ProgressCallback, counted
from cappunc_cli.files.request import Chosen, FixRequest
from cappunc_cli.restoration.models.model import Model

#: Smallest share of a file in languages with a model.
_LEAST_WITH_MODEL = 0.1


@dataclass(frozen=True, slots=True)
class Division:
    """A document in stretches, each the numbers of the words that a Fixer restores together.

    `main` is the Fixer of most words. Those in languages without a model are in no stretch; the `note` tells of them.
    """

    document: Document
    main: Fixer
    stretches: Mapping[Fixer, Sequence[Sequence[int]]]
    note: str = ""

    def part(self, numbers: Sequence[int]) -> Document:
        """The document with these words only."""
        whole = self.document
        if len(numbers) == len(whole.words):
            return whole
        return replace(whole, words=[whole.words[i] for i in numbers])

    def restore(self) -> list[str]:
        """The new texts of all words. Raises BadModel and WrongUsage."""
        new = self.document.texts
        for fixer, own in self.stretches.items():
            for numbers, texts in zip(own, fixer.restore([self.part(numbers) for numbers in own]), strict=True):
                for i, text in zip(numbers, texts, strict=True):
                    new[i] = text
        return new


class Fixers:
    """A Fixer for each model and language that files need; each loads its model once, unless one is `given`."""

    def __init__(
        self,
        request: FixRequest,
        warn: Callable[[str], None],
        detail: Callable[[str], None] = lambda _: None,
        advance: ProgressCallback = lambda _: None,
        given: Model | None = None,
    ) -> None:
        self._request = request
        self._others = (warn, detail, advance, given)
        self._open: dict[Chosen, Fixer] = {}

    def of(self, chosen: Chosen) -> Fixer:
        """The Fixer for a model and a language. Raises BadModel and WrongUsage."""
        if chosen not in self._open:
            self._open[chosen] = Fixer(self._request, chosen, *self._others)
            self._open[chosen].config  # noqa: B018  (checks the options)
        return self._open[chosen]

    def for_text(self, text: str) -> Fixer:
        """The Fixer for a text. Raises UnknownModel if its language has no model."""
        return self.of(self._request.choice.of_text(text))

    def divide(self, document: Document, text: str, whole: bool = False) -> Division:
        """Divide the document read from a text by language, or leave it `whole`.

        Raises UnknownModel if less than a tenth of it has a model.
        """
        choice = self._request.choice
        found = [] if whole else choice.stretches(document)
        if not found:
            fixer = self.for_text(text)
            return Division(document, fixer, {fixer: [range(len(document.words))]})
        words: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for code, numbers in found:
            words[code] += len(numbers)
            letters[code] += sum(len(document.words[i].text) for i in numbers)
        fixers: dict[str, Fixer] = {}
        for code in words:
            with suppress(BadModel):
                if choice.can(code):
                    fixers[code] = self.of((choice.of_language(code), code))
        # Some English terms do not make a Korean file one that can be restored.
        if sum(letters[code] for code in fixers) < _LEAST_WITH_MODEL * letters.total():
            raise UnknownModel(f"there is no model for its language ({letters.most_common(1)[0][0]})")
        note, without = "", sorted(words.keys() - fixers.keys())
        if without:
            count = sum(words[code] for code in without)
            note = f"{counted(count, 'word')} in languages without a model ({', '.join(without)}) left as they are"
        own = {fixer: [numbers for code, numbers in found if fixers.get(code) is fixer] for fixer in fixers.values()}
        return Division(document, fixers[max(fixers, key=lambda code: words[code])], own, note)
