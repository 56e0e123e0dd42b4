"""Dialogue from novels: direct speech without the narration between.

In most languages there is little open text of spoken dialogue, but half of the lines of a novel are dialogue.
"""

from __future__ import annotations

import re
from itertools import pairwise

_DASH = r"(?:--|[-–—―])"
_OPENING_DASH = re.compile(rf"^\s*{_DASH}\s*(?=[^\s\d])")
# Within a line a dash has a space on one side (`—Sí —dijo—, claro.`) or both (`Tak — rzekł. — Dobrze.`), a hyphen none.
_INNER_DASH = re.compile(rf"\s{_DASH}\s*(?=\S)|(?<=\S){_DASH}(?=[\s,.;:!?…]|$)")
_QUOTED = re.compile(r"[“„\"«»]\s*([^“”„\"«»]+?)\s*[”“\"»«]")
_MARKS = re.compile(r"[“”„\"«»]\s*")
_ENDS = (".", "!", "?", "…", "...")
_MOST_WORDS = 60


def direct_speech(line: str) -> str:
    """The direct speech of a paragraph as one turn; '' if there is none.

    In a paragraph that begins with a dash, dashes alternate between speech and narration; otherwise speech is quoted.
    """
    if _OPENING_DASH.match(line):
        parts = [_MARKS.sub("", part) for part in _INNER_DASH.split(_OPENING_DASH.sub("", line))[::2]]
    else:
        parts = _QUOTED.findall(line)
    said = ""
    for part in map(str.strip, parts):
        if not part:
            continue
        if part[0] in ",.;:!?…":
            # `—¿Y tú? —dijo—. Ven.`: the stop is the narrator's.
            said = said.rstrip(",;:") + (part.lstrip(".") if said.endswith(_ENDS) else part)
        elif said and part[0].isupper() and not said.endswith(_ENDS):
            # The narrator's full stop ended the sentence: `“Yes,” he said. “Come.”`
            said = f"{said.rstrip(',;:')}. {part}"
        else:
            said = f"{said} {part}".strip()
    # `Où vas-tu? dit-il`: the narrator goes on without a sign.
    tagged = any(end[-1] in "!?" and word[0].islower() for end, word in pairwise(said.split()))
    if tagged or not any(map(str.isalpha, said)) or len(said.split()) > _MOST_WORDS:
        return ""
    return said if said.endswith(_ENDS) else said.rstrip(",;: ") + "."
