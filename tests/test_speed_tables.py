"""The README's parts on speed and repair are what the committed results say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tables

ROOT = Path(__file__).resolve().parents[1]

BENCH = {
    "inputs": {"talk.srt": {"words": 10, "words_per_second": 2000.4, "shares": {"read": 0.25, "infer": 0.75}}},
    "start": {"words": 1500, "seconds": {"imports": 0.2, "fix": 0.3}},
    "model": {"name": "en", "sha256": "f" * 64},
}
MACHINE = {"hardware": {"cpu": "A CPU", "cores": 2, "gpu": None}, "command": "python x.py"}


@pytest.mark.parametrize("part", tables.PARTS)
def test_the_readme_has_what_the_results_say(part: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
    assert readme.count(begin) == readme.count(end) == 1
    assert readme[readme.index(begin) : readme.index(end)] == begin + tables.page(part)


def test_repair_is_a_table_of_the_words_found() -> None:
    scores = {"precision": 0.9608, "recall": 0.5, "f1": 0.3333, "words": 2166}
    report = MACHINE | {
        "model": "en@cae99d0ab9a9",
        "words": 32095,
        "found": {"marks": scores},
        "restored inside": {".": scores},
        "recall by kind and length": {
            f"ALL CAPS, {length} words": {"recall": 0.625, "words": 5} for length in ("20-49", "50-119", "120-400")
        },
        "untouched documents": {"words": 2000, "blamed": 5},
        "changes": {
            "auto": {
                "words outside": 8640,
                "words outside changed": 7,
                "marks there": 1899,
                "marks there changed": 1,
                "capitals there": 12486,
                "capitals there changed": 2,
            }
        },
    }
    page = tables.repair(report)
    assert "| found: lacks marks | 2,166 | 96.1 | 50.0 | 33.3 |" in page
    assert "| restored inside: `.` | 2,166 | 96.1 | 50.0 | 33.3 |" in page
    assert "| ALL CAPS | 62.5 | 62.5 | 62.5 |" in page
    assert (
        "documents 0.25 % of the words are blamed. Of what was there, 1 of 1,899 marks and 2 of 12,486 capitals" in page
    )
    assert "changed; 7 of 8,640 words outside" in page
    assert "A CPU, 2 cores; model `en` (cae99d0ab9a9)" in page


def test_every_result_becomes_a_table(tmp_path: Path) -> None:
    run = {"words_per_second": 1234.5, "peak_memory_mb": 99.9}
    reports = {
        "cpu.json": MACHINE
        | {
            "bench": BENCH,
            "ceiling": {"int8_gops": 800.0, "int8_words_per_second": 4000.0},
            "share_of_int8_rate": 0.5,
            "profile": {"MatMul": 0.6},
            "files": {
                "words": 1000,
                "files": 10,
                "jobs": 2,
                "one_file": run,
                "many_files": run,
                "many_files_jobs": run,
            },
        },
        "peers.json": MACHINE
        | {
            "model": BENCH["model"],
            "systems": [
                {"system": "cappunc", "weights": None, "words_per_second": 2000.0},
                {"system": "other", "weights": 7_300_000, "words_per_second": 500.0},
            ],
        },
        "steps.json": MACHINE
        | {
            "model": "en@ffffffffffff",
            "rows": {
                "blocks": {
                    "microseconds_per_piece": 242.2,
                    "microseconds_per_word": 480.6,
                    "IWSLT Ref": {"micro": 0.7142, "signature": "cappunc|window:120/40/10|device:cpu"},
                },
                "without VNNI": {"microseconds_per_piece": 180.0, "microseconds_per_word": 400.0},
            },
        },
        "gpu.json": MACHINE | {"bench": BENCH, "tree": [{"jobs": 4, "words_per_second": 999, "gpu_percent": 50}]},
    }
    for name, report in reports.items():
        (tmp_path / name).write_text(json.dumps(report))
    page = tables.page("speed", tmp_path)
    assert "| talk.srt | 2,000 | 25 % | 75 % |" in page, "of a GPU absolute figures are shown"
    assert "| talk.srt | 1.00 | 25 % | 75 % |" in page
    assert "50 % of the rate is reached" in page
    assert "Of the graph's time: MatMul 60 %." in page
    assert "imports 40 %, fix 60 %." in page
    assert "| 10 files, --jobs 2 | 1.00 | 100 MB |" in page
    assert "| other | 7.3 M | 4.0 |" in page
    assert "| 4 | 999 | 50 % |" in page
    assert page.count("A CPU, 2 cores; model `en` (ffffffffffff)") == 4
    assert "windows of 120/40/10:" in page
    assert "| products | IWSLT Ref | graph | whole |" in page
    assert "| blocks | 71.42 | 1.00 | 1.00 |" in page
    assert "| without VNNI | – | 1.35 | 1.20 |" in page
