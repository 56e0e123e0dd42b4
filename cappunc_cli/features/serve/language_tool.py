"""LanguageTool's HTTP protocol, whose clients show what is missing or doubtful with nothing installed on their side.

Its reference is languagetool.org/http-api. Offsets count UTF-16 units of the whole text, markup included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.inspection import examine
from cappunc_cli.languages import LANGUAGES, language
from cappunc_cli.restoration.decoding.doubts import LowConfidence
from cappunc_cli.restoration.models.registry import model_languages
from cappunc_cli.version import __version__

#: Existing marks and capitals are doubted below this probability, and with `level=picky` below the other one.
_DOUBTED, _PICKY = 0.5, 0.7
#: Characters of context around a match.
_CONTEXT = 40
_RULES = {
    "CAPPUNC_MARK": ("Punctuation", "PUNCTUATION", "typographical"),
    "CAPPUNC_CASE": ("Capitalization", "CASING", "misspelling"),
    "CAPPUNC_MARK_AND_CASE": ("Punctuation and capitalization", "PUNCTUATION", "typographical"),
}

#: A text, and what of it is read: pieces, each with where it stands, None for what a piece of markup is read as.
Annotated = tuple[str, list[tuple[str, int | None]]]


def software() -> dict[str, Any]:
    """What answers."""
    return {"name": "cappunc", "version": __version__, "apiVersion": 1, "premium": False, "status": ""}


def variants() -> list[dict[str, str]]:
    """The languages that have a model, also with the regions that clients know."""
    found = []
    for code in filter(LANGUAGES.__contains__, model_languages()):
        for region in ("", *language(code).regions.split()):
            name = f"{LANGUAGES[code]} ({region})" if region else LANGUAGES[code]
            found.append({"name": name, "code": code, "longCode": f"{code}-{region}" if region else code})
    return found


def parse_text(given: Mapping[str, str]) -> Annotated:
    """The `text` of a request, or its `data`. Raises WrongUsage."""
    if ("text" in given) == ("data" in given):
        raise WrongUsage("send text or data")
    if "text" in given:
        return given["text"], [(given["text"], 0)]
    whole, pieces = "", list[tuple[str, int | None]]()
    try:
        for one in json.loads(given["data"])["annotation"]:
            said, markup = one.get("text"), one.get("markup")
            if not isinstance(said if markup is None else markup, str) or (said is not None and markup is not None):
                raise ValueError
            pieces.append((one.get("interpretAs", ""), None) if said is None else (said, len(whole)))
            whole += markup if said is None else said
            if not isinstance(pieces[-1][0], str):
                raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WrongUsage("data is not the annotation of a text") from None
    return whole, pieces


def check_text(text: Annotated, fixer: Fixer, given: Mapping[str, str]) -> dict[str, Any]:
    """The answer to a request: a match for each word that would be written otherwise. Raises CappuncError."""
    whole, pieces = text
    read = "".join(piece for piece, _ in pieces)
    #: Where each character that is read stands in the whole text, None for one that is not there.
    places: list[int | None] = []
    for piece, at in pieces:
        places += [None] * len(piece) if at is None else range(at, at + len(piece))
    opened = fixer.open(formats.read(read, format="txt"))
    words, new = opened.document.words, opened.document.texts
    if words:
        for doubt in examine(opened).doubts(_PICKY if given.get("level") == "picky" else _DOUBTED):
            new[doubt.index] = _instead(new[doubt.index], doubt)
        new = [b if b != word.text else c for word, b, c in zip(words, opened.restore(), new, strict=True)]
    units = list(accumulate((1 + (character > "\uffff") for character in whole), initial=0))
    matches = []
    for number, (word, other) in enumerate(zip(words, new, strict=True)):
        own = places[word.at : word.until]
        # A word with markup in it is left alone: what replaces it would lack that.
        if word.text == other or None in own or own != list(range(own[0] or 0, (own[0] or 0) + len(word.text))):
            continue
        rule = _rule(word.text, other)
        if _is_off(rule, given):
            continue
        at = own[0] or 0
        matches.append(_match(whole, units, (at, at + len(word.text)), other, rule, number == len(words) - 1))
    spoken = {"name": language(opened.code).name, "code": opened.code}
    detected = {**spoken, "confidence": 1.0}
    known = {"language": {**spoken, "detectedLanguage": detected}, "warnings": {"incompleteResults": False}}
    return {"software": software(), **known, "matches": matches}


def _instead(text: str, doubt: LowConfidence) -> str:
    """A word with what is more probable."""
    _, label = strip(text)
    middle = text[len(label.before) : len(text) - len(label.after)]
    match doubt.kind:
        case "case":
            return f"{label.before}{doubt.instead}{label.after}"
        case "opening":
            before = label.before.replace(doubt.written, "", 1) if doubt.written else label.before
            return f"{before}{doubt.instead}{middle}{label.after}"
    after = label.after.replace(doubt.written, doubt.instead, 1) if doubt.written else doubt.instead + label.after
    return f"{label.before}{middle}{after}"


def _rule(old: str, new: str) -> str:
    (bare, label), (new_bare, new_label) = strip(old), strip(new)
    case = (label.case, label.form) != (new_label.case, new_label.form) or bare != new_bare
    marks = (label.before, label.after) != (new_label.before, new_label.after)
    return "CAPPUNC_" + "_AND_".join(["MARK"] * marks + ["CASE"] * case)


def _is_off(rule: str, given: Mapping[str, str]) -> bool:
    """Whether a client wants no matches of a rule."""
    category = _RULES[rule][1]
    named = {key: given.get(key, "").split(",") for key in _LISTS}
    off = rule in named["disabledRules"] or category in named["disabledCategories"]
    only = given.get("enabledOnly") in ("true", "yes")
    return off or (only and rule not in named["enabledRules"] and category not in named["enabledCategories"])


_LISTS = ("disabledRules", "disabledCategories", "enabledRules", "enabledCategories")


def _match(whole: str, units: list[int], place: tuple[int, int], new: str, rule: str, is_last: bool) -> dict[str, Any]:
    """A word that would be written otherwise; lengths are UTF-16 units."""
    start, stop = place
    first, last = max(start - _CONTEXT, 0), min(stop + _CONTEXT, len(whole))
    about, category, kind = _RULES[rule]
    context = {"text": whole[first:last].replace("\n", " ")}
    return {
        "message": f"Rather “{new}”.",
        "shortMessage": about,
        "offset": units[start],
        "length": units[stop] - units[start],
        "replacements": [{"value": new}],
        "context": {**context, "offset": units[start] - units[first], "length": units[stop] - units[start]},
        "sentence": context["text"],
        "type": {"typeName": "Other"},
        "rule": {
            "id": rule,
            "description": about,
            "issueType": kind,
            "category": {"id": category, "name": category.title()},
        },
        # While a sentence is being typed its last word lacks a mark.
        "ignoreForIncompleteSentence": is_last,
        "contextForSureMatch": 0,
    }
