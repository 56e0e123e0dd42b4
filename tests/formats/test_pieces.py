"""Files of word pieces, in which a leading space says where a word begins (whisper.cpp -ml 1)."""

from __future__ import annotations

import pytest

from cappunc_cli import formats
from cappunc_cli.formats.cues import cues_are_pieces
from cappunc_cli.formats.shown_cues import shown_cues
from cappunc_cli.layout.shown_text import shown_texts

PIECES = [" we", " met", " in", " lon", "don", ",", " roth", "sch", "ild", " and", " i", "'m", " sure"]
WORDS = ["we", "met", "in", "london,", "rothschild", "and", "i'm", "sure"]
NEW = ["We", "met", "in", "London.", "Rothschild", "and", "I'm", "sure."]
NEW_PIECES = [" We", " met", " in", " Lon", "don", ".", " Roth", "sch", "ild", " and", " I", "'m", " sure."]


def srt(pieces: list[str]) -> str:
    cues = (f"{i + 1}\n00:00:{i:02},000 --> 00:00:{i:02},900\n{text}\n" for i, text in enumerate(pieces))
    return "\n".join(cues)


def vtt(pieces: list[str]) -> str:
    return "WEBVTT\n\n" + "\n".join(f"00:{i:02}.000 --> 00:{i:02}.900\n{text}\n" for i, text in enumerate(pieces))


def csv(pieces: list[str]) -> str:
    return "start,end,text\n" + "".join(f'{1000 * i},{1000 * i + 900},"{text}"\n' for i, text in enumerate(pieces))


def tsv(pieces: list[str]) -> str:
    return "start\tend\ttext\n" + "".join(f"{1000 * i}\t{1000 * i + 900}\t{text}\n" for i, text in enumerate(pieces))


@pytest.mark.parametrize("written", [srt, vtt, csv, tsv])
def test_pieces_are_read_as_words_and_written_in_pieces(written) -> None:  # type: ignore[no-untyped-def]
    document = formats.read(written(PIECES))
    assert document.texts == WORDS
    london = document.words[3]
    assert (london.start, london.end) == (3000, 4900)
    output = formats.write(document, NEW)
    assert output == written(NEW_PIECES)
    formats.verify(document, output)
    assert shown_cues(document) is None  # a caption for each piece would part the words
    assert shown_texts(document) == WORDS


def test_sounds_in_pieces_are_no_words() -> None:
    document = formats.read(srt([" so", " [", "mus", "ic", "]", " we", " went", " lon", "don"]))
    assert document.texts == ["so", "we", "went", "london"]
    assert document.words[1].sound


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (PIECES, True),
        ([" And so my fellow Amer", "icans, ask", " not what your", " country can do", " for you today"], True),
        ([" And so my fellow", " Americans ask", " not what", " your country", " can do"], False),
        (["and so", "my fellow", "americans", "ask not"], False),
        ([" - and so", "my fellow", "americans", "ask not", "what you"], False),
        (["and ", "so ", "my ", "fel", "low "], False),
        ([" and", "so"], False),
    ],
)
def test_the_convention_shows_in_the_file_as_a_whole(texts: list[str], expected: bool) -> None:
    assert cues_are_pieces(texts) is expected
