"""Broken files of every format: each is read and written within its promises, or refused in one line.

    python tests/fuzz.py --count 100000          all of it, with the samples where they are there
    python tests/fuzz.py --seed 1 --only 4711    one input again, shown where it fails

Number i of a seed is always the same input. Checked of each: no exception but CappuncError; no more
than LIMIT_S seconds of this process and MEMORY_TIMES its size plus MEMORY_BASE of memory; writing
nothing changes no byte; writing random marks and case passes `verify`, or is refused.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from types import FrameType

from cappunc_cli import formats
from cappunc_cli.cli.encoding import decode, encode, writable
from cappunc_cli.errors import CappuncError
from cappunc_cli.labels import MARKS, Case, dress, strip
from cappunc_cli.words import Document, Word, pauses

ROOT = Path(__file__).resolve().parents[1]
#: Larger samples are left out, but for every LARGE_EACH'th input, which is a small one many times over.
LARGEST_SEED, LARGE_EACH, LARGE_SIZE = 12_000, 2_000, 400_000
#: Seconds of this process's own time, bytes per byte of input, bytes.
LIMIT_S, MEMORY_TIMES, MEMORY_BASE = 10.0, 10, 64 << 20
#: Memory is measured of each so many inputs, and of all large ones: it costs time.
MEASURED_EACH = 25

#: What tears grammars apart.
TOKENS = (
    "<", ">", "-->", "->", "&", "&amp;", "&#39;", "&#x1F600;", "<i>", "</i>", "<v Bob>", "<00:00:01.000>", "<!--",
    "]]>", "<![CDATA[", "{", "}", "{\\an8}", "{\\k20}", "{\\p1}", "[", "]", "(", ")", "[music]", "( door slams )", "♪",
    "#", ">>", "- ", "–", "...", "…", ".", ",", "?!", ":", ";", "'", '"', "“", "”", "’", "\\", "\\n", "\\N", "\\u00e9",
    "\\ud83d", "\n", "\r", "\r\n", "\n\n", "\t", " ", "\u00a0", "\u2028", "\ufeff", "\0", "é", "e\u0301", "ß", "İ",
    "你好", "\U0001f600", "00:00:01,000 --> 00:00:02,000", "0:00:00.0,0:00:01.0", "[00:12.34]", "1", "-1", "1e308",
    "9" * 40, "NaN", "null", "true", '{"text": "hello"}', '"word":', "[" * 60, "{" * 60, "WEBVTT", "Dialogue:", "<p>",
    "</p>", "u.s", "a.m.", "dr", "she-", "http://a.org/b", "@bob", "10 000", "$1.9",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seed:
    """A file to break."""

    name: str
    data: bytes


@dataclass(slots=True)
class Outcome:
    """What became of the inputs so far; `failures` are (number, what went wrong)."""

    inputs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    hungriest: tuple[float, int] = (0.0, -1)


def seeds(samples: bool) -> list[list[Seed]]:
    """The fixtures and, where they are there, the smaller samples, by folder: every format has the same chance."""
    paths = [path for path in sorted((ROOT / "fixtures").rglob("*")) if path.is_file() and "eval" not in path.parts]
    if samples:
        paths += sorted(path for path in (ROOT.parent / "shared" / "samples").rglob("*") if path.is_file())
    known: dict[str, list[Seed]] = {}
    for path in paths:
        if 0 < path.stat().st_size <= LARGEST_SEED:
            known.setdefault(path.parent.name, []).append(Seed(path.name, path.read_bytes()))
    return list(known.values())


def build(folders: Sequence[Sequence[Seed]], seed: int, number: int) -> Seed:
    """Input `number` of a `seed`: a file with one to eight wounds, or now and then a long one."""
    random = Random(f"{seed}:{number}")
    chosen = random.choice(random.choice(folders))
    known = random.choice(folders)
    if random.random() < 0.1:
        data = bytearray(chosen.data)
        for _ in range(random.randint(1, 4)):
            _hurt_bytes(data, random)
        return Seed(chosen.name, bytes(data))
    try:
        text = chosen.data.decode("utf-8")
    except UnicodeDecodeError:
        text = decode(chosen.data)[0]
    if chosen.name.endswith(".json") and random.random() < 0.7:
        text = _hurt_json(text, random)
    else:
        for _ in range(random.choice((1, 1, 2, 3, 5, 8))):
            text = _hurt(text, known, random)
    if number % LARGE_EACH == LARGE_EACH - 1:
        text *= max(1, LARGE_SIZE // max(1, len(text)))
    name = chosen.name if random.random() < 0.8 else random.choice(known).name
    return Seed(name, text.encode("utf-8", "surrogatepass"))


def _hurt_bytes(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    match random.randrange(3):
        case 0 if data:
            data[at % len(data)] = random.randrange(256)
        case 1:
            del data[at : at + random.randint(1, 8)]
        case _:
            data[at:at] = random.randbytes(random.randint(1, 4))


def _hurt(text: str, known: Sequence[Seed], random: Random) -> str:
    a = random.randrange(len(text) + 1)
    b = min(len(text), a + random.choice((1, 1, 3, 10, 40, 200)))
    match random.randrange(9):
        case 0:
            return text[:a] + text[b:]
        case 1:
            return text[:b] + text[a:b] * random.choice((1, 1, 2, 30)) + text[b:]
        case 2 | 3 | 4:
            return text[:a] + random.choice(TOKENS) + text[a:]
        case 5:
            return text[:a] + random.choice((str.upper, str.lower, str.swapcase))(text[a:b]) + text[b:]
        case 6:
            return text[:a] if random.random() < 0.5 else text[a:]
        case 7:
            other = random.choice(known).data.decode("utf-8", "replace")
            c = random.randrange(len(other) + 1)
            return text[:a] + other[c : c + random.choice((10, 100, 1000))] + text[a:]
        case _:
            places = [i for i, c in enumerate(text) if not c.isalnum() and not c.isspace()]
            if not places:
                return text
            at = random.choice(places)
            return text[:at] + random.choice(TOKENS) + text[at + 1 :]


def _hurt_json(text: str, random: Random) -> str:
    """The same kind of transcript with odd values in it: still JSON, perhaps another engine's."""
    try:
        value = json.loads(text)
    except ValueError:
        return text + random.choice(TOKENS)
    for _ in range(random.choice((1, 2, 4))):
        _hurt_value(value, random)
    indent = random.choice((None, None, 0, 2, "\t"))
    return json.dumps(value, ensure_ascii=random.random() < 0.5, indent=indent)


def _hurt_value(value: object, random: Random) -> None:
    """Walk down to some member and change, drop, double or rename it."""
    while isinstance(value, (dict, list)) and value:
        if isinstance(value, dict):
            key = random.choice(list(value))
            inner = value[key]
        else:
            key = random.randrange(len(value))
            inner = value[key]
        if isinstance(inner, (dict, list)) and inner and random.random() < 0.85:
            value = inner
            continue
        match random.randrange(6):
            case 0:
                del value[key]
            case 1:
                value[key] = random.choice((None, True, -1, 0.1, 1e300, "", "x", [], {}, [[]], "12.5", "0.5s", 10**20))
            case 2 if isinstance(value, dict):
                value[random.choice(("text", "word", "start", "end", "words", "segments", "punct", "items"))] = inner
            case 3 if isinstance(value, list):
                value.insert(key, inner)
            case _ if isinstance(inner, str):
                at = random.randrange(len(inner) + 1)
                value[key] = inner[:at] + random.choice(TOKENS) + inner[at:]
            case _:
                value[key] = str(inner) if random.random() < 0.5 else [inner]
        return


class TooSlow(Exception):
    """An input took more than its time."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TooSlow where the block takes too much of this process's own time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def relabelled(words: Sequence[Word], random: Random) -> list[str]:
    """Random marks and case for every word; the words stay the same words."""
    result = []
    for word in words:
        bare, label = strip(word.text)
        mark = random.choice(("", "", label.mark, *MARKS))
        text = dress(bare, replace(label, case=random.choice(list(Case)), form="").with_mark(mark))
        result.append(text if strip(text)[0] == bare else word.text)
    return result


def check(seed: Seed, random: Random) -> tuple[str, str]:
    """(what became of an input, its format); raises whatever breaks a promise."""
    try:
        text, encoding = decode(seed.data)
        document = formats.read(text, seed.name)
    except CappuncError as refusal:
        _one_line(refusal)
        return "refused", ""
    same = formats.write(document, [word.text for word in document.words])
    assert encode(same, encoding) == seed.data, "writing nothing changed the file"
    assert all(pause is None or pause >= 0 for pause in pauses(document.words)), "a pause below zero"
    if not document.words:
        return "no words", document.format
    return _rewritten(document, text, random, lambda new: writable(new, encoding)), document.format


def _rewritten(document: Document, text: str, random: Random, spell: object) -> str:
    assert callable(spell)
    try:
        output = spell(formats.write(document, relabelled(document.words, random), attach=random.random() < 0.2))
        formats.verify(document, output)
    except CappuncError as refusal:
        _one_line(refusal)
        return "refused when written"
    return "rewritten" if output != text else "rewritten as it was"


def _one_line(refusal: CappuncError) -> None:
    assert refusal.message, "a refusal without a word"
    assert "\n" not in str(refusal), "a refusal of several lines"


def run(known: Sequence[Sequence[Seed]], seed: int, numbers: Sequence[int], budget: float = 1e9) -> Outcome:
    """Check the inputs with these numbers, for at most `budget` seconds."""
    outcome = Outcome()
    begun = time.perf_counter()
    for number in numbers:
        if time.perf_counter() - begun > budget:
            break
        outcome.inputs += 1
        given = build(known, seed, number)
        measured = number % MEASURED_EACH == 0 or len(given.data) > LARGEST_SEED * 4
        started = time.process_time()
        if measured:
            tracemalloc.start()
        try:
            # Counting memory makes everything some four times slower.
            with limited(LIMIT_S * (4 if measured else 1)):
                kind, name = check(given, Random(f"{seed}:{number}:labels"))
            outcome.kinds[kind] += 1
            outcome.formats[name] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            outcome.failures.append((number, f"{given.name}: {type(error).__name__}: {str(error)[:200]}"))
        spent = time.process_time() - started
        if measured:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            share = peak / (MEMORY_TIMES * len(given.data) + MEMORY_BASE)
            outcome.hungriest = max(outcome.hungriest, (round(share, 3), number))
            if share > 1:
                message = f"{given.name}: {peak >> 20} MB for {len(given.data)} bytes"
                outcome.failures.append((number, message))
        else:
            outcome.slowest = max(outcome.slowest, (round(spent, 3), number))
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no input is begun")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--no-samples", action="store_true")
    options = parser.parse_args()
    known = seeds(samples=not options.no_samples)
    if options.only is not None:
        given = build(known, options.seed, options.only)
        sys.stdout.buffer.write(given.data)
        print("\n", given.name, check(given, Random(f"{options.seed}:{options.only}:labels")))
        return 0
    started = time.perf_counter()
    outcome = run(known, options.seed, range(options.first, options.first + options.count), options.budget)
    report = {
        "inputs": outcome.inputs,
        "seed": options.seed,
        "files": sum(map(len, known)),
        "seconds": round(time.perf_counter() - started, 1),
        "seconds of this process": round(time.process_time(), 1),
        "outcomes": dict(outcome.kinds.most_common()),
        "formats": dict(outcome.formats.most_common()),
        "slowest (s, number)": outcome.slowest,
        "most memory (share of what is allowed, number)": outcome.hungriest,
        "failures": outcome.failures[:50],
        "failed": len(outcome.failures),
    }
    print(json.dumps(report, indent=2))
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
