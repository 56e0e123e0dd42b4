"""Word lists that distinguish sounds from asides, and speaker names from remarks; caption_words.toml describes each.

All languages share them, because a file usually does not say which one it is in.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SOUNDS = re.compile("|".join(_LISTS["sounds"].split()))
ASIDES, JOINING, NO_NAMES, PARTICLES, UNNAMED = (
    frozenset(_LISTS[name].split()) for name in ("asides", "joining", "no_names", "particles", "unnamed")
)

#: Bracketed text that stands for speech that was censored or not understood; a time or punctuation only; and `[br]`.
UNHEARD = re.compile(
    r"(?:[\W\d_]*|br)\Z|.*(?:inaudibl|unintelligibl|indistinct|crosstalk|redacted|bleep|censored|foreign|\?)"
)

#: `speaker 1:`, `speaker two:` and `speaker a:` name a speaker, in upper or lower case.
GENERIC_LABEL = re.compile(
    r"(?:(?:speaker|spk|spkr|unknown speaker|sprecher|locutor|hablante|vorbitor)[ _#-]*[0-9]+"
    r"|speaker[ _#-]+(?:one|two|three|four|five|six|seven|eight|nine|ten|[a-z]))",
    re.IGNORECASE,
)

#: The device that carries an off-screen voice, after a name: `JOHN ON PHONE:`, `WOMAN OVER PA:`.
THROUGH = re.compile(
    r"\s+(?:on|over|via|through)\s+(?:the\s+)?(?:p\.?\s?a\.?|t\.?v\.?|television|radio|(?:tele)?phone|cell|mobile"
    r"|intercom|(?:loud)?speaker(?:phone)?|recording|recorder|tape|video|film|monitor|screen|laptop|computer|headset"
    r"|earpiece|comms?|walkie-talkie|megaphone|voicemail|(?:answering )?machine)\Z",
    re.IGNORECASE,
)
