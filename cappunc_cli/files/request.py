"""What a run does to every file: the options, and which model and language a text gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from cappunc_cli import formats
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadModel, CappuncError, UnknownModel, WrongUsage
from cappunc_cli.files.language_detection import AUTO, language_of_text, stretches
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.registry import (
    ENGINES,
    NETWORK,
    ModelConfig,
    find_config,
    find_member,
    find_model,
    find_model_for,
    model_languages,
)
from cappunc_cli.restoration.options import Options
from cappunc_cli.spelling.speller import check_spelling
from cappunc_cli.version import __version__


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

    @cached_property
    def codes(self) -> Sequence[str]:
        """The languages that texts may have: always, if the user has named them, and otherwise if in doubt.

        Raises BadModel.
        """
        if self.lang != AUTO:
            return self.lang.split(",")
        if self.model is None:
            return model_languages()
        return self.languages or find_config(self.model, self.engine).languages

    @cached_property
    def only(self) -> str | None:
        """The only language of the named model, in which all texts are; None if they may differ. Raises BadModel."""
        return self.codes[0] if self.lang == AUTO and self.model is not None and len(self.codes) == 1 else None

    def language_of(self, text: str) -> str:
        """The language of a text. Raises BadModel."""
        return self.only or language_of_text(text, self.codes, self.lang != AUTO)

    def stretches(self, document: Document) -> list[tuple[str, list[int]]]:
        """The stretches of a document in several languages, with the numbers of their words; [] if it has one.

        Raises BadModel.
        """
        found = stretches(document, self.codes, self.lang != AUTO)
        # A text in another language than the only one that was named is told.
        alone = len({code for code, _ in found}) < 2 and len(self.codes) > 1
        return [] if alone else found

    def of_language(self, code: str) -> str:
        """The model for a language; if that was detected, the error says so. Raises UnknownModel."""
        if self.model is not None:
            return self.model
        try:
            return str(find_model_for(code, ENGINES[self.engine], fast=self.fast))
        except BadModel as error:
            if self.lang != AUTO:
                raise
            raise UnknownModel(
                f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
            ) from error

    def possible(self) -> Iterator[tuple[str, str | None]]:
        """The models and languages that texts may get, None for those of a named model. Raises BadModel."""
        if self.model is not None and (self.lang == AUTO or len(self.codes) > 1):
            yield self.model, None
            return
        for code in self.codes:
            with suppress(*([BadModel] if len(self.codes) > 1 else [])):  # texts in it are refused
                yield self.of_language(code), code

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to recognise its format. Raises CappuncError."""
        # The transcript of a silent recording is empty, which is malformed in some formats.
        return formats.read(text, name, self.format if text.strip() else None, self.fps)

    def check_model(self, config: ModelConfig, code: str | None) -> None:
        """Raises WrongUsage if a model does not support these options in a language."""
        options = replace(self.options, language=code)
        options.windows(config)
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
                self.check_model(find_config(name, self.engine), code)
            except CappuncError as found:
                error = found
            else:
                return
        raise error or WrongUsage("no model is installed")

    def signature(self) -> str:
        """A hash of all that determines results: version, options, and all models that files may need.

        Equal signatures mean that two machines have the same version and models. Raises BadModel.
        """
        kind = ENGINES[self.engine]
        # Which models these five mean is what follows.
        told = asdict(self) | dict.fromkeys(("model", "engine", "fast", "languages", "device"))
        parts: list[object] = [__version__, told]
        for model, code in self.possible():
            directory = find_model(model, kind)
            others = [find_member(directory, name) for name in ModelConfig.load(directory, kind.config).ensemble]
            # A model's config includes the hashes of its files.
            configs = [(directory / kind.config).read_text("utf-8")]
            configs += [(other / "config.json").read_text("utf-8") for other in others]
            parts.append([code, configs])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
