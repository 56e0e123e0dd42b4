"""`cappunc convert`: convert transcripts to another format, after restoring what lacks marks or case."""

from __future__ import annotations

import typer

from cappunc_cli.cli.commands import is_typed, refuse_typed
from cappunc_cli.cli.usage import (
    RESTORING,
    choice_asked,
    files_read,
    jobs_asked,
    names_asked,
    options_checked,
    refuse_second_read,
    reporter_of,
    tallied,
)
from cappunc_cli.features.convert.converter import SUFFIXES, Converter, named_kind
from cappunc_cli.features.convert.options import KINDS, TEXT_KINDS, ConvertOptions
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.glossary_file import load_glossaries
from cappunc_cli.files.made_files import Making, made_jobs, make_files
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.storage import PIPE
from cappunc_cli.languages import Language
from cappunc_cli.layout.speaker_names import asked_names
from cappunc_cli.layout.writing import Writing, frame_rate
from cappunc_cli.restoration.options import Options


def convert(context: typer.Context, options: ConvertOptions) -> None:
    """Convert each file; exit with 1 if one of them failed."""
    kind = _kind(context, options)
    restore, inputs = options.restore, options.inputs
    names = names_asked(context, inputs)
    reporter = reporter_of(context, options.messages)
    found = jobs_asked(names, inputs, reporter, options.output)
    with options_checked():
        also_read = files_read(options.glossary, inputs.files_from)
        jobs = made_jobs(found, SUFFIXES.get(kind, f".{kind}"), options.output, names, also_read)
        named = asked_names(options.speaker)
    writing = Writing(frame_rate(options.fps), options.ttml_profile or "")

    def maker(fixer: Fixer, own: Language) -> Converter:
        return Converter(fixer, own, kind, restore, options.speakers, options.times, options.attach, named, writing)

    terms = load_glossaries(options.glossary if restore else None)
    common = Settings("", options.model.device, inputs.format_name, Options(glossary=terms), options.model.engine)
    with tallied(reporter, len(jobs)) as tally:
        making = Making(maker, FixRequest(choice_asked(context, options.model), common), restore, options.force)
        make_files(jobs, making, reporter, tally)
    if reporter.errors:
        raise typer.Exit(1)


def _kind(context: typer.Context, options: ConvertOptions) -> str:
    """The output format; raises BadParameter for options that contradict each other."""
    to, output, inputs = options.to, options.output, options.inputs
    named = named_kind(output, KINDS)
    kind = to or named
    if kind is None:
        unknown = f"; {output} names none" if output and "." in output else ""
        raise typer.BadParameter(f"name the output format: {', '.join(KINDS)}{unknown}", param_hint="--to")
    if named not in (None, kind):
        raise typer.BadParameter(f"{to} contradicts the name {output}, which means {named}", param_hint="--to")
    # As a setting it is for all files, of whatever format.
    for name, kinds in (("times", TEXT_KINDS), ("fps", ("stl", "microdvd", "fcpxml")), ("ttml_profile", ("ttml",))):
        if kind not in kinds and is_typed(context, name):
            which = " and ".join((", ".join(kinds[:-1]), kinds[-1])) if len(kinds) > 1 else kinds[0]
            raise typer.BadParameter(
                f"does not apply to {kind}, only to {which}", param_hint=f"--{name.replace('_', '-')}"
            )
    if kind == "json":
        refuse_typed(context, ("speakers",), "does not apply to json, which always has the speakers")
    if not options.restore:
        refuse_typed(context, RESTORING, "has no effect with --no-restore")
    read = inputs.files if inputs.files_from else inputs.files or PIPE
    refuse_second_read(glossary=options.glossary, files_from=inputs.files_from, FILES=read)
    return kind
