"""Group files by language, and by model if they are to be restored."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.application.language_detection import AUTO
from cappunc_cli.application.plan import Job, by_model, with_languages
from cappunc_cli.application.progress import Reporter
from cappunc_cli.restoration.model.engines import NETWORK
from cappunc_cli.restoration.model.registry import known_languages


def by_language(
    jobs: Sequence[Job], lang: str, model: str | None, restore: bool, reporter: Reporter
) -> list[tuple[str, str, list[Job]]]:
    """Groups (model, language code, jobs). The model is "" without `restore`; the code "" is the model's language."""
    if restore:
        parts = by_model(jobs, lang, model, NETWORK, reporter.error)
        return [(name, code or "", own_jobs) for (name, code), own_jobs in parts.items()]
    by_code: dict[str, list[Job]] = {}
    coded = with_languages(jobs, known_languages(), reporter.error) if lang == AUTO else ((job, lang) for job in jobs)
    for job, code in coded:
        by_code.setdefault(code, []).append(job)
    return [("", code, own_jobs) for code, own_jobs in by_code.items()]
