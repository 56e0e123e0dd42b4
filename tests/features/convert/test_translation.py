"""The round trip of a translation: sentences out, translated lines back in the times of the original."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from commands import cappunc, talk

from cappunc_cli import formats
from cappunc_cli.document.words import spread_times
from cappunc_cli.features.convert.translation import onto, sentences
from cappunc_cli.formats.shown_cues import shown_cues
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_profiles import Limits

FILM = """1
00:00:01,000 --> 00:00:04,000
Good evening, London. It is lovely to see

2
00:00:04,100 --> 00:00:07,000
so many of you here tonight!

3
00:00:08,000 --> 00:00:10,000
- Are you coming?
- No.
"""
SENTENCES = ["Good evening, London.", "It is lovely to see so many of you here tonight!", "Are you coming?", "No."]
LINES = [
    "Buenas noches, Londres.",
    "Es maravilloso ver a tantos de vosotros aquí esta noche, ¡de verdad!",
    "¿Venís?",
    "No.",
]
CONVERT = ("convert", "--no-restore", "--to", "sentences")
CAPTIONS = ("captions", "--no-restore", "--lang", "es")


def test_sentences_are_lines_of_text_rows_or_json(tmp_path: Path) -> None:
    film = talk(tmp_path, "film.srt", FILM)
    assert cappunc(*CONVERT, film).stdout.decode().splitlines() == SENTENCES
    run = cappunc(*CONVERT, film, "-o", tmp_path / "out.tsv")
    assert run.returncode == 0, run.stderr
    head, *rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text("utf-8").splitlines()]
    assert head == ["number", "start", "end", "speaker", "text"]
    assert [row[-1] for row in rows] == SENTENCES
    assert (rows[0][1], rows[1][2]) == ("00:00:01.000", "00:00:07.000")
    assert cappunc(*CONVERT, film, "-o", tmp_path / "out.jsonl").returncode == 0
    entries = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [entry["text"] for entry in entries] == SENTENCES
    assert [entry["number"] for entry in entries] == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["txt", "tsv", "jsonl"])
def test_a_translation_comes_back_in_the_times_of_the_original(tmp_path: Path, kind: str) -> None:
    film = talk(tmp_path, "film.srt", FILM)
    out = tmp_path / f"out.{kind}"
    cappunc(*CONVERT, film, "-o", out)
    text = out.read_text("utf-8")
    for sentence, line in zip(SENTENCES, LINES, strict=True):  # a translator who works line by line
        text = text.replace(sentence, line, 1)
    out.write_text(text, "utf-8")
    run = cappunc(*CAPTIONS, out, "--onto", film)
    made = shown_cues(formats.read(run.stdout.decode(), "a.srt"))
    assert made is not None
    assert " ".join(line for cue in made for line in cue.lines) == " ".join(LINES)
    assert made[0].start == 1000
    assert made[0].end < made[1].start
    assert 10_000 >= made[-1].end > made[-1].start > made[-2].start >= 8000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n".join([*LINES[:2], "", LINES[3]]), "es.txt:3: is empty; in"),
        ("\n".join(LINES[:3]), "es.txt:4: has 3 lines for 4 sentences; missing: “No.”"),
        ("\n".join([*LINES, "¡Más!"]), "has only 4 sentences"),
        ("", "es.txt:1: has 0 lines for 4 sentences"),
    ],
)
def test_missing_additional_and_empty_lines_are_refused(tmp_path: Path, text: str, said: str) -> None:
    film = talk(tmp_path, "film.srt", FILM)
    run = cappunc(*CAPTIONS, talk(tmp_path, "es.txt", text), "--onto", film, "-o", tmp_path / "es.srt")
    assert run.returncode == 1
    assert said in run.stderr.decode()
    assert not (tmp_path / "es.srt").exists()


def test_options_that_contradict_a_translation(tmp_path: Path) -> None:
    film, text = talk(tmp_path, "film.srt", FILM), talk(tmp_path, "es.txt", "\n".join(LINES))
    for more in (["--rewrap"], ["--by", "sentence"]):
        assert cappunc("captions", text, "--onto", film, *more).returncode == 2
    assert cappunc(*CAPTIONS, "-", "--onto", "-").returncode == 2
    assert b"is also the input" in cappunc(*CAPTIONS, text, "--onto", film, "-o", film, "--force").stderr


def test_names_and_dashes_begin_the_turns_of_the_original(tmp_path: Path) -> None:
    film, text = talk(tmp_path, "film.srt", FILM), talk(tmp_path, "es.txt", "\n".join(LINES))
    assert "- ¿Venís?" in cappunc(*CAPTIONS, text, "--onto", film, "--speakers", "dash").stdout.decode()


def film_of(count: int, chance: Random) -> str:
    """Captions of sentences of all lengths, which begin and end within captions."""
    words = [
        "so",
        "then",
        "we",
        "went",
        "to",
        "the",
        "old",
        "town",
        "and",
        "nobody",
        "there",
        "had",
        "seen",
        "him",
        "since",
    ]
    cues, clock, left = [], 0, 0
    for number in range(1, count + 1):
        own = []
        for _ in range(chance.randint(1, 14)):
            left = left or chance.randint(1, 40)
            left -= 1
            own.append(chance.choice(words) + ("" if left else chance.choice(".?!")))
        end = clock + 300 + 70 * sum(map(len, own))
        times = [f"{t // 3_600_000:02}:{t // 60_000 % 60:02}:{t // 1000 % 60:02},{t % 1000:03}" for t in (clock, end)]
        text = " ".join(own)
        dash = "- " if chance.random() < 0.1 else ""
        cues.append(f"{number}\n{' --> '.join(times)}\n{dash}{text}\n")
        clock = end + chance.choice((0, 40, 500, 4000))
    return "\n".join(cues)


@pytest.mark.parametrize("seed", range(4))
def test_a_film_comes_back_sentence_by_sentence(seed: int) -> None:
    chance, limits, code = Random(seed), Limits(), language("es")
    document = formats.read(film_of(250, chance), "a.srt")
    found = sentences(document, language("en"))
    lines = [
        " ".join(chance.choices(["sí", "entonces", "hacia", "nadie,", "ayuntamiento"], k=chance.randint(1, 40)))
        for _ in found
    ]
    made = onto(found, lines, code, limits)
    # Each sentence once, in order, and each caption in the time of its own.
    owners = [number for number, line in enumerate(lines) for _ in line.split()]
    shown = [" ".join(caption.lines).split() for caption in made]
    assert [word for words in shown for word in words] == " ".join(lines).split()
    timed = spread_times(document.words)
    assert [word for one in found for word in one.words] == timed
    for caption in made:
        own = {owners[i] for i in range(caption.first, caption.stop)}
        assert len(own) == 1
        sentence = found[own.pop()]
        assert sentence.start is not None
        assert sentence.end is not None
        assert sentence.start <= caption.start < caption.end <= max(sentence.end, caption.start + 1)
        assert len(caption.lines) <= limits.lines
        assert all(len(line) <= limits.width for line in caption.lines)
    for before, caption in pairwise(made):
        assert before.end <= max(caption.start, before.start + 1)
