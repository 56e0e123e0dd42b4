from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules import rules

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, MARKS, Case, strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore, rewrite

MODEL = load_model(str(Path(__file__).parents[1] / "tiny_model"), "cpu")
BARE = [
    "hello", "then", "so", "why", "and", "but", "the", "a", "cat", "sat", "went", "here", "i", "i'm", "it’s", "we",
    "london", "anna", "nato", "iphone", "mcdonald", "dr", "vs", "u.s.", "p.m", "3", "14", "she-", "goin'", "日本",
    "q" * 70,
]  # fmt: skip
MARKED_WORDS = [
    "“hello", "'hello,'", "then)", "NATO", "iPod", "...and", "went--", "so…", "why?!", "Bonjour !", "—", "♪", "a.m.",
    "London,", "The", "I",
]  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, marked: bool = True) -> list[Word]:
    """Words as files have them: with times or without, in cues and turns; in lower or upper case, or partly marked."""
    tokens = draw(st.lists(st.sampled_from(BARE + MARKED_WORDS if marked else BARE), min_size=1, max_size=60))
    if draw(st.booleans()):
        tokens = [token.upper() for token in tokens]
    marks = draw(st.sampled_from(["", "", ",", ",.?"])) if marked else ""
    rng = Random(draw(st.integers(0, 1 << 20)))
    words, clock, cue, turn = [], 0, 0, 0
    timed, captions = draw(st.booleans()), draw(st.booleans())
    for token in tokens:
        if marks and rng.random() < 0.2 and token[-1].isalnum():
            token += rng.choice(marks)
        start, clock = clock, clock + rng.randint(50, 500)
        words.append(Word(token, start if timed else None, clock if timed else None, cue, turn))
        clock += rng.choice([0, 50, 350, 900])
        if rng.random() < 0.2:
            cue += 1
            turn += rng.random() < 0.3
    return [*map(as_caption_word, words, [None, *words], [*words[1:], None])] if captions else words


def as_caption_word(word: Word, before: Word | None, after: Word | None) -> Word:
    """The word as in captions: only the first of a cue has a start, only the last one an end."""
    return replace(
        word,
        start=word.start if before is None or before.cue != word.cue else None,
        end=word.end if after is None or after.cue != word.cue else None,
    )


def with_texts(words: list[Word], new: list[str]) -> list[Word]:
    return [replace(word, text=text) for word, text in zip(words, new, strict=True)]


CASES, COLUMNS = list(CASE_CLASSES), [*CASE_CLASSES, *MARK_CLASSES]


def likely(count: int, *labels: Case | str) -> np.ndarray:
    """The probabilities of words that all have these labels; "" is no mark."""
    rows = np.zeros((count, len(COLUMNS)), np.float32)
    for label in labels:
        rows[:, column(label)] = 1
    return rows


def column(label: Case | str) -> int:
    return CASES.index(label) if isinstance(label, Case) else len(CASES) + MARK_CLASSES.index(label)


def run(text: str, **options: object) -> str:
    return " ".join(restore([Word(t) for t in text.split()], MODEL, Options(**options)))


@settings(max_examples=300)
@given(
    texts(),
    st.sampled_from(["auto", "keep", "replace"]),
    st.sampled_from([None, ",.?", ","]),
    st.sampled_from([0.5, 0.5, 0.2, 0.8]),
)
def test_no_word_becomes_another_and_fixing_again_changes_nothing(
    words: list[Word], existing: str, marks: str | None, sensitivity: float
) -> None:
    options = Options(existing=existing, marks=marks, sensitivity=sensitivity)
    once = restore(words, MODEL, options)
    assert [strip(text)[0] for text in once] == [strip(word.text)[0] for word in words]
    assert restore(with_texts(words, once), MODEL, options) == once


@given(texts())
def test_keep_removes_no_mark_and_no_capital(words: list[Word]) -> None:
    for word, new in zip(words, restore(words, MODEL, Options(existing="keep")), strict=True):
        before, after = strip(word.text)[1], strip(new)[1]
        assert after.before == before.before
        if before.mark:
            assert after.after == before.after
        if before.case != "lower":
            assert (after.case, after.form) == (before.case, before.form)


@given(texts(marked=False))
def test_only_marks_and_case_are_added_to_a_bare_text(words: list[Word]) -> None:
    for word, new in zip(words, restore(words, MODEL), strict=True):
        assert new.casefold().startswith(word.text.casefold())
        assert set(new[len(word.text) :]) <= set(MARKS)


def test_restoring_a_whole_text() -> None:
    assert (
        run("hello anna the cat went to london and the iphone is here why is mcdonald nato vs the bbc i'm home")
        == "Hello Anna the cat went to London, and the iPhone is here why is McDonald NATO vs. the BBC I'm home."
    )


def test_pauses_and_turns_are_used_and_pauses_can_be_ignored() -> None:
    times = [(0, 200), (250, 400), (1900, 2000), (2010, 2300)]
    words = [Word(t, a, b) for t, (a, b) in zip(["the", "cat", "the", "dog"], times, strict=True)]
    assert restore(words, MODEL) == ["The", "cat.", "The", "dog."]
    assert restore(words, MODEL, Options(pauses=False)) == ["The", "cat", "the", "dog."]
    turns = [Word(t, turn=i // 2) for i, t in enumerate(["the", "cat", "the", "dog"])]
    assert restore(turns, MODEL) == ["The", "cat.", "The", "dog."]


@pytest.mark.parametrize(
    ("code", "existing", "text", "sure", "expected"),
    [
        # The periods of an abbreviation with spaces end no sentence: `Z. B. Die` had three capitals.
        ("de", "auto", "z. b. das ist i. d. r. so und z. das", {}, "Z. B. das ist i. d. R. so und z. das"),
        # An ellipsis after a single letter is no period of an abbreviation.
        ("en", "replace", "like a... a braid", {}, "Like a a braid"),
        # Initials without the last period are capital together.
        (
            "en",
            "auto",
            "in the u.s.a at 3 p.m and so on",
            {"u.s.a": (Case.CAPITAL, ""), "p.m": (Case.CAPITAL, "")},
            "In the U.S.A at 3 p.m and so on",
        ),
    ],
)
def test_initials_and_abbreviations(
    code: str, existing: str, text: str, sure: dict[str, tuple[Case, str]], expected: str
) -> None:
    """For a model that is sure of lower case and no mark, but for some words."""
    rows = np.concatenate([likely(1, *sure.get(word, (Case.LOWER, ""))) for word in text.split()])
    texts = rewrite([Word(word) for word in text.split()], rows, MODEL, Options(language=code, existing=existing))
    assert " ".join(texts).rstrip(".") == expected


def test_initials_that_are_an_era_after_a_year_only() -> None:
    """`Washington D.C.` has the same letters as Spanish `44 d.C.`"""
    words = ["en", "washington", "d.c.", "y", "en", "el", "siglo", "v", "d.c.", "también"]
    rows = likely(len(words), Case.LOWER, "")
    rows[[2, 8]] = 0
    rows[[2, 8], column(Case.UPPER)] = 1
    rows[7, column("")] = 0.1
    rows[7, column(".")] = 0.9
    texts = rewrite([Word(word) for word in words], rows, MODEL, Options(language="es"))
    assert " ".join(texts).rstrip(".") == "En washington D.C. y en el siglo V d.C. también"


@pytest.mark.parametrize(("end", "capital", "following"), [(0.6, 0.6, "Le"), (0.6, 0.1, "le"), (0.1, 0.1, "le")])
def test_the_period_of_a_single_letter_ends_a_sentence_if_a_capital_follows(
    end: float, capital: float, following: str
) -> None:
    """French `M. le ministre`, but `vitamine C. Le ministre`."""
    words = ["voici", "c.", "le", "ministre"]
    rows = likely(len(words), Case.LOWER, "")
    rows[1, column("")], rows[1, column(".")] = 1 - end, end
    rows[2, column(Case.LOWER)], rows[2, column(Case.CAPITAL)] = 1 - capital, capital
    texts = rewrite([Word(word) for word in words], rows, MODEL, Options(language="fr"))
    assert texts[2] == following


@pytest.mark.parametrize("existing", ["auto", "keep", "replace"])
def test_hashtags_and_names_of_files_keep_their_case(existing: str) -> None:
    text = "we took #London and the Report.docx home and put README.md there notes.txt is empty"
    found = {word.rstrip(MARKS) for word in run(text, existing=existing).split()}
    assert {"#London", "Report.docx", "README.md", "notes.txt"} <= found
    assert run("notes.txt is here", existing=existing).startswith("notes.txt")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "das ist gut d. h. alle sind da"),
        ("de", "er lebte 44 v. Chr. in rom"),
        ("nl", "het is d. w. z. alles wat hij deed"),
        ("es", "estos son p. ej. muchos"),
        ("es", "es del siglo V d. C. como todo"),
        ("es", "es del s. V a. C. y del s. XX como todo"),
        ("es", "en el año 44 a.C. como todo"),
        ("pl", "w roku 44 p. n. e. tak"),
        ("ro", "în anul 44 î. Hr. la roma"),
        ("fr", "en 44 av. J.-C. à rome"),
        ("it", "si veda p. es. il caso"),
        ("fr", "on a vu p. ex. le cas"),
        ("de", "er ist z. Zt. im verein u. v. m. dabei"),
        ("en", "he said this, i. e. he knows"),
        # But a sentence may end with a noun.
        ("es", "vive en los EE. UU. Son muchos"),
        ("en", "he is from the U. S. He knows J. R. R. Tolkien"),
        ("en", "he has a Ph. D. He knows"),
    ],
)
def test_an_abbreviation_within_a_sentence_has_its_form_and_ends_nothing(code: str, text: str) -> None:
    """To a model that knows only its letters, a period is a sentence's end and a capital follows it: `d. h. Alle`."""
    words = text.lower().split()
    rows = np.zeros((len(words), len(COLUMNS)), np.float32)
    ended = False
    for row, word in zip(rows, words, strict=True):
        is_part = word.endswith(".") and word.count(".") == 1
        row[column(Case.CAPITAL)] = capital = 0.8 if is_part or ended else 0.01
        row[column(Case.LOWER)] = 1 - capital
        row[column(".")] = 0.7 if is_part else 0.01
        row[column("")] = 0.3 if is_part else 0.99
        ended = is_part
    texts = rewrite([Word(word) for word in words], rows, MODEL, Options(language=code))
    assert " ".join(texts).rstrip(".") == text[0].upper() + text[1:]


def test_existing_marks_and_parentheses_around_words() -> None:
    """Unmarked words for which the model wants a comma after each, and lower case."""

    def restored(text: str, existing: str = "auto") -> str:
        words = text.split()
        rows = np.zeros((len(words), len(COLUMNS)), np.float32)
        rows[:, column(Case.LOWER)] = 1
        rows[:, column(",")] = 0.9
        rows[:, column("")] = 0.1
        return " ".join(rewrite([Word(word) for word in words], rows, MODEL, Options(existing=existing)))

    # A comma comes after an aside, not before it.
    assert restored("he (or she) left") == "He (or, she), left"
    # The periods of initials and of abbreviations with spaces stay, also where all marks are written afresh.
    assert restored("the u. s. is", "replace") == "The, U. S. is"
    assert restored("it is 20 °C now") == "It, is, 20, °C, now"
    # A comma without a sentence end does not show that a text has its marks.
    assert restored("well, mr. anna is here") == "Well, mr. anna, is, here"


@pytest.mark.parametrize(
    ("code", "written", "expected"),
    [
        # A unit after a number is lower case and belongs to it; without a number it may be anything.
        ("en", "take 5 mg and 2,5 km/h or 3kg", "TAKE, 5 mg, AND, 2,5 km/h, OR, 3KG"),
        ("en", "TAKE 10 000 ML AND GO", "TAKE, 10 000 ml, AND, GO"),
        ("en", "the mg is 5 and mg is", "THE, MG, IS, 5, AND, MG, IS"),
        # The numeral of a century is capital and its abbreviation lower.
        ("es", "el s. xx y los ss. xv y el siglo iv", "EL, s. XX, Y, LOS, ss. XV, Y, EL, SIGLO IV"),
        ("es", "s. v.", "S. V."),
        ("es", "en el s. v.", "EN, EL, s. V."),
        ("es", "en este siglo vi", "EN, ESTE, SIGLO, VI"),
        ("pt", "no séc. xix e", "NO, séc. XIX, E"),
        ("it", "nel sec. xx e il secolo v", "NEL, sec. XX, E, IL, SECOLO V"),
        ("ca", "al s. xii i", "AL, s. XII, I"),
        ("it", "nel xx secolo", "NEL, XX SECOLO"),
        ("it", "nel v sec. a.c. a roma", "NEL, V sec. a.C., A, ROMA"),
        ("it", "nel iv secolo d.c. a roma", "NEL, IV SECOLO d.C., A, ROMA"),
        ("it", "nel sec v e la sec", "NEL, sec V, E, LA, SEC"),
        ("ro", "în sec. xx și", "ÎN, sec. XX, ȘI"),
        ("ro", "în sec. al x", "ÎN, Sec. AL, X"),
        ("en", "the s. xx", "THE, S. XX"),
        # Some forms are never in upper case.
        ("fr", "le ier empire et le iie", "LE, Ier, EMPIRE, ET, LE, IIe"),
        ("fr", "au xixe ou xixème siècle", "AU, XIXe, OU, XIXème, SIÈCLE"),
        ("fr", "ma vie", "MA, VIE"),
        ("de", "d.h. usw", "D.h., Usw"),
        ("en", "e.g. them", "E.g., THEM"),
    ],
)
def test_units_numerals_and_abbreviations_have_their_form(code: str, written: str, expected: str) -> None:
    """For a model that wants all words in upper case and a comma after each, but no sentence end."""
    words = written.split()
    rows = np.zeros((len(words), len(COLUMNS)), np.float32)
    rows[:, [column(Case.UPPER), column(",")]] = 0.9
    rows[:, [column(Case.LOWER), column("")]] = 0.1
    options = Options(language=code)
    texts = rewrite([Word(word) for word in words], rows, MODEL, options)
    assert " ".join(texts) == expected
    assert rewrite([Word(text) for text in texts], rows, MODEL, options) == texts


def test_the_capital_of_a_title_is_no_evidence_where_titles_are_lower_case() -> None:
    """Fixing `aan… Dhr.` gave `aan! dhr.`, and fixing that `aan… Dhr.` again."""
    words = ["hij", "aan»", "Dhr.", "jan"]
    rows = np.full((len(words), len(COLUMNS)), 1e-3, np.float32)
    rows[:, [column(Case.LOWER), column("")]] = 0.9
    rows[1, [column(mark) for mark in ("", "…", "!")]] = 0, 0.8, 0.2
    rows[2, [column(Case.LOWER), column(Case.CAPITAL)]] = 0.3, 0.7
    options = Options(language="nl", existing="replace")
    texts = rewrite([Word(word) for word in words], rows, MODEL, options)
    assert texts == ["Hij", "aan…»", "Dhr.", "jan"]
    assert rewrite([Word(text) for text in texts], rows, MODEL, options) == texts


@pytest.mark.parametrize(
    ("code", "text", "likely_lower", "expected"),
    [
        ("es", "los grupos a y b son", {"a": 0.34, "y": 0.9, "b": 0.18}, "Los grupos A y B son."),
        ("es", "hepatitis a b y c", {"a": 0.2, "b": 0.2, "y": 0.99, "c": 0.2}, "Hepatitis A B y C."),
        ("it", "le vitamine b e c", {"b": 0.1, "e": 0.99, "c": 0.1}, "Le vitamine B e C."),
        ("ca", "els punts b i c", {"b": 0.6, "i": 0.99, "c": 0.6}, "Els punts b i c."),
        ("es", "el c e o manda", {"c": 0.2, "e": 0.3, "o": 0.86}, "El C E O manda."),
        ("es", "soy r o y o", {"r": 0.4, "o": 0.7, "y": 0.95}, "Soy R O Y O."),
        ("fr", "il y a m durand", {"y": 0.96, "a": 0.95, "m": 0.01}, "Il y a M durand."),
        ("en", "the f b i man", {"f": 0.1, "b": 0.1, "i": 0.0}, "The F B I man."),
        # They are letters of a name if one is no word, or the model doubts that it is; but for those with diacritics.
        ("fr", "il y a à boire", {"il": 0.7, "boire": 0.7}, "Il y a à boire."),
        ("pl", "byłem a i w domu", {"byłem": 0.7, "domu": 0.7}, "Byłem a i w domu."),
        ("es", "los e e u u son", dict.fromkeys(["los", "e", "u", "son"], 0.6), "Los E E U U son."),
        ("vi", "ừ ừ ừ em", dict.fromkeys(["ừ", "em"], 0.6), "Ừ ừ ừ em."),
        ("pl", "firma i b m sprzedaje", dict.fromkeys(["firma", *"ibm", "sprzedaje"], 0.6), "Firma I B M sprzedaje."),
        ("es", "la c i a sabe", dict.fromkeys(["la", *"cia", "sabe"], 0.6), "La C I A sabe."),
        ("fr", "il y a m. durand", {"il": 0.7, "m.": 0.7, "durand": 0.7}, "Il y a m. durand."),
    ],
)
def test_letters_of_names_are_capital_and_conjunctions_between_them_lower(
    code: str, text: str, likely_lower: dict[str, float], expected: str
) -> None:
    """`grupos A Y B`: three letters in a row were spelled out. The probabilities are those of `multi`."""
    words = text.split()
    rows = np.zeros((len(words), len(COLUMNS)), np.float32)
    rows[:, column(Case.LOWER)] = [likely_lower.get(word, 0.99) for word in words]
    rows[:, column(Case.CAPITAL)] = 1 - rows[:, column(Case.LOWER)]
    rows[:, column("")] = 1
    rows[-1, len(CASES) :] = 0
    rows[-1, column(".")] = 1
    options = Options(language=code)
    texts = rewrite([Word(word) for word in words], rows, MODEL, options)
    assert " ".join(texts) == expected
    assert rewrite([Word(word) for word in texts], rows, MODEL, options) == texts


def test_initials_whose_periods_are_new_are_capital_at_once() -> None:
    """Fixing the result again would see two letters with periods, which are initials."""
    rows = np.full((3, len(COLUMNS)), 1e-3, np.float32)
    rows[:, column(Case.LOWER)] = 0.9
    rows[0, column("")] = rows[1:, [column(".")]] = 0.9
    options = Options(language="es")
    texts = rewrite([Word(word) for word in ("hola", "a", "b")], rows, MODEL, options)
    assert texts == ["Hola", "A.", "B."]
    assert rewrite([Word(word) for word in texts], rows, MODEL, options) == texts


def test_a_style_has_more_commas_or_fewer_and_the_same_sentences() -> None:
    unsure = np.full((40, len(COLUMNS)), 1e-4, np.float32)
    unsure[:, column(Case.LOWER)] = unsure[:, column("")] = 1
    unsure[:, column(",")] = np.linspace(0.2, 5, 40)
    words = [Word("cat") for _ in unsure]
    texts = {style: rewrite(words, unsure, MODEL, Options(style=style)) for style in ("light", "standard", "heavy")}
    commas = {style: [text.endswith(",") for text in found] for style, found in texts.items()}
    assert sum(commas["light"]) < sum(commas["standard"]) < sum(commas["heavy"])
    assert all(a <= b <= c for a, b, c in zip(*commas.values(), strict=True))


@pytest.mark.parametrize("window", [1, 2, 5, 24, 1000])
def test_any_window_size_works(window: int) -> None:
    text = " ".join(Random(3).choice(BARE[:20]) for _ in range(100))
    new = run(text, window=window)
    assert new.casefold().replace(",", "").replace(".", "").replace("?", "") == text
    if window >= 5:
        assert new == run(text)


def test_invalid_windows_are_refused_even_without_words() -> None:
    with pytest.raises(CappuncError, match="less than the window"):
        restore([], MODEL, Options(window=5, overlap=5))


def test_no_word_and_one_word() -> None:
    assert restore([], MODEL) == []
    assert run("hello") == "Hello."
    assert run("—") == "—"


def many(count: int) -> list[Word]:
    rng = Random(5)
    return [Word(rng.choice(BARE[:28]), i * 400, i * 400 + 300) for i in range(count)]


def test_the_words_read_so_far_are_told() -> None:
    heard: list[int] = []
    restore(many(700), MODEL, Options(), heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 700


def test_where_two_sections_of_a_long_text_meet_it_is_restored_as_one() -> None:
    words = many(9000)
    border = 1 << 13
    alone = restore(words[border - 200 : border + 200], MODEL)
    assert restore(words, MODEL)[border - 150 : border + 150] == alone[50:350]


@pytest.mark.slow
def test_memory_grows_with_the_words_not_with_the_windows() -> None:
    words = many(24_000)
    tracemalloc.start()
    try:
        restore(words, MODEL)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # 13 probabilities and a label for each word; holding the logits of all windows would take several times as much.
    assert peak < 700 * len(words)


# --- the real model


SPEECH = (
    "good morning everybody my name is anna and i live in london "
    "it is a wonderful city yesterday i met doctor peter smith who works for nasa "
    "do you know what he said to me he said that nobody had ever asked him that question before so i asked him again"
)


def test_english_is_restored(english: Model) -> None:
    words = [Word(t) for t in SPEECH.split()]
    new = restore(words, english)
    text = " ".join(new)
    assert [strip(t)[0] for t in new] == SPEECH.split()
    assert text.startswith("Good morning")
    assert text[-1] in ".?"
    assert "Anna and I live in London" in text.replace(",", "")
    assert "London." in text
    assert "to me?" in text
    assert restore(with_texts(words, new), english) == new


def test_a_word_that_is_cut_off_keeps_its_dash_for_a_mark() -> None:
    words = [Word("so"), Word("wait-"), Word("no", turn=1), Word("wait", turn=1)]
    assert restore(words, rules()) == ["So", "wait-", "No", "wait."]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("wEnt\nBioNTech", "wEnt BioNTech"),
        ("so then\nMcDonald the\nNATO the", "McDonald NATO"),
        ("HE WENT TO BioNTech AND SAW LeBRON TODAY", "BioNTech LeBron"),
    ],
)
def test_mixed_forms_are_kept_at_the_start_of_lines_and_in_capitals(lines: str, expected: str) -> None:
    words = [Word(text, cue=i) for i, line in enumerate(lines.split("\n")) for text in line.split()]
    written = [(text, strip(text)[1]) for text in restore(words, MODEL)]
    forms = [label.inside(text) for text, label in written if label.case in (Case.MIXED, Case.UPPER)]
    assert forms == expected.split()
