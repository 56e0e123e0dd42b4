"""The options of `fix` for an archive, before the language of any file is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.files.manifest import settings_signature
from cappunc_cli.files.model_choice import Chosen, ModelChoice


@dataclass(frozen=True, slots=True)
class FixRequest:
    """The options of `fix` that determine results; sent to the workers.

    `common` are the settings of all files, but for model and language. `encoding` is None if it depends on each file.
    """

    choice: ModelChoice
    common: Settings
    encoding: str | None = None

    def settings(self, chosen: Chosen) -> Settings:
        """The settings for a model and a language. Raises BadModel and WrongUsage."""
        made = self.common.for_model(*chosen)
        made.check()
        return made

    def notice(self) -> str:
        """`Settings.notice` for a named language: printed by the driver, since the workers' output is not shown."""
        if self.choice.lang == AUTO:
            return ""
        settings = self.settings(self.choice.named())
        return settings.notice(settings.check())

    def signature(self) -> str:
        """A hash of all that determines results, as `settings_signature`, over all models that files may need.

        Equal signatures mean that two machines have the same version and models. Raises BadModel and WrongUsage.
        """
        parts = [settings_signature(self.settings(chosen), self.encoding) for chosen in self.choice.possible()]
        return parts[0] if len(parts) == 1 else hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


class Fixers:
    """A Fixer for each model and language that files need; each loads its model once."""

    def __init__(self, request: FixRequest, warn: Callable[[str], None]) -> None:
        self._request = request
        self._warn = warn
        self._open: dict[Chosen, Fixer] = {}

    def of(self, text: str) -> Fixer:
        """The Fixer for a text. Raises BadModel if its language has no model."""
        chosen = self._request.choice.of_text(text)
        if chosen not in self._open:
            self._open[chosen] = Fixer(self._request.settings(chosen), self._warn)
        return self._open[chosen]
