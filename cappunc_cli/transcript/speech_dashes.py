"""The dashes of direct speech, which plain text often writes as hyphens."""

from __future__ import annotations

import re
from unicodedata import normalize

_SPEECH_DASH = re.compile(r"^[^\S\n]*[-–—―][^\S\n]*(?=\S)|(?<=\s)[-–—―](?=[^\s\d-])", re.MULTILINE)
_CLOSING_DASH = re.compile(r"(?<=[^\W\d])[-–—―](?=[,.;:!?…]|$)", re.MULTILINE)


def speech_dashes(text: str) -> str:
    """Dialogue of novels: `-Sí -dijo-, claro.` opens with a dash and closes before the mark. Letters are composed."""
    return _CLOSING_DASH.sub("", _SPEECH_DASH.sub("—", normalize("NFC", text)))
