"""Reading and writing take time in proportion to the size of a file, whatever signs follow each other in it."""

from __future__ import annotations

from time import process_time

import pytest

from cappunc_cli import formats
from cappunc_cli.errors import BadInput

#: What surrounds a long text in each format.
FRAMES = {
    "srt": "1\n00:00:01,000 --> 00:00:02,000\n{}\n",
    "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n",
    "sbv": "0:00:01.000,0:00:02.000\n{}\n",
    "ass": "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{}\n",
    "lrc": "[00:01.00]{}\n",
    "stm": "talk A ada 0.0 9.5 {}\n",
    "ctm": "talk A 0.0 9.5 {}\n",
    "tsv": "start\tend\ttext\n0\t900\t{}\n",
    "txt": "{}\n",
    "microdvd": "{{1}}{{25}}{}\n",
    "mpl2": "[1][25]{}\n",
    "ttml": "<tt><body><div><p begin='1s' end='2s'>{}</p></div></body></tt>",
    "sami": "<SAMI><BODY><SYNC Start=0><P>{}</BODY></SAMI>",
}
SIGNS = [". ", "-- ", "-", "- ", ", ", "...", "? ", "<", "> ", "& ", "&#", "( ", ") ", "[", "] ", "{", "} ", "* ", "# "]
SIGNS += ["<a", "# a\n", ">> w ", "♪\n", "&a", "a.", "{\\", "(a ", "A: ", "a:", "1:11:11 ", "{\\p1}", "<!--"]
SIGNS += ["♪ ", "| ", ": ", "' ", '" ', "“ ", "/ ", "\\ ", "a. ", "@ ", ">> ", "1 ", "\u200b", "\xa0", "=", "$ ", "% "]
SMALL, TIMES = 5_000, 4


def seconds(source: str, name: str) -> float:
    begin = process_time()
    document = formats.read(source, format=name)
    texts = [text.upper() if text.isalpha() else text for text in document.texts]
    formats.verify(document, formats.write(document, texts))
    return process_time() - begin


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_time_grows_with_the_size(name: str) -> None:
    for sign in SIGNS:
        if name == "ttml" and ("<" in sign or "&" in sign):
            continue
        texts = [f"word {sign * (size // len(sign))} word" for size in (SMALL, TIMES * SMALL)]
        # Quadratic growth is a factor of 16 each time; what a busy machine adds is not there three times.
        for attempt in range(3):
            try:
                small, large = (seconds(FRAMES[name].format(text), name) for text in texts)
            except BadInput:
                break
            if large < 8 * small + 0.15:
                break
            assert attempt < 2, (sign, small, large)
