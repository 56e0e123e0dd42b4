"""Restore, write and verify texts: files opened and divided by language, and a Fixer for each language."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput, BadModel, CappuncError, UnknownModel, WrongUsage
from cappunc_cli.files.encodings import NAMING, UTF_8, Encoding, encode
from cappunc_cli.files.limited_changes import changes_more_than_ascii, letters_kept, limit_changes, writable
from cappunc_cli.files.output import SILENT, Reporter, counted
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.storage import write_atomic
from cappunc_cli.formats import RUNNING_TEXT
from cappunc_cli.formats.splice import line_of
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import ENGINES, find_model_for
from cappunc_cli.restoration.models.trigrams import NgramEngine
from cappunc_cli.restoration.orthography import DiacriticRestorer, normalise, space_marks
from cappunc_cli.restoration.pipeline import restore
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
    #: The name or directory of the model, and the code of the language.
    chosen: tuple[str, str]
    warn: Callable[[str], None]
    #: Is told of the share of a text's words that the model has read.
    reporter: Reporter = SILENT
    #: A model that is open already.
    given: Model | None = None

    @cached_property
    def model(self) -> Model:
        """The model, loaded on first use.

        Raises BadModel if that fails, and WrongUsage for an unknown device or options that it does not support.
        """
        name, code = self.chosen
        model = self.given or open_model(name, self.request.device, self.request.engine)
        self.request.check_model(model.config, code)
        if model.engine.warning:
            self.warn(model.engine.warning)
        if code not in model.config.languages:
            self.warn(f"{model.config.name} was not trained on {language(code).name}: marks and capitals may be poor")
        self.reporter.detail(f"the model {model.config.name} runs on {model.engine.device}")
        return model

    def __post_init__(self) -> None:
        self.options = replace(self.request.options, language=self.chosen[1])
        self.language = language(self.chosen[1])

    def restore(self, document: Document, progress: Callable[[int], None] | None = None) -> list[str]:
        """The new texts of a document's words. Raises BadModel and WrongUsage."""
        words: Sequence[Word] = document.words
        if not words:
            return []
        if self.request.diacritics != "keep":
            if self.request.diacritics == "restore":
                texts = self._diacritic_restorer.restore(document.texts)
            else:
                texts = [normalise(text, self.language) for text in document.texts]
            words = [replace(word, text=text) for word, text in zip(words, texts, strict=True)]
        new = restore(words, self.model, self.options, progress)
        if document.format in RUNNING_TEXT and self.language.spaced:
            return space_marks(document.texts, new, self.language)
        return new

    @cached_property
    def _diacritic_restorer(self) -> DiacriticRestorer:
        return DiacriticRestorer(NgramEngine(find_model_for(self.language.code, ENGINES["ngram"])), self.language)

    def write(self, document: Document, new: Sequence[str], encoding: Encoding = UTF_8) -> Fixed:
        """The source of a document with new texts, verified by `formats.verify`, and then respelled if requested.

        Characters that the `encoding` lacks are replaced; if it was guessed, only changes that are right in every
        likely encoding are made. Raises CappuncError.
        """
        old, request = document.texts, self.request
        output = source = document.source
        notices, diacritics = document.notices, request.diacritics != "keep"
        narrow = not encoding.codec.startswith("utf")  # Unicode's own encodings have all characters
        if narrow:
            wanted, new = new, limit_changes(old, new, encoding, _around(document) if encoding.guess else ())
            if diacritics and (kept := letters_kept(wanted, new, encoding)):
                notices += (_notice(document, *kept),)
        if request.attach or new != old:
            output = formats.write(document, new, attach=request.attach, diacritics=diacritics)
            notices += formats.FORMATS[document.format].unwritten(document, new, output)
            output = writable(output, encoding) if narrow else output
        if output != source:
            formats.verify(document, output, diacritics=diacritics)
        labels = [(strip(a)[1], strip(b)[1]) for a, b in zip(old, new, strict=True) if a != b]
        marks = sum(a.signs != b.signs for a, b in labels)
        capitals = sum((a.case, a.form) != (b.case, b.form) for a, b in labels)
        rechecked = _rechecked(document, new) if request.options.existing == "recheck" else ()
        fixed = Fixed(output, notices, len(old), marks, capitals, encoding, rechecked=rechecked)
        if old and (request.numbers or request.apostrophes):
            fixed = self._with_spelling(document, fixed)
        if encoding.guess and changes_more_than_ascii(encode(source, encoding), fixed.data):
            raise BadInput(f"its encoding is uncertain and more than ASCII would change; {NAMING}")
        return fixed

    def _with_spelling(self, document: Document, fixed: Fixed) -> Fixed:
        request = self.request
        if fixed.text != document.source:
            document = formats.read(fixed.text, format=document.format, fps=document.fps)
        stripped = list(map(strip, document.texts))
        terms = self.options.glossary.matches([bare for bare, _ in stripped], [label for _, label in stripped])
        protected = {i for at, written in terms for i in range(at, at + len(written))}
        asked = {"numbers": request.numbers, "apostrophes": request.apostrophes}
        text, respelled = respell(document, fixed.text, self.language, **asked, protected=protected)
        return replace(fixed, text=text, respelled=respelled)


def _around(document: Document) -> list[tuple[str, str]]:
    """The characters before and after each word in the source; ("", "") for those without a place."""
    source = document.source
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
        marks = [strip(text)[1].mark for text in (before, after)]
        if marks[0] and marks[0] != marks[1]:
            said = (" ".join(texts[i : i + 2]) for texts in (old, new))
            found.append(_notice(document, i, "“{}” is now “{}”".format(*said)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read, in stretches, each the numbers of the words that a Fixer restores together.

    `main` is the Fixer of most words. Those in languages without a model are in no stretch; the `note` tells of them.
    """

    document: Document
    main: Fixer
    stretches: Sequence[tuple[Fixer, Sequence[int]]]
    note: str = ""
    name: str = ""
    encoding: Encoding = UTF_8

    @property
    def language(self) -> Language:
        """The language of most words."""
        return self.main.language

    def parts(self) -> Iterator[tuple[Fixer, Sequence[int], Document, Callable[[int], None]]]:
        """The stretches, each with its words as a document, and a callback for the number of them that were read."""
        whole, before = self.document, 0
        for fixer, numbers in self.stretches:
            part = whole
            if len(numbers) < len(whole.words):
                part = replace(whole, words=[whole.words[i] for i in numbers])
            advance = partial(fixer.reporter.advance, before=before, words=len(whole.words))
            yield fixer, numbers, part, advance
            before += len(numbers)

    def restore(self) -> list[str]:
        """The new texts of all words. Raises BadModel and WrongUsage."""
        new = self.document.texts
        for fixer, numbers, part, progress in self.parts():
            for i, text in zip(numbers, fixer.restore(part, progress), strict=True):
                new[i] = text
        return new


@dataclass(eq=False)
class Fixers:
    """Opens files, with a Fixer for each language that they need; each loads its model once, unless one is `given`."""

    request: FixRequest
    warn: Callable[[str], None]
    reporter: Reporter = SILENT
    given: Model | None = None
    _open: dict[str, Fixer] = field(default_factory=dict)

    def of(self, code: str) -> Fixer:
        """The Fixer for a language. Raises BadModel."""
        if code not in self._open:
            chosen = (self.request.of_language(code), code)
            self._open[code] = Fixer(self.request, chosen, self.warn, self.reporter, self.given)
        return self._open[code]

    def open(self, text: str, name: str = "", encoding: Encoding = UTF_8, restore: bool = True) -> Opened:
        """Read a file's text and divide it by language; without `restore` it needs no model. Raises CappuncError."""
        document = self.request.read(text, name)
        if restore:
            return replace(self.divide(document), name=name, encoding=encoding)
        code = FixRequest(self.request.lang).language_of(text)
        return Opened(document, Fixer(self.request, ("", code), self.warn), (), "", name, encoding)

    def divide(self, document: Document) -> Opened:
        """Divide a document by language.

        Raises UnknownModel if less than a tenth of it has a model.
        """
        request = self.request
        found = [] if request.only else request.stretches(document)
        if not found:
            fixer = self.of(request.only or request.language_of(document.source))
            return Opened(document, fixer, [(fixer, range(len(document.words)))])
        words: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for code, numbers in found:
            words[code] += len(numbers)
            letters[code] += sum(len(document.words[i].text) for i in numbers)
        fixers: dict[str, Fixer] = {}
        for code in filter(set(request.codes).__contains__, words):  # a named model must know it
            with suppress(BadModel):
                fixers[code] = self.of(code)
        # Some English terms do not make a Korean file one that can be restored.
        if sum(letters[code] for code in fixers) < _LEAST_WITH_MODEL * letters.total():
            raise UnknownModel(f"there is no model for its language ({letters.most_common(1)[0][0]})")
        note, without = "", sorted(words.keys() - fixers.keys())
        if without:
            count = sum(words[code] for code in without)
            note = f"{counted(count, 'word')} in languages without a model ({', '.join(without)}) left as they are"
        own = [(fixers[code], numbers) for code, numbers in found if code in fixers]
        return Opened(document, fixers[max(fixers, key=lambda code: words[code])], own, note)
