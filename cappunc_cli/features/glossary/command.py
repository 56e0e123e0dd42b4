"""`cappunc glossary`: extract terms from files, for `cappunc fix --glossary`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.options import Changes
from cappunc_cli.cli.usage import fix_request, input_jobs, input_names, make_reporter, tallied
from cappunc_cli.features.glossary.options import GlossaryOptions
from cappunc_cli.features.glossary.term_extraction import extract_terms, is_cased, layout_breaks
from cappunc_cli.files.fixer import Fixers
from cappunc_cli.files.input_files import Job, one_by_one, read_job
from cappunc_cli.files.output import write_json, write_text
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.options import Options


def glossary(context: typer.Context, options: GlossaryOptions) -> None:
    """Print the terms; exit with 1 if a file could not be read."""
    if options.as_json:
        refuse_typed(context, ("counts",), "does not apply to --json, which has the counts")
    reporter = make_reporter(context, options.messages)
    jobs = input_jobs(input_names(context, options.inputs), options.inputs, reporter, results=True)
    request = fix_request(context, options.model, options.inputs, Changes(Options()))

    def words(job: Job) -> tuple[list[str], list[bool], Language]:
        """The words of a file, with case from the file or from a model; its layout breaks; its language."""
        text, _ = read_job(job, reporter)
        document = request.read(text, job.source)
        texts, code = document.texts, request.choice.language_of(text)
        if code is not None and (not texts or is_cased(texts)):
            return texts, layout_breaks(document.words), language(code)
        fixer = fixers.of(code)
        if texts and not is_cased(texts):
            (texts,) = fixer.restore([document])
        return texts, layout_breaks(document.words), fixer.language

    with tallied(reporter, len(jobs), "read") as tally:
        fixers = Fixers(request, reporter.info, reporter.detail, tally.advance)
        texts = one_by_one(jobs, words, reporter, tally)
        found = [candidate for candidate in extract_terms(texts) if candidate.count >= options.least]
    if options.as_json:
        write_json([asdict(candidate) for candidate in found])
    else:
        write_text("".join(f"{c.count}\t{c.term}\n" if options.counts else f"{c.term}\n" for c in found))
    if reporter.errors:
        raise typer.Exit(1)
