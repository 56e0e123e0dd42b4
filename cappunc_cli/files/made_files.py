"""Make new files from files: read, convert and write each, and report it in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cappunc_cli.document.words import Document
from cappunc_cli.files.encodings import Encoding
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job, one_by_one, read_job
from cappunc_cli.files.output import write_stdout
from cappunc_cli.files.plan import plan_jobs
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import Fixers, FixRequest
from cappunc_cli.files.results import ResultWriter
from cappunc_cli.files.storage import write_result
from cappunc_cli.languages import Language, language


class Maker(Protocol):
    """Makes new files from documents of one language."""

    def make(self, document: Document, name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The content of the new file, and a summary for the user. `name` and `encoding` are the input's.

        Raises CappuncError.
        """


@dataclass(frozen=True, slots=True)
class Making:
    """What to make of files: the maker for a language, and whether a model restores before; `force` overwrites."""

    maker_of: Callable[[Fixer, Language], Maker]
    request: FixRequest
    restore: bool
    force: bool


def make_files(jobs: Sequence[Job], making: Making, reporter: Reporter, tally: FileTally) -> None:
    """Make and write each file with the maker of its language.

    Failures go to the `reporter`; all files are counted in the `tally`. Without `restore` no model is used. Raises
    BadModel.
    """
    request = making.request
    if making.restore:
        request.check()
    term_check = TermCheck(request.common.options.glossary)
    fixers = Fixers(request, reporter.info, reporter.detail, tally.advance)
    writer = ResultWriter("force" if making.force else "new", hint="")

    def make(job: Job) -> None:
        writer.check(job)
        text, encoding = read_job(job, reporter)
        document = request.common.read(text, job.source)
        if making.restore:
            fixer = fixers.for_text(text)
            own = fixer.settings.options.conventions(fixer.settings.check())
        else:
            code = request.choice.language_of(text)
            fixer, own = Fixer(request.common.for_model("", code), reporter.info), language(code)
        term_check.check(document.texts)
        reporter.warnings(job.name, document.notices)
        data, summary = making.maker_of(fixer, own).make(document, job.name, encoding)
        if job.target is None:
            with reporter.without_bar():
                write_stdout(data)
        else:
            write_result(job.target, data)
        reporter.info(f"{job.name}{f' -> {job.target}' if job.target is not None else ''}: {summary}")

    for _ in one_by_one(jobs, make, reporter, tally):
        pass
    term_check.report(reporter)


def made_jobs(
    jobs: Sequence[Job],
    suffix: str | None,
    output: str | None,
    names: Sequence[str],
    also_read: Sequence[str],
    added: str = "",
) -> list[Job]:
    """The jobs with targets that have this `suffix` (None: the input's).

    If one of the inputs' `names` is a directory, so is `output`. On a terminal and without `output`, results go next
    to their inputs, with `added` before the suffix. No result overwrites a file that is `also_read`. Raises BadOption.
    """
    if suffix is not None:
        jobs = [replace(job, relative=job.relative.with_suffix(suffix)) for job in jobs]
    return plan_jobs(
        jobs,
        output,
        False,
        names,
        beside=lambda job: f"{job.relative.stem}{added}{job.relative.suffix}",
        also_read=also_read,
    )
