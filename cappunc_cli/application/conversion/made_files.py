"""Files that become other files: read, made into something else and written, each with a line of what was done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from cappunc_cli.application.conversion.language_parts import by_language
from cappunc_cli.application.plan import Job, plan_jobs, sibling
from cappunc_cli.application.processing import refuse_overwriting
from cappunc_cli.application.storage.encodings import Encoding
from cappunc_cli.application.storage.files import about, read_text, write_result, write_stdout
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.languages import Language, language

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.application.glossary_file import TermCheck
    from cappunc_cli.application.progress import FileTally, Reporter
    from cappunc_cli.transcript.words import Document


class Maker(Protocol):
    """What makes something of a document, all in one language."""

    def make(self, document: Document, name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The new file for the one of this name and encoding, and what there is to tell. Raises CappuncError."""


def make_files(
    jobs: Sequence[Job],
    maker_of: Callable[[Fixer, Language], Maker],
    *,
    lang: str,
    model: str | None,
    device: str,
    format_name: str | None,
    glossary: Sequence[str] | None,
    restore: bool,
    force: bool,
    reporter: Reporter,
    tally: FileTally,
) -> None:
    """Make and write each file with the maker of its language; `reporter` hears of those that fail, `tally` of all.

    Without `restore` nothing is asked of a model. Raises BadModel.
    """
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.application.glossary_file import TermCheck, load_glossaries
    from cappunc_cli.restoration.options import Options

    terms = load_glossaries(glossary)
    known = TermCheck(terms)
    for name, code, some in by_language(jobs, lang, model, restore, reporter):
        settings = Settings(name, device, format_name, Options(language=code or None, glossary=terms))
        if name:
            settings.check()
        own = language(code) if code else settings.options.conventions(settings.config())
        fixer = Fixer(settings, reporter.info, reporter.detail)
        maker = maker_of(fixer, own)
        for job in some:
            try:
                fixer.heard = tally.begin(job.name)
                _make(job, fixer, maker, known, force, reporter)
            except (BadModel, BrokenPipeError):
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_passed_over(error))
            tally.finish(job.name)
    known.tell(reporter)


def _make(job: Job, fixer: Fixer, maker: Maker, terms: TermCheck, force: bool, reporter: Reporter) -> None:
    if job.target is not None:
        refuse_overwriting(job, job.target, "force" if force else "new", instead="")
    text, encoding = read_text(job.source, job.encoding)
    reporter.guessed(job.name, encoding.note)
    document = fixer.read(text, job.source)
    terms.look(document.words.texts)
    reporter.warnings(job.name, [(notice.line, notice.message) for notice in document.notices])
    data, told = maker.make(document, job.name, encoding)
    if job.target is None:
        with reporter.without_bar():
            write_stdout(data)
        reporter.info(f"{job.name}: {told}")
        return
    write_result(job.target, data)
    reporter.info(f"{job.name} -> {job.target}: {told}")


def made_jobs(jobs: Sequence[Job], suffix: str | None, output: str | None, tree: bool, added: str = "") -> list[Job]:
    """The jobs with targets that have the `suffix` of what is made (None: as the input has).

    The `output` of a `tree` is a directory. At a terminal and without `output` what is made comes beside its input,
    with `added` before the suffix. Raises BadOption.
    """
    if suffix is not None:
        jobs = [replace(job, relative=job.relative.with_suffix(suffix)) for job in jobs]
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        beside = (f"{job.relative.stem}{added}{job.relative.suffix}" for job in jobs)
        return [replace(job, target=sibling(job.source, name)) for job, name in zip(jobs, beside, strict=True)]
    return plan_jobs(jobs, output, False, False, tree)
