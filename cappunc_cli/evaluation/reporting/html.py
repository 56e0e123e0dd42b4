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

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #0a7d38; --bad: #c22; }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left } tr.section td { font-weight: 600; padding-top: .8rem }
code { font-size: .8rem; overflow-wrap: anywhere; opacity: .75 }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1.5rem; align-items: flex-start }
figure { margin: 0; background: #fff; color: #000; border-radius: .5rem; padding: .5rem; max-width: 100% }
figure svg { max-width: 100%; height: auto; display: block } figcaption { font-size: .85rem }
.filter { display: flex; flex-wrap: wrap; gap: .4rem; margin: .5rem 0 }
.filter button { font: inherit; font-size: .85rem; padding: .25rem .7rem; border: 1px solid var(--line);
  border-radius: 1rem; background: none; color: inherit; cursor: pointer }
.filter button[aria-pressed=true] { background: #0072b2; color: #fff }
ol { list-style: none; padding: 0 }
li { padding: .5rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
li small { display: block; opacity: .75 }
del { color: var(--bad) } ins { color: var(--good); text-decoration: none; font-weight: 600 }
@media (max-width: 40rem) {
  body { padding: .6rem } table { font-size: .8rem } th, td { padding: .15rem .3rem }
  td:first-child { white-space: normal }
}
@media (prefers-color-scheme: dark) { :root { --good: #4ccb7f; --bad: #ff7b7b } }
"""

# Filter by class, and show the mistakes a hundred at a time.
_SCRIPT = """
const rows = [...document.querySelectorAll('#mistakes li')], more = document.getElementById('more');
let group = '', shown = 100;
function draw() {
  let n = 0;
  for (const row of rows) {
    const fits = !group || row.dataset.group === group;
    if (fits) n++;
    row.hidden = !fits || n > shown;
  }
  more.hidden = n <= shown;
}
document.querySelectorAll('.filter button').forEach(b => b.onclick = () => {
  group = b.dataset.group; shown = 100;
  document.querySelectorAll('.filter button').forEach(o => o.setAttribute('aria-pressed', o === b));
  draw();
});
more.onclick = () => { shown += 400; draw(); };
draw();
"""


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
        f"<p>{escape(report.word_line(word_counts(evaluation.table)))}</p>",
        _scores(report.rows(evaluation, intervals)),
        '<div class="plots">',
        *_drawings(evaluation, calibration),
        "</div>",
        _compared(comparison) if comparison else "",
        _swept(*sweep) if sweep else "",
        _files(evaluation, links or {}),
        _mistakes(worst_mistakes(evaluation)),
        f"<p><code>{escape(str(signature))}</code></p>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>cappunc eval</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + f"\n<script>{_SCRIPT}</script></body></html>\n"
    )


def _table(head: Iterable[str], body: Iterable[Sequence[str]], links: Mapping[int, str] = MappingProxyType({})) -> str:
    """Rows of one cell are section titles; `links` has addresses for first cells, by the number of the row."""
    columns = list(head)
    lines = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in columns) + "</tr>"]
    for i, row in enumerate(body):
        first, *others = map(escape, row)
        if i in links:
            first = f'<a href="{escape(links[i])}">{first}</a>'
        if not others:
            lines.append(f'<tr class="section"><td colspan="{len(columns)}">{first}</td></tr>')
        else:
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in (first, *others)) + "</tr>")
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"


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
        f'<div class="filter">{"".join(buttons)}</div><ol id="mistakes">{items}</ol>'
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
