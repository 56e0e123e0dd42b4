"""Every file that others wrote, through every format: what was found, what stayed, what was refused.

    python tests/samples.py

reads ../shared/samples and writes samples.json and samples.md beside this file; test_samples.py
compares. What each file is stands in samples.toml, by hand. A file counts as fixed when sentences
are restored in it by the rules of rules.py, words, times and all other bytes have been compared
(`verify`), and fixing the result changes nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from rules import rules

from cappunc_cli import formats
from cappunc_cli.application.storage.encodings import decode, encode, writable
from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.pipeline import Model, restore
from cappunc_cli.transcript.words import Document

HERE = Path(__file__).resolve().parent
SAMPLES = Path(os.environ.get("CAPPUNC_SHARED", HERE.parents[1] / "shared")) / "samples"

_HEAD = """# Files of others

What happens to {files} files that others wrote, among them conformance suites with broken files: the format that
is found by content and name, and how often that (or the refusal) is what samples.toml says after a look into the
file; writing without a change gives the same bytes; `fixed` as samples.py says. A refusal is one line that says why.
`python tests/samples.py` writes this page.

| folder | files | read as | rightly | same bytes | fixed | without words | refused |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
"""


@dataclass(slots=True)
class Row:
    """One folder: files by the format found; how many were right, the same, fixed, wordless; refusals by reason."""

    files: int
    formats: dict[str, int]
    right: int
    same: int
    fixed: int
    wordless: int
    refused: dict[str, int]


@cache
def _by_hand() -> dict[str, dict[str, str]]:
    return tomllib.loads((HERE / "samples.toml").read_text("utf-8"))


def expected(path: Path) -> str:
    """What a sample is: a format, `empty`, or `refused: ` and how the reason begins; KeyError for an unknown folder."""
    folder = path.parent.name
    for ending, kind in _by_hand()["files"].items():
        own, _, name = ending.partition("/")
        if own == folder and path.name.endswith(name):
            return kind
    return _by_hand()["folders"][folder]


def outcome(path: Path, read: Document | CappuncError) -> str:
    """What a sample was taken for, in the words of `expected`."""
    if isinstance(read, CappuncError):
        return f"refused: {read}"
    return read.format if path.read_bytes().strip() else "empty"


def is_right(path: Path, read: Document | CappuncError) -> bool:
    kind = expected(path)
    return outcome(path, read).startswith(kind) if kind.startswith("refused: ") else outcome(path, read) == kind


def opened(path: Path) -> Document | CappuncError:
    """The sample's words, or why it has none."""
    try:
        return formats.read(decode(path.read_bytes())[0], path.name)
    except CappuncError as refusal:
        return refusal


def examine(folder: Path, model: Model) -> Row:
    """Put every file of a folder through reading, writing and fixing; raises AssertionError for a lost byte."""
    found: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    right = same = fixed = wordless = 0
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    for path in paths:
        data = path.read_bytes()
        document = opened(path)
        right += is_right(path, document)
        if isinstance(document, CappuncError):
            refused[_reason(document)] += 1
            continue
        found[outcome(path, document)] += 1
        _, encoding = decode(data)
        unchanged = formats.write(document, [word.text for word in document.words])
        assert encode(unchanged, encoding) == data, path.name
        same += 1
        if not document.words:
            wordless += 1
            continue
        try:
            output = writable(formats.write(document, restore(document.words, model)), encoding)
            formats.verify(document, output)
        except CappuncError as refusal:
            refused[_reason(refusal)] += 1
            continue
        again = formats.read(output, path.name, document.format)
        if writable(formats.write(again, restore(again.words, model)), encoding) == output:
            fixed += 1
        else:
            refused["fixing it once more would change it"] += 1
    return Row(len(paths), dict(sorted(found.items())), right, same, fixed, wordless, dict(sorted(refused.items())))


def _reason(refusal: CappuncError) -> str:
    assert refusal.message
    assert "\n" not in str(refusal)
    return refusal.message.partition(": ")[0].partition("“")[0].strip()[:60]


def folders() -> list[Path]:
    """The folders of samples, none where they are not there."""
    return sorted(path for path in SAMPLES.glob("*") if path.is_dir())


def page(rows: dict[str, Row]) -> str:
    """The table in Markdown."""
    lines = [_line(name, row) for name, row in rows.items()]
    kinds: Counter[str] = Counter()
    for row in rows.values():
        kinds.update(row.formats)
    names = ("files", "right", "same", "fixed", "wordless")
    files, right, same, fixed, wordless = (sum(getattr(row, name) for row in rows.values()) for name in names)
    refusals = sum(sum(row.refused.values()) for row in rows.values())
    count = len(kinds.keys() - {"empty"})
    lines.append(f"| all | {files} | {count} formats | {right} | {same} | {fixed} | {wordless} | {refusals} |\n")
    reasons: Counter[str] = Counter()
    for row in rows.values():
        reasons.update(row.refused)
    why = "".join(f"| {reason} | {count} |\n" for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0])))
    return _HEAD.format(files=files) + "".join(lines) + f"\n| refused because | files |\n| --- | ---: |\n{why}"


def _line(name: str, row: Row) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(row.formats.items(), key=lambda k: (-k[1], k[0])))
    counts = (row.right, row.same, row.fixed, row.wordless, sum(row.refused.values()))
    return f"| {name} | {row.files} | {kinds or '–'} | {' | '.join(map(str, counts))} |\n"


def stored() -> dict[str, Row]:
    """The rows as they were written last."""
    return {name: Row(**row) for name, row in json.loads((HERE / "samples.json").read_text("utf-8")).items()}


def main() -> int:
    if not folders():
        sys.stderr.write(f"no samples at {SAMPLES}\n")
        return 1
    model = rules()
    rows = {folder.name: examine(folder, model) for folder in folders()}
    text = json.dumps({name: asdict(row) for name, row in rows.items()}, indent=2, ensure_ascii=False) + "\n"
    (HERE / "samples.json").write_text(text, encoding="utf-8")
    (HERE / "samples.md").write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
