"""Tables of text cells, drawn for the terminal and as Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rich.table import Table as RichTable
from rich.text import Text

from cappunc_cli.pages.csv_table import csv_lines

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "*": r"$^{*}$", "–": "--", "—": "---",
        "…": r"\ldots{}", "¿": r"\textquestiondown{}", "¡": r"\textexclamdown{}", "“": "``", "”": "''",
        "↓": r"$\downarrow$", "‰": r"\textperthousand{}", "<": r"\textless{}", ">": r"\textgreater{}",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; a row of one cell is the title of the rows below it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def as_rich(table: Table) -> RichTable:
    """The table for a terminal."""
    drawn = RichTable(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(table.head):
        drawn.add_column(Text(name), justify="right" if i else "left", no_wrap=True)
    indent = "  " * any(len(row) == 1 for row in table.rows)
    for i, (first, *others) in enumerate(table.rows):
        if others:
            drawn.add_row(Text(f"{indent}{first}"), *map(Text, others))
            continue
        if i:
            drawn.add_row()
        drawn.add_row(Text(first, style="bold cyan"))
    return drawn


def as_markdown(table: Table) -> str:
    """The table in Markdown."""
    empty = " |" * (len(table.head) - 1)
    lines = [_piped(table.head), "|---" + "|---:" * (len(table.head) - 1) + "|"]
    lines += [_piped(row) if len(row) > 1 else f"| **{row[0]}** |{empty}" for row in table.rows]
    return "\n".join(lines) + "\n"


def _piped(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def as_csv(table: Table, signature: str) -> str:
    """The table as CSV, with the title above each row and, so that copied lines keep it, the signature."""
    lines, section = [["section", table.head[0] or "name", *table.head[1:], "signature"]], ""
    for row in table.rows:
        if len(row) > 1:
            lines.append([section, *row, signature])
        else:
            section = row[0]
    return csv_lines(lines)


def as_latex(table: Table, notes: Sequence[str]) -> str:
    """The table in LaTeX, for the package booktabs, with the `notes` as comments."""
    width = len(table.head)
    head, *rows = [[cell.translate(_LATEX) for cell in row] for row in (table.head, *table.rows)]
    lines = [f"% {note}" for note in notes]
    lines += [rf"\begin{{tabular}}{{l{'r' * (width - 1)}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    lines += [
        (" & ".join(row) if len(row) > 1 else rf"\multicolumn{{{width}}}{{l}}{{{row[0]}}}") + r" \\" for row in rows
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_html(table: Table) -> str:
    """The table in HTML."""
    heads = (f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in table.head)
    lines = [f"<tr>{''.join(heads)}</tr>"]
    for first, *others in table.rows:
        if others:
            lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in (first, *others))}</tr>")
        else:
            lines.append(f'<tr class="section"><td colspan="{len(table.head)}">{escape(first)}</td></tr>')
    return (
        '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>' + "\n".join(lines) + "</table></div>"
    )
