"""Fuzz every format with broken files: each must be read and written within the promises, or refused in one line.

    export PYTHONPATH=.:tests/benchmarks
    python tests/fuzz.py --count 100000 --jobs 2 --report        the full run, with the samples if available
    python tests/fuzz.py --only fixtures/stm/talk.stm:17         one input again, with its error

An input is named by its file and a number, and made only from that file and the fixtures: input 17 of
talk.stm is always the same, except for the few inputs that get a piece of a new fixture.
`--keep FOLDER` saves the inputs that failed. Checked for each input: no exception but CappuncError; at most
LIMIT_S seconds of processor time, and memory of at most MEMORY_TIMES its size plus MEMORY_BASE; encoding the decoded
text gives the same bytes; writing unchanged words changes no byte; writing random marks and case passes `verify`, or
is refused; and what fuzz_texts.py says of texts that it makes, and of each result in another format.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from hashlib import blake2b
from multiprocessing import get_context
from os import sysconf
from pathlib import Path
from random import Random
from sys import intern
from types import FrameType
from typing import Any

import fuzz_texts
from fuzz_oracle import assert_same

from cappunc_cli import __version__, formats
from cappunc_cli.document.labels import MARKS, Case, dress, strip
from cappunc_cli.document.words import Word, pauses
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.bench.hardware import hardware
from cappunc_cli.files.encodings import decode, encode
from cappunc_cli.files.fixer import Fixed, Fixer, FixRequest, Opened

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
#: Larger files are not used, but one in LARGE_EACH inputs repeats a small one many times.
LARGEST_SEED, LARGE_EACH, LARGE_SIZE = 12_000, 20_000, 400_000
#: A large input may take longer, in proportion.
LIMIT_BYTES = 100_000
#: Seconds of processor time, bytes per byte of input, bytes. Words are objects, and to read a result back takes a
#: second document: captions need about 100 times their size.
LIMIT_S, MEMORY_TIMES, MEMORY_BASE = 10.0, 160, 64 << 20
#: Memory is measured for one in this many inputs, as that takes time, and for all large ones.
MEASURED_EACH = 25

#: Files that are enlarged to measure their memory.
LARGE_FIXTURES = (
    "fixtures/srt/talk.srt", "fixtures/vtt/youtube.vtt", "fixtures/txt/prose.txt", "fixtures/ctm/plain.ctm",
    "fixtures/json/whisper/words.json", "fixtures/json/aws/bare.json",
)  # fmt: skip
#: Only `attach` matters here, as the labels are random.
REQUEST = FixRequest()
#: What breaks grammars.
TOKENS = (
    "<", ">", "-->", "->", "&", "&amp;", "&#39;", "&#x1F600;", "<i>", "</i>", "<v Bob>", "<00:00:01.000>", "<!--",
    "]]>", "<![CDATA[", "{", "}", "{\\an8}", "{\\k20}", "{\\p1}", "[", "]", "(", ")", "[music]", "( door slams )", "♪",
    "#", ">>", "- ", "–", "...", "…", ".", ",", "?!", ":", ";", "'", '"', "“", "”", "’", "\\", "\\n", "\\N", "\\u00e9",
    "\\ud83d", "\n", "\r", "\r\n", "\n\n", "\t", " ", "\u00a0", "\u2028", "\ufeff", "\0", "é", "e\u0301", "ß", "İ",
    "你好", "\U0001f600", "00:00:01,000 --> 00:00:02,000", "0:00:00.0,0:00:01.0", "[00:12.34]", "1", "-1", "1e308",
    "9" * 40, "NaN", "null", "true", '{"text": "hello"}', '"word":', "[" * 60, "{" * 60, "WEBVTT", "Dialogue:", "<p>",
    "</p>", "u.s", "a.m.", "dr", "she-", "http://a.org/b", "@bob", "10 000", "$1.9",
)  # fmt: skip


#: Code pages of old files, and some that are not expected.
CODE_PAGES = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "gb18030", "big5",
    "cp932", "cp949", "euc_jp", "koi8-r", "cp874", "mac_roman", "utf-16", "utf-16-le", "utf-16-be", "utf-32",
)  # fmt: skip


#: Words that people write in code pages; a text with these can be recognised as one in that code page.
LANGUAGES = {
    "cp1254": "ışık İstanbul çığ şöyle değil güzel öğretmen için yağmur", "iso8859_9": "ışık İzmir çığ şöyle değil",
    "iso8859_2": "šest žena Čech říká že łódź źle też ľudia", "cp1250": "šest žena Čech říká že łódź źle też ľudia",
    "iso8859_15": "œuvre été Šumava 5€ naïve garçon", "cp1252": "niño según ¿qué? été “oui” l’été Übung straße",
    "cp1257": "žmogus ačiū ąžuolas ēka mīļš šķirt", "cp1258": "tiêng Viêt ðươc nươc", "cp1251": "добрый вечер Лондон",
    "koi8_r": "добрый вечер Лондон как дела", "cp866": "добрый вечер Лондон как дела",
    "cp1253": "καλησπέρα Λονδίνο πώς", "cp737": "καλησπερα Λονδινο πως", "cp1255": "שלום ערב טוב לונדון מה נשמע",
    "iso8859_8": "שלום ערב טוב לונדון", "cp1256": "مساء الخير لندن كيف حالك", "iso8859_6": "مساء الخير لندن كيف",
    "cp874": "สวัสดี ลอนดอน", "mac_roman": "según niño qué été Übung “oui” l’été",
    "mac_latin2": "šest žena Čech říká łódź też", "mac_turkish": "ışık İstanbul çığ şöyle",
    "mac_romanian": "și ța încă vânt", "mac_cyrillic": "добрый вечер Лондон", "cp437": "según niño qué été",
    "cp850": "según niño qué été Übung", "cp852": "šest žena Čech říká łódź też", "cp857": "ışık İstanbul çığ şöyle",
    "cp932": "こんばんは ロンドン 元気 ですか 表示 ソース", "euc_jp": "こんばんは ロンドン 元気 ですか",
    "gb18030": "晚上好 伦敦 你好 吗 今天", "big5": "晚上好 倫敦 你好 嗎 許功蓋",
    "cp949": "안녕 하세요 런던 똠방 각하", "euc_kr": "안녕 하세요 런던 오늘",
    "iso2022_jp": "こんばんは ロンドン 元気 ですか", "iso2022_kr": "안녕 하세요 런던 오늘",
    "hz": "晚上好 伦敦 你好 今天", "utf-7": "según niño qué été Übung добрый вечер", "utf-16": "según niño добрый",
    "utf-16-le": "según niño été", "utf-16-be": "según niño été", "utf-32": "según niño добрый",
}  # fmt: skip
#: All kinds of spaces and invisible characters.
SPACES = (
    *" \t\v\f\x1c\x1d\x1e\x1f\x85\xa0\xad\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a",
    *"\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff",
)
#: Marks before and after a word.
PAIRS = (("", ""), ("“", "”"), ('"', '"'), ("«", "»"), ("¿", "?"), ("", ","), ("– ", ""), ("", " !"))


@dataclass(frozen=True, slots=True)
class Seed:
    """A file to break, or a broken one; `path` is relative to the project or, for samples, to their folder."""

    path: str
    data: bytes
    #: Its real code page, if known.
    page: str = ""
    #: What it is made of, of the kinds of fuzz_texts.py: bytes or words.
    mixed: tuple[bytes, ...] = ()
    pieces: tuple[str, ...] = ()
    is_line: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Known:
    """The files to break, by folder, and the fixtures, pieces of which are inserted into other files."""

    folders: tuple[tuple[Seed, ...], ...]
    fixtures: dict[str, tuple[Seed, ...]]

    def input(self, number: int) -> tuple[Seed, int]:
        """The file of an input of a run, and the number of the input for that file; folders take turns."""
        turn, folder = divmod(number, len(self.folders))
        files = self.folders[folder]
        return files[turn % len(files)], turn // len(files)

    def find(self, path: str) -> Seed:
        return next(seed for files in self.folders for seed in files if seed.path == path)

    def other(self, random: Random) -> Seed:
        """A random fixture, by highest hash, so that a new fixture changes few of the draws."""
        draw = random.randbytes(8)

        def rank(text: str) -> bytes:
            return blake2b(text.encode(), key=draw, digest_size=8).digest()

        folder = max(self.fixtures, key=rank)
        return max(self.fixtures[folder], key=lambda seed: rank(seed.path))


@dataclass(slots=True)
class Outcome:
    """The results of the inputs so far; an input is `path:number`, and `failures` are (input, error)."""

    inputs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    encodings: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    hungriest: tuple[float, str] = (0.0, "")

    def merge(self, other: Outcome) -> None:
        self.inputs += other.inputs
        self.kinds.update(other.kinds)
        self.formats.update(other.formats)
        self.encodings.update(other.encodings)
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.hungriest = max(self.hungriest, other.hungriest)


def seeds(samples: bool, largest: int = LARGEST_SEED) -> Known:
    """The fixtures and, if available, the samples, up to `largest` bytes; by folder."""
    fixtures = _by_folder(ROOT, "fixtures", largest)
    fixtures.pop("fixtures/eval", None)
    others = _by_folder(ROOT.parent / "shared", "samples", largest) if samples else {}
    return Known(tuple((fixtures | others).values()), fixtures)


def _by_folder(root: Path, below: str, largest: int) -> dict[str, tuple[Seed, ...]]:
    found: dict[str, list[Seed]] = {}
    for path in sorted((root / below).rglob("*")):
        if path.is_file() and 0 < path.stat().st_size <= largest:
            place = path.relative_to(root)
            found.setdefault(place.parent.as_posix(), []).append(Seed(place.as_posix(), path.read_bytes()))
    return {folder: tuple(files) for folder, files in found.items()}


def build(known: Known, seed: int, chosen: Seed, number: int) -> Seed:
    """Make input `number` of a file: with one to eight mutations, and now and then a large one."""
    random = Random(f"{seed}:{chosen.path}:{number}")
    other = known.other(random)
    path = chosen.path if random.random() < 0.8 else other.path
    way = random.random()
    if way < 0.08:
        return Seed(path, _torn(chosen.data, random, random.randint(1, 4)))
    if way > 0.95:
        name, text, words = fuzz_texts.pieces(random)
        return Seed(name, text.encode(), pieces=tuple(words))
    if way > 0.9:
        name, text = fuzz_texts.line(random)
        return Seed(name, text.encode(), is_line=True)
    try:
        text = chosen.data.decode("utf-8")
    except UnicodeDecodeError:
        text = decode(chosen.data)[0]
    if way > 0.82:
        data, kept = fuzz_texts.mixed(text, random)
        return Seed(path, data, mixed=kept)
    if way < 0.16:
        return Seed(path, _torn(_legacy(text, random), random, random.randint(0, 4)))
    if way < 0.2:
        page = random.choice(list(LANGUAGES))
        data = _in_language(text, page, random).encode(page, "ignore")
        return Seed(path, data, page if _is_told(data, page) else "")
    if way < 0.23:
        return Seed(path, _spaced(text, random).encode("utf-8", "surrogatepass"))
    if way < 0.26:
        return Seed(path, _layered(text, random).encode("utf-8", "surrogatepass"))
    if chosen.name.endswith(".json") and random.random() < 0.7:
        text = _hurt_json(text, random)
    else:
        for _ in range(random.choice((1, 1, 2, 3, 5, 8))):
            text = _hurt(text, other, random)
    if random.random() < 1 / LARGE_EACH:
        text *= max(1, LARGE_SIZE // max(1, len(text)))
    return Seed(path, text.encode("utf-8", "surrogatepass"))


def _legacy(text: str, random: Random) -> bytes:
    """The text in some code page, with random letters of it inserted."""
    page = random.choice(CODE_PAGES)
    letters = random.randbytes(64).decode(page, "ignore") or "?"
    for _ in range(random.choice((0, 2, 20, 200))):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(letters) + text[at:]
    return text.encode(page, "ignore")


def _in_language(text: str, page: str, random: Random) -> str:
    """The text with words of a language that uses the code page."""
    words = LANGUAGES[page].split()
    parts = re.split("( )", text)
    gaps = [i for i, part in enumerate(parts) if part == " "]
    for at in random.choices(gaps, k=random.choice((1, 5, 40, 400))) if gaps else ():
        parts[at] += random.choice(words) + " "
    return "".join(parts)


def _is_told(data: bytes, page: str) -> bool:
    """Whether the code page can be recognised: `şö` in that of Mac OS is one character of UTF-8, too."""
    if data.isascii():
        return not data.decode(page, "ignore").isascii()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _spaced(text: str, random: Random) -> str:
    """The text with all kinds of spaces after its words."""
    ends = [found.end() for found in re.finditer(r"\w+", text)]
    for at in sorted(random.choices(ends, k=random.choice((1, 3, 10, 50))), reverse=True) if ends else ():
        text = text[:at] + random.choice(SPACES) * random.choice((1, 1, 2)) + text[at:]
    return text


def _layered(text: str, random: Random) -> str:
    """The text with some cues, rows or blocks repeated at the same times, with other marks and case."""
    parts = re.split(r"(\n(?=\n)|\n(?=Dialogue:|<p|<SYNC|\[\d))", text)
    for i in sorted(random.choices(range(len(parts)), k=random.choice((1, 2, 6))), reverse=True):
        again = re.sub(r"(?<=^Dialogue: )\d+", lambda found: str(int(found[0]) + 1), parts[i].lstrip("\n"))
        words = [found.span() for found in re.finditer(r"\b[^\W\d_]+\b(?![^<{]*[>}])", again)]
        for a, b in sorted(random.sample(words, k=min(len(words), random.choice((0, 1, 3)))), reverse=True):
            opening, closing = random.choice(PAIRS)
            again = f"{again[:a]}{opening}{random.choice((str.upper, str.title, str))(again[a:b])}{closing}{again[b:]}"
        parts[i] += f"\n{again}"
    return "".join(parts)


def _torn(data: bytes, random: Random, wounds: int) -> bytes:
    torn = bytearray(data)
    for _ in range(wounds):
        _hurt_bytes(torn, random)
    return bytes(torn)


def _hurt_bytes(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    match random.randrange(3):
        case 0 if data:
            data[at % len(data)] = random.randrange(256)
        case 1:
            del data[at : at + random.randint(1, 8)]
        case _:
            data[at:at] = random.randbytes(random.randint(1, 4))


def _hurt(text: str, donor: Seed, random: Random) -> str:
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
            other = donor.data.decode("utf-8", "replace")
            c = random.randrange(len(other) + 1)
            return text[:a] + other[c : c + random.choice((10, 100, 1000))] + text[a:]
        case _:
            places = [i for i, c in enumerate(text) if not c.isalnum() and not c.isspace()]
            if not places:
                return text
            at = random.choice(places)
            return text[:at] + random.choice(TOKENS) + text[at + 1 :]


def _hurt_json(text: str, random: Random) -> str:
    """The transcript with odd values in it: still JSON, perhaps in another dialect."""
    try:
        value = json.loads(text)
    except ValueError:
        return text + random.choice(TOKENS)
    for _ in range(random.choice((1, 2, 4))):
        _hurt_value(value, random)
    indent = random.choice((None, None, 0, 2, "\t"))
    return json.dumps(value, ensure_ascii=random.random() < 0.5, indent=indent)


def _hurt_value(value: object, random: Random) -> None:
    """Change, remove, duplicate or rename a random member."""
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


def grown(seed: Seed, size: int) -> bytes:
    """The transcript repeated until it has at least `size` bytes."""
    times = 1 + size // len(seed.data)
    if not seed.name.endswith(".json"):
        return seed.data * times
    while True:
        value = _grown(json.loads(seed.data), times)
        data = json.dumps(value, ensure_ascii=False, indent=2 if b"\n  " in seed.data else None).encode()
        if len(data) >= size:
            return data
        times = 1 + times * size // len(data)


def _grown(value: Any, times: int) -> Any:
    """The value with its lists of segments or words, and the texts that repeat them, multiplied."""
    match value:
        case dict():
            return {key: _grown(inner, times) for key, inner in value.items()}
        case [dict(), dict(), dict(), *_]:
            return value * times
        case list():
            return [_grown(inner, times) for inner in value]
        case str() if " " in value.strip():
            return " ".join([value] * times)
    return value


def memory(path: str, size: int) -> tuple[int, int]:
    """The size of a fixture enlarged to `size`, and the peak memory of reading and writing it, both in bytes.

    Measured as the peak of a separate process, as tracing allocations takes four times as long.
    """
    known = seeds(samples=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_memory, grown(known.find(path), size), path).result()


def _memory(data: bytes, path: str) -> tuple[int, int]:
    seed = Seed(path, data)
    check(Seed(path, b"hello"), Random(0), compare=False)  # loads modules that are imported on demand
    before = _resident()
    kind, *_ = check(seed, Random(0), compare=False)
    assert kind == "rewritten", kind
    return len(data), _most_resident() - before


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * sysconf("SC_PAGE_SIZE")


def _most_resident() -> int:
    # Not ru_maxrss, which a process inherits from its parent.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


class TooSlow(Exception):
    """An input took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow if the block takes more than `seconds` of processor time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def relabelled(words: Sequence[Word], random: Random, pairs: Sequence[str] = ("“”", "«»", '""', "¿?")) -> list[str]:
    """The words with random marks and case, now and then within one of `pairs`; they stay the same words."""
    result = []
    for word in words:
        bare, label = strip(word.text)
        mark = random.choice(("", "", label.mark, *MARKS))
        label = replace(label, case=random.choice(list(Case)), form="").with_mark(mark)
        # In a CTM, what follows a semicolon is read as one of SCTK's tags.
        if random.random() < 0.05 and mark != ";":
            opening, closing = random.choice(pairs)
            label = replace(label, before=opening + label.before, after=label.after + closing)
        text = dress(bare, label)
        result.append(intern(text) if strip(text)[0] == bare else word.text)
    return result


def check(seed: Seed, random: Random, *, compare: bool = True) -> tuple[str, str, str]:
    """Check an input; returns (result, format, encoding), and raises an exception for a broken promise.

    To `compare` with the oracle takes ten times the memory of the texts.
    """
    codec = ""
    fixer = Fixer(replace(REQUEST, attach=random.random() < 0.2), print)
    try:
        text, encoding = decode(seed.data)
        codec = encoding.codec
        assert encode(text, encoding) == seed.data, "decoding lost a byte"
        document = fixer.request.read(text, seed.name)
    except CappuncError as refusal:
        _one_line(refusal)
        return "refused", "", codec
    same = encode(formats.write(document, document.texts), encoding) == seed.data
    assert same, "writing nothing changed the file"
    assert all(pause is None or pause >= 0 for pause in pauses(document.words)), "a pause below zero"
    if seed.is_line:
        fuzz_texts.assert_is_text(document)
    if not document.words:
        return "no words", document.format, codec
    try:
        # Models write ¿ only in Spanish, and Spanish texts are in code pages that have it.
        new = relabelled(document.words, random, *([("“”", "«»", '""')] if seed.page else []))
        fixed = Opened(document, fixer, "en", encoding=encoding).write(new)
    except CappuncError as refusal:
        _one_line(refusal)
        return "refused when written", document.format, codec
    if compare:
        assert_only_marks_and_case(document.format, seed, fixed, fixer.request.attach)
        fuzz_texts.assert_kept(seed.data, fixed.data, seed.mixed)
        if seed.pieces:
            fuzz_texts.assert_whole(seed.name, fixed.text, seed.pieces)
        fuzz_texts.assert_converted(document, seed.name, encoding, fixer, random)
    return "rewritten" if fixed.text != text else "rewritten as it was", document.format, codec


def assert_only_marks_and_case(format: str, seed: Seed, fixed: Fixed, attach: bool) -> None:
    """Compare a file and its result, decoded with its real encoding, if known, or else with the detected one."""
    if seed.page:
        try:
            before = seed.data.decode(seed.page)
        except UnicodeDecodeError:
            seed = replace(seed, page="")
        else:
            assert_same(format, before, fixed.data.decode(seed.page), attach=attach)
    if not seed.page:
        encoding = fixed.encoding
        before, after = (
            data[len(encoding.bom) :].decode(encoding.codec, encoding.errors) for data in (seed.data, fixed.data)
        )
        assert_same(format, before, after, attach=attach)


def _one_line(refusal: CappuncError) -> None:
    assert refusal.message, "a refusal without a message"
    assert "\n" not in str(refusal), "a refusal with several lines"


def run(known: Known, seed: int, numbers: Sequence[int], budget: float = 1e9, keep: Path | None = None) -> Outcome:
    """Check these inputs of the run, for at most `budget` seconds; inputs that fail are saved in `keep`."""
    outcome = Outcome()
    started = time.perf_counter()
    for place in numbers:
        if time.perf_counter() - started > budget:
            break
        outcome.inputs += 1
        _one(known, seed, *known.input(place), outcome, keep)
    return outcome


def _one(known: Known, seed: int, chosen: Seed, number: int, outcome: Outcome, keep: Path | None) -> None:
    name = f"{chosen.path}:{number}"
    given = build(known, seed, chosen, number)
    random = Random(f"{seed}:{name}:labels")
    measured = random.random() < 1 / MEASURED_EACH or len(given.data) > LARGEST_SEED * 4
    failures: list[str] = []
    started = time.process_time()
    if measured:
        tracemalloc.start()
    try:
        # Tracing memory makes everything some four times slower.
        with limited(LIMIT_S * max(1, len(given.data) / LIMIT_BYTES) * (4 if measured else 1)):
            kind, form, codec = check(given, random)
        outcome.kinds[kind] += 1
        outcome.formats.update([form] if form else ())
        outcome.encodings.update([codec] if codec else ())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failures.append(f"{given.name}: {type(error).__name__}: {str(error)[:200]}")
    spent = time.process_time() - started
    if measured:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        share = peak / (MEMORY_TIMES * len(given.data) + MEMORY_BASE)
        outcome.hungriest = max(outcome.hungriest, (round(share, 3), name))
        if share > 1:
            failures.append(f"{given.name}: {peak >> 20} MB for {len(given.data)} bytes")
    else:
        outcome.slowest = max(outcome.slowest, (round(spent, 3), name))
    outcome.failures += [(name, failure) for failure in failures]
    for failure in failures:
        sys.stderr.write(f"{name} {failure}\n")
    if failures and keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{number}-{given.name}").write_bytes(given.data)


def page(report: dict[str, Any]) -> str:
    """The figures of a run in Markdown."""
    kinds, machine = report["outcomes"], report["hardware"]
    lines = [
        "# Broken files",
        "",
        f"{report['inputs']:,} broken files, made from {report['files']} files of every format, ours and others'. "
        f"{report['failed']} reported{report.get('note', '.')}",
        "In lower case and without marks, each result equals its source (checked by `fuzz_oracle.py`, "
        "not by `verify`).",
        f"`{report['command']}`, cappunc {report['version']}, Python {report['python']}; {machine['cpu']}, "
        f"{machine['cores']} cores, {report['seconds']:,.0f} s.",
        "",
        "| result | inputs |",
        "| --- | ---: |",
        *(f"| {kind} | {count:,} |" for kind, count in kinds.items()),
        "",
        f"The slowest took {report['slowest'][0]:.2f} s ({LIMIT_S:.0f} s are allowed); the largest use of memory was "
        f"{100 * report['hungriest'][0]:.0f} % of what is allowed",
        f"({report['memory_times']} times the size of the file plus {MEMORY_BASE >> 20} MB).",
        "",
        "| read as | inputs |",
        "| --- | ---: |",
        *(f"| {form} | {count:,} |" for form, count in report["formats"].items()),
        "",
        "| decoded from | inputs |",
        "| --- | ---: |",
        *(f"| {codec} | {count:,} |" for codec, count in report["encodings"].items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no input is started")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", metavar="PATH:NUMBER")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to save inputs that fail")
    parser.add_argument("--largest", type=int, default=LARGEST_SEED, metavar="BYTES", help="of the files to break")
    parser.add_argument("--no-samples", action="store_true")
    parser.add_argument("--report", action="store_true", help="write fuzz.json and fuzz.md beside this file")
    options = parser.parse_args()
    known = seeds(not options.no_samples, options.largest)
    if options.only is not None:
        path, _, number = options.only.rpartition(":")
        given = build(known, options.seed, known.find(path), int(number))
        sys.stdout.buffer.write(given.data)
        random = Random(f"{options.seed}:{options.only}:labels")
        random.random()  # in a run, this decides whether memory is measured
        print("\n", given.name, check(given, random))
        return 0
    started = time.perf_counter()
    outcome = Outcome()
    numbers = range(options.first, options.first + options.count)
    with ProcessPoolExecutor(options.jobs) as pool:
        parts = [numbers[k :: options.jobs] for k in range(options.jobs)]
        for part in pool.map(partial(run, known, options.seed, budget=options.budget, keep=options.keep), parts):
            outcome.merge(part)
    report = {
        "command": "python tests/fuzz.py " + " ".join(sys.argv[1:]),
        "date": date.today().isoformat(),
        "version": __version__,
        "python": platform.python_version(),
        "hardware": hardware(),
        "oracle": "fuzz_oracle.py",
        "inputs": outcome.inputs,
        "seed": options.seed,
        "files": sum(map(len, known.folders)),
        "seconds": round(time.perf_counter() - started, 1),
        "outcomes": dict(outcome.kinds.most_common()),
        "formats": dict(outcome.formats.most_common()),
        "encodings": dict(outcome.encodings.most_common()),
        "slowest": outcome.slowest,
        "memory_times": MEMORY_TIMES,
        "hungriest": outcome.hungriest,
        "failed": len(outcome.failures),
        "failures": outcome.failures[:50],
    }
    if options.report:
        (HERE / "fuzz.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (HERE / "fuzz.md").write_text(page(report), encoding="utf-8")
    sys.stdout.write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
