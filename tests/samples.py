"""Run all sample files from other projects through their formats and count the results.

    python tests/samples.py

reads ../shared/samples and writes samples.json and samples.md beside this file; test_samples.py
compares them. What each file really is was noted by hand in samples.toml. A file counts as fixed if
the rules of rules.py have restored it, `verify` has compared words, times and all other bytes,
and fixing the result changes nothing.
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
from cappunc_cli.document.words import Document
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.encodings import decode, encode
from cappunc_cli.files.limited_changes import writable
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.pipeline import restore

HERE = Path(__file__).resolve().parent
SAMPLES = Path(os.environ.get("CAPPUNC_SHARED", HERE.parents[1] / "shared")) / "samples"

_HEAD = """# Sample files

What happens to {files} files from other projects, among them conformance suites with broken files. `read as` is the
format found by content and name; `correctly` counts files where that (or the refusal) is what samples.toml says, which
was written by hand; `same bytes` those that are the same when written unchanged; `fixed` is explained in samples.py. A
refusal is one line that gives the reason. `python tests/samples.py` writes this page.

| folder | files | read as | correctly | same bytes | fixed | without words | refused |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
"""


@dataclass(slots=True)
class Row:
    """The counts of a folder: files by format found; correct, unchanged, fixed, wordless ones; refusals by reason."""

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
    """What a sample is: a format, `empty`, or `refused: ` and the start of the reason. KeyError for unknown folders."""
    folder = path.parent.name
    for ending, kind in _by_hand()["files"].items():
        own, _, name = ending.partition("/")
        if own == folder and path.name.endswith(name):
            return kind
    return _by_hand()["folders"][folder]


def outcome(path: Path, read: Document | CappuncError) -> str:
    """What a sample was read as, in the terms of `expected`."""
    if isinstance(read, CappuncError):
        return f"refused: {read}"
    return read.format if path.read_bytes().strip() else "empty"


def is_right(path: Path, read: Document | CappuncError) -> bool:
    kind = expected(path)
    return outcome(path, read).startswith(kind) if kind.startswith("refused: ") else outcome(path, read) == kind


def opened(path: Path) -> Document | CappuncError:
    """The document of a sample, or the error that refused it."""
    try:
        return formats.read(decode(path.read_bytes())[0], path.name)
    except CappuncError as refusal:
        return refusal


def examine(folder: Path, model: Model) -> Row:
    """Read, write and fix every file of a folder; raises AssertionError for a lost byte."""
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
        assert encode(formats.write(document, document.texts), encoding) == data, path.name
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
    """The folders of samples, if they are available."""
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
    """The rows of the last run."""
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
