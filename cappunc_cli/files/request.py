"""What a run does to every file: the model and language of each stretch, the settings, a Fixer for each language."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadModel, CappuncError, WrongUsage
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.language_detection import AUTO, DEFAULT, language_of_text, stretches
from cappunc_cli.files.progress import ProgressCallback, counted
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.registry import (
    ENGINES,
    NETWORK,
    ModelConfig,
    find_member,
    find_model,
    known_languages,
    languages_of,
    model_for,
)
from cappunc_cli.version import __version__

#: The name or directory of a model, and the language code of a text, None for the model's own language.
Chosen = tuple[str, str | None]
#: Smallest share of a file in languages with a model.
_LEAST_WITH_MODEL = 0.1


@dataclass(frozen=True)
class ModelChoice:
    """What the user says about the model; sent to workers.

    `lang` is a language code, several (`en,es`) of which each text or stretch has one, or `auto` to detect it. A
    `model` of None is that of the language, and its `fast` one if it has one. `languages` are the codes of the named
    model, which are looked up if None.
    """

    lang: str = AUTO
    model: str | None = None
    engine: str = NETWORK
    fast: bool = False
    languages: tuple[str, ...] | None = None

    @property
    def several(self) -> tuple[str, ...]:
        """The languages that the user has named, if there are several."""
        codes = tuple(self.lang.split(","))
        return codes if len(codes) > 1 else ()

    @cached_property
    def candidates(self) -> Sequence[str] | None:
        """The languages of which a text has one, if in doubt; None if none is detected. Raises BadModel."""
        if self.several:
            return self.several
        if self.lang != AUTO:
            return None
        if self.model is None:
            return known_languages()
        own = languages_of(self.model, self.engine) if self.languages is None else self.languages
        return own if len(own) > 1 else None

    def named(self) -> Chosen:
        """The model and the language of all texts, one of which was named. Raises BadModel."""
        return self.of_language(self.lang), None if self.lang == AUTO or self.several else self.lang

    def language_of(self, text: str) -> str:
        """The language of a text, for which no model is needed."""
        if self.lang != AUTO and not self.several:
            return self.lang
        return language_of_text(text, self.several or known_languages(), bool(self.several))

    def of_text(self, text: str) -> Chosen:
        """The model and the language of a text. Raises BadModel."""
        if self.candidates is None:
            return self.named()
        code = language_of_text(text, self.candidates, bool(self.several))
        return self.of_language(code), code

    def stretches(self, document: Document) -> list[tuple[str, list[int]]]:
        """The stretches of a document in several languages, with the numbers of their words; [] if it has one.

        Raises BadModel.
        """
        if self.candidates is None:
            found = stretches(document, [self.lang if self.lang != AUTO else DEFAULT], True)
            return [] if self.lang == AUTO else found
        found = stretches(document, self.candidates, bool(self.several))
        return found if len({code for code, _ in found}) > 1 else []

    def can(self, code: str) -> bool:
        """Whether texts may have this language: a named model must know it. Raises BadModel."""
        if self.candidates is None:
            return code == self.lang
        return code in self.candidates

    def of_language(self, code: str) -> str:
        """The model for a language; if that was detected, the error says so. Raises BadModel."""
        if self.model is not None:
            return self.model
        try:
            return model_for(code, self.engine, self.fast)
        except BadModel as error:
            if self.lang != AUTO:
                raise
            raise BadModel(
                f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
            ) from error

    def possible(self) -> Iterator[Chosen]:
        """What texts may get, without the languages of a named model. Raises BadModel."""
        if self.candidates is None or self.model is not None:
            yield self.named()
            return
        for code in self.candidates:
            try:
                yield self.of_language(code), code
            except BadModel:
                continue  # texts in it are refused


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


def divide(
    document: Document, text: str, choice: ModelChoice, fixer_of: Callable[[Chosen], Fixer], whole: bool = False
) -> Division:
    """Divide the document read from a text by language, or leave it `whole`; `fixer_of` opens a Fixer.

    Raises BadModel if less than a tenth of it has a model, and what `fixer_of` raises.
    """
    found = [] if whole else choice.stretches(document)
    if not found:
        fixer = fixer_of(choice.of_text(text))
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
                fixers[code] = fixer_of((choice.of_language(code), code))
    # Some English terms do not make a Korean file one that can be restored.
    if sum(letters[code] for code in fixers) < _LEAST_WITH_MODEL * letters.total():
        raise BadModel(f"there is no model for its language ({letters.most_common(1)[0][0]})")
    note, without = "", sorted(words.keys() - fixers.keys())
    if without:
        count = sum(words[code] for code in without)
        note = f"{counted(count, 'word')} in languages without a model ({', '.join(without)}) left as they are"
    own = {fixer: [numbers for code, numbers in found if fixers.get(code) is fixer] for fixer in fixers.values()}
    return Division(document, fixers[max(fixers, key=lambda code: words[code])], own, note)


class Fixers:
    """A Fixer for each model and language that files need; each loads its model once."""

    def __init__(
        self,
        request: FixRequest,
        warn: Callable[[str], None],
        detail: Callable[[str], None] = lambda _: None,
        advance: ProgressCallback = lambda _: None,
    ) -> None:
        self._request = request
        self._listeners = (warn, detail, advance)
        self._open: dict[Chosen, Fixer] = {}

    def for_text(self, text: str) -> Fixer:
        """The Fixer for a text. Raises CappuncError if its language has no model."""
        with self._failing_alone():
            return self.of(self._request.choice.of_text(text))

    def divide(self, document: Document, text: str) -> Division:
        """Divide the document read from a text. Raises CappuncError if its languages have no model."""
        with self._failing_alone():
            return divide(document, text, self._request.choice, self.of)

    @contextmanager
    def _failing_alone(self) -> Iterator[None]:
        """Errors about the model of one file, which the others may not need, as they may be in other languages."""
        try:
            yield
        except BadModel as error:
            raise CappuncError(error.message, error.path, error.line) from error

    def of(self, chosen: Chosen) -> Fixer:
        """The Fixer for a model and a language. Raises BadModel and WrongUsage."""
        if chosen not in self._open:
            settings = self._request.common.for_model(*chosen)
            settings.check()
            self._open[chosen] = Fixer(settings, *self._listeners)
        return self._open[chosen]
