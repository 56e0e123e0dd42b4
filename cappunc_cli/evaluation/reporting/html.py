"""The report as a self-contained HTML page: scores, plots, files, and the mistakes in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType

from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Comparison
from cappunc_cli.evaluation.calibration import Calibration
from cappunc_cli.evaluation.contingency import confusion
from cappunc_cli.evaluation.metrics import NAMES, THREE, Score, word_counts
from cappunc_cli.evaluation.mistakes import Mistake, short_time, worst_mistakes
from cappunc_cli.evaluation.reporting import plots, report
from cappunc_cli.evaluation.reporting.signature import Signature
from cappunc_cli.evaluation.sweep import Point, suggest
from cappunc_cli.pages.html_page import HtmlPage


def page(
    evaluation: Evaluation,
    signature: Signature,
    *,
    intervals: report.Intervals | None = None,
    calibration: Calibration | None = None,
    comparison: Mapping[str, Comparison] | None = None,
    sweep: tuple[str, Sequence[Point]] | None = None,
    links: Mapping[int, str] | None = None,
) -> str:
    """The whole page, without plots if matplotlib is missing; `links` has the addresses of files by their index."""
    parts = [
        "<h1>Punctuation and case</h1>",
        f'<p class="lead">{escape(report.word_line(word_counts(evaluation.table)))}</p>',
        _facts(evaluation),
        _scores(report.rows(evaluation, intervals)),
        '<div class="figures">',
        *_drawings(evaluation, calibration),
        "</div>",
        _compared(comparison) if comparison else "",
        _swept(*sweep) if sweep else "",
        _files(evaluation, links or {}),
        _mistakes(worst_mistakes(evaluation)),
        f'<p class="note"><code>{escape(str(signature))}</code></p>',
    ]
    body = "\n".join(('<main class="report">', *parts, "</main>"))
    return HtmlPage("cappunc eval", body, ("eval.js",), drawn=True).html()


def _facts(evaluation: Evaluation) -> str:
    """The scores of the three commonest marks, large."""
    scores = {NAMES[mark]: evaluation.scores[NAMES[mark]] for mark in THREE}
    items = (
        f"<li><b>{100 * score.f1:.1f}</b><span>F1, {escape(name)}</span></li>"
        for name, score in scores.items()
        if isinstance(score, Score)
    )
    return f'<ul class="facts">{"".join(items)}</ul>'


def _table(head: Iterable[str], body: Iterable[Sequence[str]], links: Mapping[int, str] = MappingProxyType({})) -> str:
    """Rows of one cell are section titles; `links` has addresses for first cells, by the number of the row."""
    columns = list(head)
    lines = ["<tr>" + "".join(map(_head_cell, columns)) + "</tr>"]
    for i, row in enumerate(body):
        first, *others = map(escape, row)
        if i in links:
            first = f'<a href="{escape(links[i])}">{first}</a>'
        if not others:
            lines.append(f'<tr class="section"><td colspan="{len(columns)}">{first}</td></tr>')
        else:
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in (first, *others)) + "</tr>")
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>' + "\n".join(lines) + "</table></div>"
    )


def _head_cell(cell: str) -> str:
    return f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>"


def _scores(lines: Sequence[report.ReportRow]) -> str:
    with_bounds = any(row.interval for row in lines)
    body: list[Sequence[str]] = []
    section = ""
    for row in lines:
        if row.section != section:
            section = row.section
            body.append([section])
        body.append(report.cells(row, with_bounds))
    return _table(report.columns(with_bounds), body)


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _drawings(evaluation: Evaluation, calibration: Calibration | None) -> list[str]:
    if not plots.can_draw():
        return []
    matrix = confusion(evaluation.table, fold=not report.has_other_marks(evaluation))
    scores = evaluation.scores
    chosen = {mark: value for mark in THREE if isinstance(value := scores[NAMES[mark]], Score)}
    drawn = [
        _figure(plots.confusion(matrix), "Confusion: counts, shaded by the share of the reference's mark"),
        _figure(
            plots.precision_recall(calibration.curves if calibration else {}, chosen),
            "Precision and recall over all thresholds; the dot is the text as scored" if calibration
            else "Precision and recall; curves need the model's probabilities",
        ),
    ]  # fmt: skip
    if calibration:
        caption = f"Calibration: expected error {100 * calibration.ece:.1f}"
        drawn.append(_figure(plots.reliability(calibration.bins), caption))
    return drawn


def _compared(comparison: Mapping[str, Comparison]) -> str:
    body = [
        [name, f"{100 * c.difference:+.2f}", f"{100 * c.low:+.2f} to {100 * c.high:+.2f}", f"{c.p:.3f}"]
        for name, c in comparison.items()
        if name in report.COMPARED
    ]
    return "<h2>Other hypothesis minus this one</h2>" + _table(["", "difference", "95 %", "p"], body)


def _swept(name: str, points: Sequence[Point]) -> str:
    best = suggest(points)
    head = [name, *points[0].scores, "seconds"]
    body = [[f"{p.value:g}", *(f"{100 * f:.2f}" for f in p.scores.values()), f"{p.seconds:.1f}"] for p in points]
    caption = f"Suggested: {name} {best.value:g}"
    drawing = _figure(plots.sweep(name, points, best), caption) if plots.can_draw() else f"<p>{escape(caption)}</p>"
    return f"<h2>Sweep of {escape(name)}</h2>{drawing}{_table(head, body)}"


def _files(evaluation: Evaluation, links: Mapping[int, str]) -> str:
    lines = report.files(evaluation)
    figures = [key for key in lines[0] if key not in ("name", "words")]
    body = [
        [str(line["name"]), f"{line['words']:,}", *(f"{100 * float(str(line[key])):.1f}" for key in figures)]
        for line in lines
    ]
    about = "<p>Each link shows the file beside its reference.</p>" if links else ""
    return f"<h2>Files</h2>{about}{_table(['', 'words', *figures], body, links)}"


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
    place = " · ".join(
        part for part in (mistake.group, short_time(mistake.start), mistake.file, f"{mistake.weight:.2f}") if part
    )
    word = " ".join(
        f"<{tag}>{escape(text)}</{tag}>"
        for tag, text in (("del", mistake.hypothesis), ("ins", mistake.reference))
        if text
    )
    return (
        f'<li data-group="{escape(mistake.group)}"><small>{escape(place)}</small>'
        f"{escape(mistake.before)} {word} {escape(mistake.after)}</li>"
    )
