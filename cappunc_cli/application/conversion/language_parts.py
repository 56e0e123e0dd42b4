"""Files by language, with the model that restores them, if they are to be restored."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.application.plan import Job
from cappunc_cli.application.progress import Reporter
from cappunc_cli.restoration.model.engines import NETWORK


def by_language(
    jobs: Sequence[Job], lang: str, model: str | None, restore: bool, reporter: Reporter
) -> list[tuple[str, str, list[Job]]]:
    """(model, language, jobs): each language has its model, if one is needed; the language "" is the model's."""
    from cappunc_cli.application.language_detection import AUTO, by_model, known_languages, with_languages

    if restore:
        parts = by_model(jobs, lang, model, NETWORK, reporter.error)
        return [(name, code or "", some) for (name, code), some in parts.items()]
    by_code: dict[str, list[Job]] = {}
    told = with_languages(jobs, known_languages(), reporter.error) if lang == AUTO else ((job, lang) for job in jobs)
    for job, code in told:
        by_code.setdefault(code, []).append(job)
    return [("", code, some) for code, some in by_code.items()]
