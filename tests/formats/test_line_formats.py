"""SBV, TSV, STM, TextGrid and LRC: what is speech in them, and that nothing else changes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import fixture, relabelled, spoken

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, dress, strip
from cappunc_cli.document.words import Document, pauses
from cappunc_cli.errors import BadInput, UnknownFormat

PROSE = "so it is shown\n\nand then we go on\n\n" * 10


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("", "", "txt"),
        ("\r\n \n", "a.srt", "txt"),
        ("WEBVTT", "", "vtt"),
        ("\n\nWEBVTT\n\n00:01.000 --> 00:02.000\nhi\n", "", "vtt"),
        ("00:01.000 --> 00:02.000\nhi", "", "srt"),
        ("00:01.000 --> 00:02.000\nhi", "talk.txt", "srt"),
        ("00:01.000 --> 00:02.000\nhi", "a.vtt", "vtt"),
        ("a 1 0.5 0.5 hi\na 1 * * <ALT>\n", "", "ctm"),
        ("[Music]\nhello there", "", "txt"),
        ("Webvtt is a format for captions", "", "txt"),
        ("from 1:00 -> nowhere and 5 > 3", "", "txt"),
        ("[1] so", "", "txt"),
        ("0:00:01.000,0:00:02.000\nhello\n", "", "sbv"),
        ("[SUBTITLE]\n\n00:00:01.00,00:00:02.00\nhello\n", "talk.txt", "sbv"),
        ("meet me at 0:00:01,0:00:02\n", "", "txt"),
        ("start\tend\ttext\n0\t100\thi\n", "", "tsv"),
        ("start\tend\ttexture\n", "", "txt"),
        ('"so, you came",0.5,1.25\nto us,1.25,2.0\n', "", "tsv"),
        ("Oslo,59.91,10.75\n", "", "txt"),
        ("salt and pepper,1,2\n", "", "txt"),
        ("one,1.0,2.0\ntwo words,9.0,9.5\nback again,3.0,4.0\n", "", "txt"),
        (";; c\nfile 1 bob 0.0 3.5 <o,f0,male> hello there\n", "", "stm"),
        ("file 1 0012 0.0 3.5 hello there\nfile 1 0013 3.5 4.5 oh\n", "", "stm"),
        ("file 1 0.0 3.5 hello 0.98\nfile 1 3.5 0.5 there 0.91\n", "", "ctm"),
        ("file 1 12.5 3.5 10 0.98\nfile 1 16.0 .5 20 0.9\n", "", "ctm"),
        # One line of text can look like anything, and so can some.
        ("file 1 0.0 3.5 hello 0.98\n", "", "txt"),
        ("file 1 0.0 3.5 hello 0.98\n", "talk.ctm", "ctm"),
        ("testing 1 2 3 can you hear me in the back\n", "", "txt"),
        ("we lost 3 2 on penalties in paris\n", "talk.txt", "txt"),
        ("we lost 3 2 in paris\nthey won 2 1 in rome\nit rained\n", "", "txt"),
        ("score after 3 2 sets\nscore after 2 1 sets\n", "talk.txt", "txt"),
        ("gate A 5 12.30 13.45 to london\n", "", "txt"),
        ("yes so we met,1.5,2.5\n", "", "txt"),
        ("yes so we met,1.5,2.5\n", "talk.csv", "tsv"),
        ("0.5\t1.5\tyes we met\n", "", "txt"),
        ("[ar:Somebody]\n[00:12.34]la\n", "", "lrc"),
        ("[00:12.34]la la\n", "", "lrc"),
        ("[ar:Somebody]\nla la la\n", "", "txt"),
        ("[00:12] he said hello\n", "", "txt"),
        ("[00:01:12] he said hello\n", "", "txt"),
        ("[00:01:12] he said hello\n", "song.lrc", "lrc"),
        ("0.000000\t1.500000\tso you came\n1.500000\t1.500000\t\n", "labels.txt", "tsv"),
        ("0.000\t2.680\tf000001\n2.680\t5.880\tf000002\n", "", "txt"),
        ("1.5\t0.5\ttea\n1.75\t3.0\tcoffee\n", "prices.txt", "txt"),
        ("[00:12] he said hello\n", "song.lrc", "lrc"),
        ('"ooTextFile"\n"TextGrid"\n0\n9\n<absent>\n', "", "textgrid"),
        # Prose may quote a cue.
        (PROSE + "1\n00:00:01,000 --> 00:00:02,000\nhello\n" + PROSE, "README.md", "txt"),
        (PROSE + "0:00:01.000,0:00:02.000\nhello\n" + PROSE, "", "txt"),
        (PROSE + "1\n00:00:01,000 --> 00:00:02,000\nhello\n", "talk.srt", "srt"),
        ("Subtitles by Anna\n\n1\n00:00:01,000 --> 00:00:02,000\nhello\n" + "and on\n" * 10, "talk.txt", "srt"),
    ],
)
def test_detection(text: str, name: str, found: str) -> None:
    assert formats.read(text, name).format == found


def test_sbv_times_and_breaks() -> None:
    assert [word.text for word in fixture("sbv/header.sbv").words][3:5] == ["on", "come"]
    subviewer = fixture("sbv/subviewer.sbv")
    assert spoken(subviewer) == "first we dig a hole how deep as deep as your arm"
    assert [pause for pause in pauses(subviewer.words) if pause is not None] == [400]


def test_malformed_sbv_is_kept_and_named() -> None:
    document = fixture("sbv/broken.sbv")
    assert [(notice.line, notice.message) for notice in document.notices] == [
        (1, "text before the first cue"),
        (3, "empty cue"),
        (5, "unreadable times"),
    ]
    assert spoken(document) == "the second one is mistyped there was no blank line but one in here"


@pytest.mark.parametrize("times", [("00:00:05:", "00:00:08:"), ("0:00:05=", "0:00:08="), ("[50][75]", "[80][99]")])
def test_a_bar_breaks_the_lines_of_tmplayer_and_mpl2(times: tuple[str, str]) -> None:
    source = f"{times[0]}so we went|home again\n{times[1]}- did you|- no\n"
    document = formats.read(source, "talk.txt")
    assert spoken(document) == "so we went home again did you no"
    output = formats.write(document, ["So", "we", "went", "home", "again.", "Did", "you?", "No."])
    assert output == f"{times[0]}So we went|home again.\n{times[1]}- Did you?|- No.\n"
    formats.verify(document, output)


def test_a_bar_in_other_plain_text_is_no_line_break() -> None:
    assert spoken(formats.read("the norm |x|y| of a vector\n", "talk.txt")) == "the norm |x|y| of a vector"


def test_the_first_line_of_a_tsv_names_its_columns() -> None:
    source = (
        "\ufeffStart\tend\tSpeaker\ttext\tid\r\n0\t900\tBea\tis it open\t7\r\n"
        "900\t1.5\tCal\tno\t\r\n2000\t2100\t\tgo\n0\t1\tBea\n"
    )
    document = formats.read(source, "talk.tsv")
    assert [(word.text, word.start, word.end) for word in document.words] == [
        ("is", 0, None),
        ("it", None, None),
        ("open", None, 900),
        ("no", 900, 1500),
        ("go", 2000, 2100),
    ]
    assert list(document.speakers.values()) == ["Bea", "Cal"]
    assert [notice.line for notice in document.notices] == [5]
    output = formats.write(document, ["Is", "it", "open?", "No.", "Go."])
    assert output == source.replace("is it open", "Is it open?").replace("no", "No.").replace("go\n", "Go.\n")
    formats.verify(document, output)


@pytest.mark.parametrize("first", ["start\tend", "start\ttext\tspeaker", "start\tend\ttext\ttext", "number\tend\ttext"])
def test_other_columns_of_a_tsv_are_refused(first: str) -> None:
    with pytest.raises(BadInput, match="does not name the columns"):
        formats.read(f"{first}\n0\t900\tis it open\tno\n", "talk.tsv")


def test_tsv_of_words_has_times_for_each() -> None:
    words = fixture("tsv/words.tsv").words
    assert [(word.text, word.start, word.end) for word in words[:2]] == [("my", 140, 410), ("sister", 410, 800)]
    assert [word.text for word in words[3:]] == ['"go"', "home !"]


def test_labels_of_audacity_have_their_times_in_seconds() -> None:
    document = formats.read("\ufeff0.5\t1.25\tso you came\n2.000000\t3.141590\tyes\n", "labels.txt")
    assert [(word.text, word.start, word.end) for word in document.words] == [
        ("so", 500, None),
        ("you", None, None),
        ("came", None, 1250),
        ("yes", 2000, 3142),
    ]
    output = formats.write(document, ["So", "you", "came?", "Yes."])
    assert output == "\ufeff0.5\t1.25\tSo you came?\n2.000000\t3.141590\tYes.\n"


@pytest.mark.parametrize(
    ("text", "words", "speakers"),
    [
        ("00:00:01:00 - 00:00:02:12\nSpeaker 1\nso we went\n", "so we went", ["Speaker 1"]),
        ("00;00;01;00 - 00;00;02;12\nUnknown\nso we went\n\n" * 2, "so we went " * 2, ["Unknown"]),
        ("Ada Byron\n0:01\nso we\nwent\n\nAda Byron\n0:09\nhome\n", "so we went home", ["Ada Byron"]),
        ("0:01\nso we went\n0:04\nso we went\n", "so we went " * 2, []),
        ("00:00:01.000\t00:00:02.000\tso we went\n", "so we went", []),
        ("1 00:00:01:00 00:00:02:00 so we went\n", "so we went", []),
        ("0:01 - 0:04 so we went\n", "so we went", []),
        ("01:00:05;12. so we went\n", "so we went", []),
        ("12 10:30 trains\n", "12 10:30 trains", []),
        ("[Ada Byron] 10:00:01\nso we went\n", "so we went", ["Ada Byron"]),
        ("[00:00:05.210] - Speaker 1\nso we went\n", "so we went", ["Speaker 1"]),
        ("[00:00:05] Speaker 1 \nso we went\n", "so we went", ["Speaker 1"]),
        ("Speaker A 0:05\nso we went\n", "so we went", ["Speaker A"]),
        ("speaker 2 - 0:05.\nso we went\n", "so we went", ["speaker 2"]),
        ("Speaker A: so we went\nSpeaker B: home\n", "so we went home", ["Speaker A", "Speaker B"]),
        ("0:01 - Ada Byron (Acme)\nso we\n\n0:04 - Ada Byron (Acme)\nwent\n", "so we went", ["Ada Byron (Acme)"]),
        ("ada byron, 0:01\n\nso we\nwent\n\nada byron, 1:00:04.\nhome\n", "so we went home", ["ada byron"]),
        ("[00:00:05] Ada Byron\nso we\n[00:00:08] Ada Byron\nwent\n", "so we went", ["Ada Byron"]),
        ("Ada Byron (00:05)\nso we\nAda Byron (00:09)\nwent\n", "so we went", ["Ada Byron"]),
        ("**Ada** (0:05)\nso we\n### Ada 0:09\nwent\n[0:12] **ada**\nhome\n", "so we went home", ["Ada", "ada"]),
        ("**Ada:** so we\n\n**Bo Ek:** went\n", "so we went", ["Ada", "Bo Ek"]),
        ("#0:00:01-2# B: so we #0:00:05-0#\nI: yes #0:00:09-3#\n", "so we yes", ["B", "I"]),
        ("10:00:01\t From  Ada : so we\n10:00:09\t From Bo to all : yes\n", "so we yes", ["Ada", "Bo"]),
        ("0:01 so we went\n0:04 so we went\n", "so we went " * 2, []),
        ("0:01 so we went\nby train\n0:04 home\nby car\n", "so we went by train home by car", []),
        ("we left at 10:30\nspeakers a few\n", "we left at 10:30 speakers a few", []),
    ],
)
def test_times_and_names_in_plain_text_are_no_words(text: str, words: str, speakers: list[str]) -> None:
    document = formats.read(text, "talk.txt", "txt")
    assert spoken(document) == words.strip()
    assert list(document.speakers.values()) == speakers
    assert formats.write(document, [word.text for word in document.words]) == text


def test_the_csv_of_whisper_cpp_has_times_speakers_and_quotes() -> None:
    source = 'start,end,speaker,text\n0,1500,0," so ""we"" went"\n1500,2000,1, home\n'
    document = formats.read(source, "talk.csv")
    assert [(word.start, word.end) for word in document.words] == [(0, None), (None, None), (None, 1500), (1500, 2000)]
    assert list(document.speakers.values()) == ["0", "1"]
    output = formats.write(document, ["So", '""we""', "went,", "home,"])
    rows = list(csv.reader(io.StringIO(output)))
    assert rows[1:] == [["0", "1500", "0", ' So "we" went,'], ["1500", "2000", "1", " home,"]]
    formats.verify(document, output)


@pytest.mark.parametrize("row", ["0,1500,so, we went", "0,so", "so,0,1"])
def test_other_rows_below_the_titles_of_a_csv_are_refused(row: str) -> None:
    with pytest.raises(BadInput, match="not a row of start, end and text") as refusal:
        formats.read(f"start,end,text\n0,10,so\n{row}\n", "talk.csv")
    assert refusal.value.line == 3


@pytest.mark.parametrize("text", ["Bonjour !", "bonjour", "Bonjour\xa0!"])
def test_a_csv_of_one_word_is_recognised_with_any_mark(text: str) -> None:
    source = f"{text},0.14,0.94\noui,1.0,1.3\n"
    document = formats.read(source, "talk.csv")
    assert document.format == "tsv"
    for new in ("Bonjour.", "bonjour", "BONJOUR,"):
        output = formats.write(document, [new, "oui"])
        formats.verify(document, output)
        assert formats.read(output, "talk.csv").format == "tsv"


@pytest.mark.parametrize("table", ["tea,1.5,2.0\ncoffee,1.75,3.0\n", "Oslo,59.91,60.75\nBergen,60.39,95.32\n"])
def test_a_table_of_numbers_is_not_a_csv_of_cues(table: str) -> None:
    with pytest.raises(UnknownFormat, match="a table"):
        formats.read(table, "prices.csv")


@given(st.integers(0, 2**32))
def test_csv_reads_the_same_rows(seed: int) -> None:
    document = fixture("tsv/quotes.csv")
    output = formats.write(document, relabelled(document.words, seed))
    formats.verify(document, output)
    source = formats.write(document, [word.text for word in document.words])
    old, new = (list(csv.reader(io.StringIO(text, newline=""))) for text in (source, output))
    assert [row[1:] for row in new] == [row[1:] for row in old]
    letters = [["".join(filter(str.isalnum, row[0])).lower() for row in rows] for rows in (old, new)]
    assert letters[0] == letters[1]


def test_stm_leaves_what_scoring_tools_read() -> None:
    document = fixture("stm/scoring.stm")
    assert spoken(document) == "I WENT TO THE SHOP ON FRIDAY AND DID YOU BUY LAMP YOU SAID OR NOT"
    times = [(word.text, word.start, word.end) for word in document.words if word.start or word.end]
    assert times == [("I", 400, None), ("FRIDAY", None, 4100), ("AND", 6000, None), ("NOT", None, 9250)]


@pytest.mark.parametrize(
    "address", ["http://example.org/a?b=1", "www.example.org", "ann@example.org", "@ann", "bbc.co.uk"]
)
def test_addresses_in_an_stm_are_no_words(address: str) -> None:
    document = formats.read(f"t A x 0 1 {address} is it\nt A x 1 2 write to {address}, not me\n", "talk.stm")
    assert spoken(document) == "is it write to, not me"
    # No mark comes between a word and the address after it.
    assert [word.text for word in document.words if word.followed] == ["to,"]


def test_stm_turns_follow_file_channel_and_speaker() -> None:
    assert [word.turn for word in fixture("stm/talk.stm").words] == [1] * 6 + [2] * 3 + [3] * 3 + [4] * 4
    odd = fixture("stm/odd-rows.stm")
    assert "la" not in spoken(odd).split()
    assert [notice.line for notice in odd.notices] == [2]


@pytest.mark.parametrize("space", ["\x1d", "\x85", "\xa0", "\u2028"])
def test_other_kinds_of_spaces_separate_words_of_an_stm(space: str) -> None:
    source = f"t A x 0 1 so{space} it{space}is\n"
    document = formats.read(source, "talk.stm")
    assert [word.text for word in document.words] == ["so", "it", "is"]
    assert formats.write(document, ["so", "it", "is"]) == source
    assert formats.write(document, ["So,", "it", "is."]) == f"t A x 0 1 So,{space} it{space}is.\n"


def test_a_no_break_space_stays_in_a_column() -> None:
    document = formats.read("t A 0 1 10\xa0000\nt A 1 1 euros\n", "talk.ctm")
    assert formats.write(document, ["10\xa0000,", "Euros\u202f!"]) == "t A 0 1 10\xa0000,\nt A 1 1 Euros!\n"


@pytest.mark.parametrize("space", ["\x0b", "\x1d", "\x85", "\xa0", "\u2009", "\u2028", "\u3000"])
@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("_hare", "_HARE."),
        ("hare_", "HARE._"),
        ("hare,_", "HARE._"),
        ("_hare_;tag", "_HARE._;tag"),
        ("«_hare_»", "«_HARE._»"),
        ("hare_!", "HARE_!"),
    ],
)
def test_other_kinds_of_spaces_around_the_words_of_a_ctm_stay(column: str, written: str, space: str) -> None:
    source, expected = (f"t A 0 1 {text.replace('_', space)}\nt A 1 1 ran\n" for text in (column, written))
    document = formats.read(source, "talk.ctm")
    output = formats.write(document, [_new(document), "ran"])
    assert output == expected
    formats.verify(document, output)
    with pytest.raises(BadInput, match=r"differs in more than words|lost the space"):
        formats.verify(document, output.replace(space, ""))


def _new(document: Document) -> str:
    bare, label = strip(document.texts[0])
    return dress(bare, replace(label, case=Case.UPPER).with_mark("!" if label.mark == "!" else "."))


def test_a_new_row_of_a_mark_has_only_the_mark_as_its_word() -> None:
    document = formats.read("t A 0 1 so\nt A 0 1 ,\nt A 1 1 \xa0hare\u3000;tag 0.5\n", "talk.ctm")
    output = formats.write(document, ["So,", "Hare."])
    assert output == "t A 0 1 So\nt A 0 1 ,\nt A 1 1 \xa0Hare\u3000;tag 0.5\nt A 1 1 . 0.5\n"
    formats.verify(document, output)


@pytest.mark.parametrize("space", ["\x0b", "\x1d", "\x85", "\xa0", "\u2009", "\u2028", "\u3000"])
@pytest.mark.parametrize("field", ["{}so ran", "so{} ran", "so ran{}", "“{}so{}” ran", "so ran {}"])
def test_other_kinds_of_spaces_around_the_words_of_a_tsv_stay(field: str, space: str) -> None:
    source = "start\tend\ttext\n0\t900\t" + field.replace("{}", space) + "\n"
    document = formats.read(source, "talk.tsv")
    texts = [text.replace("so", "SO").replace("ran", "RAN?") for text in document.texts]
    output = formats.write(document, texts)
    assert output == source.replace("so", "SO").replace("ran", "RAN?")
    formats.verify(document, output)
    with pytest.raises(BadInput):
        formats.verify(document, output.replace(space, ""))


def test_detached_marks_of_an_stm_belong_to_the_word() -> None:
    document = fixture("stm/spaces.stm")
    assert [word.text for word in document.words if " " in word.text] == ["bridge ,", "may .", "ferry -"]
    texts = [word.text for word in document.words]
    texts[2], texts[6] = "Bridge", "May!"
    output = formats.write(document, texts)
    assert "old   Bridge is closed \n" in output
    assert "since May!\n" in output
    formats.verify(document, output)


@pytest.mark.parametrize(
    ("rows", "texts", "written"),
    [
        (["she-,", "left"], ["Left."], ["she-,", "Left."]),  # a fragment, with or without its mark
        (["so", ")…"], ["So"], ["So", ")…"]),  # no row of a mark: the bracket would stay
        # A word with a mark can have another one in the next row.
        (["etc.", ","], ["Etc"], ["Etc"]),
        (["etc.", ",", "so", ".", "left"], ["Etc.,", "So", "left"], ["Etc", ".,", "So", "left"]),
        (["so", ",", "c)", "is"], ["So,", "C),", "is"], ["So", ",", "C),", "is"]),  # the bracket stays with its word
        (["so;um", "left"], ["So;", "left"], ["So,;um", "left"]),  # `;;` begins a comment
        (["so", ".", ".", "left"], ["So", "left"], ["So", "left"]),  # marks in several rows
        (["so", ",", ".", "left"], ["So?", "left"], ["So", "?", "left"]),
    ],
)
def test_rows_of_a_ctm_have_the_same_words_with_and_without_marks(
    rows: list[str], texts: list[str], written: list[str]
) -> None:
    source, expected = ("".join(f"t A 0 1 {row}\n" for row in column) for column in (rows, written))
    document = formats.read(source, "talk.ctm")
    output = formats.write(document, texts)
    assert output == expected
    formats.verify(document, output)


def test_straight_quotation_marks_are_doubled_in_a_textgrid_and_a_csv() -> None:
    document = fixture("textgrid/long.TextGrid")
    output = formats.write(document, ['"Where', 'now?"', "Over", '"there."'])
    assert '"""Where"' in output
    formats.verify(document, output)
    source = 'so we went,0.0,0.9\n"well, yes",0.9,1.5\n0 yes,2.0,2.5\n'
    document = formats.read(source, "talk.csv")
    output = formats.write(document, ["So", '"we', 'went."', '"Well,', 'yes."', "0", "Yes."])
    rows = list(csv.reader(io.StringIO(output)))
    assert [row[0] for row in rows] == ['So "we went."', '"Well, yes."', "0 Yes."]
    formats.verify(document, output)
    # In Whisper's TSV, a quotation mark stands for itself.
    document = formats.read("start\tend\ttext\n0\t900\tso we went\n", "talk.tsv")
    assert formats.write(document, ["So", '"we', 'went."']).endswith('\tSo "we went."\n')


def test_textgrid_reads_words_and_no_phones() -> None:
    words = fixture("textgrid/long.TextGrid").words
    assert [(word.text, word.start, word.end) for word in words] == [
        ("where", 500, 810),
        ("now", 810, 1200),
        ("over", 2750, 3100),
        ("there", 3100, 4250),
    ]
    assert pauses(words) == [0, 1550, 0, None]


def test_textgrid_tiers_of_the_same_words_change_together() -> None:
    document = fixture("textgrid/short.TextGrid")
    assert [(word.text, word.start) for word in document.words][2] == ('""come', 1100)
    output = formats.write(document, ["She", "said,", '""Come', 'in.""', "And", "then", "Marta:", "slept."])
    assert '"She said, ""Come in."""' in output
    assert '"""Come"' in output
    assert '"in."""' in output
    # A single word with a colon would be read as a speaker's name in its interval.
    assert '"And then Marta, slept."' in output
    assert '"Marta,"' in output
    formats.verify(document, output)


def test_textgrid_tiers_of_speakers() -> None:
    document = fixture("textgrid/speakers.TextGrid")
    assert spoken(document) == "did you see the hare it ran under the hedge i did not"
    assert [word.turn for word in document.words] == [0] * 10 + [1] * 3


@pytest.mark.parametrize("number", ["1e999", "1e300", "-5e8000", '"so"'])
def test_textgrid_with_impossible_numbers_is_refused(number: str) -> None:
    head = '"ooTextFile"\n"TextGrid"\n0\n1\n<exists>\n1\n"IntervalTier"\n"words"\n0\n1\n'
    with pytest.raises(BadInput):
        formats.read(f'{head}{number}\n0\n1\n"so"\n')
    with pytest.raises(BadInput):
        formats.read(f'{head}1\n{number}\n1\n"so"\n')


def test_lrc_stamps() -> None:
    chorus = fixture("lrc/chorus.lrc").words
    assert [word.start for word in chorus if word.start is not None] == [1000, 5300, 9750]
    words = fixture("lrc/enhanced.lrc").words
    assert [(word.text, word.start, word.end) for word in words[:5]] == [
        ("small", 1000, 1400),
        ("boats", 1400, 2100),
        ("sail", 2100, 2900),
        ("to", 3500, 3800),
        ("iceland", 3800, 4680),
    ]
    colons = fixture("lrc/colons.lrc").words
    assert [(word.start, word.end) for word in colons] == [(62_500, 62_930), (62_930, 63_300), (63_300, 64_050)]
    assert spoken(fixture("lrc/song.lrc")).startswith("the kettle sings")
    odd = fixture("lrc/odd.lrc")
    assert [word.start for word in odd.words if word.start is not None] == [2500, 6100, 60_000]
    assert [notice.line for notice in odd.notices] == [2, 4]


@pytest.mark.parametrize(
    ("offset", "starts"), [("500", [0, 2500, 3500]), ("+500", [0, 2500, 3500]), ("-500", [600, 3500, 4500])]
)
def test_an_lrc_with_a_positive_offset_is_sung_earlier(offset: str, starts: list[int]) -> None:
    text = f"[ar:Ada]\n[offset: {offset}]\n[00:00.10]so\n[00:03.00]we <00:04.00>went\n"
    assert [word.start for word in formats.read(text).words] == starts


def test_the_voices_of_a_duet_are_no_lyrics() -> None:
    text = "[00:01.00]v1:so we\n[00:02.00] v2: <00:02.00>went\n[00:03.00]v1\n"
    document = formats.read(text)
    assert document.texts == ["so", "we", "went", "v1"]
    assert list(document.speakers.values()) == ["v1", "v2"]


SBV = "0:00:00.000,0:00:01.000\n"


@pytest.mark.parametrize(
    ("wanted", "written"),
    [("London:", "London ,"), ("London:”", "London:”"), ("london:", "london:"), ("London;", "London;")],
)
def test_instead_of_a_colon_that_would_make_a_label_a_comma_keeps_its_space(wanted: str, written: str) -> None:
    source = SBV + "london , never\n"
    document = formats.read(source, format="sbv")
    assert document.texts == ["london ,", "never"]
    output = formats.write(document, [wanted, "never"])
    assert output == source.replace("london ,", written)
    formats.verify(document, output)


@pytest.mark.parametrize("dash", ["—", "–", "--"])
def test_a_dash_after_a_bracket_at_the_start_of_a_line_is_the_speakers(dash: str) -> None:
    source = SBV + f"so there\n[laughs]{dash}\nand then\n"
    document = formats.read(source, format="sbv")
    assert document.texts == ["so", "there", "and", "then"]
    output = formats.write(document, ["So", "there!", "And", "then."])
    assert output == SBV + f"So there!\n[laughs]{dash}\nAnd then.\n"
    formats.verify(document, output)


@pytest.mark.parametrize("after", [";”", "”;"])
def test_a_semicolon_within_a_word_of_a_ctm_would_begin_a_tag(after: str) -> None:
    document = formats.read("t A 0 1 “so”\nt A 1 1 it\n", "talk.ctm")
    output = formats.write(document, [f"“so{after}", "it"])
    assert output == "t A 0 1 “so,”\nt A 1 1 it\n".replace(",”", after.replace(";”", ",”"))
    formats.verify(document, output)


@pytest.mark.parametrize("mark", [".", ",", " ?", "”"])
def test_a_stamp_before_a_mark_is_that_of_the_next_word(mark: str) -> None:
    source = f"1\n00:00:00,000 --> 00:00:02,000\nso<00:00:01.000>{mark} we went\n"
    document = formats.read(source, format="srt")
    assert [word.start for word in document.words] == [0, 1000, None]
    output = formats.write(document, ["So", "we", "went."])
    assert output == "1\n00:00:00,000 --> 00:00:02,000\nSo<00:00:01.000> we went.\n"
    formats.verify(document, output)


@pytest.mark.parametrize(
    ("line", "wanted", "written"),
    [
        ("i love you <3", ["I", "love", "you"], "I love you <3"),
        ("i love you :D", ["I", "love", "you"], "I love you :D"),
        ("＜laughs＞ so we went", ["So", "we", "went."], "＜laughs＞ So we went."),
        ("see &#x6e; and caf&eacute; here", ["See", "and", "here."], "See &#x6e; and caf&eacute; here."),
    ],
)
@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("talk.txt", "{}\n"),
        ("talk.sbv", "0:00:01.000,0:00:02.000\n{}\n"),
        ("talk.tsv", "start\tend\ttext\n0\t900\t{}\n"),
        ("talk.ass", "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{}\n"),
    ],
)
def test_what_is_no_word_stays_as_it_is(name: str, frame: str, line: str, wanted: list[str], written: str) -> None:
    document = formats.read(frame.format(line), name)
    output = formats.write(document, wanted)
    formats.verify(document, output)
    assert output == frame.format(written)


def test_a_heading_of_markdown_gets_no_mark_at_its_end() -> None:
    words = formats.read("# my episode\n\nso we went\n\n## part two\nhome\n", "talk.md").words
    assert [word.text for word in words if word.followed] == ["episode", "two"]
    assert len({word.turn for word in words}) == 4


UTTERANCES = """is that you
yes
go back to sleep then and do not wake the others please
i will
what time is it
nearly three in the morning i think
"""
WRAPPED = """when we came down to the harbour nobody had
seen the boat that was to take us over so we
sat on the wall with our bread and waited for
the light to go my aunt who had been there as
a girl told us how it was before the bridge
"""


@pytest.mark.parametrize(
    "change", [str, str.upper, lambda text: text.replace(" i ", " i, ").replace("you\n", "you?\n")]
)
def test_lines_may_begin_turns_where_each_is_an_utterance(change) -> None:  # type: ignore[no-untyped-def]
    words = formats.read(change(UTTERANCES), "talk.txt").words
    begins = [i > 0 and word.cue != words[i - 1].cue for i, word in enumerate(words)]
    assert [word.blank_before for word in words] == begins
    assert not any(word.blank_before for word in formats.read(change(WRAPPED), "talk.txt").words)


def test_times_beside_names_are_those_of_the_words() -> None:
    otter = "Ada Byron  0:01\nso we went\n\nBob  1:05\nyes\n\nAda Byron  1:09\nok\n\nBob  1:11\nyes i am\n"
    fathom = "0:01 - Ada Byron\nso we went\n\n1:05 - Bob\nyes\n\n1:09 - Ada Byron\nok\n\n1:11 - Bob\nyes i am\n"
    for source in (otter, fathom):
        words = formats.read(source, "talk.txt").words
        assert [word.start for word in words if word.start is not None] == [1000, 65_000, 69_000, 71_000]


def test_only_the_csv_field_that_gets_a_comma_gets_quotes() -> None:
    source = 'we met here,0.5,1.5\n"he said ""so""",1.5,2.5\nand left,2.5,3.5\n'
    document = formats.read(source)
    texts = ["We", "met", "here", "he", "said,", '"so"', "and", "left"]
    output = formats.write(document, texts)
    assert output == 'We met here,0.5,1.5\n"he said, ""so""",1.5,2.5\nand left,2.5,3.5\n'
    formats.verify(document, output)
    texts[6] = "and,"
    assert '"and, left",2.5' in formats.write(document, texts)


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        (
            "we live in london\t0.5\t2.300\nwhere is he\t2.5\t4.1\n",
            "We live in london.\t0.5\t2.300\nWhere is he.\t2.5\t4.1\n",
        ),
        ("Anna\twe live\t2.300\nBob\twhere is he\t4.1\n", "Anna\tWe live.\t2.300\nBob\tWhere is he.\t4.1\n"),
        ("we live here\t0:05\nwhere is he\t0:07\n", "We live here.\t0:05\nWhere is he.\t0:07\n"),
        ("id\tat\tsaid\n1\t5\twe live\n2\t7\twhere is he\n", "id\tat\tsaid\n1\t5\tWe live.\n2\t7\tWhere is he.\n"),
    ],
)
def test_only_the_text_of_a_table_in_plain_text_is_read(source: str, fixed: str) -> None:
    for text in (source, fixed):
        document = formats.read(text, "talk.txt", "txt")
        lines = [[word.text for word in document.words if word.cue == cue] for cue in range(text.count("\n"))]
        new = [[own[0].capitalize(), *own[1:-1], f"{own[-1].rstrip('.')}."] for own in lines if own]
        assert formats.write(document, [word for own in new for word in own]) == fixed


@pytest.mark.parametrize(
    "head",
    [
        "start time,end time,dialog",
        "Begin (s),End (s),Transcript",
        "from,to,sentence",
        "Start_Time,End_Time,Text",
        "in,out,caption",
    ],
)
def test_columns_have_many_names(head: str) -> None:
    document = formats.read(f"{head}\n1.0,3.0,we live here\n4.5,6.0,where is he\n", "talk.csv")
    assert (document.format, len(document.words), document.words[-1].end) == ("tsv", 6, 6000)


def test_a_label_may_end_with_a_bar() -> None:
    document = formats.read("SPEAKER_01|hi anna\nSPEAKER_02|where is he\n", "talk.txt")
    assert document.texts == ["hi", "anna", "where", "is", "he"]
    assert [word.turn for word in document.words] == [1, 1, 2, 2, 2]


def test_a_fragment_in_chat_is_no_word() -> None:
    source = "@Begin\n*MOT:\t&london we went to &-um &+lo &~foo london .\n@End\n"
    document = formats.read(source, "a.cha")
    assert document.texts == ["we", "went", "to", "um", "london ."]
