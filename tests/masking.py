"""The expected results of fixtures/masking, and a table: what is not a word, and how the words around it change.

    python tests/masking.py

writes them; formats/test_masking.py compares them.
"""

from __future__ import annotations

from pathlib import Path

from rules import rules

from cappunc_cli import formats
from cappunc_cli.formats.srt_vtt import timing
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.pipeline import restore

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "masking"
KINDS = sorted(path.stem for path in FOLDER.glob("*.srt") if not path.stem.endswith(".fixed"))

_HEAD = """# What is masked

What is not a word stays as it is and is not part of a sentence, but a sound counts as a pause. Each
kind has a file here, with the result for the rules of `tests/rules.py` in place of a model (a sentence ends
at a long silence and at the end of a turn). `python tests/masking.py` writes this page.

| kind | before | after |
| --- | --- | --- |
"""


def fixed(text: str, model: Model) -> str:
    """The text of an SRT file as `fix` writes it, verified."""
    document = formats.read(text, format="srt")
    output = formats.write(document, restore(document.words, model))
    formats.verify(document, output)
    return output


def page() -> str:
    """The table of the files."""
    rows = []
    for kind in KINDS:
        for before, after in zip(*(_cues(kind + suffix) for suffix in (".srt", ".fixed.srt")), strict=True):
            rows.append(f"| {kind} | {_cell(before)} | {_cell(after)} |\n")
    return _HEAD + "".join(rows)


def _cues(name: str) -> list[str]:
    blocks = (FOLDER / name).read_text(encoding="utf-8").split("\n\n")
    return [
        "\n".join(line for line in block.strip().split("\n")[1:] if timing(line) is None) for block in blocks if block
    ]


def _cell(text: str) -> str:
    return "<br>".join(f"`{line}`" for line in text.replace("|", "\\|").split("\n"))


def main() -> None:
    model = rules()
    for kind in KINDS:
        text = (FOLDER / f"{kind}.srt").read_text(encoding="utf-8")
        (FOLDER / f"{kind}.fixed.srt").write_text(fixed(text, model), encoding="utf-8", newline="")
    (FOLDER / "README.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
