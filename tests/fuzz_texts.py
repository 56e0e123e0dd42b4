"""Texts for fuzz.py that are made, not broken: mixed encodings, pieces of words, one line with numbers; and conversion.

Each kind has its own check, which uses neither the package's readers nor its `verify`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from unicodedata import normalize

import convert
from fuzz_oracle import MARKS

from cappunc_cli.document.words import Document
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.convert.makers import Converter
from cappunc_cli.features.convert.options import KINDS
from cappunc_cli.files.encodings import Encoding
from cappunc_cli.files.fixer import Fixer, Opened

#: Words of encodings in which a character has several bytes; none has capitals, so no byte of them may change.
MULTI_BYTE = {
    "cp932": "こんばんは ロンドン 元気 ですか 表示 ソース ﾐｰ ﾃｽﾄ", "euc_jp": "こんばんは ロンドン 元気 ですか",
    "gb18030": "晚上好 伦敦 谢谢你 你好 吗 今天 镕 㐀", "big5": "晚上好 倫敦 你好 嗎 許功蓋 謝謝",
    "cp949": "안녕 하세요 런던 똠방 각하", "euc_kr": "안녕 하세요 런던 오늘", "utf-8": "晚上好 ロンドン 런던 ♪ 谢谢你",
}  # fmt: skip
_WORDS = (
    "we met in london on monday and then we lost on penalties in paris so she said it is all right i think that "
    "rothschild was there with anna o'brien who can hear me at the back of the room testing talk speaker"
)
#: The least share of pieces that begin a word: with fewer, a file of pieces may as well be one of short cues.
FEWEST_STARTS = 0.4
_NUMBERS = "1 2 3 12 0.5 3.25 10 2026 1:30 0 7 42 99.5 00:01 1,000 5-4 3rd"


def mixed(text: str, random: Random) -> tuple[bytes, tuple[bytes, ...]]:
    """The text in UTF-8 with words of other encodings, some of them cut; and these words."""
    kept: list[bytes] = []
    parts = re.split(rb"( )", text.encode("utf-8", "surrogatepass"))
    gaps = [i for i, part in enumerate(parts) if part == b" "]
    pages = random.sample(list(MULTI_BYTE), random.choice((1, 1, 2, 3)))
    for at in random.choices(gaps, k=random.choice((1, 3, 10, 60))) if gaps else ():
        page = random.choice(pages)
        word = bytearray(random.choice(MULTI_BYTE[page].split()).encode(page))
        if random.random() < 0.2:
            del word[-1]  # a character that was cut
        if random.random() < 0.05:
            word = bytearray(b"\x85")
        kept.append(bytes(word))
        parts[at] += bytes(word) + b" "
    return b"".join(parts), tuple(kept)


def assert_kept(before: bytes, after: bytes, kept: tuple[bytes, ...]) -> None:
    """Each of the words is in the result as often as in the source, unless it could be the head of one in UTF-8."""
    for word in set(kept):
        if _is_utf8(word):
            continue
        assert after.count(word) >= before.count(word), f"the bytes {word.hex(' ')} are gone"


def _is_utf8(word: bytes) -> bool:
    try:
        word.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and error.start > 0
    return True


def line(random: Random) -> tuple[str, str]:
    """(name, text) of one line with numbers, as people type or paste it."""
    words = random.choices(_WORDS.split(), k=random.choice((3, 6, 12, 40)))
    share = random.choice((0.1, 0.3, 0.6))
    words = [random.choice(_NUMBERS.split()) if random.random() < share else word for word in words] + ["back"]
    return random.choice(("", "talk.txt", "notes")), random.choice((" ", " ", "  ", "\t")).join(words) + random.choice(
        ("", "\n", "\r\n", "\n\n")
    )


def assert_is_text(document: Document) -> None:
    """One line is text, and each of its words is found."""
    assert document.format == "txt", f"one line of text is read as {document.format}"
    lettered = [word for word in document.source.split() if re.search("[a-z]{2}", word)]
    found = Counter(text.strip(MARKS) for text in document.texts)
    assert not (missing := Counter(lettered) - found), f"not found: {list(missing)}"


def pieces(random: Random) -> tuple[str, str, list[str]]:
    """(name, text, words) of a file of pieces of words, in which a leading space says where a word begins."""
    words = random.choices(_WORDS.split(), k=random.choice((8, 20, 60)))
    while True:
        parts = [piece for word in words for piece in _pieces(f" {word}", random)]
        if random.random() < 0.3:
            parts[0] = parts[0].lstrip()
        if sum(part[0] == " " for part in parts) >= FEWEST_STARTS * len(parts):
            break
    kind = random.choice(list(_WRITERS))
    return f"talk.{kind}", _WRITERS[kind](parts), words


def _pieces(word: str, random: Random) -> list[str]:
    cuts = sorted({random.randrange(2, len(word)) for _ in range(random.choice((0, 0, 1, 1, 2)))}) if word[2:] else []
    return [word[a:b] for a, b in zip([0, *cuts], [*cuts, len(word)], strict=True)]


def _cues(parts: list[str], stop: str) -> str:
    clocks = [f"00:{i // 60:02}:{i % 60:02}{stop}" for i in range(len(parts))]
    return "\n".join(f"{i + 1}\n{clock}000 --> {clock}900\n{parts[i]}\n" for i, clock in enumerate(clocks))


def _rows(parts: list[str], row: str) -> str:
    return "".join(row.format(1000 * i, 1000 * i + 900, part) for i, part in enumerate(parts))


def _tokens(parts: list[str]) -> str:
    tokens = [{"text": part, "start_ms": 1000 * i, "end_ms": 1000 * i + 900} for i, part in enumerate(parts)]
    return json.dumps({"text": "".join(parts), "tokens": tokens})


_WRITERS = {
    "srt": lambda parts: _cues(parts, ","),
    "vtt": lambda parts: "WEBVTT\n\n" + _cues(parts, "."),
    "csv": lambda parts: "start,end,text\n" + _rows(parts, '{},{},"{}"\n'),
    "tsv": lambda parts: "start\tend\ttext\n" + _rows(parts, "{}\t{}\t{}\n"),
    "json": _tokens,
}


def assert_whole(name: str, output: str, words: Sequence[str]) -> None:
    """The pieces of a result make up the words, each with one case and with marks at its edges only."""
    match name.rpartition(".")[2]:
        case "json":
            shown = [token["text"] for token in json.loads(output)["tokens"]]
        case "csv":
            shown = [row[-1] for row in list(csv.reader(io.StringIO(output)))[1:]]
        case "tsv":
            shown = [row.rpartition("\t")[2] for row in output.splitlines()[1:]]
        case _:
            shown = re.findall(r"-->.*\n(.*)\n", output)
    found = [bare for token in "".join(shown).split() if (bare := token.strip(MARKS))]
    assert len(found) == len(words), f"{len(found)} words in place of {len(words)}"
    for old, new in zip(words, found, strict=True):
        assert new in (old, old.upper(), old.capitalize(), old.title(), "O'Brien"), f"{old} became {new}"


def assert_converted(document: Document, name: str, encoding: Encoding, fixer: Fixer, random: Random) -> None:
    """In another format, as other readers read it, are all words, unless the file is refused."""
    kind = random.choice(KINDS)
    try:
        data, _ = Converter(kind).make(Opened(document, fixer, "en", (), "", name, encoding))
    except CappuncError:
        return
    shown = convert.words_shown(kind, _for_pysubs2(kind, data))
    # Text shows codes and invisible characters within words, too.
    bare = re.sub(r"\{[^{}]*\}|<[^<>]*>|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]", "", shown)
    bare = re.sub(r"\\[nNh]", " ", bare)
    wanted = Counter(token for text in document.texts for token in _letters(text))
    missing = wanted - Counter(_letters(shown)) - Counter(_letters(bare))
    # What is a tag to one reader is text to the other.
    whole = _joined(data.decode("utf-8", "replace") if kind in _PLAIN else shown)
    if not all(token in whole for token in missing) and not _in_order("".join(map(_joined, document.texts)), whole):
        raise AssertionError(f"lost in {kind}: {list(missing)[:5]}")


def _in_order(part: str, whole: str) -> bool:
    """Whether all characters of `part` stand in `whole`, in their order."""
    rest = iter(whole)
    return all(character in rest for character in part)


def _for_pysubs2(kind: str, data: bytes) -> bytes:
    """To pysubs2 and `unescape`, two times in a line of SRT, a backslash and `&amp,` are more than text.

    It reads no hours of three digits in ASS.
    """
    if kind == "ass":
        return re.sub(rb"(?<=[ ,])\d+(?=\d\d:\d\d:\d\d\.\d\d,)", b"", data)
    if kind in ("srt", "microdvd"):
        data = re.sub(rb"\\(?=[nNh])", b"/", data)
    if kind == "srt":
        data = re.sub(rb"&(?=#?[A-Za-z0-9]+(?![A-Za-z0-9;]))", b"/", data)
        data = _TIMES_SPOKEN.sub(lambda line: line[0].replace(b":", b";"), data)
    return data


#: Formats whose markup is read by pysubs2, which may take shown text for a tag.
_PLAIN = ("srt", "ass", "microdvd")
_TIMES_SPOKEN = re.compile(rb"(?m)^(?:(?!.*[->] *\d)|(?=.*[A-Za-z]{2}.*?\d:\d\d))(?=(?:.*?\d:\d\d?:\d\d?[.,]\d){2}).*")


def _joined(text: str) -> str:
    return "".join(_letters(text))


def _letters(text: str) -> list[str]:
    return re.findall(r"\w+", normalize("NFC", text))
