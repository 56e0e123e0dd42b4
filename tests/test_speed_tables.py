"""The generated parts of the README and of docs/ are what the committed results say."""

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
def test_the_page_has_what_the_results_say(part: str) -> None:
    place = (ROOT / tables.PLACES[part]).read_text("utf-8")
    begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
    assert place.count(begin) == place.count(end) == 1
    assert place[place.index(begin) : place.index(end)] == begin + tables.page(part)


def test_a_model_that_was_renamed_since_is_named_by_its_hash() -> None:
    config = json.loads((ROOT / "models" / "en-fast" / "config.json").read_text("utf-8"))
    digest = config["files"]["model.onnx"][:12]
    assert tables.model_of("en", digest) == f"`en-fast` ({digest}), then called `en`"
    assert tables.model_of("en-fast", digest) == f"`en-fast` ({digest})"
    assert tables.model_of("ro-ngram", "0" * 12) == "`ro-ngram` (000000000000)"


def test_others_are_compared_by_the_time_of_a_word() -> None:
    systems = [
        {"system": "cappunc, SRT to SRT", "weights": None, "words_per_second": 2000.0},
        {"system": "BERT-base, rpunct's windows", "weights": 108_900_000, "words_per_second": 500.0},
        {"system": "something else", "weights": 1, "words_per_second": 1.0},
    ]
    page = tables.compare(MACHINE | {"model": BENCH["model"], "systems": systems})
    assert "| cappunc, SRT to SRT | – | 1.0 |\n| BERT-base, rpunct's windows | 109 M | 4.0 |\n\n" in page


def row(window: int, overlap: int, cut: int, micro: float) -> dict[str, object]:
    """A line of chunks.json."""
    classes = {"capital": [0.9, 0.8, 0.85], "comma": [0.625, 0.5, 0.5556]}
    return {"window": window, "overlap": overlap, "min_words_cut": cut, "micro": micro, "case": 0.8, "classes": classes}


def test_chunks_are_compared_with_and_without_overlap_and_by_the_cut() -> None:
    rows = [row(20, 0, 0, 0.5), *(row(20, 10, cut, 0.6 + cut / 1000) for cut in (0, 2, 5, 8, 10))]
    page = tables.chunks(MACHINE | {"model": "en@cae99d0ab9a9", "texts": {"a talk": 12_000}, "rows": rows})
    assert "On 12,000 words of a talk." in page
    assert "| k = 20, no overlap | 90.0/80.0/85.0 | 62.5/50.0/55.6 | 50.0 | 80.0 |" in page
    assert "| k = 20, half of it shared | 90.0/80.0/85.0 | 62.5/50.0/55.6 | 60.5 | 80.0 |" in page
    assert "| k = 20, 10 shared | 60.00 | 60.20 | 60.50 | 60.80 | 61.00 | 10 (61.00) |" in page
    assert "[chunks.json](../tests/benchmarks/results/chunks.json)" in page


def test_a_larger_trigram_model_stands_beside_the_shipped_one() -> None:
    scores = {"micro": 0.411, "comma": 0.4, "period": 0.5, "case": 0.6}
    small = {"bytes": 1_031_256, "pairs": 200_000, "triples": 250_000, "rows": {"novels": scores}}
    large = {"bytes": 2_033_164, "pairs": 430_316, "triples": 492_838, "rows": {"novels": {**scores, "micro": 0.42}}}
    page = tables.ngrams(MACHINE | {"words": 5000, "models": {"xx-ngram": small, "xx-ngram-large": large}})
    assert "(1.0 MB, 200,000 bigrams, 250,000 trigrams → 2.0 MB, 430,316 bigrams, 492,838 trigrams)" in page
    assert "| novels | 41.1 → 42.0 | 40.0 → 40.0 | 50.0 → 50.0 | 60.0 → 60.0 |" in page


def test_many_streams_are_a_line_of_waits_and_one_of_memory() -> None:
    waits = {"50": 12.4, "95": 40.6, "99": 79.7, "100": 150.0}
    measured = {"model": "xx-live@b0ed8ccfcdf2", "look_ahead": 8, "streams": 100, "seconds": 60.0, "words": 12_345}
    measured |= {"wait_ms": waits, "processor_ms_a_word": 0.828, "cores_busy": 0.155}
    page = tables.many_streams(MACHINE | measured | {"hours": 2, "words_in_hours": 18_500, "memory_mb": [99, 108, 109]})
    assert "| 100 | 12,345 | 12 | 41 | 80 | 150 | 0.83 | 0.15 |" in page
    assert "for 60 seconds: the time from the end of the last of the 8 words" in page
    assert "2 hours of speech in one stream (18,500 words): 99 MB before it, 108 MB after the first hour, 109" in page


def test_contradictions_are_shown_by_penalty_and_seed() -> None:
    row = {"micro": 56.54, "case": 78.42, "contradicting": 18.01, "in the text": 1.62, "corpora": ["bitcoin", "crd3"]}
    rows = [{"penalty": 0.0, "seed": 1, **row}, {"penalty": 0.3, "seed": 2, **row, "contradicting": 4.0}]
    report = {"tokens": 1500, "rows": rows, "hardware": {"cpu": "C", "cores": 2}, "command": "x"}
    page = tables.penalty(report)
    assert "Runs of 1,500 pieces" in page
    assert "held-out ends of bitcoin, crd3: F1" in page
    assert "(1.6 in the text)" in page
    assert page.count("| penalty") == 2
    assert "| penalty 0, seed 1 | 56.5 | 78.4 | 18.0 |" in page
    assert "| penalty 0.3, seed 2 | 56.5 | 78.4 | 4.0 |" in page


def test_diacritics_are_shares_of_the_words() -> None:
    found = {"words": 2000, "with diacritics": 500, "right before": 1500, "right after": 1900, "spoilt": 15}
    page = tables.diacritics(MACHINE | {"models": {"ro-ngram": "59e56f416bd2"}, "rows": {"ro novels": found}})
    assert "| ro novels | 2,000 | 500 | 75.0 | 95.0 | 1.0 |" in page
    assert "Models `ro-ngram` (59e56f416bd2); from [diacritics.json]" in page


def test_mends_are_rates_of_each_run() -> None:
    def run(commas: int, model: str, **more: str) -> dict[str, object]:
        counts = {"all edits": commas + 1, "comma missed": commas, "capital missed": 1, "capital superfluous": 0}
        return {"model": model, "sets": {name: {"words": 500, **counts} for name in ("podcast", "phone")}, **more}

    page = tables.mends(
        MACHINE | {"runs": {"before": run(9, "en@eeaae6d2bec4", commit="6e1865b"), "after": run(4, "en@cae99d0ab9a9")}}
    )
    assert "| phone | 20.0 | 10.0 |\n| **all** | 20.0 | 10.0 |\n| comma missed | 18.0 | 8.0 |" in page
    assert "capital missed" in page
    assert "capital superfluous" not in page
    assert "before: `en-fast` (eeaae6d2bec4), then called `en`, at commit 6e1865b; after: `en` of an earlier" in page


def test_captions_of_films_are_shown_run_by_run() -> None:
    def run(missed: int) -> dict[str, object]:
        ends = {"captions": 1200, "ends": 400, "ends missed": missed, "ends superfluous": 3}
        row = {**ends, "questions": 50, "questions missed": 15, "questions superfluous": 4}
        row |= {"within": 9, "within missed": 5, "within superfluous": 2}
        return MACHINE | {"models": {"en": "cae99d0ab9a9"}, "rows": {"en film": row}}

    page = tables.film({"before": run(55), "after": run(47)})
    assert "| en film | 1,200 | 400 | 50 | 55 → 47 | 3 → 3 | 15 → 15 | 4 → 4 | 9 | 5 | 2 |" in page
    assert "before → after. Models `en` of an earlier version (cae99d0ab9a9)" in page


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
        "documents, 0.25 % of the words are wrongly reported. Of the existing labels, 1 of 1,899 marks and "
        "2 of 12,486 capitals" in page
    )
    assert "changed; 7 of 8,640 words outside" in page
    assert "A CPU, 2 cores; model `en` of an earlier version (cae99d0ab9a9)" in page


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
                {"system": "cappunc, SRT to SRT", "weights": None, "words_per_second": 2000.0},
                {"system": "cappunc en, SRT to SRT", "weights": None, "words_per_second": 1250.0},
                {"system": "other", "weights": 7_300_000, "words_per_second": 500.0},
            ],
            "talk": {"words": 2500, "seconds": {"en-fast": 0.9, "en": 1.75}},
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
    assert "cappunc reaches 50 % of the rate" in page
    assert "Shares of the graph's time: MatMul 60 %." in page
    assert "imports 40 %, fix 60 %." in page
    assert "| 10 files, --jobs 2 | 1.00 | 100 MB |" in page
    assert "| other | 7.3 M | 4.0 |" in page
    assert "| `en-fast` | 4.0 | 0.90 s |" in page
    assert "| `en` | 2.5 | 1.75 s |" in page
    assert "| 4 | 999 | 50 % |" in page
    assert page.count("A CPU, 2 cores; model `en` of an earlier version (ffffffffffff)") == 4
    assert "windows of 120/40/10:" in page
    assert "| products | IWSLT Ref | graph | whole |" in page
    assert "| blocks | 71.42 | 1.00 | 1.00 |" in page
    assert "| without VNNI | – | 1.35 | 1.20 |" in page
