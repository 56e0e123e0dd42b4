"""The pages of `cappunc eval --html`: scores, confusion of marks, files, and the mistakes in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from cappunc_cli.evaluation import Evaluation, report, tables
from cappunc_cli.evaluation.metrics import NAMES
from cappunc_cli.evaluation.mistakes import Mistake, worst_mistakes
from cappunc_cli.evaluation.pairs import confusion
from cappunc_cli.evaluation.report import Signature, System
from cappunc_cli.evaluation.tables import Table
from cappunc_cli.files.inspection import tenths
from cappunc_cli.pages.html_page import html_page


def page(systems: Sequence[System], signature: Signature) -> str:
    """The page of one system or several; of one it has the confusion of marks and the mistakes, too."""
    evaluation = systems[0].evaluation if len(systems) == 1 else None
    parts = [
        f'<p class="lead">{escape(report.notes(systems, signature)[0])}</p>',
        tables.as_html(report.table(systems)),
    ]
    if evaluation is not None:
        parts.append("<h2>Confusion</h2><p>The reference's marks in rows, the hypothesis's in columns.</p>")
        parts.append(tables.as_html(_confusion(evaluation)))
    parts += ["<h2>Files</h2>", tables.as_html(report.file_table(systems))]
    if evaluation is not None:
        parts.append(_mistakes(worst_mistakes(evaluation)))
    signed = f'<p class="note"><code>{escape(report.signed(signature))}</code></p>'
    body = "\n".join(('<main class="report">', "<h1>Punctuation and case</h1>", *parts, signed, "</main>"))
    return html_page("cappunc eval", body, ["eval.js"] if evaluation is not None else ())


def _confusion(evaluation: Evaluation) -> Table:
    matrix = confusion(evaluation.pairs)
    names = [mark for mark in matrix if any(matrix[mark].values()) or any(row[mark] for row in matrix.values())]
    titles = [NAMES.get(name, "none") for name in names]
    rows = [[title, *(f"{matrix[a][b]:,}" for b in names)] for title, a in zip(titles, names, strict=True)]
    return Table(["", *titles], rows)


def _mistakes(found: Sequence[Mistake]) -> str:
    groups = Counter(mistake.group for mistake in found)
    buttons = [f'<button data-group="" aria-pressed="true">all {len(found)}</button>']
    buttons += [
        f'<button data-group="{escape(group)}" aria-pressed="false">{escape(group)} {count}</button>'
        for group, count in groups.most_common()
    ]
    items = "\n".join(map(_item, found))
    return (
        "<h2>Mistakes, worst first</h2><p>In context: <del>hypothesis</del> <ins>reference</ins>.</p>"
        f'<div class="filter">{"".join(buttons)}</div><ol id="mistakes" class="quotes">{items}</ol>'
        '<button id="more" hidden>more</button>'
    )


def _item(mistake: Mistake) -> str:
    start = "" if mistake.start is None else tenths(mistake.start)
    place = " · ".join(filter(None, (mistake.group, start, mistake.file)))
    word = " ".join(
        f"<{tag}>{escape(text)}</{tag}>"
        for tag, text in (("del", mistake.hypothesis), ("ins", mistake.reference))
        if text
    )
    return (
        f'<li data-group="{escape(mistake.group)}"><small>{escape(place)}</small>'
        f"{escape(mistake.before)} {word} {escape(mistake.after)}</li>"
    )
