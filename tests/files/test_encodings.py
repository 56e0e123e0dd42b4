"""Files whose encoding nobody has named: no byte of a character that is not ASCII may change.

The oracle knows the encoding that the file is really in: read in that, both sides in lower case and without ASCII
marks must be the same, and so must be all that is not ASCII, in its own case.
"""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.labels import Case, Label, dress, strip
from cappunc_cli.errors import BadInput, WrongUsage
from cappunc_cli.files.encodings import Encoding, decode, encode, named_codec
from cappunc_cli.files.limited_changes import changes_more_than_case, limit_changes

CUE = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
#: What is said, by the code pages that it is written in.
SAID = {
    "ışık gökyüzünde parlıyordu çünkü şimdi gece oldu": ("cp1254", "iso8859_9", "mac_turkish", "cp857"),
    "šest žen přišlo do města když už bylo večer": ("cp1250", "iso8859_2", "cp852", "mac_latin2"),
    "żółta łódź i święta są już za nami": ("cp1250", "iso8859_2", "cp852", "mac_latin2", "iso8859_16"),
    "šitas žmogus ėjo į mišką su vaikų būriu": ("cp1257", "iso8859_13", "iso8859_4", "cp775"),
    "según él el niño comió mañana y después habló": ("cp1252", "mac_roman", "cp850", "cp437", "iso8859_15"),
    "où étiez-vous passé à noël mon frère": ("cp1252", "mac_roman", "cp850", "iso8859_15"),
    "città è più": ("cp1252", "mac_roman", "cp850"),
    "i’m sure “it’s” mine": ("cp1252", "mac_roman", "cp1254", "cp1255"),
    "as he said…": ("cp1252",),
    "מה שלומך שלום לכם": ("cp1255", "iso8859_8", "cp862"),
    "привет как дела сегодня": ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic"),
    "καλημέρα τι κάνεις σήμερα": ("cp1253", "iso8859_7", "cp737", "mac_greek"),
    "the word привет is russian and so is дела": ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic"),
    "he said 中文 and 日本 to me": ("gb18030", "big5", "cp932", "euc_jp", "cp949"),
    "テレビ と ソフト の 表示": ("cp932", "euc_jp"),
    "ﾐｰ ﾐｰ so ｶﾞ 表示": ("cp932",),
    "谢谢你": ("gb18030",),
    "谢谢你 they said 谢谢你": ("gb18030",),
    "안녕 하세요 the word": ("cp949", "euc_kr", "johab"),
    "晚上 好 晚上 好 then and now": ("big5", "gb18030"),
    "so 晚上 is 許功蓋 and then 上": ("big5",),
    "表示 ソース then と十": ("cp932",),
    "똠방 각하 then 펲시": ("cp949",),
}
FILES = [(said, codec) for said, codecs in SAID.items() for codec in codecs]
STYLES = [
    (Case.UPPER, "!", "", ""),
    (Case.CAPITAL, "…", "“", "”"),
    (Case.UPPER, "?", "¿", ""),
]


def restyled(word: str, style: tuple[Case, str, str, str]) -> str:
    """The word in another case, with other marks."""
    case, mark, before, after = style
    bare, _ = strip(word)
    text = dress(bare, Label(case=case, before=before, after=f"{mark}{after}"))
    return text if strip(text)[0] == bare else word


def rewritten(data: bytes, style: tuple[Case, str, str, str]) -> tuple[bytes, Encoding]:
    """A file with every word restyled as far as its encoding allows."""
    text, encoding = decode(data)
    parts = re.split(r"(\s+)", text)
    around = [(left[-1:], right[:1]) for left, right in zip(["", *parts[1::2]], [*parts[1::2], ""], strict=True)]
    parts[::2] = limit_changes(parts[::2], [restyled(word, style) for word in parts[::2]], encoding, around)
    return encode("".join(parts), encoding), encoding


def beyond_ascii(text: str) -> str:
    return re.sub(r"[\x00-\x7f]", "", text)


def plain(text: str) -> str:
    """What a reader who knows the encoding sees, but for case and marks."""
    return re.sub(r"[.,!?\"“”…¿]", "", text).lower()


@pytest.mark.parametrize(("said", "codec"), FILES)
@pytest.mark.parametrize("style", STYLES)
def test_only_ascii_changes_in_a_short_text_in_a_guessed_encoding(
    said: str, codec: str, style: tuple[Case, str, str, str]
) -> None:
    source = CUE.format(said).encode(codec)
    output, encoding = rewritten(source, style)
    assert encoding.guess
    assert "--encoding" in encoding.note
    assert beyond_ascii(output.decode(codec)) == beyond_ascii(CUE.format(said))
    assert plain(output.decode(codec)) == plain(CUE.format(said))


#: Words with letters beyond ASCII, without a capital.
LONG = {
    "fr": "où étiez-vous passé à noël, déjà l'été dernier vous étiez là où le théâtre était fermé ",
    "es": "él está aquí con su niño y mañana también irá después a la estación del país ",
    "ro": "îşi aminteşte de ţară şi de oraşul în care a învăţat să citească împreună cu fraţii săi ",
    "pl": "żółta łódź płynęła więc świętą rzeką przez miasto gdzie żyją też źli ludzie ",
    "cs": "česká škola žije z nadšení a každý žák může říct že když už ještě přišel čas ",
    "lt": "įmonė šalia ąžuolo ėmė žydėti kai žmogus grįžo į mišką su vaikų būriu ūkyje ",
    "tr": "çok güzel bir şey değil mi öyle işte çocuğun için üzüldüğünü söylüyor şimdi ",
    "ru": "это было давно и неправда, я тогда ещё не знала что скажет твоя сестра ",
    "el": "και τότε του είπα την αλήθεια για όλα όσα έγιναν εκείνη την ημέρα στο σπίτι ",
}


@pytest.mark.parametrize(
    ("code", "codec", "capitals"),
    [
        ("fr", "cp1252", "Étiez-vous À"),
        ("es", "cp1252", "Él"),
        ("ro", "cp1250", "Îşi Ţară Şi Învăţat Împreună"),
        ("pl", "iso8859_2", "Łódź"),
        ("cs", "cp1250", "Česká Škola Žije Žák Říct Že Čas"),
        ("lt", "cp1257", "Įmonė Šalia Ąžuolo Ėmė Žydėti Žmogus Į Ūkyje"),
        ("tr", "cp1254", "Çok Şey Öyle Üzüldüğünü"),
        *(
            ("ru", codec, "Это Было Ещё Я Сестра")
            for codec in ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic")
        ),
        *(("el", codec, "Και Τότε Όλα Έγιναν") for codec in ("cp1253", "iso8859_7", "mac_greek")),
    ],
)
def test_letters_of_a_guessed_encoding_become_capital_where_all_likely_ones_agree(
    code: str, codec: str, capitals: str
) -> None:
    source = (LONG[code] * 8).encode(codec)
    output, encoding = rewritten(source, (Case.CAPITAL, ".", "", ""))
    written = output.decode(codec)
    assert {*capitals.split()} <= {*re.findall(r"[\w-]+", written)}
    assert written.replace(".", "").replace(",", "").lower() == source.decode(codec).replace(",", "")
    assert encoding.guess
    assert not changes_more_than_case(source, output, encoding)
    assert changes_more_than_case(source, output.replace(b".", b" \xe9"), encoding)


@pytest.mark.parametrize(
    "data",
    [
        CUE.format("renée").encode()
        + CUE.format("caf").encode()[:-1]
        + b"\xc3\n\n"
        + CUE.format("").encode()
        + b"\xa9",
        b'{"text": "the caf\xc3", "next": "\xa9 of ren\xc3\xa9e"}',
        CUE.format("♪ la la la ♪").encode()[:-2],
        CUE.format("she saw 你好世界 and 你好").encode()[:-2],
        ("où étiez-vous passé à noël " * 5).encode() + b"d\xe9j\xc3\xa0 vu",
        CUE.format("Привет, как дела").encode() + b"\xd0\n",
    ],
)
def test_characters_cut_in_two_stay_and_the_rest_is_utf_8(data: bytes) -> None:
    text, encoding = decode(data)
    assert (encoding.codec, encoding.guess) == ("utf-8", False)
    assert encode(text, encoding) == data
    whole = data.decode("utf-8", "ignore")
    assert set(beyond_ascii(whole)) <= set(text)


@pytest.mark.parametrize(
    "data",
    [
        CUE.format("según él… CAFÉ…").encode("cp1252"),
        CUE.format("que dijo\x85 hola").encode("latin-1"),
        b"\xd0\xbb \xe9 \xe8 ou",
        b'{"text": "d\xe9j\xe0 vu"}',
        codecs.BOM_UTF8 + CUE.format("he said 안녕 to me").encode("cp949"),
    ],
)
def test_other_bytes_are_a_guess(data: bytes) -> None:
    assert decode(data)[1].guess


def test_utf8_and_declared_encodings_are_not_guesses() -> None:
    said = "<?xml version='1.0' encoding='ISO-8859-2'?><tt>šest žen</tt>"
    for data in ("šest".encode(), "šest".encode("utf-16"), said.encode("iso8859_2"), b"plain ASCII"):
        text, encoding = decode(data)
        assert not encoding.guess
        assert encode(text, encoding) == data
    assert decode(said.encode("iso8859_2"))[0] == said
    # Said, but not so.
    assert decode(said.replace("ISO-8859-2", "US-ASCII").encode("iso8859_2"))[1].guess


@pytest.mark.parametrize(("said", "codec"), FILES)
def test_a_named_encoding_changes_all_letters(said: str, codec: str) -> None:
    encoding = decode(said.encode(codec), codec)[1]
    old = said.split()
    new = " ".join(limit_changes(old, [restyled(word, STYLES[0]) for word in old], encoding))
    assert not encoding.guess
    assert plain(new.encode(codec).decode(codec)).replace("ς", "σ") == plain(said).replace("ς", "σ")
    # The capital of a dotless i is that of another letter, and DOS had no Ó.
    small = {c for c in new if c > "\x7f" and c.islower() and c not in "ıς"}
    assert not [c for c in small if c.upper().encode(codec, "ignore")]


@pytest.mark.parametrize(
    ("codec", "said"),
    [
        ("iso2022_jp", "今日 は"),
        ("iso2022_kr", "안녕 하세요"),
        ("hz", "你好"),
        ("utf-7", "où étiez-vous"),
        ("utf-7", "là\u00a0! où çà\u202f?"),
        ("utf-7", "ışık"),
        ("utf-7", "où étiez-vous \x15100_200\x15"),
        ("utf-7", "\u200e où étiez-vous \ufeff"),
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


def test_a_named_encoding_that_a_file_is_not_in_is_refused() -> None:
    data = CUE.format("šest").encode("cp1250")
    for codec in ("gb18030", "big5"):
        with pytest.raises(BadInput):
            decode(data + b"\xff", codec)
    # A byte order mark says more than anybody.
    assert decode("so é".encode("utf-8-sig"), "cp1250")[0] == "so é"


def test_names_of_encodings() -> None:
    assert named_codec("Windows-1250") == named_codec("CP1250") == "cp1250"
    assert named_codec("UTF8") == named_codec("utf-8-sig") == "utf-8"
    for name in ("cp9999", "idna", "rot13", "base64", "unicode_escape", ""):
        with pytest.raises(WrongUsage):
            named_codec(name)


@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=3)), max_size=4),
    st.sampled_from(STYLES),
)
def test_bytes_beyond_ascii_of_broken_files_are_kept(
    file: tuple[str, str], wounds: list[tuple[float, bytes]], style: tuple[Case, str, str, str]
) -> None:
    broken = bytearray(file[0].encode(file[1]))
    for where, some in wounds:
        at = round(where * len(broken))
        broken[at:at] = some
    try:
        output, encoding = rewritten(bytes(broken), style)
    except BadInput:
        return
    if encoding.guess:
        if not encoding.likely:
            assert re.sub(rb"[\x00-\x7f]", b"", output) == re.sub(rb"[\x00-\x7f]", b"", bytes(broken))
        assert not changes_more_than_case(bytes(broken), output, encoding)
