"""Choose the model and the language of each text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadModel
from cappunc_cli.files.language_detection import AUTO, DEFAULT, language_of_text, stretches
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.registry import NETWORK, known_languages, languages_of, model_for

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document

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
