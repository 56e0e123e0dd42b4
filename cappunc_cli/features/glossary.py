"""`cappunc glossary`: extract terms from files, for `cappunc fix --glossary`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    Lang,
    Quiet,
    models_beginning,
    names_asked,
    refuse_typed,
    tallied,
)
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.input_files import Job, find_inputs, one_by_one, read_job
from cappunc_cli.files.output import write_json, write_text
from cappunc_cli.files.progress import FileTally, Reporter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.languages import Language
    from cappunc_cli.restore.pipeline import Model


def glossary(
    context: typer.Context,
    files: Files = None,
    counts: Annotated[bool, typer.Option("--counts", help="Print the count of each term before it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of terms and counts.")] = False,
    least: Annotated[
        int, typer.Option("--least", min=1, metavar="N", help="Only terms that occur at least N times.")
    ] = 1,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            autocompletion=models_beginning,
            help="Model for files without case (default: by language); see: cappunc models.",
        ),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Suggest names and other terms for a glossary.

    Terms are words with capitals in mid-sentence, the most frequent first. For files without case, the model restores
    it first. Check the list: a misheard name is listed as it was heard.

    \b
    cappunc glossary slides.txt notes/ > terms.txt      from text with case
    cappunc glossary --counts talk.srt                  with counts
    cappunc fix --glossary terms.txt talk.srt
    """
    from cappunc_cli.files.language_detection import AUTO
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.restore.models.registry import ModelConfig, find_model
    from cappunc_cli.restore.term_extraction import extract_terms

    if as_json:
        refuse_typed(context, ("counts",), "does not apply to --json, which has the counts")
    reporter = Reporter(quiet)
    jobs = find_inputs(names_asked(context, files), None, reporter.error, encoding=encoding, results=True)
    own = None if model is None else ModelConfig.load(find_model(model)).languages[0]
    code = own if lang == AUTO else lang
    with tallied(reporter, len(jobs), "read") as tally:
        texts = _texts(jobs, code, ModelChoice(lang, model), device, reporter, tally)
        found = [candidate for candidate in extract_terms(texts) if candidate.count >= least]
    if as_json:
        write_json([asdict(candidate) for candidate in found])
    else:
        write_text("".join(f"{c.count}\t{c.term}\n" if counts else f"{c.term}\n" for c in found))
    if reporter.errors:
        raise typer.Exit(1)


def _texts(
    jobs: Sequence[Job], code: str | None, choice: ModelChoice, device: str, reporter: Reporter, tally: FileTally
) -> Iterator[tuple[list[str], list[bool], Language]]:
    """The words of each file, with case from the file or from a model; its layout breaks; its language."""
    from cappunc_cli import formats
    from cappunc_cli.files.language_detection import language_of_text
    from cappunc_cli.languages import language
    from cappunc_cli.restore.models.registry import known_languages
    from cappunc_cli.restore.options import Options
    from cappunc_cli.restore.pipeline import load_model, restore
    from cappunc_cli.restore.term_extraction import is_cased, layout_breaks

    loaded: dict[str, Model] = {}
    codes = [] if code else known_languages()

    def words(job: Job) -> tuple[list[str], list[bool], Language]:
        text, _ = read_job(job, reporter)
        document = formats.read(text, job.source)
        texts = [word.text for word in document.words]
        spoken = code or language_of_text(text, codes)
        if texts and not is_cased(texts):
            try:
                own = choice.of_language(spoken)
            except BadModel as error:
                raise CappuncError(error.message) from error  # files in other languages may have one
            loaded[own] = loaded.get(own) or load_model(own, device)
            texts = restore(document.words, loaded[own], Options(language=spoken))
        return texts, layout_breaks(document.words), language(spoken)

    return one_by_one(jobs, words, reporter, tally)
