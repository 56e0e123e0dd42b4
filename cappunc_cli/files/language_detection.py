"""Detect the language of texts, and of stretches of a text in several languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import exp, sqrt
from typing import TYPE_CHECKING
from unicodedata import name as name_of

from cappunc_cli.files.encodings import is_latin
from cappunc_cli.languages import LANGUAGES, VARIETIES, language

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

    from cappunc_cli.document.words import Document

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
#: Stretches are looked for in blocks of this many words. English ones without doubt have so many frequent words.
_BLOCK, _ENGLISH_IN_BLOCK = 24, 2
#: Words that count as a line where a file has a word a line.
_WORDS_A_LINE = 8
#: Share of a text's blocks, and their number, from which a language counts as one of its languages.
_MIN_SHARE, _MIN_BLOCKS = 0.02, 2
#: Change of language: what it costs (nats), and the weight of an n-gram's evidence, since n-grams overlap.
_SWITCH, _WEIGHT = 4.0, 0.5
#: What a word counts that tells a language from those near it, as n-grams do (nats); and the least share of the blocks
#: of a text from which a language near its first one is another one of it.
_TELLING, _NEAR_SHARE = 12.0, 0.25

#: The languages of scripts that have one and no data file.
_OF_SCRIPT = {"KANA": "ja", "HANGUL": "ko", "CJK": "zh", "THAI": "th", "HEBREW": "he"}
_LATIN = "LATIN"
#: In Japanese at least one letter in this many is kana; a Chinese text may quote some.
_KANA = 10
_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]*\}|\"[^\"\\\s]{1,40}\"\s*:|&\w+;|\\[nNh]|https?:\S+")
_DECLARED = re.compile(
    r"(?:\"lang(?:uage)?(?:_code)?\"\s*:\s*\"|^Language:\s*|\blang\s*[=:]\s*[\"']?)([A-Za-z]{2,3})\b",
    re.MULTILINE | re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f'’-]+[^\W\d_]*)*")


def words_of(text: str) -> list[str]:
    """The first words of a file of any format, in lower case, without tags, keys and timestamps."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text[:_MAX_CHARACTERS])
    return [word.lower() for word in _WORD.findall(_MARKUP.sub(" ", text))][:_MAX_WORDS]


def detect_language(words: Sequence[str], candidates: Iterable[str], known: Sequence[str] = ()) -> str:
    """The language code of some words in lower case; one of `candidates` if the words are few.

    `known` are the codes that the file declares: if in doubt, it is the only one of them.
    """
    if not words:
        return known[0] if len(known) == 1 else DEFAULT
    english = sum(word in language(DEFAULT).frequent for word in words)
    # Most files are English: spare them the half second that the identifier takes to load.
    if len(words) >= _ENGLISH_MIN_WORDS and english >= _ENGLISH_SHARE * len(words):
        return DEFAULT
    # The identifier is unreliable on a word or two.
    if len(words) < _MIN_WORDS and len(known) == 1:
        return known[0]
    if len(words) < _MIN_WORDS and 2 * english >= len(words):
        return DEFAULT
    text = " ".join(words)
    ranked = _ranked(text)
    code = next(iter(ranked))
    if len(words) < _MIN_WORDS or ranked[code] < _MIN_CERTAINTY:
        script = _script(text) if is_foreign(text) else _LATIN
        among = [one for one in candidates if one in ranked and is_written_in(one, script)]
        if script != _LATIN and not among:
            return code
        if len(known) == 1:
            return known[0]
        if not among:
            return DEFAULT
        if len(words) >= _MIN_WORDS_TOGETHER and sum(ranked[one] for one in {*among}) < _MOST_OTHERWISE:
            return code
        return max(among, key=ranked.__getitem__)
    return code


def is_written_in(code: str, script: str) -> bool:
    """Whether a language, if it has a data file, is written in a script."""
    return code not in LANGUAGES or script in language(code).scripts


def is_foreign(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [] if text.isascii() else [c for c in text if c.isalpha()]
    return 2 * sum(map(is_latin, letters)) < len(letters)


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)


def _scores(text: str) -> dict[str, float]:
    """The log-probability of each language, the best first.

    Those near the first one are told by their words, which the n-grams of the identifier, made of longer texts, see
    less of.
    """
    scores: dict[str, float] = {}
    for label, score in _identifier().rank(text):
        scores.setdefault(VARIETIES.get(str(label), str(label)), float(score))
    words, own = text.split(), language(next(iter(scores)))
    for one in (own, *map(language, own.near)):
        scores[one.code] += _TELLING * sum(map(one.telling.__contains__, words))
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _ranked(text: str) -> dict[str, float]:
    """The probability of each language, the best first; calibrated as the identifier does it."""
    scores, scale = _scores(text), sqrt(max(len(text.encode()), 1))
    best = next(iter(scores.values()))
    weights = {code: exp((score - best) / scale) for code, score in scores.items()}
    return {code: weight / sum(weights.values()) for code, weight in weights.items()}


def language_of_text(text: str, codes: Sequence[str], only: bool = False) -> str:
    """The detected language of a file's text, one of `codes` if in doubt, or in any case with `only`."""
    if only and len(codes) == 1:
        return codes[0]
    # A file may declare several, and the wrong one for a translation (TTML, SAMI, WebVTT, JSON).
    declared = {code.lower() for code in _DECLARED.findall(text[:_MAX_CHARACTERS])}
    known = sorted(declared.intersection(codes))
    found = detect_language(words_of(text), [*codes, *known], known)
    if only and found not in codes:
        return _best(" ".join(words_of(text)), codes)
    return found


def in_doubt(text: str, code: str) -> str:
    """A note that the text, detected as a language, may as well be in one near it; or ""."""
    near = language(code).near
    ranked = _ranked(" ".join(words_of(text))) if near else {}
    others = [language(one).name for one in ranked if one in near and ranked[one] > 1 - _MIN_CERTAINTY]
    return f"taken for {language(code).name}, but may be {' or '.join(others)}; name it with --lang" if others else ""


def _best(text: str, codes: Sequence[str]) -> str:
    return next((code for code in _scores(text) if code in codes), codes[0])


def stretches(document: Document, codes: Sequence[str], only: bool = False) -> list[tuple[str, list[int]]]:
    """The languages of a document that has several, each with the numbers of the words of a stretch; [] for one.

    A line, or a cue without line breaks, has one language: that which the file declares for its words, or else that
    which is detected. Short lines go with their neighbours unless they are clearly in another language. Lines in a
    script in which none of the `codes` is written have the language that the identifier finds; with `only`, all others
    have one of these.
    """
    lines = _lines(document)
    said = [document.languages.get(line[0], "") for line in lines]
    declared = {i: code for i, code in enumerate(said) if code and (code in codes or not only)}
    cues = [document.words[line[0]].cue for line in lines]
    positions = [i - cues.index(cue, max(i - 8, 0)) for i, cue in enumerate(cues)]
    texts = [" ".join(document.words[i].text.lower() for i in line) for line in lines]
    found = dict(declared)
    scripts = {i: _script(text) if is_foreign(text) else _LATIN for i, text in enumerate(texts) if i not in declared}
    for script in sorted(set(scripts.values())):
        own = [i for i in scripts if scripts[i] == script]
        at, said_there = [positions[i] for i in own], [texts[i] for i in own]
        among = [code for code in codes if is_written_in(code, script)]
        if script == _LATIN and 2 * len(own) < len(lines) and _is_short(said_there):
            continue  # numbers and names among lines in another script
        if only and len(among) == 1:
            languages = among
        elif among:
            languages = _languages(at, said_there, among, only)
        else:
            languages = [_OF_SCRIPT.get(script) or next(iter(_scores(" ".join(said_there))))]
        if len(languages) < 2 and len(own) == len(lines) and among:
            return []
        found |= dict(zip(own, _labelled(said_there, at, languages), strict=True))
    for i in sorted(scripts.keys() - found.keys()):
        found[i] = found[i - 1] if i else found[min(found)]
    parts = _joined(lines, found)
    # A text in another language than the only one that was named is told.
    return [] if len(codes) > 1 and len({code for code, _ in parts}) < 2 else parts


def _lines(document: Document) -> list[list[int]]:
    """The numbers of the words in each line of each cue."""
    source, own, last = document.source, document.languages, None
    lines: list[list[int]] = []
    for i, word in enumerate(document.words):
        gap = source[last.until : word.at] if last is not None and last.at >= 0 <= word.at else ""
        ends = "\n" in gap or "<br" in gap or "\\N" in gap or (own and own.get(i) != own.get(i - 1))
        if last is None or last.cue != word.cue or ends:
            lines.append([])
        lines[-1].append(i)
        last = word
    if 2 * len(lines) > len(document.words) > _WORDS_A_LINE:  # a word a line, as in CTM
        numbers = list(range(len(document.words)))
        return [numbers[i : i + _WORDS_A_LINE] for i in range(0, len(numbers), _WORDS_A_LINE)]
    return lines


def _languages(positions: Sequence[int], texts: Sequence[str], codes: Sequence[str], only: bool) -> list[str]:
    """The languages of lines in Latin script, the most frequent first.

    They are looked for in blocks of lines that have the same position in their cues: bilingual cues have one language
    in each.
    """
    blocks: list[list[str]] = []
    for position in sorted(set(positions)):
        own = [text.split() for at, text in zip(positions, texts, strict=True) if at == position]
        for start in range(0, len(own), 2):  # they overlap, so that a few lines have some blocks of their own
            block: list[str] = []
            for words in own[start : start + _BLOCK]:  # each has a word at least
                block += words
                if len(block) >= _BLOCK:
                    break
            if len(block) >= _BLOCK or not start:
                blocks.append(block)
    least = max(_MIN_BLOCKS, _MIN_SHARE * len(blocks)) if len(blocks) > _MIN_BLOCKS else 1
    frequent = language(DEFAULT).frequent
    english = [sum(word in frequent for word in one) for one in blocks]
    doubtful = [n < min(_ENGLISH_IN_BLOCK, len(one) // 8) for n, one in zip(english, blocks, strict=True)]
    if DEFAULT in codes and sum(doubtful) < least:
        return [DEFAULT]  # spares the identifier
    counts: Counter[str] = Counter()
    for one in blocks:
        text = " ".join(one)
        code, certainty = next(iter(_ranked(text).items()))
        if only:
            counts[_best(text, codes)] += 1
        elif certainty >= _MIN_CERTAINTY and len(one) >= _MIN_WORDS_TOGETHER:
            counts[code] += 1
    found = [code for code, count in counts.most_common() if count >= (least if code in codes else least + 1)]
    if len(found) < 2:
        return found
    near, enough = language(found[0]).near, _NEAR_SHARE * counts[found[0]]
    return [code for code in found if code not in near or counts[code] >= enough]


def _labelled(texts: Sequence[str], positions: Sequence[int], languages: Sequence[str]) -> list[str]:
    """The language of each line: the most probable sequence in which a change has its price (Viterbi).

    The lines follow one another as in the file, or, where that is more probable, as translations do: the first line of
    each cue, then the second of each.
    """
    if len(languages) < 2:
        return [languages[0] if languages else DEFAULT] * len(texts)
    scores: list[dict[str, float]] = []
    for text in texts:
        ranked = {code: score for code, score in _scores(text).items() if code in languages}
        # Relative to the best: a text without any known n-gram has a score that no sum survives.
        best = max(ranked.values())
        scores.append({code: _WEIGHT * (score - best) for code, score in ranked.items()})
    numbers = range(len(texts))
    orders = (numbers, sorted(numbers, key=positions.__getitem__))
    _, found = max((_best_sequence(scores, order, languages) for order in orders), key=lambda one: one[0])
    return [found[i] for i in numbers]


def _best_sequence(
    scores: Sequence[dict[str, float]], order: Sequence[int], languages: Sequence[str]
) -> tuple[float, dict[int, str]]:
    """The best languages of lines that follow one another in an `order`, by their numbers, after the path's score."""
    best = dict.fromkeys(languages, 0.0)
    back: list[dict[str, str]] = []
    for i in order:
        top = max(best, key=best.__getitem__)
        came = {code: top if best[top] - _SWITCH > best[code] else code for code in languages}
        best = {code: best[came[code]] - _SWITCH * (came[code] != code) + scores[i][code] for code in languages}
        back.append(came)
    score = max(best.values())
    code = max(best, key=best.__getitem__)
    found = {}
    for i, came in zip(reversed(order), reversed(back), strict=True):
        found[i] = code
        code = came[code]
    return score, found


def _script(text: str) -> str:
    """The script of most letters that are not Latin: `CYRILLIC`, `CJK`; Japanese is told by its kana."""
    scripts = Counter(name_of(c, "").split(" ")[0].split("-")[0] for c in text if c.isalpha() and not is_latin(c))
    kana, most = scripts["HIRAGANA"] + scripts["KATAKANA"], scripts.most_common(1)[0]
    return "KANA" if kana == most[1] or (most[0] == "CJK" and kana * _KANA >= most[1]) else most[0]


def _is_short(texts: Sequence[str]) -> bool:
    """Whether lines have too few words to tell a language."""
    return sum(any(map(str.isalpha, word)) for text in texts for word in text.split()) < _MIN_WORDS_TOGETHER


def _joined(lines: Sequence[Sequence[int]], found: dict[int, str]) -> list[tuple[str, list[int]]]:
    """Stretches of lines in one language. In bilingual cues all lines of a language are one stretch."""
    stretches: list[tuple[str, list[int]]] = []
    last: dict[str, tuple[int, list[int]]] = {}  # the last line of each language, and the words of its stretch
    for i, line in enumerate(lines):
        code = found.get(i, "")
        if code not in last or i - last[code][0] > 3:  # fewer lines between are a cue's translation
            last[code] = (i, [])
            stretches.append((code, last[code][1]))
        last[code][1].extend(line)
        last[code] = (i, last[code][1])
    return stretches


def contradiction(text: str, code: str) -> str:
    """What there is to say of a file's text that is clearly in another language than the user named, or ""."""
    words = words_of(text)
    found = detect_language(words, [code]) if len(words) >= _ENGLISH_MIN_WORDS else code
    if found == code or found not in LANGUAGES:
        return ""
    # A language that is close to another is not told from it by a few words.
    if dict(_identifier().rank(" ".join(words))).get(code, 1.0) > _MOST_OTHERWISE:
        return ""
    return f"looks like {LANGUAGES[found]}, but is read as {language(code).name} (--lang {code})"
