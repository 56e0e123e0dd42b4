"""`cappunc glossary`: extract terms from files, for `cappunc fix --glossary`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import typer

from cappunc_cli import formats
from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.usage import input_jobs, input_names, make_reporter, model_choice, tallied
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.features.glossary.options import GlossaryOptions
from cappunc_cli.features.glossary.term_extraction import extract_terms, is_cased, layout_breaks
from cappunc_cli.files.input_files import Job, one_by_one, read_job
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.files.output import write_json, write_text
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import ModelChoice
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import languages_of
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore


def glossary(context: typer.Context, options: GlossaryOptions) -> None:
    """Print the terms; exit with 1 if a file could not be read."""
    if options.as_json:
        refuse_typed(context, ("counts",), "does not apply to --json, which has the counts")
    reporter = make_reporter(context, options.messages)
    jobs = input_jobs(input_names(context, options.inputs), options.inputs, reporter, results=True)
    choice = model_choice(context, options.model)
    with tallied(reporter, len(jobs), "read") as tally:
        texts = _texts(jobs, choice, options.model.device, reporter, tally)
        found = [candidate for candidate in extract_terms(texts) if candidate.count >= options.least]
    if options.as_json:
        write_json([asdict(candidate) for candidate in found])
    else:
        write_text("".join(f"{c.count}\t{c.term}\n" if options.counts else f"{c.term}\n" for c in found))
    if reporter.errors:
        raise typer.Exit(1)


def _texts(
    jobs: Sequence[Job], choice: ModelChoice, device: str, reporter: Reporter, tally: FileTally
) -> Iterator[tuple[list[str], list[bool], Language]]:
    """The words of each file, with case from the file or from a model; its layout breaks; its language."""
    loaded: dict[str, Model] = {}
    code = None
    if choice.lang == AUTO and choice.model is not None:
        code = languages_of(choice.model, choice.engine)[0]

    def words(job: Job) -> tuple[list[str], list[bool], Language]:
        text, _ = read_job(job, reporter)
        document = formats.read(text, job.source)
        texts = [word.text for word in document.words]
        spoken = code or choice.language_of(text)
        if texts and not is_cased(texts):
            try:
                own = choice.of_language(spoken)
            except BadModel as error:
                raise CappuncError(error.message) from error  # files in other languages may have one
            loaded[own] = loaded.get(own) or load_model(own, device, engine=choice.engine)
            texts = restore(document.words, loaded[own], Options(language=spoken))
        return texts, layout_breaks(document.words), language(spoken)

    return one_by_one(jobs, words, reporter, tally)
