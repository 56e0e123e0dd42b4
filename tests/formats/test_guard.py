"""Changes of marks and case that would be misread by the next reader are reverted."""

from __future__ import annotations

import pytest

from cappunc_cli import formats

CUE = "1\n00:00:01,000 --> 00:00:03,000\n{}\n"


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        ("london never", ["London:", "never"], "London, never"),  # not a speaker's label
        ("q never", ["Q:", "Never."], "Q, Never."),
        ("**mary ann** never", ["**Mary", "Ann:**", "Never."], "**Mary Ann,** Never."),
        ("mary ann: never", ["Mary", "Ann:", "Never."], "mary ann: Never."),
        ("mary [sighs]: never", ["Mary", "Never."], "mary [sighs]: Never."),
        ("so i said yes", ["So", "I", "said:", "Yes."], "So I said: Yes."),
        ("(he left at last)", ["(HE", "LEFT", "AT", "LAST)"], "(he left at last)"),  # not a sound
        ("so he left", ["—so", "he", "left."], "so he left."),  # a dash starts another speaker's words
        ("hola dijo él\nqué", ["—Hola", "—dijo", "él—.", "—¿Qué?"], "Hola —dijo él—.\n¿Qué?"),
        # The line before is no part of a name.
        ("john: so i did\nmary: no", ["John:", "So", "I", "did.", "Mary:", "No."], "john: So I did.\nmary: No."),
    ],
)
def test_words_stay_words_for_the_next_reader(text: str, wanted: list[str], written: str) -> None:
    document = formats.read(CUE.format(text), "talk.srt")
    output = formats.write(document, wanted)
    assert output == CUE.format(written)
    formats.verify(document, output)


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        # Without the comma, the mark after the sign or the address would be that of the word.
        ("about 30, %. then we left", ["About", "30", "then", "we", "left."], "About 30, %. then we left."),
        ("see us, www.example.org. or not", ["See", "us", "or", "not."], "See us, www.example.org. or not."),
        ("so we left! &.", ["So", "we", "left"], "So we left! &."),
        # In another case, this is a tag.
        ("so to<< > is", ["So", "to<<!", "is."], "So to<< > is."),
        (
            "go (he left at last) then home",
            ["GO", "(HE", "LEFT", "AT", "LAST)", "THEN", "HOME"],
            "GO (he left at last) THEN HOME",
        ),
    ],
)
def test_only_what_would_be_misread_is_reverted(text: str, wanted: list[str], written: str) -> None:
    for cue, name in ((CUE, "talk.srt"), ("{}\n", "talk.txt"), ("start\tend\ttext\n0\t900\t{}\n", "talk.tsv")):
        document = formats.read(cue.format(text), name)
        output = formats.write(document, wanted)
        assert output == cue.format(written)
        formats.verify(document, output)


def test_a_word_that_would_become_an_entity_keeps_its_case() -> None:
    document = formats.read(CUE.format("so R&Quot;D is"), "talk.srt")
    output = formats.write(document, ["So", "r&quot;d", "is."])
    assert output == CUE.format("So R&Quot;D is.")
    formats.verify(document, output)


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        ("ştefan: hai", ["Ștefan:", "hai."], "ștefan: hai."),
        ("şi ştefan: hai", ["Și", "Ștefan:", "hai."], "și ștefan: hai."),
    ],
)
def test_letters_that_were_asked_for_stay_where_case_is_reverted(text: str, wanted: list[str], written: str) -> None:
    document = formats.read(CUE.format(text), "talk.srt")
    output = formats.write(document, wanted, diacritics=True)
    assert output == CUE.format(written)
    formats.verify(document, output, diacritics=True)
