"""Language data, and words in both Unicode normal forms, NFC and NFD."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli import formats, languages
from cappunc_cli.document.labels import MARKS, capital, dress, fold, strip, upper
from cappunc_cli.formats.splice import same_word
from cappunc_cli.languages import LANGUAGES, Language, code_of, language
from cappunc_cli.layout.caption_profiles import Profiles, profile_names
from cappunc_cli.restoration.decoding.word_properties import WordProperty, properties_of
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.word_forms import mixed_form

LETTERS = "abcdeghijklmnopqrstuvxyz áéíóúüñ ăâîșțşţ ằắẵặẻẽờởỗộựửỷỹđ".replace(" ", "")
BARE = st.text(alphabet=LETTERS, min_size=1, max_size=8) | st.sampled_from(
    ["într-o", "m-am", "dă-mi-l", "nu-i", "d'eau", "nhà", "đường", "ñandú", "bedeinkatua", "1.º", "xx", "k.a", "e.t."]
)
OPENINGS = st.sampled_from(["", "¿", "¡", "«", "“", "„", "—", "¿¡", "(«"])
CLOSINGS = st.sampled_from(["", "?", "!", "»", "”", ".", ",", "…", ".”", "».", "?!", ")"])
SHAPES = st.sampled_from([str, capital, upper, str.title])


@given(BARE, OPENINGS, CLOSINGS, SHAPES)
def test_both_normal_forms_split_alike(bare: str, before: str, after: str, shape: object) -> None:
    text = before + shape(bare) + after  # type: ignore[operator]
    composed, decomposed = normalize("NFC", text), normalize("NFD", text)
    (one, label), (other, same) = strip(composed), strip(decomposed)
    assert dress(one, label) == composed
    assert dress(other, same) == decomposed
    assert normalize("NFC", other) == one
    assert (label.case, label.before, label.after, label.mark) == (same.case, same.before, same.after, same.mark)
    for change in (capital, upper, fold):
        assert normalize("NFC", change(decomposed)) == change(composed)


@given(BARE, st.sampled_from(["", *MARKS]))
def test_a_combining_mark_stays_with_its_letter(bare: str, mark: str) -> None:
    word, label = strip(normalize("NFD", bare))
    written = dress(word, label.with_mark(mark))
    assert [c for c in written if "\u0300" <= c <= "\u036f"] == [c for c in word if "\u0300" <= c <= "\u036f"]
    assert strip(capital(word))[0] == word


@given(BARE)
def test_normal_forms_and_cedillas_are_spelled_one_way(word: str) -> None:
    romanian = language("ro")
    assert romanian.spelled(normalize("NFD", word)) == romanian.spelled(word)
    assert romanian.spelled(romanian.spelled(word)) == romanian.spelled(word)
    assert not set(romanian.spelled(word)) & set("şţ’")


def test_cedillas_become_commas_below_in_romanian_only() -> None:
    assert language("ro").spelled("şi") == "și"
    assert language("ro").spelled("s\u0327i") == "și"
    assert language("zxx").spelled("şi") == "şi"


@pytest.mark.parametrize("entry", [language(code) for code in LANGUAGES], ids=lambda entry: entry.code)
def test_word_lists_are_in_the_spelling_used_for_look_up(entry: Language) -> None:
    for words in (entry.always_capital, entry.abbreviations, entry.titles, entry.clitics):
        for word in words:
            assert entry.spelled(fold(word)) == word
            assert strip(word + ("." if words is entry.abbreviations else ""))[0] in (word, word + ".")
    for word in entry.begin_lines | entry.never_last | entry.never_first:
        assert entry.spelled(strip(word)[0]) == word
    assert not entry.begin_lines & entry.never_last
    assert not entry.never_first & (entry.begin_lines | entry.never_last)
    assert entry.titles | entry.never_upper <= entry.abbreviations
    assert set(entry.marks) <= set(MARKS)
    assert all(letter.isalpha() and letter == letter.lower() for letter in entry.diacritics)


def test_a_language_without_an_entry_has_default_conventions() -> None:
    found, default = language("zxx"), Language("zxx", "zxx")
    assert all(getattr(found, field.name) == getattr(default, field.name) for field in fields(Language))


@pytest.mark.parametrize(
    ("property_", "code", "having", "lacking"),
    [
        # A period that ends no sentence by itself: of ordinals, of `and so on`, with an article or hyphens.
        (WordProperty.ABBREVIATION, "eu", "xx 3 adib etab", ""),
        (WordProperty.ABBREVIATION, "en", "etc vs", ""),
        (WordProperty.ABBREVIATION, "es", "etc", "xx 3"),
        (WordProperty.ABBREVIATION, "ro", "etc ș.a ș.a.m.d", ""),
        (WordProperty.ABBREVIATION, "fr", "etc l'o.n.u j.-p", "l'an l'a"),
        (WordProperty.ABBREVIATION, "pt", "etc", ""),
        (WordProperty.ABBREVIATION, "nl", "etc enz", ""),
        (WordProperty.ABBREVIATION, "ca", "etc l'av ee.uu", ""),
        (WordProperty.ABBREVIATION, "vi", "v.v", ""),
        (WordProperty.ABBREVIATION, "de", "usw", ""),
        (WordProperty.ABBREVIATION, "it", "ecc l'art l’on art", ""),
        (WordProperty.ABBREVIATION, "pl", "itd itp", ""),
        # Abbreviated phrases are capital only where a sentence begins.
        (WordProperty.LOWER_WITHIN, "nl", "d.w.z dhr", ""),
        (WordProperty.LOWER_WITHIN, "ro", "ș.a.m.d", ""),
        (WordProperty.LOWER_WITHIN, "it", "p.es", "d'ucraina"),
        (WordProperty.LOWER_WITHIN, "pl", "prof", ""),
        (WordProperty.LOWER_WITHIN, "de", "", "prof"),
        (WordProperty.LOWER_WITHIN, "ca", "d'en", ""),
        (WordProperty.LOWER_WITHIN, "es", "", "etc"),
        # Long abbreviations are no acronyms; titles of two letters may be.
        (WordProperty.NO_UPPER, "es", "avda", "onu"),
        (WordProperty.NO_UPPER, "en", "blvd", "est"),
        (WordProperty.NO_UPPER, "it", "sig dott.", "dr onu"),
        # The case of a path is its author's.
        (WordProperty.NO_CASE, "eu", "/usr/share/logo ~/notes ./build/run ../talk #gaur", "and/or eta/edo"),
    ],
)
def test_properties_of_words(property_: WordProperty, code: str, having: str, lacking: str) -> None:
    for words, expected in ((having, True), (lacking, False)):
        for word in words.split():
            assert (
                properties_of(word, language(code), mixed_form(word, Lexicon({}), language(code)))[property_]
                == expected
            ), word


@pytest.mark.parametrize(
    ("word", "code", "form"),
    [
        ("într-o", "ro", None),  # `Într-o` is its plain capital form
        ("cluj-napoca", "ro", "Cluj-Napoca"),
        (normalize("NFD", "ștefan-vodă"), "ro", normalize("NFD", "Ștefan-Vodă")),
        ("nato-ren", "eu", None),
        ("anglo-saxon", "en", "Anglo-Saxon"),
        ("o'brien-smith", "en", "O'Brien-Smith"),
        ("jones-mcdonald", "en", "Jones-McDonald"),
        ("newcastle-upon-tyne", "en", "Newcastle-upon-Tyne"),
        ("drive-in", "en", "Drive-In"),
        ("in-n-out", "en", "In-N-Out"),
        ("d'angelo", "en", "D'Angelo"),
        ("sant'agata", "it", "Sant'Agata"),
        ("d'angelo", "it", "d'Angelo"),
        ("dell’uzbekistan", "it", "dell’Uzbekistan"),
        ("l'ouzbékistan", "fr", "l'Ouzbékistan"),
        ("qu'o'brien", "fr", "qu'O'Brien"),
        ("l'afrique-occidentale", "fr", "l'Afrique-Occidentale"),
        ("aujourd'hui", "fr", None),
        ("l'o.n.u", "fr", "l'O.N.U"),
        ("dell’u.r.s.s", "it", "dell’U.R.S.S"),
        ("l'hospitalet", "ca", "l'Hospitalet"),
        ("l'hospitalet", "es", None),
        ("'s-hertogenbosch", "nl", "'s-Hertogenbosch"),
        ("ijsland", "nl", "IJsland"),
        ("ijsland", "de", None),
        ("k-pop", "en", None),  # `K-pop` is its plain capital form
        ("u-bahn", "de", "U-Bahn"),
        ("l4-l5", "en", None),  # `L4-L5` is its upper case
        ("xiv.a", "eu", "XIV.a"),
        ("ii.ak", "eu", "II.ak"),
        ("xiv.a", "de", "Xiv.A"),  # like Ph.D
        ("aeb-etan", "eu", None),  # `AEB-etan` is for the lexicon to know
    ],
)
def test_mixed_forms_of_names_and_compounds(word: str, code: str, form: str | None) -> None:
    assert mixed_form(word, Lexicon({}), language(code)) == form


def test_an_english_no_ends_a_sentence() -> None:
    """`No. That's wrong`: it passed for the abbreviation of `No. 5`, where no capital can follow anyway."""
    assert not language("en").abbreviates("no")


@pytest.mark.parametrize(
    ("code", "known", "written", "plain"),
    [
        # Words after an acronym stay lower case in Dutch.
        ("nl", ("CDA", "Anglo-Saxon"), ("CDA-fractie", "Zuid-Holland"), ()),
        ("de", ("CDA", "Anglo-Saxon"), ("CDA-Fraktion",), ()),
        # Parts of a compound are written as in other compounds, and acronyms as they are.
        (
            "en",
            ("EU-based", "US-led", "UK-led", "Pre-Raphaelite", "non-US", "pre-Roman", "pre-EU", "BBC"),
            ("EU-led", "US-China", "pre-Celtic", "non-BBC-based", "U.K.-led", "Anglo-Saxon", "BBC-led"),
            ("bbc",),
        ),
        # Both sides of a slash are words of their own: it was `Cdu/csu-Fraktion` and `90/die`. `CDU/CSU` is upper case.
        (
            "de",
            ("CDU", "CSU", "NATO"),
            ("CDU/CSU-Fraktion", "NATO/Russland-Rat", "Bonn/NATO", "90/Die", "Lola/Ford"),
            ("cdu/csu",),
        ),
        # A Basque acronym keeps its form before an ending; in two letters it may be a word, as in `iran`, `idek`.
        (
            "eu",
            ("EHU", "UPV", "VIII", "IR", "jOn"),
            ("EHUko", "EHUren", "VIIIak", "UPV/EHUn"),
            ("iren", "ehu", "ehuxe", "jonen"),
        ),
        ("es", ("EHU",), (), ("ehuko",)),
        # Look-up in either normal form, with any apostrophe, hyphen or letter.
        ("es", ("mcÑandú",), ("mcÑandú", normalize("NFD", "mcÑandú")), ()),
        ("fr", ("l'OTAN", "Jean-Luc", "d'avis"), ("l’OTAN", "Jean‑Luc"), ("d’avis",)),
        ("ro", ("DeMașco",), ("DeMaşco",), ()),
        ("de", ("EU",), ("EU‑Staat",), ()),
    ],
)
def test_mixed_forms_by_a_lexicon(
    code: str, known: tuple[str, ...], written: tuple[str, ...], plain: tuple[str, ...]
) -> None:
    lexicon = Lexicon({fold(form): form for form in known})
    assert [mixed_form(fold(form), lexicon, language(code)) for form in (*written, *plain)] == [
        *written,
        *[None] * len(plain),
    ]


def test_a_speaker_name_is_no_word_in_either_normal_form() -> None:
    for form in ("NFC", "NFD"):
        source = normalize(form, "1\n00:00:01,000 --> 00:00:02,000\nÍñigo: buenos días\n")
        assert [normalize("NFC", w.text) for w in formats.read(source, "a.srt").words] == ["buenos", "días"]


def test_data_files_and_languages_correspond() -> None:
    folder = Path(languages.__file__).parent
    assert {path.stem for path in folder.glob("*.toml")} - {"caption_words"} == set(LANGUAGES)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("EN", "en"),
        ("en-US", "en"),
        ("es_ES.UTF-8", "es"),
        ("Vietnamese", "vi"),
        ("AUTO", "auto"),
        ("pt-BR", "pt"),
        ("Klingon", "Klingon"),
    ],
)
def test_a_language_may_be_called_as_other_programs_call_it(language: str, code: str) -> None:
    assert code_of(language) == code


@pytest.mark.parametrize(
    ("code", "lower", "written"),
    [
        ("tr", "istanbul ılık ısparta'ya i̇zmir", "İstanbul Ilık Isparta'ya İzmir"),
        ("tr", "iğdır", "İĞDIR"),
        ("el", "οδος τι λες λεπτό ναι", "ΟΔΟΣ Τι λες; λεπτό· Ναι?"),
        ("es", "istanbul ısı", "Istanbul ısı"),
        ("ru", "ёлка и ещё", "Ёлка и Ещё"),
    ],
)
def test_letters_and_marks_as_a_language_has_them(code: str, lower: str, written: str) -> None:
    own = language(code)
    for bare, text in zip(lower.split(), written.split(), strict=True):
        word, label = strip(own.read(text))
        assert normalize("NFC", own.written(word)) == normalize("NFC", bare).replace("i\u0307", "i")
        assert own.written(dress(word, label)) == text
        recased = own.written(dress(strip(own.read(bare))[0], label))
        assert normalize("NFC", recased) == text
        assert same_word(bare, recased)


@given(st.text(alphabet="iİıIƗɨ\u0307?;·\u037e？\u0387；aα.", max_size=8), st.sampled_from(["tr", "el", "es"]))
def test_what_is_read_is_written_as_it_was(text: str, code: str) -> None:
    own = language(code)
    read = own.read(text)
    assert len(read) == len(text)
    if "Ɨ\u0307" not in text:  # a letter that is in no language with the dot of another one
        assert own.written(read) == text


def test_a_turkish_i_is_no_other_letter() -> None:
    assert not same_word("ılık", "ilik")
    assert not same_word("ısı", "İsı")


def test_greek_asks_with_a_semicolon() -> None:
    marks = [strip(language("el").read(text))[1].mark for text in ("τι;", "λεπτό·", "«ναι»·", "τι?")]
    assert marks == ["?", ";", ";", "?"]
    # Elsewhere the raised dot is a bullet.
    assert strip("foo·")[0] == "foo·"


@pytest.mark.parametrize("entry", [language(code) for code in LANGUAGES], ids=lambda entry: entry.code)
def test_what_tells_a_language_from_those_near_it(entry: Language) -> None:
    assert entry.near <= LANGUAGES.keys() - {entry.code}
    for code in entry.near:
        assert not entry.telling & language(code).telling
    assert re.fullmatch("[0-7][0-9A-F]", entry.stl)
    assert entry.captions.keys() <= set(profile_names())


def test_no_two_languages_have_one_code_in_ebu_stl() -> None:
    codes = [language(code).stl for code in LANGUAGES]
    assert len(set(codes)) == len(codes)
    assert "00" not in codes


def test_what_is_by_language_is_in_the_files_of_the_languages() -> None:
    """`stl_file.py` had a table of its own that lacked Vietnamese: nobody who added a language knew of it."""
    package = Path(languages.__file__).parents[1]
    known = {*LANGUAGES}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path.parent != package / "languages" else ():
            if isinstance(node, ast.Dict | ast.Set):
                keys = node.keys if isinstance(node, ast.Dict) else node.elts
                found = {key.value for key in keys if isinstance(key, ast.Constant)} & known
                assert len(found) < 2, f"{path}:{node.lineno}"
    for path in package.rglob("*.toml"):
        if path.parent != package / "languages":
            assert not {*tomllib.loads(path.read_text("utf-8"))} & known, path


@pytest.mark.parametrize(("code", "width", "speed"), [("en", 42, 20), ("ru", 39, 17), ("es", 42, 17)])
def test_the_guide_of_a_language(code: str, width: int, speed: float) -> None:
    limits = Profiles("netflix", {}, {}).of(code)
    assert (limits.width, limits.speed) == (width, speed)


@pytest.mark.parametrize(
    ("name", "code"),
    [("no", "nb"), ("no-NO", "nb"), ("nn", "nb"), ("bs", "hr"), ("Norwegian", "nb"), ("sr-Latn", "sr")],
)
def test_varieties_have_the_code_of_their_language(name: str, code: str) -> None:
    assert code_of(name) == code
