"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

#: What Excel, LibreOffice and Google Sheets may take for a formula, full-width signs among them; a number is none.
_FORMULA = re.compile(r"(?![-+]?\d[\d.,]*\s?%?\Z)[-=+@\t\uff0d\uff1d\uff0b\uff20]")


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """The rows as lines of CSV; a text that a spreadsheet would run gets an apostrophe and stays a text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([f"'{cell}" if _FORMULA.match(str(cell)) else cell for cell in row] for row in rows)
    return out.getvalue()
