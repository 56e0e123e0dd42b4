"""What `fix` is asked for, before the language of any file is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from cappunc_cli.application.fixer import Fixer, Settings
from cappunc_cli.application.language_detection import (
    AUTO,
    known_languages,
    languages_of,
    model_of_text,
    model_seen,
    named_model,
)
from cappunc_cli.application.manifest import settings_signature
from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.options import Options

_languages_of = cache(languages_of)


@dataclass(frozen=True, slots=True)
class FixRequest:
    """The options of `fix` that decide its results; they travel to the workers.

    `lang` is `auto` or a code, `model` and `encoding` None where each file says; the rest is as in `Settings`.
    """

    lang: str
    model: str | None
    options: Options
    engine: str
    fast: bool = False
    device: str = "auto"
    format: str | None = None
    attach: bool = False
    diacritics: str = "keep"
    encoding: str | None = None
    numbers: bool = False
    apostrophes: bool = False

    def settings(self, model: str, code: str | None) -> Settings:
        """The settings for a model and a language; None is the model's own. Raises BadModel and WrongUsage."""
        options = replace(self.options, language=code)
        how = self.attach, self.diacritics, self.numbers, self.apostrophes
        made = Settings(model, self.device, self.format, options, self.engine, *how)
        made.check()
        return made

    def choose(self, text: str) -> tuple[str, str | None]:
        """The model and the language of a file's text. Raises BadModel where there is none."""
        looked_at = self.lang == AUTO and self.model is not None
        codes = _languages_of(self.model, self.engine) if looked_at else None
        return model_of_text(text, self.lang, self.model, self.engine, self.fast, codes)

    def notice(self) -> str:
        """What workers far away would say of the model that is named, as `Settings.notice`."""
        named = named_model(self.lang, self.model, self.engine, self.fast)
        if named is None:
            return ""
        settings = self.settings(*named)
        return settings.notice(settings.config())

    def signature(self) -> str:
        """A hash of what decides the results, as `settings_signature`; of all models that the files may ask for.

        Two machines with the same have the same version and models. Raises BadModel and WrongUsage.
        """
        named = named_model(self.lang, self.model, self.engine, self.fast)
        if named is not None:
            return settings_signature(self.settings(*named), self.encoding)
        parts = []
        for code in known_languages():
            try:
                model = model_seen(code, self.engine, self.fast)
            except BadModel:
                continue  # its files are refused
            parts.append(settings_signature(self.settings(model, code), self.encoding))
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


class Fixers:
    """A Fixer for each model and language that the files ask for; each opens its model once."""

    def __init__(self, request: FixRequest, warn: Callable[[str], None]) -> None:
        self._request = request
        self._warn = warn
        self._open: dict[tuple[str, str | None], Fixer] = {}

    def of(self, text: str) -> Fixer:
        """The Fixer for a file's text. Raises BadModel where its language has no model."""
        chosen = self._request.choose(text)
        if chosen not in self._open:
            self._open[chosen] = Fixer(self._request.settings(*chosen), self._warn)
        return self._open[chosen]
