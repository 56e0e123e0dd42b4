"""Count how words are written, for lexicon.txt: `python models/lab/forms.py DATA en=400 models/en models/en-fast`.

After the data come the languages, each with the most kilobytes for its section, and the folders of the models, of which
the first one's tokenizer says which words are rare. Only words within sentences count, since at the start of one every
word is capital; lines in capitals or title case do not, nor does the end of each text, on which models are developed.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from cappunc_cli.document.labels import CAPITAL, CASE_CLASSES, LOWER, MIXED, UPPER, strip
from cappunc_cli.restoration.models.network import tokenise

#: Texts that must not train a model that is shipped: their licence forbids it, or they are for evaluation.
NOT_FOR_TRAINING = {
    *("en/3b1b", "en/brown", "en/common_voice", "en/debates", "en/ted", "eu/berria_basse", "eu/elhuyar_gec"),
    *("eu/ud_bdt", "pt/common_voice", "ro/moroco_nonames", "ro/roalgo"),
}
#: The share of each text that is held out.
HELD_OUT = 0.01
#: A word counts this often in a document, so that no single document decides how it is written.
MOST_PER_DOCUMENT = 10
#: Lines with a greater share of longer words that are not in lower case are headings.
_HEADING, _LONG = 0.75, 4
#: How often a form is seen at least. A word is listed for its acronym or mixed case from this share on.
_LEAST, _SHARE = 3, 0.02
#: A word with a greater share in lower case has its place in the order of words by half its count.
_LOWER = 0.97


@lru_cache(maxsize=1 << 20)
def written(token: str) -> tuple[str, bool, bool]:
    """The word as it is written, "" for none, and whether a sentence may begin with it, and with the next word."""
    token = token.replace("’", "'")
    bare, label = strip(token)
    word = label.inside(token).removesuffix("'s").rstrip("-'")
    is_word = any(map(str.isalpha, bare)) and not bare.endswith("-")
    ends = label.after not in ("", ",") or not any(map(str.isalnum, bare))
    return word if is_word else "", label.before != "", ends


def documents(path: Path) -> Iterator[list[str]]:
    """The documents of a text, each a list of lines, without the end that is held out."""
    with lzma.open(path, "rt", encoding="utf-8") as text:
        lines = text.read().split("\n")
    left = sum(map(len, lines)) * (1 - HELD_OUT)
    document: list[str] = []
    for line in lines:
        left -= len(line)
        if left < 0:
            break
        if line.strip():
            document.append(line)
        elif document:
            yield document
            document = []
    yield document


def count(path: Path) -> Counter[str]:
    """How often each written form occurs within the sentences of a text."""
    found: Counter[str] = Counter()
    for document in documents(path):
        own: Counter[str] = Counter()
        for line in document:
            parts = [written(token) for token in line.split()]
            long = [word for word, _, _ in parts if len(word) >= _LONG]
            if len(long) > 2 and sum(not word.islower() for word in long) > _HEADING * len(long):
                continue
            starts = True
            for word, opens, ends in parts:
                if word and not starts and not opens:
                    own[word] += 1
                starts = ends
        for word, times in own.items():
            found[word] += min(times, MOST_PER_DOCUMENT)
    return found


def count_language(data: Path, code: str) -> Counter[str]:
    """The counts of all texts of a language that may train."""
    total: Counter[str] = Counter()
    for path in sorted((data / code).glob("*.txt.xz")):
        if f"{code}/{path.name.split('.')[0]}" not in NOT_FOR_TRAINING:
            total += count(path)
    return total


def section(code: str, counts: Counter[str], tokenizer: Tokenizer, most: int) -> str:
    """The section of a language in at most `most` bytes: first acronyms and mixed case, then by count.

    Words that the network reads in one piece are left out unless their case varies: it has learnt them.
    """
    seen: dict[str, list[int]] = {}
    forms: dict[str, Counter[str]] = {}
    for word, times in counts.items():
        bare, label = strip(word)
        case = CASE_CLASSES.index(label.case)
        seen.setdefault(bare, [0, 0, 0, 0])[CAPITAL if case == UPPER and len(bare) == 1 else case] += times
        if case == MIXED:
            forms.setdefault(bare, Counter())[word] += times
    total = [sum(numbers[case] for numbers in seen.values()) for case in range(4)]
    words = [bare for bare, numbers in seen.items() if sum(numbers) >= _LEAST and "\t" not in bare]
    whole = {bare for bare, ids in zip(words, tokenise(tokenizer, words), strict=True) if len(ids) == 1}

    def order(bare: str) -> float:
        numbers = seen[bare]
        times, high = sum(numbers), numbers[UPPER] + numbers[MIXED]
        if high >= max(_LEAST, _SHARE * times):
            return float("inf")
        low = numbers[LOWER] / times
        if bare in whole and (low >= _LOWER or numbers[CAPITAL] >= 0.9 * times):
            return 0
        return times / 2 if low >= _LOWER else times

    lines, size = [], 0
    for bare in sorted(words, key=lambda bare: (-order(bare), bare)):
        numbers = seen[bare]
        form = forms[bare].most_common(1)[0][0] if numbers[MIXED] else ""
        shown = "\t".join(map(str, numbers if form else numbers[:3])).removesuffix("\t0").removesuffix("\t0")
        line = "\t".join([bare, shown, form][: 3 if form else 2])
        size += len(line.encode()) + 1
        if size > most or not order(bare):
            break
        lines.append(line)
    return "\n".join([f"[{code}]\t" + "\t".join(map(str, total)), *sorted(lines)]) + "\n"


def main(data: Path, sizes: dict[str, int], models: list[Path]) -> None:
    """Write lexicon.txt of the models, and its hash into their configs."""
    tokenizer = Tokenizer.from_file(str(models[0] / "tokenizer.json"))
    text = "".join(section(code, count_language(data, code), tokenizer, 1000 * most) for code, most in sizes.items())
    for model in models:
        (model / "lexicon.txt").write_text(text, "utf-8")
        for path in filter(Path.is_file, (model / "config.json", model / "gru.json")):
            config = json.loads(path.read_text("utf-8"))
            config["files"]["lexicon.txt"] = hashlib.sha256(text.encode()).hexdigest()
            path.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parts = [argument.partition("=") for argument in sys.argv[2:]]
    main(
        Path(sys.argv[1]),
        {code: int(most) for code, sign, most in parts if sign},
        [Path(name) for name, sign, _ in parts if not sign],
    )
