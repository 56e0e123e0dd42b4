"""Detect the language of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING

from cappunc_cli.files.encodings import is_latin
from cappunc_cli.languages import LANGUAGES

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

AUTO = "auto"
#: The language assumed for texts that are too short to tell.
DEFAULT = "en"
#: Detection looks at this many characters from the beginning of a file, and at this many words of them.
_MAX_CHARACTERS, _MAX_WORDS = 100_000, 1000
#: With fewer words or less certainty, only languages with a model are considered. French is recognised in two thirds
#: of texts of five words and in 99 % of texts of twelve; of texts of five words in a language with a model, one in
#: 2000 is taken for a language without.
_MIN_WORDS, _MIN_CERTAINTY = 5, 0.9
#: From this many words on, languages without a model may be certain together, such as Danish and Norwegian, if those
#: with one have less than this probability: there they have 0.0002 at most, in what is no language (fonts, the keys of
#: a format) 0.08.
_MIN_WORDS_TOGETHER, _MOST_OTHERWISE = 8, 0.01
#: A text of at least this many words is English if at least this share of them are frequent English words.
_ENGLISH_SHARE, _ENGLISH_MIN_WORDS = 0.15, 20
_LATIN = frozenset(code for code, known in LANGUAGES.items() if known.latin)

_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]*\}|\"[^\"\\\s]{1,40}\"\s*:|&\w+;|\\[nNh]|https?:\S+")
_DECLARED = re.compile(r"(?:\"language\"\s*:\s*\"|^Language:\s*)([A-Za-z]{2,3})\b", re.MULTILINE)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f'’-]+[^\W\d_]*)*")


def words_of(text: str) -> list[str]:
    """The first words of a file of any format, in lower case, without tags, keys and timestamps."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text[:_MAX_CHARACTERS])
    return [word.lower() for word in _WORD.findall(_MARKUP.sub(" ", text))][:_MAX_WORDS]


def declared(text: str) -> list[str]:
    """The language codes that a file declares (Whisper's JSON, YouTube's WebVTT); wrong for some translations."""
    return sorted({code.lower() for code in _DECLARED.findall(text)})


def detect_language(words: Sequence[str], candidates: Iterable[str]) -> str:
    """The language code of some words in lower case; one of `candidates` if the words are few."""
    if not words:
        return DEFAULT
    english = sum(word in LANGUAGES[DEFAULT].frequent for word in words)
    # Most files are English: spare them the half second that the identifier takes to load.
    if len(words) >= _ENGLISH_MIN_WORDS and english >= _ENGLISH_SHARE * len(words):
        return DEFAULT
    # The identifier is unreliable on a word or two.
    if len(words) < _MIN_WORDS and 2 * english >= len(words):
        return DEFAULT
    identifier = _identifier()
    text = " ".join(words)
    ranked = identifier.rank(text)
    code, certainty = ranked[0]
    if len(words) < _MIN_WORDS or certainty < _MIN_CERTAINTY:
        known = tuple(sorted(set(candidates) & set(identifier.labels)))
        if _is_foreign(text) and _LATIN.issuperset(known):
            return str(code)
        if not known:
            return DEFAULT
        otherwise = sum(probability for label, probability in ranked if label in known)
        if len(words) >= _MIN_WORDS_TOGETHER and otherwise < _MOST_OTHERWISE:
            return str(code)
        code, _ = _identifier(known).classify(text)
    return str(code)


def _is_foreign(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(map(is_latin, letters)) < len(letters)


@cache
def _identifier(among: tuple[str, ...] = ()) -> LanguageIdentifier:
    """The identifier of all languages, or of those named; cached, since restricting it is slower than identifying."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    if not among:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    restricted = copy(_identifier())
    restricted.set_languages(among)
    return restricted


def language_of_text(text: str, codes: Sequence[str]) -> str:
    """The detected language of a file's text, one of `codes` if in doubt."""
    return detect_language(words_of(text), [*codes, *declared(text)])
