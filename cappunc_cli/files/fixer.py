"""Restore, write and verify texts: a Fixer for each model and language, and the stretches of a document for each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput, BadModel, CappuncError, UnknownModel, WrongUsage
from cappunc_cli.files.encodings import (
    NAMING,
    UTF_8,
    Encoding,
    changes_more_than_ascii,
    encode,
    letters_kept,
    limit_changes,
    writable,
)
from cappunc_cli.files.progress import ProgressCallback, counted
from cappunc_cli.files.request import Chosen, FixRequest, ModelChoice
from cappunc_cli.files.storage import write_atomic
from cappunc_cli.formats import RUNNING_TEXT
from cappunc_cli.formats.splice import line_of
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig, find_model_for
from cappunc_cli.restoration.models.trigrams import NgramEngine
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.orthography import DiacriticRestorer, normalise, space_marks
from cappunc_cli.restoration.pipeline import restore_all
from cappunc_cli.spelling.speller import Respelled, respell

#: Smallest share of a file in languages with a model.
_LEAST_WITH_MODEL = 0.1


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed text, the reader's notices, the number of its words, and how many changed in marks and in capitals.

    `encoding` is that of the input, UTF-8 for a str. `respelled` lists the words whose letters changed, which happens
    only with `numbers` or `apostrophes`.

    >>> fixed = cappunc.fix("good evening london how are you")
    >>> fixed.text, fixed.words, fixed.marks, fixed.capitals
    ('Good evening, London. How are you?', 6, 3, 3)
    >>> fixed.save("london.txt")
    """

    text: str
    notices: tuple[Notice, ...]
    words: int
    marks: int
    capitals: int
    encoding: Encoding = UTF_8
    respelled: tuple[Respelled, ...] = ()
    #: With `existing="recheck"`, the words whose existing marks are gone or others, at their lines.
    rechecked: tuple[Notice, ...] = ()

    @property
    def data(self) -> bytes:
        """The text in the encoding of the input, with its byte order mark if it had one.

        Raises BadInput for half a character, which only a str can have.
        """
        try:
            return encode(self.text, self.encoding)
        except UnicodeEncodeError as error:
            character = self.text[error.start]
            raise BadInput(f"{character!r} cannot be written in {self.encoding.codec}") from error

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write `data` to a file atomically.

        Raises CappuncError if the file exists, unless `force` is set, and OSError if it cannot be written.
        """
        if not os.fspath(path):
            raise WrongUsage("the name of the file is empty")
        target = Path(path)
        if not force and os.path.lexists(target):
            raise CappuncError("already exists; force=True overwrites it", str(target))
        write_atomic(target, self.data)


@lru_cache(2)
def open_model(name: str, device: str, engine: str) -> Model:
    """`load_model`; the last two models stay open. Raises BadModel, and WrongUsage for an unknown device."""
    try:
        return load_model(name, device, engine=engine)
    except WrongUsage:
        raise
    except CappuncError as error:
        raise BadModel(error.message, error.path, error.line) from error


@dataclass(eq=False)
class Fixer:
    """Fixes texts in one language with one model, which is loaded for the first text that has words."""

    request: FixRequest
    chosen: Chosen
    warn: Callable[[str], None]
    detail: Callable[[str], None] = lambda _: None
    #: Called with the share of the words that the model has read.
    advance: ProgressCallback = lambda _: None
    #: A model that is open already.
    given: Model | None = None

    @cached_property
    def config(self) -> ModelConfig:
        """The config of the model; raises BadModel, and WrongUsage if it does not support the options."""
        return self.request.config(self.chosen, self.given.config if self.given else None)

    @cached_property
    def model(self) -> Model:
        """The model, loaded on first use; raises BadModel if that fails, and WrongUsage for an unknown device."""
        model = self.given or open_model(self.chosen[0], self.request.device, self.request.choice.engine)
        config, code = model.config, self.chosen[1]
        if model.engine.warning:
            self.warn(model.engine.warning)
        if code is not None and code not in config.languages:
            self.warn(f"{config.name} was not trained on {language(code).name}: marks and capitals may be poor")
        self.detail(f"the model {config.name} runs on {model.engine.device}")
        return model

    @cached_property
    def options(self) -> Options:
        """The options of restoration, with the language of the texts."""
        return replace(self.request.options, language=self.chosen[1])

    @cached_property
    def language(self) -> Language:
        """The conventions of the texts' language."""
        return language(self.chosen[1]) if self.chosen[1] else self.options.conventions(self.config)

    def progress(self, before: int, total: int) -> Callable[[int], None]:
        """A callback for the number of words read after those `before`, whose share of the `total` is passed on."""
        return lambda read: self.advance(min((before + read) / max(total, 1), 1.0))

    def restore(self, documents: Sequence[Document], before: int = 0, total: int = 0) -> Iterator[list[str]]:
        """The new texts of each document's words, of which there are `total` with those of other calls."""
        texts: list[Sequence[Word]] = [document.words for document in documents]
        if not any(texts):
            return iter([[] for _ in texts])
        if self.request.diacritics != "keep":
            texts = list(map(self._with_diacritics, texts))
        progress = self.progress(before, total or sum(map(len, texts)))
        restored = restore_all(texts, self.model, self.options, progress)
        if not self.language.spaced:
            return restored
        return (
            space_marks(document.texts, new, self.language) if document.format in RUNNING_TEXT else new
            for document, new in zip(documents, restored, strict=True)
        )

    def _with_diacritics(self, words: Sequence[Word]) -> list[Word]:
        texts = [word.text for word in words]
        if self._diacritic_restorer is not None:
            texts = self._diacritic_restorer.restore(texts)
        else:
            texts = [normalise(text, self.language) for text in texts]
        return [replace(word, text=text) for word, text in zip(words, texts, strict=True)]

    @cached_property
    def _diacritic_restorer(self) -> DiacriticRestorer | None:
        """The restorer of diacritics, if requested; raises BadModel."""
        if self.request.diacritics != "restore":
            return None
        return DiacriticRestorer(NgramEngine(find_model_for(self.language.code, ENGINES["ngram"])), self.language)

    def write(self, document: Document, source: str, new: Sequence[str], encoding: Encoding | None = None) -> Fixed:
        """The source with new texts, verified by `formats.verify`, and then respelled if requested.

        With an `encoding`, characters that it lacks are replaced; if it was guessed, only changes that are right in
        every likely encoding are made. Raises CappuncError.
        """
        old, output, request = document.texts, source, self.request
        # Unicode's own encodings have all characters.
        narrow = None if encoding is None or encoding.codec.startswith("utf") else encoding
        notices, diacritics = document.notices, request.diacritics != "keep"
        if narrow is not None:
            wanted, new = new, limit_changes(old, new, narrow, _around(document, source) if narrow.guess else ())
            if diacritics and (kept := letters_kept(wanted, new, narrow)):
                notices += (_notice(document, *kept),)
        if request.attach or new != old:
            output = formats.write(document, new, attach=request.attach, diacritics=diacritics)
            notices += formats.FORMATS[document.format].unwritten(document, new, output)
            output = output if narrow is None else writable(output, narrow)
        if output != source:
            formats.verify(document, output, diacritics=diacritics)
        labels = [(cached_strip(a)[1], cached_strip(b)[1]) for a, b in zip(old, new, strict=True) if a != b]
        marks = sum(a.signs != b.signs for a, b in labels)
        capitals = sum((a.case, a.form) != (b.case, b.form) for a, b in labels)
        rechecked = _rechecked(document, new) if self.options.existing == "recheck" else ()
        fixed = Fixed(output, notices, len(old), marks, capitals, encoding or UTF_8, rechecked=rechecked)
        if old and (request.numbers or request.apostrophes):
            fixed = self._with_spelling(document, source, fixed)
        if narrow is not None and narrow.guess and changes_more_than_ascii(encode(source, narrow), fixed.data):
            raise BadInput(f"its encoding is uncertain and more than ASCII would change; {NAMING}")
        return fixed

    def _with_spelling(self, document: Document, source: str, fixed: Fixed) -> Fixed:
        request = self.request
        if fixed.text != source:
            document = formats.read(fixed.text, format=document.format, fps=document.fps)
        stripped = list(map(cached_strip, document.texts))
        terms = self.options.glossary.matches([bare for bare, _ in stripped], [label for _, label in stripped])
        protected = {i for at, written in terms for i in range(at, at + len(written))}
        asked = {"numbers": request.numbers, "apostrophes": request.apostrophes}
        text, respelled = respell(document, fixed.text, self.language, **asked, protected=protected)
        return replace(fixed, text=text, respelled=respelled)


def _around(document: Document, source: str) -> list[tuple[str, str]]:
    """The characters before and after each word in the source; ("", "") for those without a place."""
    spans = [(one.places[0][0][0], one.places[0][-1][1]) if one.places else (0, len(source)) for one in document.words]
    return [(source[max(start - 1, 0) : start], source[stop : stop + 1]) for start, stop in spans]


def _notice(document: Document, i: int, message: str) -> Notice:
    """A notice at the line of a word; words of JSON have no places."""
    places = document.words[i].places
    return Notice(line_of(document.source, places[0][0][0]) if places else 1, message)


def _rechecked(document: Document, new: Sequence[str]) -> tuple[Notice, ...]:
    """The words that had a mark and have another one now, or none, with the word after them."""
    found, old = [], document.texts
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        marks = [cached_strip(text)[1].mark for text in (before, after)]
        if marks[0] and marks[0] != marks[1]:
            said = (" ".join(texts[i : i + 2]) for texts in (old, new))
            found.append(_notice(document, i, "“{}” is now “{}”".format(*said)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Division:
    """A document in stretches, each the numbers of the words that a Fixer restores together.

    `main` is the Fixer of most words. Those in languages without a model are in no stretch; the `note` tells of them.
    """

    document: Document
    main: Fixer
    stretches: Mapping[Fixer, Sequence[Sequence[int]]]
    note: str = ""

    @classmethod
    def of(cls, document: Document, fixer: Fixer) -> Division:
        """A document in one stretch."""
        return cls(document, fixer, {fixer: [range(len(document.words))]})

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


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read: its document in stretches, its name, its encoding and its text."""

    division: Division
    name: str
    encoding: Encoding
    text: str = ""

    @property
    def language(self) -> Language:
        """The language of most words."""
        return self.division.main.language


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
        self.request = request
        self.advance = advance
        self._others = (warn, detail, lambda share: self.advance(share), given)
        self._open: dict[Chosen, Fixer] = {}

    def of(self, code: str | None) -> Fixer:
        """The Fixer for a language, None for that of the named model. Raises BadModel and WrongUsage."""
        chosen = (self.request.choice.of_language(code), code)
        if chosen not in self._open:
            self._open[chosen] = Fixer(self.request, chosen, *self._others)
            self._open[chosen].config  # noqa: B018  (checks the options)
        return self._open[chosen]

    def undivided(self, document: Document, text: str) -> Division:
        """The document in the language of the text, with nothing to restore; needs no model."""
        code = ModelChoice(self.request.choice.lang).language_of(text)
        return Division(document, Fixer(self.request, ("", code), *self._others), {})

    def divide(self, document: Document, text: str) -> Division:
        """Divide the document read from a text by language.

        Raises UnknownModel if less than a tenth of it has a model.
        """
        choice = self.request.choice
        found = choice.stretches(document)
        if not found:
            return Division.of(document, self.of(choice.language_of(text)))
        words: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for code, numbers in found:
            words[code] += len(numbers)
            letters[code] += sum(len(document.words[i].text) for i in numbers)
        fixers: dict[str, Fixer] = {}
        for code in filter(set(choice.codes or ()).__contains__, words):  # a named model must know it
            with suppress(BadModel):
                fixers[code] = self.of(code)
        # Some English terms do not make a Korean file one that can be restored.
        if sum(letters[code] for code in fixers) < _LEAST_WITH_MODEL * letters.total():
            raise UnknownModel(f"there is no model for its language ({letters.most_common(1)[0][0]})")
        note, without = "", sorted(words.keys() - fixers.keys())
        if without:
            count = sum(words[code] for code in without)
            note = f"{counted(count, 'word')} in languages without a model ({', '.join(without)}) left as they are"
        own = {fixer: [numbers for code, numbers in found if fixers.get(code) is fixer] for fixer in fixers.values()}
        return Division(document, fixers[max(fixers, key=lambda code: words[code])], own, note)
