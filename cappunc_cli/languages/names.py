"""How names and degrees are written, in whichever language they come up."""

from __future__ import annotations

import re

#: Behind these a name begins anew: `O'Brien`, `D'Angelo`.
APOSTROPHE_PREFIXES = ("o'", "o’", "d'", "d’")
#: And behind this one: `McDonald`.
CLAN_PREFIX = "mc"
#: `ph.d`, `ed.d`, `pharm.d`
DEGREE = re.compile(r"[^\W\d_]{2,5}\.[^\W\d_]")
