"""The pages of `cappunc eval --html`: scores, confusion of marks, files, and the mistakes in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from cappunc_cli.evaluation import Evaluation, report, tables
from cappunc_cli.evaluation.metrics import NAMES
from cappunc_cli.evaluation.mistakes import Mistake, worst_mistakes
from cappunc_cli.evaluation.pairs import confusion
from cappunc_cli.evaluation.report import Signature, System
from cappunc_cli.evaluation.tables import Table
from cappunc_cli.files.inspection import tenths
from cappunc_cli.pages.html_page import HtmlPage


def page(systems: Sequence[System], signature: Signature) -> str:
    """The page of one system or several."""
    parts = [*(_of_one(systems[0]) if len(systems) == 1 else _of_several(systems, signature))]
    body = "\n".join(
        (
            '<main class="report">',
            "<h1>Punctuation and case</h1>",
            *parts,
            f'<p class="note"><code>{escape(report.signed(signature))}</code></p>',
            "</main>",
        )
    )
    return HtmlPage("cappunc eval", body, ["eval.js"] if len(systems) == 1 else ()).html()


def _of_one(system: System) -> Iterator[str]:
    evaluation = system.evaluation
    yield f'<p class="lead">{escape(report.word_line(evaluation))}</p>'
    yield tables.as_html(report.score_table(system))
    yield "<h2>Confusion</h2><p>The reference's marks in rows, the hypothesis's in columns.</p>"
    yield tables.as_html(_confusion(evaluation))
    yield "<h2>Files</h2>"
    yield tables.as_html(report.file_table([system]))
    yield _mistakes(worst_mistakes(evaluation))


def _of_several(systems: Sequence[System], signature: Signature) -> Iterator[str]:
    yield f'<p class="lead">{escape(report.notes(systems, signature)[0])}</p>'
    yield tables.as_html(report.table(systems))
    yield "<h2>Files</h2>"
    yield tables.as_html(report.file_table(systems))


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
