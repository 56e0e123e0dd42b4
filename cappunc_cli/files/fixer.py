"""What is done to one file: the options of a run, the language and model of a text, restoring it and writing it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from functools import cache, cached_property, lru_cache, partial
from html import escape
from itertools import islice
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput, BadModel, CappuncError, UnknownModel, WrongUsage
from cappunc_cli.files.encodings import NAMING, UTF_8, Encoding, encode
from cappunc_cli.files.language_detection import AUTO, contradiction, in_doubt, language_of_text, stretches
from cappunc_cli.files.limited_changes import (
    changes_more_than_case,
    letters_kept,
    limit_changes,
    surroundings,
    writable,
)
from cappunc_cli.files.marks_from import Carried, MarksFrom
from cappunc_cli.files.output import Reporter, counted
from cappunc_cli.files.speakers_from import Speakers
from cappunc_cli.files.storage import write_atomic
from cappunc_cli.formats.splice import line_of
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import NETWORK, ModelConfig, find_model, find_model_for, model_languages
from cappunc_cli.restoration.models.trigrams import NgramEngine
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.orthography import DiacriticRestorer, normalise, space_marks
from cappunc_cli.restoration.pipeline import restore
from cappunc_cli.spelling.speller import Respelled, check_spelling, respell

#: Smallest share of a file in languages with a model.
_LEAST_WITH_MODEL = 0.1


@dataclass(frozen=True)
class FixRequest:
    """All options that determine results; sent to workers.

    `lang` is a language code, several (`en,es`) of which each text or stretch has one, or `auto` to detect it. A
    `model` of None is that of the language, and its `fast` one if it has one. `languages` are the codes of the named
    model, which are looked up if None. `options` have no language: each text has its own. `format` and `encoding` are
    None if they depend on each file. `fps` is the frame rate of files in frames that do not tell it.
    """

    lang: str = AUTO
    model: str | None = None
    engine: str = NETWORK
    fast: bool = False
    languages: tuple[str, ...] | None = None
    options: Options = field(default_factory=Options)
    device: str = "auto"
    format: str | None = None
    encoding: str | None = None
    fps: float | None = None
    attach: bool = False
    diacritics: str = "keep"
    numbers: bool = False
    apostrophes: bool = False
    aliases: bool = False
    marks_from: MarksFrom | None = None
    speakers: Speakers | None = None

    @cached_property
    def codes(self) -> Sequence[str]:
        """The languages that texts may have: always, if the user has named them, and otherwise if in doubt.

        Raises BadModel.
        """
        if self.lang != AUTO:
            return self.lang.split(",")
        if self.model is None:
            return model_languages()
        return self.languages or ModelConfig.load(find_model(self.model, self.engine), self.engine).languages

    @cached_property
    def only(self) -> str | None:
        """The only language of the named model, in which all texts are; None if they may differ. Raises BadModel."""
        return self.codes[0] if self.lang == AUTO and self.model is not None and len(self.codes) == 1 else None

    def language_of(self, text: str) -> str:
        """The language of a text. Raises BadModel."""
        return self.only or language_of_text(text, self.codes, self.lang != AUTO)

    def of_language(self, code: str) -> str:
        """The model for a language; if that was detected, the error says so. Raises UnknownModel."""
        if self.model is not None:
            return self.model
        try:
            return str(find_model_for(code, self.engine, fast=self.fast))
        except BadModel as error:
            if self.lang != AUTO:
                raise
            raise UnknownModel(
                f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
            ) from error

    def possible(self) -> Iterator[tuple[str, str | None]]:
        """The models and languages that texts may get, None for the languages of a named model. Raises BadModel."""
        if self.model is not None and (self.lang == AUTO or len(self.codes) > 1):
            yield self.model, None
            return
        for code in self.codes:
            with suppress(*([BadModel] if len(self.codes) > 1 else [])):  # texts in it are refused
                yield self.of_language(code), code

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to recognise its format. Raises CappuncError."""
        # The transcript of a silent recording is empty; in some formats that is malformed.
        return formats.read(text, name, self.format if text.strip() else None, self.fps)

    def check_model(self, config: ModelConfig, code: str | None) -> None:
        """Raises WrongUsage if a model does not support these options in a language."""
        options = replace(self.options, language=code)
        config.windows(options)
        if options.marks is not None:
            options.paired_marks(config)
        own = options.conventions(config)
        if self.diacritics == "restore" and not own.diacritics:
            raise WrongUsage(f"--diacritics restore: not supported for {own.name}")
        if self.numbers or self.apostrophes:
            check_spelling(own, self.numbers, self.apostrophes)

    def check(self) -> None:
        """Raises BadModel or WrongUsage if these options suit no model that files may get."""
        error: CappuncError | None = None
        for name, code in self.possible():
            try:
                return self.check_model(ModelConfig.load(find_model(name, self.engine), self.engine), code)
            except CappuncError as found:
                error = found
        raise error or WrongUsage("no model is installed")


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed text, the reader's notices, the number of its words, and how many changed in marks and in capitals.

    `encoding` is that of the input, UTF-8 for a str. `respelled` lists the words whose letters changed, which happens
    only with `numbers`, `apostrophes` or `aliases`.

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
    #: The text before.
    source: str = ""

    def __repr__(self) -> str:
        changes = f"{counted(self.marks, 'mark')} and {counted(self.capitals, 'capital')} set"
        return f"<Fixed: {counted(self.words, 'word')}, {changes}>"

    def _repr_html_(self) -> str:
        """The lines that have changed, for a notebook."""
        lines = unified_diff(self.source.splitlines(), self.text.splitlines(), n=0, lineterm="")
        tags = {"-": "del", "+": "ins"}
        changed = [line for line in islice(lines, 2, None) if line[0] in tags]
        return "<pre>{}</pre>".format("\n".join("<{1}>{0}</{1}>".format(escape(x[1:]), tags[x[0]]) for x in changed))

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


@cache
def _diacritic_restorer(code: str) -> DiacriticRestorer:
    return DiacriticRestorer(NgramEngine(find_model_for(code, "ngram")), language(code))


@dataclass(eq=False)
class Fixer:
    """Divides files by language, and has the model of each language, loaded for its first words."""

    request: FixRequest
    warn: Callable[[str], None]
    #: Is told of the share of a file's words that the models have read.
    reporter: Reporter | None = None
    #: A model that is open already.
    given: Model | None = None
    #: Opens the others.
    opener: Callable[[str, str, str], Model] = open_model
    #: By language.
    _models: dict[str, Model] = field(default_factory=dict)

    def model(self, code: str) -> tuple[Model, Options]:
        """The model for a language, and the options in that language.

        Raises BadModel if it cannot be loaded, and WrongUsage for an unknown device or options that it lacks.
        """
        request = self.request
        if code not in self._models:
            model = self.given or self.opener(request.of_language(code), request.device, request.engine)
            known, name = model.config.languages, model.config.name
            request.check_model(model.config, code)
            if model.engine.warning:
                self.warn(model.engine.warning)
            if code not in known:
                self.warn(f"{name} was not trained on {language(code).name}: marks and capitals may be poor")
            if self.reporter is not None:
                self.reporter.detail(f"the model {name} runs on {model.engine.device}")
            self._models[code] = model
        return self._models[code], replace(request.options, language=code)

    def open(self, document: Document, name: str = "", encoding: Encoding = UTF_8, restore: bool = True) -> Opened:
        """Divide a file by language, and say what another text does of its words; without `restore` it needs no model.

        Raises UnknownModel if less than a tenth of it has a model, and CappuncError about another text.
        """
        opened, other = self._divided(document, name, encoding, restore), self.request.marks_from
        if self.request.speakers is not None and document.words:
            speakers = self.request.speakers.of(name)
            opened = replace(opened, speakers=speakers, turns=speakers.turns_of(document))
        if other is None or not document.words:
            return opened
        carried = other.give(document, name, opened.code)
        return replace(opened, carried=carried, note="; ".join(filter(None, (opened.note, carried.line))))

    def _divided(self, document: Document, name: str, encoding: Encoding, restore: bool) -> Opened:
        request = self.request
        if not restore:
            return Opened(document, self, FixRequest(request.lang).language_of(document.source), (), "", name, encoding)
        found = [] if request.only else stretches(document, request.codes, request.lang != AUTO)
        if not found:
            code = request.only or request.language_of(document.source)
            request.of_language(code)
            note = contradiction(document.source, code) if request.lang == code else ""
            if request.lang == AUTO and not request.only:
                note = in_doubt(document.source, code)
            return Opened(document, self, code, [(code, range(len(document.words)))], note, name, encoding)
        words: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for code, numbers in found:
            words[code] += len(numbers)
            letters[code] += sum(len(document.words[i].text) for i in numbers)
        known = []
        for code in filter(request.codes.__contains__, words):  # a named model must know it
            with suppress(BadModel):
                request.of_language(code)
                known.append(code)
        # Some English terms do not make a Korean file one that can be restored.
        if sum(letters[code] for code in known) < _LEAST_WITH_MODEL * letters.total():
            raise UnknownModel(f"there is no model for its language ({letters.most_common(1)[0][0]})")
        note, without = "", sorted(words.keys() - {*known})
        if without:
            count = sum(words[code] for code in without)
            note = f"{counted(count, 'word')} in languages without a model ({', '.join(without)}) left as they are"
        own = [(code, numbers) for code, numbers in found if code in known]
        return Opened(document, self, max(known, key=words.__getitem__), own, note, name, encoding)


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read, in stretches, each a language and the numbers of its words.

    `code` is the language of most words. The `note` tells of those in languages without a model, in no stretch, or that
    the language may be another. `carried` tells how far another text agrees.
    """

    document: Document
    fixer: Fixer
    code: str
    stretches: Sequence[tuple[str, Sequence[int]]] = ()
    note: str = ""
    name: str = ""
    encoding: Encoding = UTF_8
    carried: Carried | None = None
    speakers: Speakers | None = None
    #: The number of the turn of each word, and names by number, of these speakers.
    turns: tuple[Sequence[int], Mapping[int, str]] = ((), {})

    def with_speakers(self, document: Document) -> Document:
        """A document of these words with the turns of the speakers that were given."""
        numbers, names = self.turns
        words = [replace(word, turn=turn) for word, turn in zip(document.words, numbers, strict=False)]
        return replace(document, words=words, speakers=names) if words else document

    @property
    def language(self) -> Language:
        """The language of most words."""
        return language(self.code)

    def parts(self) -> Iterator[tuple[str, Sequence[int], Document, Callable[[int], None] | None]]:
        """The stretches, each with its words as a document, and a callback for the number of them that were read."""
        whole, before, reporter = self.with_speakers(self.document), 0, self.fixer.reporter
        for code, numbers in self.stretches if whole.words else ():
            part = whole
            if len(numbers) < len(whole.words):
                part = replace(whole, words=[whole.words[i] for i in numbers])
            read = partial(reporter.advance, before=before, words=len(whole.words)) if reporter is not None else None
            yield code, numbers, part, read
            before += len(numbers)

    def restore(self) -> list[str]:
        """The new texts of all words. Raises BadModel and WrongUsage."""
        new, diacritics = self.document.texts, self.fixer.request.diacritics
        for code, numbers, part, progress in self.parts():
            model, options = self.fixer.model(code)
            words: Sequence[Word] = part.words
            if diacritics == "restore":
                texts = _diacritic_restorer(code).restore(part.texts)
                words = [replace(word, text=text) for word, text in zip(words, texts, strict=True)]
            elif diacritics == "normalise":
                words = [replace(word, text=normalise(word.text, language(code))) for word in words]
            restored = restore(words, model, options, progress)
            if part.format in formats.RUNNING_TEXT and language(code).spaced:
                restored = space_marks(part.texts, restored, language(code))
            for i, text in zip(numbers, restored, strict=True):
                new[i] = text
        return new

    def write(self, new: Sequence[str]) -> Fixed:
        """The source with new texts of its words, verified by `formats.verify`, and then respelled if requested.

        Characters that the encoding lacks are replaced; if it was guessed, only changes that are right in every likely
        encoding are made. Raises CappuncError.
        """
        document, encoding, request = self.document, self.encoding, self.fixer.request
        old = document.texts
        output = source = document.source
        notices, diacritics = document.notices, request.diacritics != "keep"
        # Unicode's own encodings have all characters, and formats in codes see to theirs themselves.
        narrow = not (encoding.codec.startswith("utf") or formats.FORMATS[document.format].in_codes)
        if narrow:
            wanted, new = new, limit_changes(old, new, encoding, surroundings(document) if encoding.guess else ())
            if diacritics and (kept := letters_kept(wanted, new, encoding)):
                notices += (_notice(document, *kept),)
        if request.attach or new != old:
            output = formats.write(document, new, attach=request.attach, diacritics=diacritics)
            notices += formats.FORMATS[document.format].unwritten(document, new, output)
            output = writable(output, encoding) if narrow else output
        if output != source:
            formats.verify(document, output, diacritics=diacritics)
        read = self.language.read
        labels = [(strip(read(a))[1], strip(read(b))[1]) for a, b in zip(old, new, strict=True) if a != b]
        marks = sum(a.signs != b.signs for a, b in labels)
        capitals = sum((a.case, a.form) != (b.case, b.form) for a, b in labels)
        rechecked = _rechecked(document, new) if request.options.existing == "recheck" else ()
        fixed = Fixed(output, notices, len(old), marks, capitals, encoding, rechecked=rechecked, source=source)
        if old and (request.numbers or request.apostrophes or (request.aliases and request.options.glossary.aliases)):
            fixed = self._with_spelling(fixed)
        if encoding.guess and changes_more_than_case(encode(source, encoding), fixed.data, encoding):
            raise BadInput(f"its encoding is uncertain and more than case would change; {NAMING}")
        return fixed

    def _with_spelling(self, fixed: Fixed) -> Fixed:
        document, request = self.document, self.fixer.request
        if fixed.text != document.source:
            document = formats.read(fixed.text, format=document.format, fps=document.fps)
        stripped = list(map(strip, document.texts))
        terms = request.options.glossary.matches([bare for bare, _ in stripped], [label for _, label in stripped])
        protected = {i for at, written in terms for i in range(at, at + len(written))}
        asked = {"numbers": request.numbers, "apostrophes": request.apostrophes}
        aliases = request.options.glossary.aliases if request.aliases else {}
        text, respelled = respell(document, self.language, **asked, aliases=aliases, protected=protected)
        return replace(fixed, text=text, respelled=respelled)


def _notice(document: Document, i: int, message: str) -> Notice:
    """A notice at the line of a word, or at the first one for a word that is nowhere in the source."""
    return Notice(line_of(document.source, max(document.words[i].at, 0)), message)


def _rechecked(document: Document, new: Sequence[str]) -> tuple[Notice, ...]:
    """The words that had a mark and have another one now, or none, with the word after them."""
    found, old = [], document.texts
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        marks = [strip(text)[1].mark for text in (before, after)]
        if marks[0] and marks[0] != marks[1]:
            said = (" ".join(texts[i : i + 2]) for texts in (old, new))
            found.append(_notice(document, i, "“{}” is now “{}”".format(*said)))
    return tuple(found)
