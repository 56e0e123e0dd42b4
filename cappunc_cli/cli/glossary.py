"""`cappunc glossary`: the terms that files suggest, one a line, for `fix --glossary`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.files import about, named, read_text, write_stdout
from cappunc_cli.cli.options import Device, Files, Lang, Quiet, or_standard_input
from cappunc_cli.cli.plan import Job, to_read
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.engines import NETWORK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.languages import Language
    from cappunc_cli.restoration.glossary import Glossary
    from cappunc_cli.restoration.pipeline import Model


def glossary(
    context: typer.Context,
    files: Files = None,
    counts: Annotated[bool, typer.Option("--counts", help="Print how often before each term.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of terms and counts.")] = False,
    least: Annotated[int, typer.Option("--least", min=1, metavar="N", help="Only what occurs so often.")] = 1,
    lang: Lang = "auto",
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="For files without case. Default: by the language. See: cappunc models."),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Propose names and other terms for a glossary, the most frequent first.

    They come from files that have case: what is capital in mid-sentence. For files without case the
    model says what it would make so. Check the list: a misheard name is listed as it was heard.

    \b
    cappunc glossary slides.txt notes/ > terms.txt      from text with case
    cappunc glossary --counts talk.srt                  and how often
    cappunc fix --glossary terms.txt talk.srt
    """
    from cappunc_cli.cli.lang import AUTO
    from cappunc_cli.restoration.candidates import propose
    from cappunc_cli.restoration.config import ModelConfig
    from cappunc_cli.restoration.models import find

    reporter = Reporter(quiet)
    jobs = to_read(or_standard_input(files, context))
    own = None if model is None else ModelConfig.load(find(model)).languages[0]
    code = own if lang == AUTO else lang
    found = [c for c in propose(_texts(jobs, code, model, device, reporter)) if c.count >= least]
    if as_json:
        output = json.dumps([asdict(candidate) for candidate in found], ensure_ascii=False, indent=2) + "\n"
    else:
        output = "".join(f"{c.count}\t{c.term}\n" if counts else f"{c.term}\n" for c in found)
    write_stdout(output.encode("utf-8"))
    if reporter.errors:
        raise typer.Exit(1)


def _texts(
    jobs: Sequence[Job], code: str | None, model: str | None, device: str, reporter: Reporter
) -> Iterator[tuple[list[str], list[bool], Language]]:
    """The words of each file, with case from the file or from a model, its breaks, and its language."""
    from cappunc_cli import formats
    from cappunc_cli.cli.lang import known, language_of, model_for, model_seen
    from cappunc_cli.languages import language
    from cappunc_cli.restoration.candidates import breaks, is_cased
    from cappunc_cli.restoration.pipeline import Options, load_model, restore

    loaded: dict[str, Model] = {}
    codes = [] if code else known()
    for job in jobs:
        try:
            document = formats.read(read_text(job.source)[0], job.file_name)
            texts = [word.text for word in document.words]
            spoken = code or language_of(job, codes)
            if texts and not is_cased(texts):
                own = (model_for if code else model_seen)(spoken, NETWORK) if model is None else model
                loaded[own] = loaded.get(own) or load_model(own, device)
                texts = restore(document.words, loaded[own], Options(language=spoken))
        except (CappuncError, OSError) as error:
            reporter.failure(about(error, job.name), job.is_passed_over(error))
            continue
        yield texts, breaks(document.words), language(spoken)


def load(path: str) -> Glossary:
    """The glossary in a file; raises CappuncError, and WrongUsage where there is no such file."""
    from cappunc_cli.restoration.glossary import Glossary, parse

    try:
        text, _ = read_text(named(path))
    except OSError as error:
        raise WrongUsage(f"--glossary: {about(error, path)}") from error
    except CappuncError as error:
        raise about(error, path) from error
    return Glossary.of(parse(text, path))
