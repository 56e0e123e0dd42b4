"""Reports of caption faults as lines, CSV, JSON or HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from cappunc_cli.document.words import Document, timestamp
from cappunc_cli.errors import UnknownFormat
from cappunc_cli.files.inspection import Report, line_prefix, tenths
from cappunc_cli.files.output import WARNING, Parts, counted, shown_utf_8
from cappunc_cli.files.storage import write_result
from cappunc_cli.formats.cues import CueDetail, is_rolling
from cappunc_cli.formats.shown_cues import shown_cues
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_faults import KINDS, ShownCaption, caption_faults
from cappunc_cli.layout.caption_profiles import Profiles
from cappunc_cli.pages.csv_table import csv_lines
from cappunc_cli.pages.html_page import html_page

_COLUMNS = ("file", "profile", "language", "caption", "start", "end", "severity", "fault", "value", "limit", "text")


def report_of(name: str, captions: Sequence[ShownCaption], language: Language, profiles: Profiles) -> Report:
    """The faults of a file's captions by the limits for their language."""
    limits = profiles.of(language.code)
    return {
        "file": name,
        "profile": profiles.name,
        "language": language.code,
        "limits": asdict(limits),
        "captions": len(captions),
        "faults": caption_faults(captions, language, limits),
    }


def document_report(name: str, document: Document, language: Language, profiles: Profiles) -> Report:
    """The faults of a file's captions; raises UnknownFormat if it has none, or they roll up."""
    found = shown_cues(document)
    if found is None:
        # Of a format without cues, the copies of a word are not lines that are shown again.
        rolling = isinstance(document.detail, CueDetail) and is_rolling(document)
        raise UnknownFormat("roll-up captions cannot be checked" if rolling else "has no captions to check")
    return report_of(name, found, language, profiles)


def fault_line(report: Report, entry: Report) -> Parts:
    """A line such as `talk.srt:00:04:10.2: too fast: 24.1 characters a second, not 20: so then we went / home`."""
    detail = f": {entry['said']}: {entry['text']}"
    return [*line_prefix(report, tenths(entry["start_ms"])), (entry["fault"], WARNING), (detail, "")]


def profiles_used(reports: Sequence[Report]) -> str:
    """The profiles and languages of the reports: `netflix (en, es)`."""
    found: dict[str, list[str]] = {}
    for report in reports:
        found.setdefault(report["profile"], []).append(report["language"])
    return ", ".join(f"{name} ({', '.join(sorted(set(codes)))})" for name, codes in found.items())


def summary(reports: Sequence[Report]) -> str:
    """A text such as `312 captions, 14 too fast, 2 bad break`."""
    (_, captions), *counts = _counts(reports)
    return ", ".join([counted(captions, "caption"), *(f"{count:,} {kind}" for kind, count in counts)])


def _counts(reports: Sequence[Report]) -> list[tuple[str, int]]:
    """The number of captions, and the number of faults of each kind."""
    counts = Counter(entry["fault"] for report in reports for entry in report["faults"])
    captions = sum(report["captions"] for report in reports)
    return [("captions", captions), *((kind, counts[kind]) for kind in KINDS if counts[kind])]


def write_report(reports: Sequence[Report], file: str) -> None:
    """Write all reports to a file or URL: CSV, JSON or HTML, by its suffix. Raises OSError and CappuncError."""
    kind = Path(file).suffix.lower()
    if kind == ".json":
        text = f"{json.dumps(list(reports), ensure_ascii=False, indent=2)}\n"
    else:
        text = _csv(reports) if kind == ".csv" else _page(reports)
    write_result(file, shown_utf_8(text))


def _csv(reports: Sequence[Report]) -> str:
    rows: list[Sequence[object]] = [_COLUMNS]
    for report in reports:
        for entry in report["faults"]:
            times = {"start": timestamp(entry["start_ms"]), "end": timestamp(entry["end_ms"])}
            rows.append([{**report, **entry, **times}.get(column, "") for column in _COLUMNS])
    return csv_lines(rows)


def _page(reports: Sequence[Report]) -> str:
    """The faults as a page: how many of each kind, and a table."""
    cells = "".join(
        f'<tr><td class="text">{escape(report["file"])}</td><td>{entry["caption"]}</td>'
        f'<td>{timestamp(entry["start_ms"])}</td><td class="text"><b>{escape(entry["fault"])}</b>: '
        f'{escape(entry["said"])}</td><td class="text">{escape(entry["text"])}</td></tr>'
        for report in reports
        for entry in report["faults"]
    )
    head = "".join(
        f'<th scope="col"{" class=text" * (name != "No." and name != "from")}>{name}</th>'
        for name in ("file", "No.", "from", "fault", "text")
    )
    said = f"{profiles_used(reports)}: {summary(reports)}"
    body = (
        f'<main class="report"><h1>Captions</h1><p class="lead">{escape(said)}</p><ul class="facts">'
        + "".join(f"<li><b>{count:,}</b><span>{escape(name)}</span></li>" for name, count in _counts(reports))
        + '</ul><div class="wide" tabindex="0" role="region" aria-label="Faults"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div></main>"
    )
    return html_page("Captions", body)
