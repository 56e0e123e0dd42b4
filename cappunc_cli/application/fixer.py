"""Texts through reading, restoring, writing and the last check; the model is opened once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli.application.storage.encodings import UTF_8, Encoding, encode, limited, refuse_unsure, writable
from cappunc_cli.application.storage.files import write_atomic
from cappunc_cli.errors import BadModel, CappuncError, WrongUsage
from cappunc_cli.languages import language
from cappunc_cli.restoration.model.engines import ENGINES, NETWORK
from cappunc_cli.transcript.labels import cached_strip

if TYPE_CHECKING:
    from cappunc_cli.languages import Language
    from cappunc_cli.restoration.model.config import ModelConfig
    from cappunc_cli.restoration.ngram.diacritics import DiacriticRestorer
    from cappunc_cli.restoration.pipeline import Model, Options
    from cappunc_cli.spelling.speller import Respelled
    from cappunc_cli.transcript.words import Document, Notice, Word


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed text, what was odd in it, how many words it had, and how many marks and capitals are new.

    `encoding` is that of the bytes that the text came from, UTF-8 where it came as a str. `respelled` lists the words
    that are others now, which happens only where `numbers` or `apostrophes` asked for it.

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

    @property
    def data(self) -> bytes:
        """The content of a file with this text, in the encoding that it came in, byte order mark included."""
        return encode(self.text, self.encoding)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write `data` to a file in one step, so that nobody ever sees half of it.

        Raises CappuncError where the file is there already, unless `force` overwrites it; OSError where it cannot
        be written.
        """
        target = Path(path)
        if not force and os.path.lexists(target):
            raise CappuncError("exists already; force=True overwrites it", str(target))
        write_atomic(target, self.data)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide how texts are fixed; they travel to worker processes."""

    model: str
    device: str
    format: str | None
    options: Options
    engine: str = NETWORK
    attach: bool = False
    diacritics: str = "keep"
    numbers: bool = False
    apostrophes: bool = False

    @property
    def respells(self) -> bool:
        """Whether words may become others."""
        return self.numbers or self.apostrophes

    def check(self, config: ModelConfig | None = None) -> None:
        """Raises BadModel where there is no such model, and WrongUsage where it cannot do what is asked for.

        `config` is that of the model, where it is open already.
        """
        config = config or self.config()
        self.options.windows(config)
        self.options.paired_marks(config)
        own = self.options.conventions(config)
        if self.diacritics == "restore" and not own.diacritics:
            raise WrongUsage(f"--diacritics restore: nothing is known of the diacritics of {own.name}")
        if self.respells:
            from cappunc_cli.spelling.speller import check_spelling

            check_spelling(own, self.numbers, self.apostrophes)

    def config(self) -> ModelConfig:
        """What the model says of itself; raises BadModel where there is no such model."""
        from cappunc_cli.restoration.model.registry import ModelConfig, find_model

        kind = ENGINES[self.engine]
        return ModelConfig.load(find_model(self.model, kind), kind.config)

    def notice(self, config: ModelConfig) -> str:
        """What a user should know who asks a model for a language that it has not learnt; empty for one that it has."""
        code = self.options.language
        if code is None or code in config.languages:
            return ""
        return f"{config.name} has learnt no {language(code).name}: nothing is promised of its marks and capitals"


@dataclass(eq=False)
class Fixer:
    """`fix` for many texts with one model, which is loaded for the first text that has words."""

    settings: Settings
    warn: Callable[[str], None]
    detail: Callable[[str], None] = lambda _: None
    #: Hears which share of a text's words the model has read, where somebody watches one text after the other.
    heard: Callable[[float], None] | None = None

    @cached_property
    def model(self) -> Model:
        """The loaded model; raises BadModel for whatever keeps it from being used."""
        from cappunc_cli.restoration.pipeline import load_model

        try:
            model = load_model(self.settings.model, self.settings.device, engine=self.settings.engine)
        except CappuncError as error:
            raise BadModel(error.message, error.path, error.line) from error
        for warning in (model.engine.warning, self.settings.notice(model.config)):
            if warning:
                self.warn(warning)
        self.detail(f"the model {model.config.name} runs on {model.engine.device}")
        return model

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to tell its format. Raises CappuncError."""
        from cappunc_cli import formats

        # A silent recording gives an empty file, whatever its format would ask for.
        return formats.read(text, name, self.settings.format if text.strip() else None)

    def counted(self, words: int, heard: Callable[[float], None] | None = None) -> Callable[[int], None] | None:
        """What hears how many of so many words the model has read, and tells the share; None where nobody watches."""
        watching = heard or self.heard
        return None if watching is None else lambda read: watching(read / max(words, 1))

    def restore(
        self, documents: Sequence[Document], heard: Callable[[float], None] | None = None
    ) -> Iterator[list[str]]:
        """The new texts of each document's words; `heard` is told the share of them that the model has read."""
        from cappunc_cli.restoration.pipeline import restore_all

        texts: list[Sequence[Word]] = [document.words for document in documents]
        if not any(texts):
            return iter([[] for _ in texts])
        if self.settings.diacritics != "keep":
            texts = [
                tuple(replace(word, text=text) for word, text in zip(words, self._respelled(words), strict=True))
                for words in texts
            ]
        progress = self.counted(sum(map(len, texts)), heard)
        restored = restore_all(texts, self.model, self.settings.options, progress)
        return map(self._with_spaces, documents, restored) if self._language.spaced else restored

    def _with_spaces(self, document: Document, new: list[str]) -> list[str]:
        from cappunc_cli.formats import RUNNING_TEXT

        if not document.words or document.format not in RUNNING_TEXT:
            return new
        from cappunc_cli.restoration.decoding.mark_spacing import space_marks

        return space_marks(document.words.texts, new, self._language)

    def _respelled(self, words: Sequence[Word]) -> list[str]:
        if self._speller is not None:
            return self._speller.restore([word.text for word in words])
        from cappunc_cli.restoration.ngram.diacritics import normalise

        return [normalise(word.text, self._language) for word in words]

    @cached_property
    def _language(self) -> Language:
        return self.settings.options.conventions(self.model.config)

    @cached_property
    def _speller(self) -> DiacriticRestorer | None:
        """The restorer of diacritics, if that is asked for; raises BadModel."""
        if self.settings.diacritics != "restore":
            return None
        from cappunc_cli.restoration.model.registry import find_model_for
        from cappunc_cli.restoration.ngram.diacritics import DiacriticRestorer
        from cappunc_cli.restoration.ngram.ngram_engine import NgramEngine

        return DiacriticRestorer(NgramEngine(find_model_for(self._language.code, ENGINES["ngram"])), self._language)

    def write(self, document: Document, source: str, new: Sequence[str], encoding: Encoding | None = None) -> Fixed:
        """The source with new texts in it, which fit into the encoding of its bytes, if there is one.

        Where that is a guess only what is sure in every likely one changes. Raises CappuncError; the result has passed
        `formats.verify`, and only then words become others.
        """
        from cappunc_cli import formats

        old, output, attach = document.words.texts, source, self.settings.attach
        if encoding is not None:
            new = limited(old, new, encoding)
        with formats.respelling() if self.settings.diacritics != "keep" else nullcontext():
            if attach or new != old:
                output = formats.write(document, new, attach=attach)
                output = output if encoding is None else writable(output, encoding)
            if output != source:
                formats.verify(document, output)
        fixed = Fixed(output, document.notices, len(old), *_changes(old, new), encoding or UTF_8)
        if self.settings.respells and old:
            fixed = self._with_spelling(document, source, fixed)
        if encoding is not None and encoding.guess is not None and fixed.text != source:
            refuse_unsure(encoding.guess, encode(source, encoding), fixed.data)
        return fixed

    def _with_spelling(self, document: Document, source: str, fixed: Fixed) -> Fixed:
        """The result with its words respelled."""
        from cappunc_cli import formats
        from cappunc_cli.spelling.speller import respell

        asked = self.settings
        if fixed.text != source:
            document = formats.read(fixed.text, format=document.format)
        stripped = list(map(cached_strip, document.words.texts))
        terms = asked.options.glossary.matches([bare for bare, _ in stripped], [label for _, label in stripped])
        protected = {i for at, written in terms for i in range(at, at + len(written))}
        text, respelled = respell(
            document,
            fixed.text,
            self._language,
            numbers=asked.numbers,
            apostrophes=asked.apostrophes,
            protected=protected,
        )
        return replace(fixed, text=text, respelled=respelled)


def _changes(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many words have other marks, and how many another case."""
    marks = capitals = 0
    for before, after in zip(old, new, strict=True):
        if before != after:
            (_, was), (_, now) = cached_strip(before), cached_strip(after)
            marks += was.signs != now.signs
            capitals += (was.case, was.form) != (now.case, now.form)
    return marks, capitals
