"""Language data, and words in both Unicode normal forms, NFC and NFD."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli import formats, languages
from cappunc_cli.document.labels import MARKS, capital, dress, fold, strip, upper
from cappunc_cli.languages import LANGUAGES, Language, code_of, language
from cappunc_cli.restoration.decoding.word_properties import WordProperty, word_properties
from cappunc_cli.restoration.lexicon import Lexicon, mixed_form

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
    assert entry.titles | entry.never_upper <= entry.abbreviations
    assert set(entry.marks) <= set(MARKS)
    assert all(letter.isalpha() and letter == letter.lower() for letter in entry.diacritics)


def test_a_language_without_an_entry_has_default_conventions() -> None:
    assert language("zxx") == Language("zxx", "zxx")


def test_a_number_with_a_period_is_an_ordinal_in_basque() -> None:
    for word in ("xx", "3", "adib"):
        assert word_properties([word], language("eu"), Lexicon({}))[0] & WordProperty.ABBREVIATION
    for word in ("xx", "3"):
        assert not word_properties([word], language("es"), Lexicon({}))[0] & WordProperty.ABBREVIATION


@pytest.mark.parametrize(
    ("code", "written"),
    [
        *(("en", word) for word in ("etc", "vs")),
        *((code, "etc") for code in ("es", "ro", "fr", "pt", "nl", "ca")),
        *(("eu", "etab"), ("ro", "ș.a"), ("ro", "ș.a.m.d"), ("vi", "v.v"), ("de", "usw"), ("it", "ecc")),
        *(("nl", "enz"), ("pl", "itd"), ("pl", "itp")),
    ],
)
def test_and_so_on_ends_no_sentence_by_itself(code: str, written: str) -> None:
    assert word_properties([written], language(code), Lexicon({}))[0] & WordProperty.ABBREVIATION


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


def test_the_period_of_elided_initials_ends_no_sentence() -> None:
    for word, expected in (("l'o.n.u", True), ("l'an", False), ("l'a", False)):
        assert bool(word_properties([word], language("fr"), Lexicon({}))[0] & WordProperty.ABBREVIATION) is expected


@pytest.mark.parametrize(
    ("word", "code"), [("l'art", "it"), ("l’on", "it"), ("l'av", "ca"), ("ee.uu", "ca"), ("j.-p", "fr"), ("art", "it")]
)
def test_a_period_belongs_to_an_abbreviation_with_its_article_or_with_hyphens(word: str, code: str) -> None:
    assert word_properties([word], language(code), Lexicon({}))[0] & WordProperty.ABBREVIATION


@pytest.mark.parametrize(
    ("word", "code", "expected"),
    [
        ("d.w.z", "nl", True),
        ("ș.a.m.d", "ro", True),
        ("p.es", "it", True),
        ("dhr", "nl", True),
        ("prof", "pl", True),
        ("prof", "de", False),
        ("d'en", "ca", True),
        ("d'ucraina", "it", False),
        ("etc", "es", False),
    ],
)
def test_abbreviated_phrases_are_capital_only_where_a_sentence_begins(word: str, code: str, expected: bool) -> None:
    assert bool(word_properties([word], language(code), Lexicon({}))[0] & WordProperty.LOWER_WITHIN) is expected


def test_an_english_no_ends_a_sentence() -> None:
    """`No. That's wrong`: it passed for the abbreviation of `No. 5`, where no capital can follow anyway."""
    assert not language("en").abbreviates("no")


def test_words_after_an_acronym_stay_lower_case_in_dutch() -> None:
    lexicon = Lexicon({"cda": "CDA", "anglo-saxon": "Anglo-Saxon"})
    assert mixed_form("cda-fractie", lexicon, language("nl")) == "CDA-fractie"
    assert mixed_form("cda-fraktion", lexicon, language("de")) == "CDA-Fraktion"
    assert mixed_form("zuid-holland", lexicon, language("nl")) == "Zuid-Holland"


def test_long_abbreviations_are_no_acronyms() -> None:
    for code, word, expected in (
        ("es", "avda", True),
        ("en", "blvd", True),
        ("en", "est", False),
        ("es", "onu", False),
    ):
        assert bool(word_properties([word], language(code), Lexicon({}))[0] & WordProperty.NO_UPPER) is expected


def test_titles_of_two_letters_may_be_acronyms() -> None:
    for word, expected in (("sig", True), ("dott.", True), ("dr", False), ("onu", False)):
        assert bool(word_properties([word], language("it"), Lexicon({}))[0] & WordProperty.NO_UPPER) is expected


def test_parts_of_a_compound_are_written_as_in_other_compounds_and_acronyms_as_they_are() -> None:
    forms = ("EU-based", "US-led", "UK-led", "Pre-Raphaelite", "non-US", "pre-Roman", "pre-EU", "BBC")
    lexicon = Lexicon({fold(form): form for form in forms})
    expected = ("EU-led", "US-China", "pre-Celtic", "non-BBC-based", "U.K.-led", "Anglo-Saxon", "BBC-led")
    assert tuple(mixed_form(fold(form), lexicon, language("en")) for form in expected) == expected
    assert mixed_form("bbc", lexicon, language("en")) is None


def test_both_sides_of_a_slash_are_written_as_words_of_their_own() -> None:
    """It was `Cdu/csu-Fraktion`, `Usd/tấn` and `90/die`."""
    lexicon = Lexicon({"cdu": "CDU", "csu": "CSU", "nato": "NATO"})
    for form in ("CDU/CSU-Fraktion", "NATO/Russland-Rat", "Bonn/NATO", "90/Die", "Lola/Ford"):
        assert mixed_form(fold(form), lexicon, language("de")) == form
    assert mixed_form("cdu/csu", lexicon, language("de")) is None  # `CDU/CSU` is its upper case


def test_a_basque_acronym_keeps_its_form_before_an_ending() -> None:
    """Also without a hyphen; in two letters it may be a word with its ending, as in `iran`, `idek`."""
    lexicon = Lexicon({"ehu": "EHU", "upv": "UPV", "viii": "VIII", "ir": "IR", "jon": "jOn"})
    for form in ("EHUko", "EHUren", "VIIIak", "UPV/EHUn"):
        assert mixed_form(fold(form), lexicon, language("eu")) == form
    for word in ("iren", "ehu", "ehuxe", "jonen"):
        assert mixed_form(word, lexicon, language("eu")) is None
    assert mixed_form("ehuko", lexicon, language("es")) is None


@pytest.mark.parametrize("path", ["/usr/share/logo", "~/notes", "./build/run", "../talk", "#gaur"])
def test_the_case_of_a_path_is_its_authors(path: str) -> None:
    assert word_properties([path], language("eu"), Lexicon({}))[0] & WordProperty.NO_CASE
    for word in ("and/or", "eta/edo"):
        assert not word_properties([word], language("eu"), Lexicon({}))[0] & WordProperty.NO_CASE


def test_lexicon_look_up_in_either_normal_form() -> None:
    lexicon = Lexicon({"mcñandú": "mcÑandú"})
    assert mixed_form("mcñandú", lexicon, language("es")) == "mcÑandú"
    decomposed = mixed_form(normalize("NFD", "mcñandú"), lexicon, language("es"))
    assert decomposed == normalize("NFD", "mcÑandú")


def test_lexicon_look_up_with_any_apostrophe_hyphen_or_letter() -> None:
    assert mixed_form("l’otan", Lexicon({"l'otan": "l'OTAN"}), language("fr")) == "l’OTAN"
    assert mixed_form("jean‑luc", Lexicon({"jean-luc": "Jean-Luc"}), language("fr")) == "Jean‑Luc"
    assert mixed_form("demaşco", Lexicon({"demașco": "DeMașco"}), language("ro")) == "DeMaşco"
    assert (
        mixed_form("eu‑staat", Lexicon({"eu": "EU"}), language("de")) == "EU‑Staat"
    )  # a compound that the lexicon lacks
    assert mixed_form("d’avis", Lexicon({"d'avis": "d'avis"}), language("fr")) is None


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
