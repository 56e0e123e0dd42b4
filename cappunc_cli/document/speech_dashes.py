"""Dashes of direct speech, which plain text often writes as hyphens."""

from __future__ import annotations

import re
from unicodedata import normalize

_SPEECH_DASH = re.compile(r"^[^\S\n]*[-–—―][^\S\n]*(?=\S)|(?<=\s)[-–—―](?=[^\s\d-])", re.MULTILINE)
_CLOSING_DASH = re.compile(r"(?<=[^\W\d])[-–—―](?=[,.;:!?…]|$)", re.MULTILINE)


def speech_dashes(text: str) -> str:
    """Normalise the dashes of dialogue in a novel, and compose its letters (NFC).

    An opening hyphen or dash becomes an em dash, and one that closes before a mark is removed:
    `-Sí -dijo-, claro.` becomes `—Sí —dijo, claro.`
    """
    return _CLOSING_DASH.sub("", _SPEECH_DASH.sub("—", normalize("NFC", text)))
