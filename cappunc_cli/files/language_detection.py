"""Detect the language of texts, and of stretches of a text in several languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import name as name_of

from cappunc_cli.files.encodings import is_latin
from cappunc_cli.languages import LANGUAGES, language

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

#: The languages of scripts that have one.
_OF_SCRIPT = {"KANA": "ja", "HANGUL": "ko", "CJK": "zh", "GREEK": "el", "THAI": "th", "HEBREW": "he"}
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
    identifier = _identifier()
    text = " ".join(words)
    ranked = identifier.rank(text)
    code, certainty = ranked[0]
    if len(words) < _MIN_WORDS or certainty < _MIN_CERTAINTY:
        among = tuple(sorted(set(candidates) & set(identifier.labels)))
        # All languages with a data file are written in Latin script.
        if is_foreign(text) and LANGUAGES.keys() >= set(among):
            return str(code)
        if len(known) == 1:
            return known[0]
        if not among:
            return DEFAULT
        otherwise = sum(probability for label, probability in ranked if label in among)
        if len(words) >= _MIN_WORDS_TOGETHER and otherwise < _MOST_OTHERWISE:
            return str(code)
        code, _ = _identifier(among).classify(text)
    return str(code)


def is_foreign(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [] if text.isascii() else [c for c in text if c.isalpha()]
    return 2 * sum(map(is_latin, letters)) < len(letters)


@cache
def _identifier(among: tuple[str, ...] = (), normalised: bool = True) -> LanguageIdentifier:
    """The identifier of all languages, or of those named; cached, since restricting it is slower than identifying."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    if not among:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=normalised)
    restricted = copy(_identifier((), normalised))
    restricted.set_languages(among)
    return restricted


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


def _best(text: str, codes: Sequence[str]) -> str:
    among = tuple(sorted(set(codes) & set(_identifier().labels)))
    return str(_identifier(among).classify(text)[0]) if among else codes[0]


def stretches(document: Document, codes: Sequence[str], only: bool = False) -> list[tuple[str, list[int]]]:
    """The languages of a document that has several, each with the numbers of the words of a stretch; [] for one.

    A line, or a cue without line breaks, has one language: that which the file declares for its words, or else that
    which is detected. Short lines go with their neighbours unless they are clearly in another language. Lines in other
    scripts than Latin have the language that the identifier finds, whatever the `codes`; with `only`, all others have
    one of these.
    """
    lines = _lines(document)
    said = [document.languages.get(line[0], "") for line in lines]
    declared = {i: code for i, code in enumerate(said) if code and (code in codes or not only)}
    cues = [document.words[line[0]].cue for line in lines]
    positions = [i - cues.index(cue, max(i - 8, 0)) for i, cue in enumerate(cues)]
    texts = [" ".join(document.words[i].text.lower() for i in line) for line in lines]
    foreign = [i not in declared and is_foreign(text) for i, text in enumerate(texts)]
    latin = [i for i, other in enumerate(foreign) if not other and i not in declared]
    if only and len(codes) == 1:
        languages = list(codes)
    else:
        languages = _languages([positions[i] for i in latin], [texts[i] for i in latin], codes, only)
    if len(languages) < 2 and not any(foreign) and not declared:
        return []
    labelled = _labelled([texts[i] for i in latin], [positions[i] for i in latin], languages)
    found = declared | dict(zip(latin, labelled, strict=True))
    scripts = {i: _script(texts[i]) for i, other in enumerate(foreign) if other}
    for script in set(scripts.values()):
        own = [i for i in scripts if scripts[i] == script]
        code = _OF_SCRIPT.get(script) or str(_identifier().classify(" ".join(texts[i] for i in own))[0])
        found |= dict.fromkeys(own, code)
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
        (code, certainty), *_ = _identifier().rank(text)
        if only:
            counts[_best(text, codes)] += 1
        elif certainty >= _MIN_CERTAINTY and len(one) >= _MIN_WORDS_TOGETHER:
            counts[str(code)] += 1
    return [code for code, count in counts.most_common() if count >= (least if code in codes else least + 1)]


def _labelled(texts: Sequence[str], positions: Sequence[int], languages: Sequence[str]) -> list[str]:
    """The language of each line: the most probable sequence in which a change has its price (Viterbi).

    The lines follow one another as in the file, or, where that is more probable, as translations do: the first line of
    each cue, then the second of each.
    """
    if len(languages) < 2:
        return [languages[0] if languages else DEFAULT] * len(texts)
    identifier = _identifier(tuple(sorted(languages)), False)
    scores: list[dict[str, float]] = []
    for text in texts:
        ranked = identifier.rank(text)
        # Relative to the best: a text without any known n-gram has a score that no sum survives.
        scores.append({str(code): _WEIGHT * float(score - ranked[0][1]) for code, score in ranked})
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
    return "KANA" if scripts["HIRAGANA"] + scripts["KATAKANA"] else scripts.most_common(1)[0][0]


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
