"""Every file that others wrote, through every format: nothing moves, nothing crashes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import samples

from cappunc_cli import formats
from cappunc_cli.cli.encoding import Encoding, decode, encode
from cappunc_cli.errors import CappuncError
from cappunc_cli.labels import Case, dress, strip
from cappunc_cli.words import Document, Word, pauses

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
FOLDERS = sorted(path for path in (SHARED / "samples").glob("*") if path.is_dir())
#: Folders whose files are in formats of ours, but for what is no transcript at all.
MOSTLY_READ = {"srt": 0.95, "vtt": 0.99, "ctm": 1.0, "txt": 1.0, "ttml": 0.95, "srv3": 1.0, "ass": 1.0, "smi": 1.0}


def shouted(word: Word, number: int) -> str:
    """A legal change: a capital or all capitals, and a comma or a stop."""
    bare, label = strip(word.text)
    text = dress(bare, replace(label, case=Case.UPPER if number % 3 else Case.CAPITAL).with_mark(",."[number % 2]))
    return text if strip(text)[0] == bare else word.text


def opened(path: Path) -> tuple[Document | None, Encoding | None]:
    """The file's document, or nothing where it is refused as a user should see it: in one line."""
    try:
        text, encoding = decode(path.read_bytes())
        return formats.read(text, path.name), encoding
    except CappuncError as refusal:
        refused = refusal
    assert refused.message, path.name
    assert "\n" not in str(refused), path.name
    return None, None


@pytest.mark.skipif(not FOLDERS, reason=f"no samples at {SHARED}")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_samples_of(folder: Path) -> None:
    outcomes: Counter[str] = Counter()
    for path in sorted(folder.iterdir()):
        document, encoding = opened(path)
        if document is None or encoding is None:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        same = formats.write(document, [word.text for word in document.words])
        assert encode(same, encoding) == path.read_bytes(), path.name
        assert all(pause is None or pause >= 0 for pause in pauses(document.words)), path.name
        formats.verify(document, formats.write(document, [shouted(w, i) for i, w in enumerate(document.words)]))
    total = sum(outcomes.values())
    assert outcomes["read"] >= MOSTLY_READ.get(folder.name, 0) * total
    row = samples.stored()[folder.name]
    assert (total, outcomes["read"]) == (row.files, row.same), "python tests/samples.py makes the table anew"


def test_the_table_shows_what_was_counted() -> None:
    rows = samples.stored()
    assert (samples.HERE / "samples.md").read_text(encoding="utf-8") == samples.page(rows)
    # No file that was read is lost on the way out.
    assert all(row.same == sum(row.formats.values()) == row.fixed + row.wordless for row in rows.values())
