"""Tokens that are no words but belong to a sentence: addresses, and signs such as `%`."""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"[\"'(<“‘–—-]*(?:[a-z][a-z0-9+.-]*://.*|www\.\w.*|@\w.*|[^@]++@[^@.]++\.\w[^@]*+"
    r"|.+#xywh=.*"  # the thumbnails of a player: `thumb.jpg#xywh=0,0,160,90`
    r"|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|int|io|ai|dev|app|tv|info|biz|eu|uk|de|fr)(?:[/:].*)?)"
    r"[.,;:!?)\"'”’»›…–—-]*",
    re.IGNORECASE,
)
# `2 ^ 3 = 8`, `50 %`, `12 €`, `Johnson & Johnson`: no mark goes between a word and these.
_SIGNS = re.compile(r"[&\^*/%‰°=+<>|~−×÷±≠≈≤≥→$€£¥§№©®™]+")
# The marks of `30 %.`, `20 €, and`, `go to www.example.org.`, read from the end: a search for them would be quadratic.
_LAST_MARKS = re.compile(r"(?>(?:[,.?!;…—\"”»›)]|--)*)")
#: `1️⃣`: a digit and the sign that makes an emoji of it.
_KEYCAP = re.compile("[0-9]\ufe0f?\u20e3")


#: `<3`, `:D`, `;-)`: no words, and a mark or another case would make others of them.
_EMOTICON = re.compile(r"</?3+|[:;=]['’]?-?[DPpOo3]|[:;=]['’]?-?[)(\]\[/|*]+")


def has_letters(token: str) -> bool:
    """Whether a token has a letter or a digit, but for the digits of emoji."""
    return any(map(str.isalnum, _KEYCAP.sub("", token) if "\u20e3" in token else token)) and not is_emoticon(token)


def is_emoticon(token: str) -> bool:
    """Whether a token is a face or a heart made of characters."""
    return token[:1] in "<:;=" and _EMOTICON.fullmatch(token) is not None


def is_address(token: str) -> bool:
    """Whether a token, with any marks around it, is the address of a page or a person, or a handle (`@mary`)."""
    return ("." in token or "@" in token or "/" in token) and _ADDRESS.fullmatch(token) is not None


def are_signs(token: str) -> bool:
    """Whether a token consists of signs, or is an emoticon."""
    return _SIGNS.fullmatch(token) is not None or is_emoticon(token)


def last_marks(token: str) -> int:
    """Where the marks at the end of a token begin."""
    found = _LAST_MARKS.match(token[::-1])
    return len(token) - (found.end() if found else 0)


def belongs(token: str) -> bool:
    """Whether a token is no word but belongs to the sentence of the word before it."""
    return is_address(token) or are_signs(token[: last_marks(token)])
