"""Read, restore, write and verify texts with one model, which is loaded once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput, BadModel, CappuncError, WrongUsage
from cappunc_cli.files.encodable import changes_more_than_ascii, kept_letters, limit_changes, neighbours, writable
from cappunc_cli.files.encodings import NAMING, UTF_8, Encoding, encode
from cappunc_cli.files.progress import ProgressCallback
from cappunc_cli.files.storage import write_atomic
from cappunc_cli.formats import RUNNING_TEXT
from cappunc_cli.formats.splice import line_of
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.decoding.mark_spacing import space_marks
from cappunc_cli.restoration.diacritics import DiacriticRestorer, normalise
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import ENGINES, NETWORK, ModelConfig, find_model, find_model_for
from cappunc_cli.restoration.models.trigram_engine import NgramEngine
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore_all
from cappunc_cli.spelling.speller import Respelled, check_spelling, respell


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


@dataclass(frozen=True, slots=True)
class Settings:
    """How texts are fixed; sent to worker processes."""

    model: str
    device: str
    format: str | None
    options: Options
    engine: str = NETWORK
    attach: bool = False
    diacritics: str = "keep"
    numbers: bool = False
    apostrophes: bool = False
    #: Frames a second of files in frames that do not tell it.
    fps: float | None = None

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to recognise its format. Raises CappuncError."""
        # The transcript of a silent recording is empty, which is malformed in some formats.
        return formats.read(text, name, self.format if text.strip() else None, self.fps)

    def for_model(self, model: str, code: str | None) -> Settings:
        """The same settings for a model and a language, None for the model's own."""
        return replace(self, model=model, options=replace(self.options, language=code))

    def check(self, config: ModelConfig | None = None) -> ModelConfig:
        """The model's config, which is read unless given.

        Raises BadModel if there is no such model, and WrongUsage if it does not support these options.
        """
        if config is None:
            kind = ENGINES[self.engine]
            config = ModelConfig.load(find_model(self.model, kind), kind.config)
        self.options.windows(config)
        self.options.paired_marks(config)
        own = self.options.conventions(config)
        if self.diacritics == "restore" and not own.diacritics:
            raise WrongUsage(f"--diacritics restore: not supported for {own.name}")
        if self.numbers or self.apostrophes:
            check_spelling(own, self.numbers, self.apostrophes)
        return config

    def notice(self, config: ModelConfig) -> str:
        """A warning if the model was not trained on the requested language, otherwise ""."""
        code = self.options.language
        if code is None or code in config.languages:
            return ""
        return f"{config.name} was not trained on {language(code).name}: marks and capitals may be poor"


@dataclass(eq=False)
class Fixer:
    """Fixes texts with one model, which is loaded for the first text that has words."""

    settings: Settings
    warn: Callable[[str], None]
    detail: Callable[[str], None] = lambda _: None
    #: Called with the share of the words that the model has read.
    advance: ProgressCallback = lambda _: None
    #: Opens the model for the settings in another way than `load_model`.
    opened: Callable[[Settings], Model] | None = None

    @cached_property
    def model(self) -> Model:
        """The model, loaded on first use; raises BadModel if that fails, and WrongUsage for an unknown device."""
        if self.opened is not None:
            return self.opened(self.settings)
        try:
            model = load_model(self.settings.model, self.settings.device, engine=self.settings.engine)
        except WrongUsage:
            raise
        except CappuncError as error:
            raise BadModel(error.message, error.path, error.line) from error
        for warning in (model.engine.warning, self.settings.notice(model.config)):
            if warning:
                self.warn(warning)
        self.detail(f"the model {model.config.name} runs on {model.engine.device}")
        return model

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to recognise its format. Raises CappuncError."""
        return self.settings.read(text, name)

    def word_progress(self, words: int) -> Callable[[int], None]:
        """A callback for the number of words read out of `words`, whose share is passed on."""
        return lambda read: self.advance(read / max(words, 1))

    def restore(self, documents: Sequence[Document]) -> Iterator[list[str]]:
        """The new texts of each document's words."""
        texts: list[Sequence[Word]] = [document.words for document in documents]
        if not any(texts):
            return iter([[] for _ in texts])
        if self.settings.diacritics != "keep":
            texts = [
                tuple(replace(word, text=text) for word, text in zip(words, self._with_diacritics(words), strict=True))
                for words in texts
            ]
        progress = self.word_progress(sum(map(len, texts)))
        restored = restore_all(texts, self.model, self.settings.options, progress)
        return map(self._with_spaces, documents, restored) if self.language.spaced else restored

    def _with_spaces(self, document: Document, new: list[str]) -> list[str]:
        if not document.words or document.format not in RUNNING_TEXT:
            return new
        return space_marks(document.texts, new, self.language)

    def _with_diacritics(self, words: Sequence[Word]) -> list[str]:
        if self._diacritic_restorer is not None:
            return self._diacritic_restorer.restore([word.text for word in words])
        return [normalise(word.text, self.language) for word in words]

    @cached_property
    def language(self) -> Language:
        """The conventions of the texts' language."""
        return self.settings.options.conventions(self.model.config)

    @cached_property
    def _diacritic_restorer(self) -> DiacriticRestorer | None:
        """The restorer of diacritics, if requested; raises BadModel."""
        if self.settings.diacritics != "restore":
            return None
        return DiacriticRestorer(NgramEngine(find_model_for(self.language.code, ENGINES["ngram"])), self.language)

    def write(self, document: Document, source: str, new: Sequence[str], encoding: Encoding | None = None) -> Fixed:
        """The source with new texts, verified by `formats.verify`, and then respelled if requested.

        With an `encoding`, characters that it lacks are replaced; if it was guessed, only changes that are right in
        every likely encoding are made. Raises CappuncError.
        """
        old, output, attach = document.texts, source, self.settings.attach
        # Unicode's own encodings have all characters.
        narrow = None if encoding is None or encoding.codec.startswith("utf") else encoding
        notices = document.notices
        if narrow is not None:
            around = neighbours(document, source) if narrow.guess else ()
            wanted, new = new, limit_changes(old, new, narrow, around)
            if self.settings.diacritics != "keep":
                notices += kept_letters(document, source, wanted, new, narrow)
        diacritics = self.settings.diacritics != "keep"
        if attach or new != old:
            output = formats.write(document, new, attach=attach, diacritics=diacritics)
            notices += formats.FORMATS[document.format].unwritten(document, new, output)
            output = output if narrow is None else writable(output, narrow)
        if output != source:
            formats.verify(document, output, diacritics=diacritics)
        marks = capitals = 0
        for before, after in zip(old, new, strict=True):
            if before != after:
                (_, old_label), (_, new_label) = cached_strip(before), cached_strip(after)
                marks += old_label.signs != new_label.signs
                capitals += (old_label.case, old_label.form) != (new_label.case, new_label.form)
        rechecked = _rechecked(document, source, new) if self.settings.options.existing == "recheck" else ()
        fixed = Fixed(output, notices, len(old), marks, capitals, encoding or UTF_8, rechecked=rechecked)
        if old and (self.settings.numbers or self.settings.apostrophes):
            fixed = self._with_spelling(document, source, fixed)
        if narrow is not None and narrow.guess and changes_more_than_ascii(encode(source, narrow), fixed.data):
            raise BadInput(f"its encoding is uncertain and more than ASCII would change; {NAMING}")
        return fixed

    def _with_spelling(self, document: Document, source: str, fixed: Fixed) -> Fixed:
        settings = self.settings
        if fixed.text != source:
            document = formats.read_again(document, fixed.text)
        stripped = list(map(cached_strip, document.texts))
        terms = settings.options.glossary.matches([bare for bare, _ in stripped], [label for _, label in stripped])
        protected = {i for at, written in terms for i in range(at, at + len(written))}
        text, respelled = respell(
            document,
            fixed.text,
            self.language,
            numbers=settings.numbers,
            apostrophes=settings.apostrophes,
            protected=protected,
        )
        return replace(fixed, text=text, respelled=respelled)


def _rechecked(document: Document, source: str, new: Sequence[str]) -> tuple[Notice, ...]:
    """The words that had a mark and have another one now, or none, with the word after them."""
    found, old = [], document.texts
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        marks = [cached_strip(text)[1].mark for text in (before, after)]
        if marks[0] and marks[0] != marks[1]:
            places = document.words[i].places
            line = line_of(source, places[0][0][0]) if places else 1
            said = (" ".join(texts[i : i + 2]) for texts in (old, new))
            found.append(Notice(line, "“{}” is now “{}”".format(*said)))
    return tuple(found)
