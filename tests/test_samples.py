"""Every sample file from other projects: the right format is found, words and times are kept, nothing crashes."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest
import samples
from opened import labelled

from cappunc_cli import formats
from cappunc_cli.document.labels import Case
from cappunc_cli.document.words import pauses
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.encodings import decode, encode

FOLDERS = samples.folders()
#: Numbers of them without a common divisor, so that each mark meets each case.
CASES, MARKS = [Case.LOWER, Case.CAPITAL, Case.UPPER], ["", ",", ".", "?", "—"]


@pytest.mark.slow
@pytest.mark.skipif(not FOLDERS, reason=f"no samples at {samples.SAMPLES}")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_samples_of(folder: Path) -> None:
    count: Counter[str] = Counter()
    wrong = []
    for path in sorted(folder.iterdir()):
        document = samples.opened(path)
        count["files"] += 1
        if not samples.is_right(path, document):
            wrong.append(f"{path.name} is {samples.expected(path)}, not {samples.outcome(path, document)}")
        if isinstance(document, CappuncError):
            assert document.message, path.name
            assert "\n" not in str(document), path.name
            continue
        count["read"] += 1
        data = path.read_bytes()
        assert encode(formats.write(document, document.texts), decode(data)[1]) == data, path.name
        assert all(pause is None or pause >= 0 for pause in pauses(document.words)), path.name
        new = labelled(document.words, zip(cycle(CASES), cycle(MARKS)))
        if document.format == "scc":  # which has room for few marks
            assert formats.with_texts(document, new).texts == new
        else:
            output = formats.write(document, new)
            formats.verify(document, output)
            assert formats.write(formats.read(output, path.name, document.format), new) == output, path.name
    assert not wrong
    row = samples.stored()[folder.name]
    assert (count["files"], count["read"]) == (row.files, row.same), "run python tests/samples.py to update the table"


def test_the_table_shows_what_was_counted() -> None:
    rows = samples.stored()
    assert (samples.HERE / "samples.md").read_text(encoding="utf-8") == samples.page(rows)
    assert all(row.same == sum(row.formats.values()) for row in rows.values())
    # Every file that was read was also written, but for SCC that no decoder could show.
    assert all(row.same == row.fixed + row.wordless for name, row in rows.items() if name != "scc")
    assert all(row.right == row.files for row in rows.values())
