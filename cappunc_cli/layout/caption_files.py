"""Write new caption files. There is no source to preserve here, so pysrt and webvtt-py write SRT and WebVTT."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape, unescape
from io import StringIO

from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.layout.markup_files import ass, ass_texts, ttml, ttml_texts
from cappunc_cli.layout.segmentation import Caption

#: The voice span that `_vtt` writes for a speaker.
_VOICE = re.compile(r"^<v [^>]*>")


def _srt(captions: Sequence[Caption]) -> str:
    from pysrt import SubRipFile, SubRipItem, SubRipTime

    time = SubRipTime.from_ordinal
    items = [SubRipItem(i, time(c.start), time(c.end), "\n".join(c.lines)) for i, c in enumerate(captions, 1)]
    output = StringIO()
    SubRipFile(items=items).write_into(output)
    return output.getvalue()


def _srt_texts(text: str) -> list[str]:
    from pysrt import SubRipFile

    return [item.text for item in SubRipFile.from_string(text)]


def _vtt(captions: Sequence[Caption]) -> str:
    from webvtt import Caption as Cue
    from webvtt import WebVTT

    file = WebVTT()
    for caption in captions:
        text = escape("\n".join(caption.lines), quote=False)
        if caption.speaker:
            text = f"<v {escape(' '.join(caption.speaker.split()), quote=False)}>{text}"
        file.captions.append(Cue(timestamp(caption.start), timestamp(caption.end), text))
    return str(file.content)


def _vtt_texts(text: str) -> list[str]:
    from webvtt import WebVTT

    return [unescape(_VOICE.sub("", cue.raw_text)) for cue in WebVTT.from_string(text).captions]


def early_note(count: int) -> str:
    """A note about words with times before zero, which no player shows, or ""."""
    return f"{count:,} word{'s' * (count != 1)} before zero: shown from zero" if count else ""


#: The formats that captions can be written in: for each, its writer and a reader of the captions' texts.
CAPTION_FORMATS: Mapping[str, tuple[Callable[[Sequence[Caption]], str], Callable[[str], list[str]]]] = {
    "srt": (_srt, _srt_texts),
    "vtt": (_vtt, _vtt_texts),
    "ass": (ass, ass_texts),
    "ttml": (ttml, ttml_texts),
}


def render(captions: Sequence[Caption], texts: Sequence[str], kind: str) -> str:
    """Write captions as a file of the format `kind`, one of CAPTION_FORMATS; `texts` are the words that they show.

    The result is read back: raises BadInput unless it has exactly these words, in order. Raises BadInput for a time
    before zero as well, which no player shows and the formats cannot say.
    """
    write, read = CAPTION_FORMATS[kind]
    if early := next((c for c in captions if min(c.start, c.end) < 0), None):
        times = f"{timestamp(early.start)} to {timestamp(early.end)}"
        raise BadInput(f"“{' '.join(early.lines)}” is shown from {times}: {kind.upper()} has no times before zero")
    output = write(captions)
    found = [word for text in read(output) for word in text.split()] if captions else []
    wanted = [part for text in texts for part in text.split()]
    for i, (one, other) in enumerate(zip([*found, ""], [*wanted, ""], strict=False), 1):
        if one != other:
            raise BadInput(f"“{other}” (word {i}) would become “{one}” in {kind.upper()}")
    if len(found) != len(wanted):
        raise BadInput(f"the captions have {len(found)} words in place of {len(wanted)}")
    return output
