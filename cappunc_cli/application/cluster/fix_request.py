"""The options of `fix` for an archive, before the language of any file is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from cappunc_cli.application.fixer import Fixer, Settings
from cappunc_cli.application.language_detection import AUTO
from cappunc_cli.application.manifest import settings_signature
from cappunc_cli.application.plan import model_for_detected, model_of_text, named_model
from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.model.registry import known_languages, languages_of

_languages_of = cache(languages_of)


@dataclass(frozen=True, slots=True)
class FixRequest:
    """The options of `fix` that determine results; sent to the workers.

    `lang` is `auto` or a language code; `model` and `encoding` are None if they depend on each file. `common` are the
    settings of all files, but for model and language.
    """

    lang: str
    model: str | None
    common: Settings
    fast: bool = False
    encoding: str | None = None

    def settings(self, model: str, code: str | None) -> Settings:
        """The settings for a model and a language code, None for the model's own. Raises BadModel and WrongUsage."""
        made = replace(self.common, model=model, options=replace(self.common.options, language=code))
        made.check()
        return made

    def choose(self, text: str) -> tuple[str, str | None]:
        """The model and the language code for a text, as `model_of_text`. Raises BadModel."""
        detect = self.lang == AUTO and self.model is not None
        codes = _languages_of(self.model, self.common.engine) if detect else None
        return model_of_text(text, self.lang, self.model, self.common.engine, self.fast, codes)

    def notice(self) -> str:
        """`Settings.notice` for a named model: printed by the driver, since the workers' output is not shown."""
        named = named_model(self.lang, self.model, self.common.engine, self.fast)
        if named is None:
            return ""
        settings = self.settings(*named)
        return settings.notice(settings.check())

    def signature(self) -> str:
        """A hash of all that determines results, as `settings_signature`, over all models that files may need.

        Equal signatures mean that two machines have the same version and models. Raises BadModel and WrongUsage.
        """
        named = named_model(self.lang, self.model, self.common.engine, self.fast)
        if named is not None:
            return settings_signature(self.settings(*named), self.encoding)
        parts = []
        for code in known_languages():
            try:
                model = model_for_detected(code, self.common.engine, self.fast)
            except BadModel:
                continue  # its files are refused
            parts.append(settings_signature(self.settings(model, code), self.encoding))
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


class Fixers:
    """A Fixer for each model and language that files need; each loads its model once."""

    def __init__(self, request: FixRequest, warn: Callable[[str], None]) -> None:
        self._request = request
        self._warn = warn
        self._open: dict[tuple[str, str | None], Fixer] = {}

    def of(self, text: str) -> Fixer:
        """The Fixer for a text. Raises BadModel if its language has no model."""
        chosen = self._request.choose(text)
        if chosen not in self._open:
            self._open[chosen] = Fixer(self._request.settings(*chosen), self._warn)
        return self._open[chosen]
