"""How commands find their files, refuse what makes no sense, and report: the parts that several share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeVar

import typer

from cappunc_cli.cli.main import is_typed
from cappunc_cli.cli.options import Changes, Inputs, Messages, ModelOptions, OtherFiles
from cappunc_cli.errors import BadModel, BadOption, CappuncError, UnknownModel, WrongUsage, nearest, stop_code
from cappunc_cli.files.fixer import Fixer, FixRequest, Opened
from cappunc_cli.files.glossary_file import load_glossaries
from cappunc_cli.files.jobs import Job, Search
from cappunc_cli.files.marks_from import marks_from
from cappunc_cli.files.output import Reporter, files_done
from cappunc_cli.files.speakers_from import speakers_from
from cappunc_cli.files.storage import PIPE, about, is_url, names_in, read_text, standard_input
from cappunc_cli.formats import FORMATS
from cappunc_cli.restoration.models.registry import NETWORK
from cappunc_cli.restoration.models.session import parse_device
from cappunc_cli.restoration.terms import Glossary

_Result = TypeVar("_Result")
#: The options that `captions` and `convert` use only to restore.
RESTORING = ("glossary", "marks_from", "model", "fast", "device", "engine")


def refuse_typed(context: typer.Context, names: Collection[str], why: str) -> None:
    """Raises BadOption if the command line has one of these parameters, because it would have no effect.

    A setting is ignored: it is made for other runs as well.
    """
    for one in context.command.params:
        if one.name in names and is_typed(context, one.name or ""):
            raise BadOption(why, "/".join((*one.opts, *one.secondary_opts)))


def known_format(name: str) -> str:
    """The name; raises ValueError unless it is that of a format."""
    if name not in FORMATS:
        hint = nearest(name, FORMATS) or f"; there are {', '.join(sorted(FORMATS))}"
        raise ValueError(f"{name!r} is no format{hint}")
    return name


def known_device(name: str) -> str:
    """The name; raises WrongUsage unless it is that of a device."""
    parse_device(name)
    return name


def input_names(context: typer.Context, inputs: Inputs) -> list[str]:
    """The inputs of a command: FILES, or the names in a --files-from list (relative to a directory in FILES), or `-`.

    Prints how to name them and exits with code 2 if there are none and standard input is a terminal. Raises
    WrongUsage for an empty name, and CappuncError if standard input is closed, or the list is empty or names a file
    outside the directory.
    """
    files = inputs.files
    if not all(files):  # from an unset shell variable; Path would take it for the current directory
        raise WrongUsage("no such file: the name is empty", "")
    if inputs.files_from is None:
        if inputs.nul:
            raise BadOption("needs --files-from", "-0")
        if not files and standard_input().isatty():
            path = context.command_path
            lines = (f"{path} FILES     files, directories, patterns, URLs", f"{path} < FILE    or standard input")
            typer.echo("\n".join((*lines, f"{path} --help    all options")), err=True)
            raise typer.Exit(2)
        return [*files] or [PIPE]
    listed = list(names_in(inputs.files_from, inputs.nul))
    if not listed:
        raise CappuncError("lists no files", inputs.files_from)
    if not files:
        return listed
    if len(files) > 1:
        raise BadOption("takes one directory at most beside the list", "--files-from")
    root = files[0].rstrip("/")
    for name in listed:
        if is_url(name) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise CappuncError(f"is not a path in {root}", name)
    return [f"{root}/{name}" for name in listed]


def input_jobs(
    names: Sequence[str], inputs: Inputs, reporter: Reporter, output: str | None = None, results: bool = False
) -> list[Job]:
    """The jobs for the `names` of `input_names`; with `results`, earlier results of `fix` are among them."""
    below = inputs.files[0] if inputs.files and inputs.files_from else None
    return Search(inputs.format_name, output, results, below).jobs(names, reporter.error)


def fix_request(
    context: typer.Context,
    model: ModelOptions,
    inputs: Inputs,
    changes: Changes,
    others: OtherFiles | None = None,
) -> FixRequest:
    """All options that determine results, by their values on the command line.

    Raises BadOption, CappuncError and OSError.
    """
    fast, name, engine = model.fast, model.model, model.engine
    if fast and name is not None:
        # One of them may be a setting; the other, on the command line, overrides it.
        if is_typed(context, "fast") == is_typed(context, "model"):
            raise BadOption("--model already names the model", "--fast")
        fast, name = (True, None) if is_typed(context, "fast") else (False, name)
    if engine != NETWORK:
        refuse_device(context, engine, model.device)
        refuse_typed(context, ("fast",), f"does not apply to --engine {engine}: it has one model for a language")
    glossary = load_glossaries(changes.glossary) if changes.glossary else None
    request = request_of(replace(model, fast=fast, model=name), inputs, changes, glossary)
    if others is None:
        return request
    marks = None if others.marks_from is None else marks_from(others.marks_from)
    speakers = None if others.speakers_from is None else speakers_from(others.speakers_from)
    return replace(request, marks_from=marks, speakers=speakers)


def request_of(model: ModelOptions, inputs: Inputs, changes: Changes, glossary: Glossary | None = None) -> FixRequest:
    """All options that determine results, with the terms of a `glossary`."""
    options = changes.restoring
    return FixRequest(
        model.lang,
        model.model,
        model.engine,
        model.fast,
        options=options if glossary is None else replace(options, glossary=glossary),
        device=model.device,
        format=inputs.format_name,
        encoding=inputs.encoding,
        fps=inputs.fps,
        attach=changes.attach,
        diacritics=changes.diacritics,
        numbers=changes.numbers,
        apostrophes=changes.apostrophes,
        aliases=changes.aliases,
    )


def refuse_device(context: typer.Context, engine: str, device: str) -> None:
    """Raises BadOption if a GPU was named for an engine that runs on the CPU."""
    if engine != NETWORK and device not in ("auto", "cpu"):
        refuse_typed(context, ("device",), f"does not apply to --engine {engine}: it runs on the CPU")


def refuse_second_read(inputs: Inputs | None = None, **readers: Sequence[str] | str | None) -> None:
    """Raises BadOption if two options, or an option and FILES, both read standard input (`-`).

    `readers` are the names that each option reads, by the option's parameter name; the names of `inputs` come last.
    """
    if inputs is not None:
        readers |= {"files_from": inputs.files_from}
        readers |= {"FILES": inputs.files or (None if inputs.files_from else PIPE)}
    reading = [name for name, given in readers.items() if given == PIPE or (given is not None and PIPE in [*given])]
    if len(reading) > 1:
        first, second = (name if name.isupper() else f"--{name.replace('_', '-')}" for name in reading[:2])
        raise BadOption(f"standard input is read as {first} already", second)


def make_reporter(context: typer.Context, messages: Messages) -> Reporter:
    """Messages as --quiet or --verbose asks; if one of them is a setting, the other, on the command line, counts."""
    quiet, verbose = messages.quiet, messages.verbose
    if quiet and verbose:
        quiet, verbose = is_typed(context, "quiet"), is_typed(context, "verbose")
        if quiet == verbose:
            raise BadOption("contradicts --quiet", "--verbose")
    return Reporter(quiet, verbose)


@contextmanager
def stoppable(reporter: Reporter, done: Callable[[], str]) -> Iterator[None]:
    """On Ctrl-C or the like inside the block, report what is `done` in one line and exit with the signal's code."""
    try:
        yield
    except KeyboardInterrupt:
        found = done()
        reporter.info(f"stopped: {found}" if found else "stopped")
        raise typer.Exit(stop_code()) from None


def work_on(
    jobs: Sequence[Job],
    request: FixRequest,
    work: Callable[[Job, Opened], _Result],
    reporter: Reporter,
    restore: bool = True,
) -> Iterator[_Result]:
    """Yield what `work` makes of each file. Files are divided by languages; without `restore` no word is restored.

    Failures and notes go to the `reporter`. Raises BadModel, with which every other file would fail, WrongUsage and
    BrokenPipeError.
    """
    if restore:
        request.check()
    fixer = Fixer(request, reporter.info, reporter)
    with counting(reporter, len(jobs)):
        for job in jobs:
            reporter.begin(job.name)
            try:
                text, encoding = read_text(job.source, request.encoding)
                if encoding.guess:
                    reporter.info(f"{job.name}: {encoding.note}")
                opened = fixer.open(request.read(text, job.name), job.name, encoding, restore)
                if opened.note:
                    reporter.info(f"{job.name}: {opened.note}")
                result = work(job, opened)
            except (CappuncError, OSError) as error:
                # A file in a language without a model fails alone.
                if isinstance(error, BadModel | BrokenPipeError) and not isinstance(error, UnknownModel):
                    raise
                reporter.failure(about(error, job.name), job.is_skipped(error))
                reporter.finish()
            else:
                reporter.finish()
                yield result


@contextmanager
def counting(reporter: Reporter, files: int = 0) -> Iterator[None]:
    """Count files, with a bar on a terminal; Ctrl-C reports them: `stopped: 3 of 7 files done`."""
    with stoppable(reporter, lambda: files_done(reporter.done, reporter.files)), reporter.progress(files):
        yield
