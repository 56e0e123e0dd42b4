"""Make new files from files: read, convert and write each, and report it in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from cappunc_cli.files.encodings import Encoding
from cappunc_cli.files.input_files import Job, one_by_one, read_job
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.files.model_choice import ModelChoice, settings_by_model, with_languages
from cappunc_cli.files.output import write_stdout
from cappunc_cli.files.plan import plan_jobs
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.files.storage import write_result
from cappunc_cli.languages import Language, language
from cappunc_cli.restore.models.registry import known_languages

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer, Settings
    from cappunc_cli.files.glossary_file import TermCheck
    from cappunc_cli.files.progress import FileTally, Reporter


class Maker(Protocol):
    """Makes new files from documents of one language."""

    def make(self, document: Document, name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The content of the new file, and a summary for the user. `name` and `encoding` are the input's.

        Raises CappuncError.
        """


def make_files(
    jobs: Sequence[Job],
    maker_of: Callable[[Fixer, Language], Maker],
    *,
    choice: ModelChoice,
    common: Settings,
    restore: bool,
    force: bool,
    reporter: Reporter,
    tally: FileTally,
) -> None:
    """Make and write each file with the maker of its language; but for model and language, the settings are `common`.

    Failures go to the `reporter`; all files are counted in the `tally`. Without `restore` no model is used. Raises
    BadModel.
    """
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.glossary_file import TermCheck

    term_check = TermCheck(common.options.glossary)
    if restore:
        parts = settings_by_model(jobs, choice, common, reporter.error)
    else:
        by_language = _by_language(jobs, choice.lang, reporter)
        parts = [(common.for_model("", code), own_jobs) for code, own_jobs in by_language.items()]
    for settings, own_jobs in parts:
        own = settings.options.conventions(settings.check()) if restore else language(settings.options.language or "")
        fixer = Fixer(settings, reporter.info, reporter.detail, tally.advance)
        maker = maker_of(fixer, own)
        work = partial(_make, fixer, maker, term_check, force, reporter)
        for _ in one_by_one(own_jobs, work, reporter, tally):
            pass
    term_check.report(reporter)


def _by_language(jobs: Sequence[Job], lang: str, reporter: Reporter) -> dict[str, list[Job]]:
    if lang != AUTO:
        return {lang: list(jobs)}
    found: dict[str, list[Job]] = {}
    for job, code in with_languages(jobs, known_languages(), reporter.error):
        found.setdefault(code, []).append(job)
    return found


def _make(fixer: Fixer, maker: Maker, terms: TermCheck, force: bool, reporter: Reporter, job: Job) -> None:
    ResultWriter("force" if force else "new", hint="").check(job)
    text, encoding = read_job(job, reporter)
    document = fixer.read(text, job.source)
    terms.check(document.texts)
    reporter.warnings(job.name, document.notices)
    data, summary = maker.make(document, job.name, encoding)
    if job.target is None:
        with reporter.without_bar():
            write_stdout(data)
        reporter.info(f"{job.name}: {summary}")
        return
    write_result(job.target, data)
    reporter.info(f"{job.name} -> {job.target}: {summary}")


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
