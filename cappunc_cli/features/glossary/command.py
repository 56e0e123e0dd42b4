"""`cappunc glossary`: extract terms from files, for `cappunc fix --glossary`."""

from __future__ import annotations

from dataclasses import replace

import typer

from cappunc_cli.cli.options import Changes
from cappunc_cli.cli.usage import fix_request, input_jobs, input_names, make_reporter, refuse_typed, work_on
from cappunc_cli.features.glossary.options import GlossaryOptions
from cappunc_cli.features.glossary.term_extraction import TermFinder, is_cased, layout_breaks
from cappunc_cli.files.fixer import Opened
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import write_json, write_text
from cappunc_cli.languages import Language
from cappunc_cli.restoration.options import Options


def glossary(context: typer.Context, options: GlossaryOptions) -> None:
    """Print the terms; exit with 1 if a file could not be read."""
    if options.as_json:
        refuse_typed(context, ("counts",), "does not apply to --json: that has the counts")
    reporter = make_reporter(context, options.messages)
    jobs = input_jobs(input_names(context, options.inputs), options.inputs, reporter, results=True)
    request = fix_request(context, options.model, options.inputs, Changes(Options()))

    def words(_: Job, opened: Opened) -> tuple[list[str], list[bool], Language]:
        """The words of a file, with case from the file or from a model; its layout breaks; its language."""
        document = opened.document
        texts = document.texts
        if texts and not is_cased(texts):
            code = request.language_of(document.source)
            opened = replace(opened, code=code, stretches=[(code, range(len(texts)))])
            texts = opened.restore()
        return texts, layout_breaks(document.words), opened.language

    finder = TermFinder()
    for found_words in work_on(jobs, request, words, reporter, restore=False):
        finder.add(*found_words)
    found = [(term, count) for term, count in finder.candidates() if count >= options.least]
    if options.as_json:
        write_json([{"term": term, "count": count} for term, count in found])
    else:
        write_text("".join(f"{count}\t{term}\n" if options.counts else f"{term}\n" for term, count in found))
    if reporter.errors:
        raise typer.Exit(1)
