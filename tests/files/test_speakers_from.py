"""`--speakers-from`: turns of a diarisation, by overlap of times."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from commands import MODEL, SRT, cappunc, talk

from cappunc_cli import formats
from cappunc_cli.document.words import spread_times
from cappunc_cli.files.speakers_from import Speakers, SpokenTurn, speakers_from
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

TURNS = [(0.5, 3.5, "SPEAKER_00"), (3.5, 4.1, "SPEAKER_01"), (4.05, 7.0, "SPEAKER_01")]
RTTM = "".join(f"SPEAKER talk 1 {a} {b - a:.3f} <NA> <NA> {name} <NA> <NA>\n" for a, b, name in TURNS)
ENTRIES = [{"start": a, "end": b, "speaker": name} for a, b, name in TURNS]
PYANNOTE = [
    json.dumps({"output": {"diarization": [{"start": 0, "end": 9, "speaker": "X"}], "exclusiveDiarization": ENTRIES}}),
    json.dumps(ENTRIES),
    json.dumps(
        {"pyannote": "Annotation", "content": [{"segment": {"start": a, "end": b}, "label": n} for a, b, n in TURNS]}
    ),
]


@pytest.mark.parametrize(
    "text", [RTTM, f";; a comment\nSPKR-INFO talk 1 <NA> <NA> <NA> UNKNOWN X <NA>\n{RTTM}", *PYANNOTE]
)
def test_names_are_shown_and_the_text_is_the_same(tmp_path: Path, text: str) -> None:
    source, turns = talk(tmp_path), tmp_path / "turns"
    turns.write_text(text, "utf-8")
    shown = cappunc("convert", "--no-restore", source, "--speakers-from", turns, "--to", "txt").stdout.decode()
    assert shown == "Speaker 1: hello anna then we went to london\n\nSpeaker 2: where is the cat\n"
    named = ("--to", "vtt", "--speaker", "SPEAKER_01=Bob")
    vtt = cappunc("convert", "--no-restore", source, "--speakers-from", turns, *named).stdout
    assert b"<v Speaker 1>hello" in vtt
    assert b"<v Bob>where" in vtt


def test_a_change_of_speaker_is_used_as_one_of_the_file(tmp_path: Path) -> None:
    """In the middle of a cue, where nothing else tells of it."""
    (tmp_path / "turns").write_text(RTTM.replace("0.5 3.000", "0.5 1.000").replace("3.5 0.600", "1.5 2.600"), "utf-8")
    source = talk(tmp_path)
    run = cappunc("fix", "--lang", "en", *MODEL, source, "--speakers-from", tmp_path / "turns")
    words = formats.read(SRT, "a.srt").words
    for word, timed in zip(words, spread_times(words), strict=True):
        assert timed.start is not None
        word.turn = int((timed.start + (timed.end or 0)) / 2 > 1500)
    assert len({word.turn for word in words if word.cue == 0}) == 2
    wanted = restore(words, load_model(MODEL[1], "cpu"), Options(language="en"))
    assert formats.read(run.stdout.decode(), "a.srt").texts == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no turns"),
        ("{}", "has no turns"),
        ('{"a": [', "not JSON"),
        ("SPEAKER talk 1 x 1 <NA> <NA> A <NA> <NA>\n", "turns:1: is no turn"),
        ("SPEAKER talk 1 1\n", "turns:1: is no turn"),
        ("SPEAKER a 1 0 1 <NA> <NA> A\nSPEAKER b 1 0 1 <NA> <NA> A\n", "several recordings"),
        ("SPEAKER talk 1 900 1 <NA> <NA> A\n", "no words in the turns"),
    ],
)
def test_files_without_turns_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "turns").write_text(text, "utf-8")
    run = cappunc("convert", "--no-restore", talk(tmp_path), "--speakers-from", tmp_path / "turns", "--to", "txt")
    assert run.returncode == 1
    assert said in run.stderr.decode()


def test_rttm_as_an_input_names_the_option(tmp_path: Path) -> None:
    assert b"--speakers-from" in cappunc("fix", talk(tmp_path, "talk.rttm", RTTM)).stderr


def test_a_recording_of_several_is_found_by_its_name(tmp_path: Path) -> None:
    path = talk(tmp_path, "all.rttm", RTTM + RTTM.replace("talk", "other").replace("SPEAKER_0", "X"))
    assert {turn.speaker for turn in speakers_from(str(path)).of("a/talk.en.srt").turns} == {"SPEAKER_00", "SPEAKER_01"}


def test_who_speaks_is_who_speaks_longest() -> None:
    chance = Random(1)
    turns = []
    for _ in range(60):
        start = chance.randrange(1000)
        turns.append(SpokenTurn(start, start + chance.choice((5, 30, 300)), chance.choice("ABC")))
    speakers = Speakers("x", tuple(sorted(turns)))
    for _ in range(200):
        start = chance.randrange(1300)
        end = start + chance.randrange(1, 60)
        shared = {
            name: sum(max(min(t.end, end) - max(t.start, start), 0) for t in turns if t.speaker == name)
            for name in "ABC"
        }
        found = speakers.at(start, end)
        assert shared.get(found, 0) == max(shared.values())
