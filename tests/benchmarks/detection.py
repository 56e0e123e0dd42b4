"""How often the language of a few words is detected, of every language with a data file, and what it is taken for.

    python tests/benchmarks/detection.py --data ../shared/data > tests/benchmarks/results/detection.json

Words are taken from the evaluation sets as recognisers write them; `sr-Latn` is the Serbian text letter by letter.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from measuring import head, options_with_data

from cappunc_cli.files.language_detection import detect_language
from cappunc_cli.languages import LANGUAGES, language

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LENGTHS, _CHARACTERS, _FEWEST = (5, 12, 40), 40_000, 500
_CYRILLIC, _LATIN = "абвгдђежзијклљмнњопрстћуфхцчџш", "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š"
_LETTER_BY_LETTER = str.maketrans(dict(zip(_CYRILLIC, _LATIN.split(), strict=True)))


def sets_of(data: Path, code: str) -> Iterator[list[str]]:
    """The first words of each evaluation set of a language that has enough."""
    own = language(code)
    for path in sorted((data / code / "eval").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            words = _WORD.findall(own.written(own.read(file.read(_CHARACTERS)).lower()))
        if len(words) >= _FEWEST:
            yield words


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--texts", type=int, default=60, help="of each length, language and script")
    arguments = parser.parse_args()
    chance, report = Random(1), {}
    for name in sorted([*LANGUAGES, "sr-Latn"]):
        code = name.partition("-")[0]
        sets = list(sets_of(Path(arguments.data), code))
        found: dict[str, Counter[str]] = {str(length): Counter() for length in _LENGTHS}
        for length in _LENGTHS if sets else ():
            for _ in range(arguments.texts):
                words = chance.choice(sets)
                start = chance.randrange(len(words) - length)
                text = " ".join(words[start : start + length])
                text = text.translate(_LETTER_BY_LETTER) if name != code else text
                found[str(length)][detect_language(text.split(), tuple(LANGUAGES))] += 1
        report[name] = {length: dict(counts.most_common()) for length, counts in found.items()}
    print(json.dumps({**head(arguments.data), "texts": arguments.texts, "detected": report}, ensure_ascii=False))


if __name__ == "__main__":
    main()
