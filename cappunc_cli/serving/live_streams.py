"""The streams of live words that share a model and options."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.glossary_file import StreamTermCheck, TermCheck, load_glossaries
from cappunc_cli.files.language_detection import DEFAULT
from cappunc_cli.languages import Language
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.serving.live_options import LiveOptions
from cappunc_cli.serving.live_text import LiveCues, LiveOutput


def open_live_model(options: LiveOptions) -> Model:
    """The model for live words. Raises BadModel and WrongUsage."""
    name = options.model or str(find_model_for(options.lang or DEFAULT, options.engine, fast=True))
    return load_model(name, options.device, engine=options.engine)


class LiveStreams:
    """Makes streams with the same options; they share an open model."""

    def __init__(self, options: LiveOptions, model: Model) -> None:
        """Raises WrongUsage and CappuncError."""
        lang, known = options.lang, model.config
        if lang is not None and lang not in known.languages:
            raise WrongUsage(f"the model {known.name} is for {', '.join(known.languages)}, not {lang}")
        self._options, self._model = options, model
        self._settings = Options(
            marks=options.marks,
            sensitivity=options.sensitivity,
            style=options.style,
            pauses=options.pauses,
            language=lang,
            glossary=load_glossaries(options.glossary),
        )
        self.terms = TermCheck(self._settings.glossary)

    @cached_property
    def language(self) -> Language:
        """The conventions of the words' language."""
        return self._settings.conventions(self._model.config)

    def new(self, write: Callable[[str], None], cues: LiveCues | None = None) -> LiveOutput:
        """A stream that writes its texts with `write`, or its cues."""
        restorer = LiveRestorer(self._model, self._settings, self._options.look_ahead, self._options.every)
        terms = StreamTermCheck(self.terms)
        return LiveOutput(restorer, self.language, self._options.max_delay, write, cues, terms)
