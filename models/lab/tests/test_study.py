"""The table of a study: a line a row with its differences, or a line a set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.lab import results, study

_ROWS = """
[sets]
"talks" = ["talks.txt"]
"calls" = ["calls.txt"]
[rows]
"as shipped" = []
"pauses hidden" = ["--no-pauses"]
"""


def written(folder: Path, toml: str, rows: dict[str, Any]) -> Path:
    (folder / "study.toml").write_text(toml, "utf-8")
    results.write(folder / "study.json", {"command": "python -m it", "rows": rows})
    return folder / "study.toml"


def test_rows_show_their_difference_to_the_first(tmp_path: Path) -> None:
    rows = {
        "as shipped": {"talks": {"micro": 0.7184}, "calls": {"micro": 0.8681}},
        "pauses hidden": {"talks": {"micro": 0.7184}, "calls": {"micro": 0.8643}},
    }
    page = study.page(written(tmp_path, _ROWS, rows))
    assert page.startswith("\n## What each part is worth\n")
    assert "study.json has the commands. `python -m it`" in page
    assert page.splitlines()[-4:] == [
        "|  | talks | calls |",
        "| --- | ---: | ---: |",
        "| as shipped | 71.8 | 86.8 |",
        "| pauses hidden | 71.8 (+0.0) | 86.4 (-0.4) |",
    ]


def test_many_sets_stand_one_below_the_other(tmp_path: Path) -> None:
    def found(micro: float, **more: float) -> dict[str, float]:
        return {"micro": micro, **more}

    parts = {"comma": 0.5, "comma precision": 0.604, "comma recall": 0.426}
    rows = {
        "neural": {"a": found(0.8, **parts), "b": found(0.7), "c": found(0.6)},
        "trigrams": {"a": found(0.4, comma=0.2), "b": found(0.3), "c": found(0.2)},
    }
    page = study.page(written(tmp_path, 'title = "Side by side"\nfigures = ["micro", "comma"]\n', rows))
    assert page.startswith("\n## Side by side\n")
    assert page.splitlines()[-5:] == [
        "|  | neural: micro | neural: comma | trigrams: micro | trigrams: comma |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| a | 80.0 | 50.0 (60/43) | 40.0 | 20.0 |",
        "| b | 70.0 | – | 30.0 | – |",
        "| c | 60.0 | – | 20.0 | – |",
    ]


def test_every_study_that_was_run_has_its_page(tmp_path: Path) -> None:
    written(tmp_path, _ROWS, {"as shipped": {"talks": {"micro": 0.7}}})
    (tmp_path / "case-study.toml").write_text('title = "Of case"\nabout = "Why. "\nfigures = ["case"]', "utf-8")
    assert "Of case" not in study.pages(tmp_path)
    rows = {"as shipped": {"talks": {"case": 0.8}, "calls": {"case": 0.9}}}
    results.write(tmp_path / "case-study.json", {"command": "python -m it", "rows": rows})
    assert [line for line in study.pages(tmp_path).splitlines() if line.startswith(("## ", "| calls", "Why."))] == [
        "## Of case",
        "Why. F1 in per cent (precision/recall); micro over `, . ?`, case over all capitals; "
        "case-study.json has the commands. `python -m it`",
        "| calls | 90.0 |",
        "## What each part is worth",
    ]
