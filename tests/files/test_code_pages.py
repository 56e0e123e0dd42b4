"""Files whose encoding nobody has named: what is changed in them is surely a letter or a mark.

The oracle knows the encoding that the file is really in: read in that, both sides in lower case and without marks
must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.labels import Case, dress, strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.files import code_pages
from cappunc_cli.files.encodings import Encoding, codec_name, decode, encode, limited
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.processing import JobOutcome, process_jobs
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.restore.options import Options

CUE = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
#: What is said, by the code pages that it is written in.
SAID = {
    "ışık gökyüzünde parlıyordu çünkü şimdi gece oldu": ("cp1254", "iso8859_9", "mac_turkish", "cp857"),
    "ışık": ("cp1254", "iso8859_9", "mac_turkish", "cp857"),
    "šest žen přišlo do města když už bylo večer": ("cp1250", "iso8859_2", "cp852", "mac_latin2"),
    "šest": ("cp1250", "iso8859_2", "cp852", "cp1257", "iso8859_13", "mac_latin2"),
    "żółta łódź i święta są już za nami": ("cp1250", "iso8859_2", "cp852", "mac_latin2", "iso8859_16"),
    "šitas žmogus ėjo į mišką su vaikų būriu": ("cp1257", "iso8859_13", "iso8859_4", "cp775"),
    "según él el niño comió mañana y después habló": ("cp1252", "mac_roman", "cp850", "cp437", "iso8859_15"),
    "según": ("cp1252", "mac_roman", "cp850", "cp437", "iso8859_15"),
    "habló": ("cp1252", "mac_roman", "cp850", "cp437"),
    "où étiez-vous passé à noël mon frère": ("cp1252", "mac_roman", "cp850", "iso8859_15"),
    "și când ți-am spus că vine în oraș": ("mac_romanian", "iso8859_16"),
    "şi când ţi-am spus că vine în oraş": ("cp1250", "iso8859_2", "cp852"),
    "i’m sure “it’s” mine": ("cp1252", "mac_roman", "cp1254", "cp1255"),
    "מה שלומך שלום לכם": ("cp1255", "iso8859_8", "cp862"),
    "привет как дела сегодня": ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic"),
    "καλημέρα τι κάνεις σήμερα": ("cp1253", "iso8859_7", "cp737", "mac_greek"),
    "the word привет is russian and so is дела": ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic"),
    "she said שלום to all of them": ("cp1255", "iso8859_8", "cp862"),
    "he said 中文 and 日本 to me": ("gb18030", "big5", "cp932", "euc_jp", "cp949"),
    "テレビ と ソフト の 表示": ("cp932", "euc_jp", "iso2022_jp"),
    "今日 は abc です": ("cp932", "euc_jp", "iso2022_jp"),
    "안녕 하세요 the word": ("cp949", "euc_kr", "iso2022_kr", "johab"),
    "你好 the word 世界": ("gb18030", "hz", "big5"),
    "so où étiez-vous and then": ("utf-7",),
    "ışık ve gökyüzü": ("utf-7",),
}
#: Capitals where Windows has quotation marks; two bytes of which the second is an ASCII letter.
SAID |= {
    "добрый вечер Лондон": ("cp1251", "koi8_r", "cp866", "mac_cyrillic"),
    "и Лондон и Уфа и Самара": ("cp1251", "koi8_r", "cp866", "mac_cyrillic"),
    "晚上 好 晚上 好 then and now": ("big5", "gb18030"),
    "so 晚上 is 許功蓋 and then 上": ("big5",),
    "表示 ソース then と十": ("cp932",),
    "똠방 각하 then 펲시": ("cp949",),
}
FILES = [(said, codec) for said, codecs in SAID.items() for codec in codecs]


class Restyled(Fixer):
    """Gives every word the case and the mark that it is told."""

    def __init__(self, case: Case, mark: str, around: tuple[str, str] = ("", "")) -> None:
        super().__init__(Settings("none", "cpu", None, Options()), lambda _: None)
        self._case, self._mark, self._around = case, mark, around

    def restore(
        self,
        documents: Sequence[Document],
        progress: Callable[[int], None] | None = None,  # noqa: ARG002
    ) -> Iterator[list[str]]:
        for document in documents:
            yield [self._new(text) for text in document.texts]

    def _new(self, text: str) -> str:
        bare, label = strip(text)
        new = dress(bare, replace(label, case=self._case, form="").with_mark(self._mark))
        new = f"{self._around[0]}{new}{self._around[1]}"
        return new if strip(new)[0] == bare else text


STYLES = [
    Restyled(Case.UPPER, "!"),
    Restyled(Case.CAPITAL, "."),
    Restyled(Case.UPPER, "…", ("“", "”")),
    Restyled(Case.CAPITAL, "?", ("¿", "")),
    Restyled(Case.LOWER, ""),
]


def fix(folder: Path, data: bytes, fixer: Fixer, encoding: str | None = None, name: str = "talk.srt") -> JobOutcome:
    (folder / name).write_bytes(data)
    target = folder / f"new-{name}"
    target.unlink(missing_ok=True)
    (outcome,) = process_jobs([Job(str(folder / name), target, encoding=encoding)], fixer, ResultWriter("new"))
    return outcome


def new(folder: Path, name: str = "talk.srt") -> bytes:
    return (folder / f"new-{name}").read_bytes()


def plain(data: bytes, codec: str) -> str:
    """What a reader who knows the encoding sees, but for case and marks."""
    text = data.decode(codec).lower().replace("ς", "σ")
    return re.sub(r"[.,!?…“”\"¿]", "", text)


@pytest.mark.parametrize(("said", "codec"), FILES)
def test_no_letter_of_a_guessed_encoding_becomes_another(tmp_path: Path, said: str, codec: str) -> None:
    source = CUE.format(said).encode(codec)
    for fixer in STYLES:
        outcome = fix(tmp_path, source, fixer)
        if outcome.error is not None:
            assert "\n" not in outcome.error
            assert "bug" not in outcome.error
            continue
        assert plain(new(tmp_path), codec) == plain(source, codec)


@pytest.mark.parametrize("guess", ["cp932", "big5", "gb18030", "cp949", "ascii"])
@pytest.mark.parametrize(
    ("said", "codec"), [("5晚上好 do", "big5"), ("表ソ十 do", "cp932"), ("丄乗 do", "gb18030"), ("갂똠 do", "cp949")]
)
def test_an_ascii_letter_that_may_be_half_a_character_stays(said: str, codec: str, guess: str) -> None:
    data = said.encode(codec)
    try:
        text = data.decode(guess, "surrogateescape" if guess == "ascii" else "strict")
    except UnicodeDecodeError:
        return
    encoding = Encoding(guess, guess=code_pages.judge(data, guess))
    old = text.split()
    new = limited(old, [f"{word.upper()}." for word in old], encoding)
    assert plain(encode(" ".join(new), encoding), codec) == said
    assert new[-1] == "DO."


@pytest.mark.parametrize(("said", "codec"), FILES)
def test_a_named_encoding_changes_all_letters(tmp_path: Path, said: str, codec: str) -> None:
    text = CUE.format(said)
    outcome = fix(tmp_path, text.encode(codec), Restyled(Case.UPPER, "!"), codec)
    assert (outcome.error, outcome.guessed) == (None, "")
    output = new(tmp_path).decode(codec)
    assert plain(new(tmp_path), codec) == plain(text.encode(codec), codec)
    # The capital of a dotless i is that of another letter, and DOS had no Ó.
    small = {c for c in output if c > "\x7f" and c.islower() and c not in "ıς"}
    assert not [c for c in small if c.upper().encode(codec, "ignore")]


def test_changes_safe_in_every_likely_code_page_are_made() -> None:
    _, encoding = decode("où étiez-vous passé à noël, l’été, mon frère ?".encode("cp1252"))
    assert limited(["étiez-vous", "l’été"], ["Étiez-vous", "L’ÉTÉ…"], encoding) == ["Étiez-vous", "L’ÉTÉ…"]
    assert encoding.guess is not None
    assert not encoding.guess.frozen
    assert decode("so ist das für mich".encode("cp1252"))[1].guess is not None


def test_utf8_and_declared_encodings_are_not_guesses() -> None:
    said = "<?xml version='1.0' encoding='ISO-8859-2'?><tt>šest žen</tt>"
    for data in ("šest".encode(), "šest".encode("utf-16"), said.encode("iso8859_2"), b"plain ASCII"):
        text, encoding = decode(data)
        assert encoding.guess is None
        assert encode(text, encoding) == data
    assert decode(said.encode("iso8859_2"))[0] == said
    # Said, but not so.
    assert decode(said.replace("ISO-8859-2", "US-ASCII").encode("iso8859_2"))[1].guess


@pytest.mark.parametrize(
    ("codec", "said"),
    [
        ("iso2022_jp", "今日 は"),
        ("iso2022_kr", "안녕 하세요"),
        ("hz", "你好"),
        ("utf-7", "où étiez-vous"),
        ("utf-7", "ışık"),
    ],
)
def test_encodings_of_ascii_characters_are_recognised(codec: str, said: str) -> None:
    data = CUE.format(said).encode(codec)
    text, encoding = decode(data)
    assert (text, encoding.codec) == (CUE.format(said), codec)
    assert encode(text, encoding) == data


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x1b$B:#F|\x1b$B$O\x1b(B\n", "ISO-2022"),
        (b"\x1b$)C\n\x0e>H\x0f\x0e3g\x0f\n", "ISO-2022-KR"),
        (b"o+APk- est-tu pass+AOk +AOA- no+AOs-l+ACE-\n", "UTF-7"),
    ],
)
def test_encodings_that_cannot_be_written_back_are_refused(data: bytes, name: str) -> None:
    with pytest.raises(BadInput, match=f"looks like {name}"):
        decode(data)


@pytest.mark.parametrize(
    "text",
    [
        "2 + 2 is 4",
        "a+b-c",
        "1+abc-d and c+dot-e",
        "C+ and C++",
        "+1-800-555",
        "\x1b[31mred\x1b(B\x1b[m",
        "~{ so ~}",
        "~~",
    ],
)
def test_ascii_that_only_looks_like_these_is_ascii(text: str) -> None:
    assert decode(text.encode())[0] == text


def test_a_named_encoding_that_a_file_is_not_in_is_refused(tmp_path: Path) -> None:
    data = CUE.format("šest").encode("cp1250")
    for codec in ("utf-16", "gb18030", "big5"):
        outcome = fix(tmp_path, data + b"\xff", STYLES[0], codec)
        assert outcome.error is not None
        assert not (tmp_path / "new-talk.srt").exists()
    # A byte order mark says more than anybody.
    assert decode("so é".encode("utf-8-sig"), "cp1250")[0] == "so é"


def test_names_of_encodings() -> None:
    assert codec_name("Windows-1250") == codec_name("CP1250") == "cp1250"
    assert codec_name("UTF8") == codec_name("utf-8-sig") == "utf-8"
    for name in ("cp9999", "idna", "rot13", "base64", "unicode_escape", ""):
        with pytest.raises(LookupError):
            codec_name(name)


def test_a_note_says_what_was_guessed(tmp_path: Path) -> None:
    outcome = fix(tmp_path, CUE.format("šest žen").encode("iso8859_2"), STYLES[0])
    assert "which is a guess, ambiguous letters keep their case; name it with --encoding" in outcome.guessed
    outcome = fix(tmp_path, CUE.format("and then").encode() + b"n\xb2a \x81s\n", STYLES[0])
    assert outcome.guessed.startswith("unknown encoding")


@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=3)), max_size=4),
    st.sampled_from([*Case]),
    st.sampled_from(["", ".", "…", "?"]),
)
def test_non_ascii_bytes_of_broken_files_are_kept(
    file: tuple[str, str], wounds: list[tuple[float, bytes]], case: Case, mark: str
) -> None:
    broken = bytearray(file[0].encode(file[1]))
    for where, some in wounds:
        at = round(where * len(broken))
        broken[at:at] = some
    try:
        text, encoding = decode(bytes(broken))
    except BadInput:
        return
    if encoding.guess is None:
        return
    old = text.split()
    new_texts = limited(old, [Restyled(case, mark)._new(word) for word in old], encoding)
    for was, now in zip(old, new_texts, strict=True):
        assert strip(now)[0] == strip(was)[0]
        kept = encoding.guess.cased | encoding.guess.marks
        assert _frozen(was, kept) == _frozen(now, kept)


def _frozen(word: str, free: frozenset[str]) -> str:
    return "".join([c for c in word if c > "\x7f" and not {c, c.lower(), c.upper()} & free])
