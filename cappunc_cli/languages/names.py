"""Spelling of names and degrees, in every language."""

from __future__ import annotations

import re

#: Prefixes after which a name has another capital: `O'Brien`, `D'Angelo`, `Sant'Agata`.
APOSTROPHE_PREFIXES = ("o'", "o’", "d'", "d’", "sant'", "sant’")
#: Likewise `McDonald`.
CLAN_PREFIX = "mc"
#: `ph.d`, `ed.d`, `pharm.d`
DEGREE = re.compile(r"[^\W\d_]{2,5}\.[^\W\d_]")
