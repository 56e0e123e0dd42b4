"""Reading and writing take time in proportion to the size of a file, whatever signs follow each other in it."""

from __future__ import annotations

from html import escape
from time import process_time

import pytest

from cappunc_cli import formats
from cappunc_cli.document.labels import dress, strip
from cappunc_cli.errors import BadInput
from cappunc_cli.layout.caption_files import render
from cappunc_cli.layout.segmentation import Caption

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
    "chat": "@Begin\n*MOT:\t{}\n@End\n",
    "sami": "<SAMI><BODY><SYNC Start=0><P>{}</BODY></SAMI>",
    "tmplayer": "00:00:01:{}\n",
    "subviewer1": "[BEGIN]\n[00:00:01]\n{}\n[00:00:03]\n\n[END]\n",
    "avid-ds": "@ This file written\n\n<begin subtitles>\n00:00:01:00 00:00:02:24\n{}\n\n<end subtitles>\n",
    "textgrid": 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n9\n<exists>\n1\n'
    '"IntervalTier"\n"words"\n0\n9\n1\n0\n9\n"{}"\n',
}
#: The same for formats of XML, in which the text is escaped.
XML_FRAMES = {
    "ttml": "<tt><body><div><p begin='1s' end='2s'>{}</p></div></body></tt>",
    "tei": "<TEI><text><u start='1' end='2'>{}</u></text></TEI>",
    "xmeml": "<xmeml><sequence><generatoritem><effect><parameter><parameterid>str</parameterid><value>{}</value>"
    "</parameter></effect></generatoritem></sequence></xmeml>",
    "srv3": "<timedtext format='3'><body><p t='0' d='1500'>{}</p></body></timedtext>",
    "fcpxml": "<fcpxml version='1.9'><caption offset='1s' duration='2s'><text><text-style>{}</text-style></text>"
    "</caption></fcpxml>",
    "elan": "<ANNOTATION_DOCUMENT><TIME_ORDER><TIME_SLOT TIME_SLOT_ID='a' TIME_VALUE='0'/><TIME_SLOT TIME_SLOT_ID='b' "
    "TIME_VALUE='9'/></TIME_ORDER><TIER TIER_ID='t'><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1='a' "
    "TIME_SLOT_REF2='b'><ANNOTATION_VALUE>{}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>"
    "</ANNOTATION_DOCUMENT>",
    "exmaralda": "<basic-transcription><basic-body><common-timeline><tli id='a' time='0'/><tli id='b' time='9'/>"
    "</common-timeline><tier id='t' category='v' type='t'><event start='a' end='b'>{}</event></tier></basic-body>"
    "</basic-transcription>",
    "transcriber": "<Trans><Episode><Section><Turn startTime='0' endTime='9'><Sync time='0'/>{}</Turn></Section>"
    "</Episode></Trans>",
}
NAMES = [*FRAMES, *XML_FRAMES, "ebu-stl"]
SIGNS = [". ", "-- ", "-", "- ", ", ", "...", "? ", "<", "> ", "& ", "&#", "( ", ") ", "[", "] ", "{", "} ", "* ", "# "]
SIGNS += ["<a", "# a\n", ">> w ", "♪\n", "&a", "a.", "{\\", "(a ", "A: ", "a:", "1:11:11 ", "{\\p1}", "<!--"]
SIGNS += ["♪ ", "| ", ": ", "' ", '" ', "“ ", "/ ", "\\ ", "a. ", "@ ", ">> ", "1 ", "\u200b", "\xa0", "=", "$ ", "% "]
SMALL, TIMES = 5_000, 4


def framed(text: str, name: str) -> str:
    """A file with one long text."""
    if name in FRAMES:
        return FRAMES[name].format(text)
    if name in XML_FRAMES:
        return XML_FRAMES[name].format(escape(text))
    return render([Caption(0, 0, 1000, 2000, (text,))], "stl")


def seconds(source: str, name: str) -> float:
    begin = process_time()
    document = formats.read(source, format=name)
    texts = [text.upper() if text.isalpha() else text for text in document.texts]
    if texts:
        bare, label = strip(texts[0])
        texts[0] = dress(bare, label.with_mark("?"))
    formats.verify(document, formats.write(document, texts))
    return process_time() - begin


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_time_grows_with_the_size(name: str) -> None:
    measured = 0
    # Captions of this format are rows of a block, and their text is read by what reads that of the others.
    signs = SIGNS[::5] if name == "ebu-stl" else SIGNS
    for sign in signs:
        texts = [f"word {sign * (size // len(sign))} word" for size in (SMALL, TIMES * SMALL)]
        # Quadratic growth is a factor of 16 each time; what a busy machine adds is not there three times.
        for attempt in range(3):
            try:
                small, large = (seconds(framed(text, name), name) for text in texts)
            except BadInput:
                break
            if large < 8 * small + 0.15:
                measured += 1
                break
            assert attempt < 2, (sign, small, large)
    assert measured > len(signs) // 2
