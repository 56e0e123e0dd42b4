"""Text in capitals, words beside signs, and half-marked text, restored by the fast English model."""

from __future__ import annotations

import random

import pytest

from cappunc_cli.api import fix
from cappunc_cli.document.labels import Case, strip
from cappunc_cli.document.words import Word
from cappunc_cli.features.evaluate.inputs import Source
from cappunc_cli.features.evaluate.run import Restorer
from cappunc_cli.files.fixer import Fixer, FixRequest, Opened
from cappunc_cli.files.inspection import examine
from cappunc_cli.formats import read
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_files import render
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.segmentation import cut
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

GOOD = (
    "So we took the train to London. It was late, and nobody knew why. Did you see Anna there? I think she left early, "
    "because her brother was ill. We had dinner with Peter, and then we went home. The house was cold. In the morning "
    "it rained, so we stayed in bed until ten. My sister called from Paris. She wanted to know how we were. "
)


def captions(*cues: str, gap: int = 0) -> str:
    """An SRT file with cues of two seconds, and a gap (ms) between them."""
    lines, clock = [], 0
    for number, cue in enumerate(cues, 1):
        start, end = (f"00:{ms // 60000:02}:{ms // 1000 % 60:02},{ms % 1000:03}" for ms in (clock, clock + 2000))
        lines += [str(number), f"{start} --> {end}", cue, ""]
        clock += 2000 + gap
    return "\n".join(lines)


def fixed(model: Model, *cues: str, gap: int = 0) -> list[str]:
    text = fix(captions(*cues, gap=gap), model, language="en").text
    return [block.splitlines()[2] for block in text.strip().split("\n\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IT'S A LONG STORY. TELL ME ABOUT IT.", "It's a long story. Tell me about it."),
        ("THAT'S A LONG STORY. TELL ME ABOUT IT.", "That's a long story. Tell me about it."),
        ("WHAT'S THAT? I'M HERE.", "What's that? I'm here."),
        ("I SAW E.T. AND WENT HOME.", "I saw E.T. and went home."),
        ("WELL--I WENT HOME. IT WAS LATE.", "Well--I went home. It was late."),
        ("I WENT TO McDONALD'S WITH LeBRON'S FRIEND.", "I went to McDonald's with LeBron's friend."),
        ("MCDONALD’S IS CLOSED, AND SO IS O'REILLY'S.", "McDonald’s is closed, and so is O'Reilly's."),
        ("HE CAME W/O HER B/C OF THE X-RAYS.", "He came w/o her b/c of the X-rays."),
        ("THAT'S IT.", "That's it."),
        (
            "THEN DeSHAWN O'MALLEY TOLD US WHAT MacARTHUR WANTED.",
            "Then DeShawn O'Malley told us what MacArthur wanted.",
        ),
        ("I-I DON'T KNOW. B-BUT I-I'M HERE.", "I-I don't know. B-But I-I'm here."),
    ],
)
def test_short_texts_in_capitals_are_restored(english: Model, text: str, expected: str) -> None:
    assert fix(text, english, language="en", format="txt").text == expected


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (
            (">> IT'S A VERY LONG STORY", ">> THEN TELL ME ABOUT IT."),
            [">> It's a very long story", ">> Then tell me about it."],
        ),
        (
            ("JOHN: WHAT HAPPENED?", "MARY: THE HOUSE WAS EMPTY", "JOHN: THE MAN WAS GONE.", "MARY: OH, NO."),
            ["JOHN: What happened?", "MARY: The house was empty", "JOHN: The man was gone.", "MARY: Oh, no."],
        ),
        (("IT ENDS AT 10:00 A.M.", "GO HOME.", "WE WAIT."), ["It ends at 10:00 a.m.", "Go home.", "We wait."]),
        (
            ("So we went to the river", "AND THEN WE SAW THE HOUSE", "that stood on the hill.", "It was old."),
            ["So we went to the river", "and then we saw the house", "that stood on the hill.", "It was old."],
        ),
        (
            ("So we went to the river.", "NO ENTRY WITHOUT PERMISSION", "It was old, and nobody knew why."),
            ["So we went to the river.", "NO ENTRY WITHOUT PERMISSION", "It was old, and nobody knew why."],
        ),
    ],
)
def test_speakers_abbreviations_and_lines_in_capitals(
    english: Model, cues: tuple[str, ...], expected: list[str]
) -> None:
    assert [line.rstrip(".") for line in fixed(english, *cues)] == [line.rstrip(".") for line in expected]


def test_after_a_long_silence_a_sentence_begins(english: Model) -> None:
    cues = ("THE RIVER HOUSE", "MANY YEARS AGO, THERE WAS A HOUSE.")
    assert fixed(english, *cues, gap=30_000)[1].startswith("Many years ago")


def test_the_title_of_a_name_in_capitals() -> None:
    model = "multi-fast"
    text = fix("EL SR. GARCÍA ESTÁ AQUÍ.\nLA SRA. LÓPEZ, TAMBIÉN.", model, language="es", format="txt").text
    assert text == "El Sr. García está aquí.\nLa Sra. López, también."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("you said--i know that and i called--london was far", ["said--I", "called--London"]),
        ("well—i went home and he said…i know and then...i left", ["Well—I", "said…I", "then...I"]),
        ("tell him/i will be there with anna/david and/or him", ["him/I", "Anna/David", "and/or"]),
        ("so i-i don't know and i-i'm not sure", ["I-I", "I-I'm"]),
        ("they drove at 50 km/h with the person(s) there", ["km/h", "person(s)"]),
    ],
)
def test_both_sides_of_a_sign_are_words(english: Model, text: str, parts: list[str]) -> None:
    new = restore([Word(word) for word in text.split()], english)
    assert [strip(word)[0] for word in new] == [strip(word)[0] for word in text.split()]
    bare = [word.rstrip(",.?") for word in new]
    assert [word for word in bare if word.lower() in [part.lower() for part in parts]] == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("you said--i know but i-i'm not sure", {"said--I", "I-I'm"}),
        ("well—i went home and he said…i know", {"Well—I", "said…I"}),
        ("you waited--then it rained", {"waited--then"}),
        ("he called--london was cold", {"called--London"}),
        ("give it to him/i know", {"him/I"}),
        ("we saw bmw--anna and nato/ibm", {"BMW--Anna", "NATO/IBM"}),
    ],
)
def test_a_stream_knows_both_sides_of_a_sign(english: Model, text: str, parts: set[str]) -> None:
    stream = LiveRestorer(english)
    texts = [text for word in map(Word, text.split()) for text in stream.feed(word)]
    assert parts <= {text.rstrip(",.?") for text in [*texts, *stream.end()]}


def damaged(words: list[str], share: float) -> list[str]:
    """The words without a share of their marks, in lower case after a sentence end that is gone."""
    chance, new, lowered = random.Random(1), [], False
    for word in words:
        bare, label = strip(word)
        gone = bool(label.mark) and chance.random() < share
        text = word[: len(word) - len(label.after)] if gone else word
        new.append(text.lower() if lowered and bare not in ("i", "anna", "peter") else text)
        lowered = gone and label.mark in ".?"
    return new


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_half_marked_text_is_completed_and_keeps_what_stands(english: Model, share: float) -> None:
    good = (GOOD * 3).split()
    text = damaged(good, share)
    new = restore([Word(word) for word in text], english)
    for old, now in zip(text, new, strict=True):
        (_, before), (_, after) = strip(old), strip(now)
        assert not before.mark or before.after == after.after
        assert before.case is Case.LOWER or before.case is after.case
    missing = [i for i, (a, b) in enumerate(zip(good, text, strict=True)) if strip(a)[1].mark != strip(b)[1].mark]
    put = [i for i in missing if new[i] != text[i]]
    assert len(put) > 0.6 * len(missing)


def test_a_fully_edited_text_is_left_alone(english: Model) -> None:
    good = GOOD.split()
    assert restore([Word(word) for word in good], english) == good
    few_commas = GOOD.replace("late, and", "late and").replace("Peter, and", "Peter and").split()
    assert restore([Word(word) for word in few_commas], english, Options()) == few_commas


def test_other_commands_read_both_sides_of_a_sign_as_fix_does(english: Model) -> None:
    """What is right after `fix` is no doubt of `review`, and `check` and `eval` count words of the file."""
    text = GOOD.replace("home. The", "home--I and Peter. The").replace("see Anna", "see anna/peter and Anna")
    document = read(text, "talk.txt")
    fixer = Fixer(FixRequest(), print, given=english)
    text_read = examine(Opened(document, fixer, "en", [("en", range(len(document.words)))]))
    doubts = {doubt.index: doubt for doubt in text_read.doubts(0.5)}
    places = {word.text.rstrip(".,"): i for i, word in enumerate(document.words)}
    assert places["home--I"] not in doubts
    assert (doubts[places["anna/peter"]].written, doubts[places["anna/peter"]].index) == ("anna/peter", 17)
    assert {doubt.instead for doubt in text_read.doubts(0.5) if doubt.index == 17} <= {"Anna/peter", "anna/Peter"}
    restorer = Restorer(english, Options())
    words = [Word(word.text.lower().rstrip(".,?")) for word in document.words]
    sample = restorer.sample(Source("talk.txt", document.words), words)
    assert sample.hypothesis == restore(words, english)
    assert "home--I" in sample.hypothesis


@pytest.mark.parametrize("width", [32, 42])
def test_captions_made_of_a_restored_text_stay_as_they_are(english: Model, width: int) -> None:
    """New cues and gaps are no evidence against what `fix` has written: its own captions do not change again."""
    words = [
        Word(strip(text)[0], 600 * i, 600 * i + 350 + 200 * text[-1].isalpha())
        for i, text in enumerate((GOOD * 2).split())
    ]
    new = restore(words, english)
    made = read(render(cut(words, new, language("en"), Limits(width=width)), "srt"), "made.srt")
    assert made.texts == new
    assert restore(made.words, english) == new
