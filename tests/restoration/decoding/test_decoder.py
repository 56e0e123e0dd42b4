"""The decoder: which labels it chooses, and which never."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from passages import CONFIG, LEXICON, likely, no_evidence, passage, taken_apart

from cappunc_cli.document.labels import MARK_CLASSES, MARKS, TERMINAL, Case, Label, dress, strip
from cappunc_cli.errors import CappuncError
from cappunc_cli.languages import UNIT_FORMS, language
from cappunc_cli.restoration.decoding.breaks import with_allowed_marks
from cappunc_cli.restoration.decoding.decoder import decide
from cappunc_cli.restoration.decoding.evidence import Evidence, evidence
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.decoding.paired_marks import viterbi
from cappunc_cli.restoration.decoding.passage import columns, writing_style
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import Options

VOCABULARY = [
    "the", "cat", "i", "i'm", "a", "london", "nato", "iphone", "dr", "vs", "u.s.", "p.m", "3", "14", "4k", "1st",
    "she-", "o'brien", "anglo-saxon", "日本", "—", "goin'",
]  # fmt: skip


def decode(
    rows: np.ndarray,
    words: list[str],
    turns: list[bool],
    config: ModelConfig,
    options: Options,
    *,
    lexicon: dict[str, str] | None = None,
    evidence: Evidence | None = None,
    written: list[Label] | None = None,
) -> list[Label]:
    """Decode the labels of words, by default without evidence."""
    text = passage(rows, words, turns, config, options, lexicon, written)
    return decide(with_allowed_marks(text), evidence or no_evidence(len(words)))


def written(words: list[str], rows: list[list[float]], config: ModelConfig = CONFIG, **options: object) -> str:
    labels = decode(
        np.array(rows, np.float32), words, [False] * len(words), config, Options(**options), lexicon=LEXICON
    )
    return " ".join(dress(word, label) for word, label in zip(words, labels, strict=True))


def say(text: str, **options: object) -> str:
    """Decode the probabilities of a model that is rather sure of `text`."""
    pairs = [strip(word) for word in text.split()]
    return written([bare for bare, _ in pairs], [likely(label.case, label.mark) for _, label in pairs], **options)


@st.composite
def documents(draw: st.DrawFn, most: int = 12) -> tuple[list[str], np.ndarray]:
    words = draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sharpness = draw(st.sampled_from([0.5, 2, 5]))
    logits = rng.normal(size=(len(words), 13)) * sharpness
    logits[:, 0] += 1
    logits[:, 4] += draw(st.sampled_from([0, 2, 4]))
    odds = np.exp(logits)
    cases, marks = odds[:, :4], odds[:, 4:]
    return words, np.hstack([cases / cases.sum(1, keepdims=True), marks / marks.sum(1, keepdims=True)]).astype(
        np.float32
    )


def labels_of(document: tuple[list[str], np.ndarray], **options: object) -> list[Label]:
    words, rows = document
    return decode(rows, words, [False] * len(words), CONFIG, Options(**options), lexicon=LEXICON)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world. How are you? Fine!",
        "Dr. Smith met the U.S. troops vs. the cats at NATO.",
        "I said so; we went: The end… and so on — I'm here.",
        "My iPhone cost 3 dollars. 4K is better.",
        "The Anglo-Saxon O'Brien was she- she was here.",
    ],
)
def test_a_confident_model_is_followed(text: str) -> None:
    assert say(text).replace(" —", "—") == text.replace(" —", "—")


def restored_in(code: str, words: list[str], rows: np.ndarray) -> str:
    """What is written by the conventions of a language, given the probabilities `rows` of its words."""
    conventions = language(code)
    known = replace(passage(rows, words, [False] * len(words), CONFIG, Options()), conventions=conventions)
    labels = decide(known, no_evidence(len(words)))
    return " ".join(dress(word, label) for word, label in zip(words, labels, strict=True))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("fr", "L'Ukraine a dit non. L'avion va de l'Ukraine aux États-Unis. L'Ouzbékistan attend l'avion."),
        ("fr", "Voici M. d'Assonville et M. le président. Et M. Dupont."),
        (
            "nl",
            "Koud. 's Avonds at zij ijs in IJmuiden. IJs, 's-Hertogenbosch, 't Zandt. 's-Gravenhage is 's avonds leeg.",
        ),
    ],
)
def test_capitals_of_languages_with_apostrophes(code: str, text: str) -> None:
    """An elided article before a name is capital only where a sentence begins; Dutch `'s` passes it on."""
    words, gold = taken_apart(text)
    # `IJs` is a capital form like any other to a model that has seen none.
    cases = [Case.CAPITAL if label.form == "IJs" else label.case for label in gold]
    rows = np.array([likely(case, label.mark) for case, label in zip(cases, gold, strict=True)], np.float32)
    assert restored_in(code, words, rows) == text


@pytest.mark.parametrize(
    ("code", "case", "text"),
    [
        ("it", Case.UPPER, "Roma era nell'U.R.S.S. o nell'ONU."),
        ("fr", Case.CAPITAL, "Il dit à J.-P. Dupont, l'O.N.U. et lui."),
        ("nl", Case.CAPITAL, "Hij is ziek, d.w.z. thuis."),
        ("en", Case.CAPITAL, "McDonald says 20 °C or 25°C is fine."),
        ("eu", Case.CAPITAL, "Luis XIV.a hil da."),
        ("vi", Case.UPPER, "Hoa, v.v. và TP. Huế"),
        ("en", Case.MIXED, "The K-pop and the X-ray."),
        ("de", Case.UPPER, "Er hat 5 MHz oder 3,5 kWh. Gbit/s auch."),
        ("fr", Case.UPPER, "Ils font 9 MWh. Bien."),
        ("en", Case.CAPITAL, "We met the U.S. team."),
        ("en", Case.CAPITAL, "She has a Ph.D. here."),
        ("en", Case.UPPER, "See it e.g. here."),
        ("de", Case.CAPITAL, "Wir haben z.B. Äpfel, d.h. Obst, und i.d.R. u.a. Nüsse."),
        ("es", Case.CAPITAL, "Roma, p.ej. y luego EE.UU. y los JJ.OO. de verano."),
        ("vi", Case.CAPITAL, "PGS. Nam và ThS. Lan, GS.TS. Minh, PGS. TS. Hoa."),
        # One capital where a sentence begins, even if a model has never seen it and takes it for initials.
        *(("nl", Case.UPPER, text) for text in ("D.w.z. niet.", "M.b.t. dit.", "T.g.v. dit.")),
        *(("it", Case.UPPER, text) for text in ("P.es. qui.", "U.S. qui.")),
        ("eu", Case.UPPER, "K.a. hori."),
        ("pl", Case.UPPER, "M.in. tak."),
        ("ro", Case.UPPER, "Ș.a.m.d. apoi."),
        ("pt", Case.UPPER, "P.ex. aqui."),
        ("en", Case.UPPER, "Ph.D. here."),
    ],
)
def test_forms_that_are_never_written_otherwise(code: str, case: Case, text: str) -> None:
    """Whatever capital form a model prefers for the words that are not plain."""
    words, gold = taken_apart(text)
    listed = {"mcdonald", "tp", *UNIT_FORMS, *language(code).forms}
    cases = [
        case if any(c in word for c in ".-°'") or word in listed else label.case
        for word, label in zip(words, gold, strict=True)
    ]
    rows = np.array([likely(case, label.mark) for case, label in zip(cases, gold, strict=True)], np.float32)
    assert restored_in(code, words, rows) == text


@given(documents())
def test_no_sentence_starts_in_lower_case(document: tuple[list[str], np.ndarray]) -> None:
    words, _ = document
    labels = labels_of(document)
    previous = Label(after=".")
    for word, label, before in zip(words, labels, ["", *words], strict=False):
        # `p.m` is never capital
        is_abbreviated = (previous.mark == "." and before in ("dr", "vs")) or word == "p.m"
        if previous.mark in TERMINAL and previous.mark and not is_abbreviated and word[0].lower() != word[0].upper():
            assert label.case is not Case.LOWER, (before, previous, word)
        previous = label


@given(documents())
def test_hard_rules(document: tuple[list[str], np.ndarray]) -> None:
    words, _ = document
    labels = labels_of(document, sensitivity=1.0)
    for word, label in zip(words, labels, strict=True):
        assert len(label.after) <= 1
        assert strip(dress(word, label))[0] == word
        if word in ("i", "i'm"):
            assert label.case is Case.CAPITAL
        if word in ("3", "14", "1st", "日本", "—"):
            assert dress(word, label).rstrip(MARKS) in (word, word.upper(), "")
        if word == "u.s.":
            assert label.after != "."
        if word == "she-":
            assert label.after in ("", ",")
        if word == "iphone" and label.case is Case.MIXED:
            assert label.form == "iPhone"
        if word in ("the", "cat"):
            assert label.case is not Case.MIXED


@given(documents(), st.sampled_from([",.?", ".", ",", "?", ".?!", ",.?!:;—", "…"]), st.floats(0, 1))
def test_only_wanted_marks(document: tuple[list[str], np.ndarray], marks: str, sensitivity: float) -> None:
    assert {label.mark for label in labels_of(document, marks=marks, sensitivity=sensitivity)} <= {"", *marks}


@given(documents(), st.floats(0, 1), st.floats(0, 1), st.sampled_from([None, ",.?"]))
def test_more_sensitivity_never_means_fewer_marks(
    document: tuple[list[str], np.ndarray], one: float, other: float, marks: str | None
) -> None:
    assume(abs(one - other) > 1e-3)
    words, rows = document
    few, many = (
        sum(
            bool(label.mark)
            for label in decode(rows, words, [False] * len(words), CONFIG, Options(marks=marks, sensitivity=s))
        )
        for s in sorted((one, other))
    )
    assert few <= many


def test_sensitivity_ranges_from_hardly_any_mark_to_many() -> None:
    words = ["cat"] * 50
    rows = [likely(Case.LOWER, ",", mark_p=0.2) for _ in words]
    texts = [written(words, rows, sensitivity=s) for s in (0, 0.5, 1)]
    counts = [sum(c in MARKS for c in text) for text in texts]
    assert counts[0] <= counts[1] <= 1
    assert counts[2] == 49  # a text cannot end in a comma


def test_an_improbable_capital_prevents_a_sentence_end() -> None:
    rows = [likely(Case.LOWER, "") for _ in range(3)]
    rows[1] = likely(Case.LOWER, ".", mark_p=0.6)
    assert written(["the", "cat", "sat"], rows) == "The cat sat"
    rows[2] = likely(Case.CAPITAL, "")
    assert written(["the", "cat", "sat"], rows) == "The cat. Sat"


def test_consistency_weighs_a_doubtful_capital() -> None:
    rows = [likely(Case.LOWER, "") for _ in range(3)]
    rows[1] = likely(Case.LOWER, ".", mark_p=0.6)
    assert written(["the", "cat", "sat"], rows, replace(CONFIG, consistency=0.0)) == "The cat. Sat"
    rows[1] = likely(Case.LOWER, ".", mark_p=0.9)
    assert written(["the", "cat", "sat"], rows, replace(CONFIG, consistency=0.5)) == "The cat. Sat"
    assert written(["the", "cat", "sat"], rows) == "The cat sat"


def test_a_capital_explained_by_a_rejected_sentence_end_is_not_written() -> None:
    rows = [likely(Case.LOWER, "") for _ in range(3)]
    rows[1] = likely(Case.LOWER, ".", mark_p=0.45)
    rows[2] = likely(Case.CAPITAL, "", case_p=0.6)
    assert written(["the", "cat", "then"], rows) == "The cat then"
    # The same capital without a possible sentence end is a name.
    rows[1] = likely(Case.LOWER, "")
    assert written(["the", "cat", "then"], rows) == "The cat Then"


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (None, "Yes! We went: home; the cat… and — here?"),
        (",.?", "Yes. We went, home, the cat, and, here?"),
        (".", "Yes. We went home the cat and here."),
        ("?", "Yes we went home the cat and here?"),
    ],
)
def test_unwanted_marks_become_the_nearest_wanted_one(marks: str | None, expected: str) -> None:
    text = "Yes! We went: home; the cat… and— here?"
    result = say(text, marks=marks).replace("—", " —")
    assert result.replace("Yes We", "Yes we") == expected


def test_a_mark_between_numbers_needs_high_confidence() -> None:
    words = ["the", "3", "14", "cat"]
    rows = [likely(Case.LOWER, "") for _ in words]
    rows[1] = likely(Case.LOWER, ".", mark_p=0.7)
    assert written(words, rows) == "The 3 14 cat"
    rows[1] = likely(Case.LOWER, ",", mark_p=0.97)
    assert written(words, rows) == "The 3, 14 cat"
    rows[1] = likely(Case.LOWER, ".", mark_p=0.7)
    labels = decode(np.array(rows, np.float32), words, [False, True, False, False], CONFIG, Options())
    assert labels[1].mark == "."  # two speakers, two numbers


def test_the_end_of_the_text_is_a_sentence_end() -> None:
    rows = [likely(Case.LOWER, "") for _ in range(2)]
    rows[1] = likely(Case.LOWER, "?", mark_p=0.1)
    assert written(["the", "cat"], rows) == "The cat"
    rows[1] = likely(Case.LOWER, "?", mark_p=0.2)
    assert written(["the", "cat"], rows) == "The cat?"
    assert written(["the", "she-"], rows) == "The she-"


def test_a_turn_ends_with_a_closing_mark() -> None:
    words = ["we", "went", "the", "cat", "sat"]
    rows = [likely(Case.LOWER, "") for _ in words]
    turns = [False, True, False, False, False]
    rows[2] = likely(Case.LOWER, "", case_p=0.6)
    for mark, share, wanted in ((",", 0.8, "."), ("", 0.8, "."), (",", 0.999, ","), ("—", 0.8, "—")):
        rows[1] = likely(Case.LOWER, mark, mark_p=share)
        rows[1][4 + ["", *MARKS].index(".")] += 1 - share
        labels = decode(np.array(rows, np.float32), words, turns, CONFIG, Options())
        assert labels[1].mark == wanted
        assert labels[2].case is (Case.CAPITAL if wanted == "." else Case.LOWER)
    rows[1] = likely(Case.LOWER, ",", mark_p=0.8)
    labels = decode(np.array(rows, np.float32), words, [False] * 5, CONFIG, Options())
    assert labels[1].mark == ","


def test_a_text_may_begin_within_a_sentence() -> None:
    text = "...and then we went home"
    rows = plain(text)
    rows[0] = likely(Case.CAPITAL, "", case_p=0.99)
    assert restored(text, rows).startswith("...and then")
    assert restored(text[3:], rows).startswith("And then")


def test_a_sentence_may_continue_after_a_quoted_question() -> None:
    rows = plain("what is it he asked anna")
    rows[2] = likely(Case.LOWER, "?", mark_p=0.99)
    assert restored('"what is it" he asked anna', rows) == '"What is it?" he asked anna'
    rows[3] = likely(Case.CAPITAL, "", case_p=0.9)
    assert restored('"what is it" he asked anna', rows) == '"What is it?" He asked anna'


def test_a_capital_after_a_new_comma_needs_more_confidence() -> None:
    rows = plain("turn off the light turn it off", light=",", off="")
    for probability, expected in ((0.7, "turn"), (0.9, "Turn")):
        rows[4] = likely(Case.CAPITAL, "", case_p=probability)
        assert restored("turn off the light turn it off", rows).split()[4] == expected
    # Without a comma a probability of one half is enough.
    rows[3], rows[4] = likely(Case.LOWER, ""), likely(Case.CAPITAL, "", case_p=0.7)
    assert restored("turn off the light turn it off", rows).split()[4] == "Turn"


def test_a_dash_must_be_far_more_probable_than_a_comma() -> None:
    rows = plain("the weather it was", was=".")
    dash, comma = (4 + ["", *MARKS].index(mark) for mark in "—,")
    for probability, expected in ((0.7, "weather,"), (0.95, "weather—")):
        rows[1] = likely(Case.LOWER, "—", mark_p=probability)
        rows[1][comma], rows[1][4] = 1 - probability, 0
        assert rows[1][dash] == probability
        assert restored("the weather it was", rows).split()[1] == expected


def test_the_name_after_a_title_is_not_in_upper_case() -> None:
    rows = [likely(Case.CAPITAL, "."), likely(Case.UPPER, ","), *plain("where were you", you="?")]
    assert restored("ms delgado where were you", rows) == "Ms. Delgado, where were you?"


def test_a_trace_of_upper_case_makes_no_acronym_of_a_word_at_a_start() -> None:
    rows = plain("die eu is here", here=".")
    rows[0] = [0.97, 0.01, 0.02, 0, *rows[0][4:]]
    rows[1] = [0.3, 0.1, 0.6, 0, *rows[1][4:]]
    assert restored("die eu is here", rows) == "Die EU is here."
    rows[0] = rows[1]
    assert restored("die eu is here", rows) == "DIE EU is here."


@pytest.mark.parametrize(
    ("text", "marks", "expected"),
    [
        # A sentence goes on after a comma that stands for a period, but an ellipsis before a capital is one.
        ("Well. Oh yes. Is Anna here? Yes.", ",?", "Well, oh yes, is Anna here? Yes"),
        ("Well. Oh yes. Is Anna here? Yes.", "?", "Well Oh yes Is Anna here? Yes"),
        ("The cat… So we went", ",.?", "The cat. So we went"),
    ],
)
def test_case_after_an_unwanted_mark(text: str, marks: str, expected: str) -> None:
    assert say(text, marks=marks) == expected


def test_a_turn_without_periods_does_not_end_in_a_question() -> None:
    words, rows = ["go", "home", "we", "left"], plain("go home we left", home=".", left=".")
    rows[1][4 + MARK_CLASSES.index("?")] = 0.06
    labels = decode(np.array(rows, np.float32), words, [False, True, False, False], CONFIG, Options(marks=",?"))
    assert [label.mark for label in labels] == ["", ",", "", ""]


def test_the_bias_comes_from_the_config() -> None:
    rows = np.array([likely(Case.LOWER, ",", mark_p=chance) for chance in (0.2, 0.05)], np.float32)
    config = replace(CONFIG, bias={",": 2.0})
    labels = decode(np.vstack([rows, rows]), ["cat", "dog"] * 2, [False] * 4, config, Options())
    assert [label.after for label in labels] == [",", "", ",", ""]


@pytest.mark.parametrize("values", [{"sensitivity": 1.1}, {"existing": "drop"}, {"marks": ",#"}])
def test_invalid_options_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(CappuncError):
        Options(**values)


def test_window_sizes_are_scaled_to_those_given() -> None:
    assert CONFIG.windows(Options()) == (24, 8, 2)
    assert CONFIG.windows(Options(window=6)) == (6, 3, 0)
    assert CONFIG.windows(Options(window=1)) == (1, 0, 0)
    assert CONFIG.windows(Options(overlap=4)) == (24, 4, 1)
    assert CONFIG.windows(Options(overlap=4, min_words_cut=4)) == (24, 4, 4)
    with pytest.raises(CappuncError, match="at most the overlap"):
        CONFIG.windows(Options(overlap=2, min_words_cut=3))


# --- the best path


@given(st.integers(0, 5), st.integers(1, 4), st.integers(0, 1000))
def test_viterbi_finds_what_brute_force_finds(count: int, labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    emissions, transitions = rng.normal(size=(count, labels)), rng.normal(size=(labels, labels))
    emissions[rng.random((count, labels)) < 0.1] = -np.inf

    def total(path: tuple[int, ...]) -> float:
        steps = sum(transitions[a, b] for a, b in pairwise(path))
        return float(sum(emissions[i, label] for i, label in enumerate(path)) + steps)

    best = max(product(range(labels), repeat=count), key=total)
    found = tuple(viterbi(emissions, transitions).tolist())
    assert total(found) == total(best) or total(found) == pytest.approx(total(best))


# --- existing marks and case


def style_of(text: str) -> str:
    bare, labels = zip(*map(strip, text.split()), strict=True)
    style = writing_style(bare, *columns(labels))
    return " ".join(name for name in ("lower", "upper", "title", "punctuated") if getattr(style, name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so i went home and i'm here", "lower"),
        ("so I went home and I'm here", "lower"),
        ("SO I WENT HOME AND I'M HERE", "upper"),
        ("SO, I WENT HOME. I'M HERE.", "upper punctuated"),
        ("So we met Anna in London", ""),
        ("So We Met Anna In London Today", "title"),
        ("So we met Anna.", "punctuated"),
        ("well... i think -- no", "lower"),
        ("well... i think. no", "lower punctuated"),
        ("3 14 15", "lower"),
    ],
)
def test_the_writing_style_of_a_text(text: str, expected: str) -> None:
    assert style_of(text) == expected


def restored(text: str, rows: list[list[float]], existing: str = "auto", cues: list[int] | None = None) -> str:
    bare, labels = taken_apart(text)
    document = passage(
        np.array(rows, np.float32), bare, [False] * len(bare), CONFIG, Options(existing=existing), LEXICON, labels
    )
    starts = cues or [0] * len(bare)
    document.cue_starts = np.array([True, *(a != b for a, b in pairwise(starts))])
    missing = None if existing == "replace" else find_missing(document)
    known = evidence(document, missing)
    written = [
        replace(new, case=old.case, form=old.form) if case >= 0 else new
        for old, new, case in zip(labels, decide(with_allowed_marks(document), known), known.cases, strict=True)
    ]
    return " ".join(map(dress, bare, written))


def plain(text: str, **marks: str) -> list[list[float]]:
    """The probabilities of a model that expects lower case, and no mark except for the words named."""
    return [likely(Case.LOWER, marks.get(strip(t)[0], "")) for t in text.split()]


@pytest.mark.parametrize(
    ("existing", "text", "marks", "expected"),
    [
        # keep fills gaps only.
        (
            "keep",
            'Well, "I saw Anna", he said! and went home',
            {"home": "."},
            'Well, "I saw Anna", he said! And went home.',
        ),
        ("auto", '"What?" he asked Anna. ...and we went home, Peter.', {}, None),
        # A text with marks but no case gets its last mark; a title, or a caption that continues, does not.
        ("auto", "hello, we went home", {"hello": ",", "home": "."}, "Hello, we went home."),
        ("auto", "Hello, we went home", {"hello": ",", "home": "."}, None),
        # replace has the model's marks, but keeps quotes, acronyms and mixed forms.
        ("replace", 'well. "he saw it, (and then)! we went', {"then": ","}, 'Well "he saw it (and then), we went'),
        ("replace", "the NATO and my iPod were here", {}, "The NATO and my iPod were here"),
    ],
)
def test_existing_marks_and_case(existing: str, text: str, marks: dict[str, str], expected: str | None) -> None:
    assert restored(text, plain(text, **marks), existing) == (expected or text)


def test_keep_adds_a_mark_to_a_punctuated_text_only_with_confidence() -> None:
    text = "Well, I saw. Then we went home."
    rows = plain(text)
    rows[4] = likely(Case.LOWER, ",", mark_p=0.7)
    assert restored(text, rows, "keep") == text
    rows[4] = likely(Case.LOWER, ",", mark_p=0.99)
    assert restored(text, rows, "keep") == "Well, I saw. Then we, went home."
    assert restored(text, rows) == text


def test_all_upper_case_is_rewritten() -> None:
    text = "THE NATO AND MY IPOD WERE HERE"
    rows = plain(text)
    rows[1] = likely(Case.UPPER, "")
    assert restored(text, rows) == "The NATO and my ipod were here"


@pytest.mark.parametrize("text", ["THE CAT, THE DOG, AND WE WENT HOME.", "the cat, the dog, and we went home."])
def test_a_text_without_case_that_has_marks_keeps_them(text: str) -> None:
    rows = plain(text)
    rows[1] = likely(Case.LOWER, "", mark_p=0.99)
    rows[5] = likely(Case.LOWER, ".", mark_p=0.99)
    assert restored(text, rows) == "The cat, the dog, and we went home."
    assert restored(text, rows, "replace") == "The cat the dog and we. Went home"


def test_the_colons_of_speaker_names_are_no_punctuation() -> None:
    text = "anna: we went home bob: the cat"
    rows = plain(text, home=".", cat=".")
    rows[4] = likely(Case.CAPITAL, ":")
    assert restored(text, rows) == "Anna: we went home. Bob: the cat."


def test_capitals_inside_a_line_count_as_names_but_not_at_its_beginning() -> None:
    text = "We met Rose in the park Then we went home to see the cat and the dog"
    rows = plain(text)
    rows[2] = likely(Case.LOWER, "", case_p=0.75)
    rows[6] = likely(Case.LOWER, "", case_p=0.75)
    cues = [0] * 6 + [1] * 11
    assert restored(text, rows, cues=cues) == "We met Rose in the park then we went home to see the cat and the dog"


def test_an_existing_capital_of_a_common_word_shows_a_lost_period() -> None:
    text = "So we met Anna. The cat sat here Then we went home."
    rows = plain(text, anna=".", home=".")
    rows[7] = likely(Case.LOWER, ".", mark_p=0.35)
    rows[8] = likely(Case.CAPITAL, "", case_p=0.95)  # a name, according to the model
    assert restored(text, rows, "keep") == text
    rows[8] = likely(Case.CAPITAL, "", case_p=0.3)  # capital only at the start of a sentence
    assert restored(text, rows, "keep") == "So we met Anna. The cat sat here. Then we went home."
