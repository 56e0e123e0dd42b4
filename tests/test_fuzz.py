"""Two thousand broken files (fuzz.py has more): nothing crashes, hangs, takes too much memory or breaks a promise."""

from __future__ import annotations

import json
import sys

import fuzz
import fuzz_oracle
import pytest


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in (1, 2, 3))])
def test_broken_files_are_read_within_their_promises_or_refused(part: int) -> None:
    known = fuzz.seeds(samples=False)
    outcome = fuzz.run(known, 1, range(part * 500, part * 500 + 500))
    assert not outcome.failures
    assert {"rewritten", "refused"} <= outcome.kinds.keys()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
@pytest.mark.parametrize("path", fuzz.LARGE_FIXTURES)
def test_the_memory_for_a_file_of_megabytes_is_limited(path: str) -> None:
    size, most = fuzz.memory(path, 1_500_000)
    assert size >= 1_500_000
    # Less than MEMORY_BASE, as the few distinct words fill no caches.
    assert most <= fuzz.MEMORY_TIMES * size + (24 << 20), f"{most / size:.1f} bytes per byte"


@pytest.mark.parametrize(
    ("format", "source", "output"),
    [
        ("srt", "bonjour !\u00a0ça va", "Bonjour.\u00a0Ça va?"),
        ("srt", "he said <i>no</i>", "“He said” <i>No!</i>"),
        ("vtt", "caf&eacute; &amp; bar", "Caf&Eacute;. &amp; bar"),
        ("generic", '[{"text": "d\\u00e9j\\u00e0"}]', '[{"text": "D\\u00c9J\\u00c0\\u2026"}]'),
        ("revai", '[{"type": "t", "value": "a"}]', '[{"type": "t", "value": "A"}, {"type": "punct", "value": "."}]'),
        ("ctm", "f A 0.5 0.1 so\n", "f A 0.5 0.1 So\nf A 0.5 0.1 .\n"),
        ("tsv", "10,0.5,1.0\n", '"10,",0.5,1.0\n'),
        ("tsv", "vole ?,0.38,2.76\n", "Vole,0.38,2.76\n"),
        ("tsv", "so £5 went,0.38\n", "so “£5” went,0.38\n"),
        ("tsv", "so ! <i>no</i>\t0.38\n", "So <i>no?</i>\t0.38\n"),
        ("tsv", "end 4.85\tso\n", 'end "4.85,"\tso\n'),
        ("txt", "and no <i>: not", "and no<i> not"),
        ("srt", "the dog\u205f\u200e?", "the dog.\u200e"),
        ("txt", "see …<i>: many", "see<i> many"),
        ("sbv", "see -<i>> many", "see,<i>> Many"),
        ("srt", "st\\h! so", "St\\h so"),
        ("ttml", "yes <!-- a <b>c</b> --> - so", "Yes!?<!-- a <b>c</b> --> So"),
        ("microdvd", "{0}{9}so !|we", "{0}{9}So|we"),
        ("lrc", "snow <01:04 0>", "Snow <01:04 0>?"),
        ("txt", "0,0logue", "0,¿0logue?"),
        ("stm", "said <noise> or not", "Said <noise>… Or not"),
        ("txt", "[4 \\u00e9", "«[4» \\u00e9"),
        ("mpl2", "[0][9]\\ud83d so\\, then", "[0][9]\\Ud83d so\\ then."),
        ("txt", "nor <x y>: this, and", "Nor;<x y> this and,"),
    ],
)  # fmt: skip
def test_the_oracle_accepts_changes_of_marks_and_case(format: str, source: str, output: str) -> None:
    fuzz_oracle.assert_same(format, source, output)


@pytest.mark.parametrize(
    ("format", "source", "output"),
    [
        ("srt", "one\u00a0two", "One, two"),
        ("srt", "one\u2009 two", "One\u2009two"),
        ("srt", "one <i>two</i>", "One<i>two.</i>"),
        ("srt", "one \u200etwo", "One,\u200eTwo"),
        ("srt", "so\nthen", "So. Then"),
        ("srt", "00:00:01,500", "00:00:01500"),
        ("srt", "ışık", "İşik"),
        ("srt", "a &amp; b", "A & b"),
        ("generic", '[{"text": "a", "start": 1}]', '[{"text": "A", "start": 2}]'),
        ("generic", '[{"text": "a"}, {"text": "b"}]', '[{"text": "A."}]'),
        ("ctm", "f A 0.5 0.1 so\n", "f A 0.5 0.2 So\n"),
        ("tsv", "so £5 went,0.38\n", "so“£5” went,0.38\n"),
        ("tsv", "so we,0.38\n", "So,we,0.38\n"),
    ],
)
def test_the_oracle_accepts_nothing_else(format: str, source: str, output: str) -> None:
    with pytest.raises(AssertionError, match="more than marks and case"):
        fuzz_oracle.assert_same(format, source, output)


def test_an_input_is_the_same_wherever_its_file_is() -> None:
    known = fuzz.seeds(samples=False)
    chosen = known.find("fixtures/stm/talk.stm")
    fewer = fuzz.Known(tuple(f for f in known.folders if chosen in f), known.fixtures)
    made = [fuzz.build(known, 1, chosen, n) for n in range(60)]
    assert made == [fuzz.build(fewer, 1, chosen, n) for n in range(60)]
    assert len(set(made)) > 50
    without = {folder: files for folder, files in known.fixtures.items() if folder != "fixtures/lrc"}
    again = [fuzz.build(fuzz.Known(fewer.folders, without), 1, chosen, n) for n in range(60)]
    assert sum(a == b for a, b in zip(made, again, strict=True)) > 50, "few inputs have a piece of a new fixture"


def test_the_page_shows_the_last_long_run() -> None:
    report = json.loads((fuzz.HERE / "fuzz.json").read_text(encoding="utf-8"))
    assert (fuzz.HERE / "fuzz.md").read_text(encoding="utf-8") == fuzz.page(report)
    assert report["failures"] == [] or report.get("note"), "what is reported is looked into"
