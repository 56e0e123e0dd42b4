"""Files by language, with the model that restores them, if they are to be restored."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.application.plan import Job
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about
from cappunc_cli.errors import CappuncError


def by_language(
    jobs: Sequence[Job], lang: str, model: str | None, restore: bool, reporter: Reporter
) -> list[tuple[str, str, list[Job]]]:
    """(model, language, jobs): each language has its model, if one is needed; the language "" is the model's."""
    from cappunc_cli.application.language_detection import AUTO, by_model, known_languages, language_of

    if restore:
        parts = by_model(jobs, lang, model, "onnx", reporter.error)
        return [(name, code or "", some) for (name, code), some in parts.items()]
    by_code: dict[str, list[Job]] = {}
    for job in jobs:
        try:
            by_code.setdefault(language_of(job, known_languages()) if lang == AUTO else lang, []).append(job)
        except (CappuncError, OSError) as error:
            reporter.error(about(error, job.name))
    return [("", code, some) for code, some in by_code.items()]
