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

#: The name or directory of a model, and the language code of a text, None for the model's own language.
Chosen = tuple[str, str | None]


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

    @cached_property
    def codes(self) -> Sequence[str] | None:
        """The languages that texts may have; None if they have that of the named model, its only one. Raises BadModel.

        Of those that the user has named each text has one; of others it has one if in doubt.
        """
        if self.lang != AUTO:
            return self.lang.split(",")
        if self.model is None:
            return model_languages()
        own = find_config(self.model, self.engine).languages if self.languages is None else self.languages
        return own if len(own) > 1 else None

    def language_of(self, text: str) -> str | None:
        """The language of a text; None for that of the named model, its only one. Raises BadModel."""
        return None if self.codes is None else language_of_text(text, self.codes, self.lang != AUTO)

    def stretches(self, document: Document) -> list[tuple[str, list[int]]]:
        """The stretches of a document in several languages, with the numbers of their words; [] if it has one.

        Raises BadModel.
        """
        found = [] if self.codes is None else stretches(document, self.codes, self.lang != AUTO)
        # A text in another language than the only one that was named is told.
        alone = len({code for code, _ in found}) < 2 and len(self.codes or ()) > 1
        return [] if alone else found

    def of_language(self, code: str | None) -> str:
        """The model for a language; if that was detected, the error says so. Raises UnknownModel."""
        if self.model is not None or code is None:
            return str(self.model)
        try:
            return str(find_model_for(code, ENGINES[self.engine], fast=self.fast))
        except BadModel as error:
            if self.lang != AUTO:
                raise
            raise UnknownModel(
                f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
            ) from error

    def possible(self) -> Iterator[Chosen]:
        """What texts may get, without the languages of a named model. Raises BadModel."""
        codes = self.codes or ()
        alone = codes[0] if len(codes) == 1 else None
        if alone is not None or self.model is not None:
            yield self.of_language(alone), alone
            return
        for code in codes:
            with suppress(BadModel):  # texts in it are refused
                yield self.of_language(code), code


@dataclass(frozen=True, slots=True)
class FixRequest:
    """All options that determine results; sent to workers.

    `options` have no language: each text has its own. `format` and `encoding` are None if they depend on each file.
    `fps` is the frame rate of files in frames that do not tell it.
    """

    choice: ModelChoice = field(default_factory=ModelChoice)
    options: Options = field(default_factory=Options)
    device: str = "auto"
    format: str | None = None
    encoding: str | None = None
    fps: float | None = None
    attach: bool = False
    diacritics: str = "keep"
    numbers: bool = False
    apostrophes: bool = False

    def read(self, text: str, name: str) -> Document:
        """The words of a text; `name` helps to recognise its format. Raises CappuncError."""
        # The transcript of a silent recording is empty, which is malformed in some formats.
        return formats.read(text, name, self.format if text.strip() else None, self.fps)

    def config(self, chosen: Chosen, config: ModelConfig | None = None) -> ModelConfig:
        """The config of a chosen model, which is read unless given.

        Raises BadModel if there is no such model, and WrongUsage if it does not support these options.
        """
        name, code = chosen
        if config is None:
            config = find_config(name, self.choice.engine)
        options = replace(self.options, language=code)
        options.windows(config)
        options.paired_marks(config)
        own = options.conventions(config)
        if self.diacritics == "restore" and not own.diacritics:
            raise WrongUsage(f"--diacritics restore: not supported for {own.name}")
        if self.numbers or self.apostrophes:
            check_spelling(own, self.numbers, self.apostrophes)
        return config

    def check(self) -> None:
        """Raises BadModel or WrongUsage if these options suit no model that files may get."""
        error: CappuncError = WrongUsage("no model is installed")
        for chosen in self.choice.possible():
            try:
                self.config(chosen)
            except CappuncError as found:
                error = found
            else:
                return
        raise error

    def signature(self) -> str:
        """A hash of all that determines results: version, options, and all models that files may need.

        Equal signatures mean that two machines have the same version and models. Raises BadModel.
        """
        kind = ENGINES[self.choice.engine]
        parts: list[object] = [__version__, {**asdict(self), "device": "", "choice": self.choice.lang}]
        for model, code in self.choice.possible():
            directory = find_model(model, kind)
            others = [find_member(directory, name) for name in ModelConfig.load(directory, kind.config).ensemble]
            # A model's config includes the hashes of its files.
            configs = [(directory / kind.config).read_text("utf-8")]
            configs += [(other / "config.json").read_text("utf-8") for other in others]
            parts.append([code, configs])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
