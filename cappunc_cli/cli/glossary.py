"""`cappunc glossary`: the terms that files suggest, one a line, for `fix --glossary`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.files import about, named, read_text, write_stdout
from cappunc_cli.cli.options import Device, Files, Quiet, or_standard_input
from cappunc_cli.cli.plan import Job, inputs
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import CappuncError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.restoration.glossary import Glossary
    from cappunc_cli.restoration.pipeline import Model


def glossary(
    context: typer.Context,
    files: Files = None,
    counts: Annotated[bool, typer.Option("--counts", help="Print how often before each term.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of terms and counts.")] = False,
    least: Annotated[int, typer.Option("--least", min=1, metavar="N", help="Only what occurs so often.")] = 1,
    model: Annotated[str, typer.Option(metavar="NAME|DIR", help="For files without case; see: cappunc models.")] = "en",
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
    from cappunc_cli.languages import language
    from cappunc_cli.restoration.candidates import propose
    from cappunc_cli.restoration.config import ModelConfig
    from cappunc_cli.restoration.models import find

    reporter = Reporter(quiet)
    jobs = [Job(source, None) for source, _ in inputs(or_standard_input(files, context), None)]
    code = ModelConfig.load(find(model)).languages[0]
    found = [c for c in propose(_texts(jobs, model, device, reporter), language(code)) if c.count >= least]
    if as_json:
        output = json.dumps([asdict(candidate) for candidate in found], ensure_ascii=False, indent=2) + "\n"
    else:
        output = "".join(f"{c.count}\t{c.term}\n" if counts else f"{c.term}\n" for c in found)
    write_stdout(output.encode("utf-8"))
    if reporter.errors:
        raise typer.Exit(1)


def _texts(jobs: Sequence[Job], model: str, device: str, reporter: Reporter) -> Iterator[tuple[list[str], list[bool]]]:
    """The words of each file, with case from the file or from the model, and its breaks."""
    from cappunc_cli import formats
    from cappunc_cli.restoration.candidates import breaks, is_cased
    from cappunc_cli.restoration.pipeline import load_model, restore

    loaded: Model | None = None
    for job in jobs:
        try:
            document = formats.read(read_text(job.source)[0], job.file_name)
        except (CappuncError, OSError) as error:
            reporter.error(about(error, job.name))
            continue
        texts = [word.text for word in document.words]
        if texts and not is_cased(texts):
            loaded = loaded or load_model(model, device)
            texts = restore(document.words, loaded)
        yield texts, breaks(document.words)


def load(path: str) -> Glossary:
    """The glossary in a file; raises CappuncError."""
    from cappunc_cli.restoration.glossary import Glossary, parse

    try:
        text, _ = read_text(named(path))
    except OSError as error:
        raise about(error, path) from error
    return Glossary.of(parse(text, path))
