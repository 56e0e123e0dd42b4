"""TTML, YouTube's srv captions, ASS and SAMI: what is a word in them, and its times."""

from __future__ import annotations

import contextlib

import pytest
from opened import fixture, spoken

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput, CappuncError


def rows(document: Document) -> list[tuple[str, int | None, int | None, int]]:
    return [(word.text, word.start, word.end, word.turn) for word in document.words]


def test_ttml_text_and_nothing_around_it() -> None:
    document = fixture("ttml/talk.ttml")
    assert spoken(document) == ("why does bread rise in the oven it's the yeast the warmth really yes café and so on")
    assert [word.turn for word in document.words] == [0] * 7 + [1] * 5 + [2] + [3] * 2 + [4] * 3
    assert [(notice.line, notice.message) for notice in document.notices] == [
        (15, "unreadable begin time"),
        (15, "a CDATA section is left alone"),
    ]


def test_ttml_changes_stay_inside_the_text() -> None:
    document = fixture("ttml/talk.ttml")
    texts = ["YEAST," if w.text == "yeast" else "CAFÉ." if w.text == "café" else w.text for w in document.words]
    output = formats.write(document, texts)
    assert '<tt:span style="i">YEA</tt:span>ST, &amp; the' in output
    assert "CAF&#xc9;.</tt:p>" in output
    formats.verify(document, output)


def test_lyrics_have_a_time_for_every_word() -> None:
    assert rows(fixture("ttml/lyrics.ttml")) == [
        ("rain", 9000, 9400, 1),
        ("over", 9500, 10300, 1),  # of two spans without a space between them
        ("the", 10500, None, 1),
        ("hills", None, 11200, 1),
        ("hear", 12500, 13000, 2),
        ("it", 13100, 14000, 2),
    ]


def test_ttml_times_are_relative_to_the_enclosing_element() -> None:
    starts = [word.start for word in fixture("ttml/frames.dfxp").words if word.start is not None]
    assert starts == [11_200, 13_000, 15_000, 16_000, 16_300]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("01:02:03", 3_723_000),
        ("00:00:01.5", 1500),
        ("00:00:01,050", 1050),
        ("00:00:01:12", 1480),
        ("1:07.25", 67_250),
        ("19.764", 19_764),
        ("1.5h", 5_400_000),
        ("2m", 120_000),
        ("2.5s", 2500),
        ("250ms", 250),
        ("50f", 2000),
        ("15t", 1500),
        ("soon", None),
        ("", None),
        ("1:2:3:4:5", None),
    ],
)
def test_ttml_time_expressions(text: str, milliseconds: int | None) -> None:
    source = f'<tt frameRate="25" tickRate="10"><body><p begin="{text}">so</p></body></tt>'
    assert formats.read(source).words[0].start == milliseconds


def test_ttml_times_in_a_sequence_are_relative_to_the_element_before() -> None:
    timed = '<p dur="1s">one</p><p begin="2s" dur="1s">two</p><p begin="1s" end="3s">three</p>'
    inner = timed + '<p>four</p><p dur="1s">five</p>'
    document = formats.read(f'<tt><body begin="10s" timeContainer="seq">{inner}</body></tt>')
    assert [(word.start, word.end) for word in document.words] == [
        (10_000, 11_000), (13_000, 14_000), (15_000, 17_000), (17_000, None), (None, None)
    ]  # fmt: skip


def test_entities_and_other_files_are_not_followed() -> None:
    bomb = '<!DOCTYPE tt [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tt><body><p>&b;</p></body></tt>'
    for text in (bomb, bomb.replace("<!ENTITY", "<!entity"), '<!DOCTYPE tt SYSTEM "tt.dtd"><tt><body/></tt>'):
        with pytest.raises(CappuncError):
            formats.read(text, "a.ttml")
    assert spoken(formats.read("<!DOCTYPE tt><tt><body><p>safe</p></body></tt>")) == "safe"


def test_youtube_words_start_at_their_own_offsets() -> None:
    document = fixture("srv3/automatic.srv3")
    assert [(word.text, word.start, word.end) for word in document.words] == [
        ("have", 1200, 1500),
        ("you", 1500, 1720),
        ("ever", 1720, 2100),
        ("baked", 2100, 2800),  # not until the next row, which would be too long for a word
        ("it", 3610, 3850),
        ("isn't", 3850, 4310),
        ("hard", 4310, 4920),
    ]


def test_youtube_escapes_twice() -> None:
    document = fixture("srv3/first.srv1")
    assert spoken(document) == 'we don\'t know "not yet" he said and left'
    texts = ["Don't" if word.text == "don't" else word.text for word in document.words]
    assert "we Don&amp;#39;t know" in formats.write(document, texts)
    assert [word.start for word in document.words if word.start is not None] == [240, 3000, 5500]


def test_ass_layers_show_what_is_spoken_once() -> None:
    document = fixture("ass/layers.ass")
    assert spoken(document) == "the tide comes in yes yes who is there nobody nobody la la la"
    assert [word.start for word in document.words if word.start is not None][-3:] == [9000, 9200, 9500]
    output = formats.write(document, [strip(word.text)[0].upper() + "," for word in document.words])
    assert (output.count("THE, TIDE,"), output.count("LA,")) == (3, 6)
    formats.verify(document, output)


@pytest.mark.parametrize(
    ("layers", "new", "written"),
    [
        (["now we go", "“now we go”"], "Now we go.", ["Now we go.", "“Now we go.”"]),
        (["“now we go”", "now we go"], "“Now we go.”", ["“Now we go.”", "Now we go."]),
        (["now we go", "now, we go?!"], "Now we go.", ["Now we go.", "Now, we go?!"]),
        (["a dónde", "“a dónde”"], "¿A dónde?", ["¿A dónde?", "“¿A dónde?”"]),
        (["now we, go", "NOW WE, go"], "now we go", ["now we go", "NOW WE go"]),
        (["marta never", "“marta never”"], "Marta: never.", ["Marta, never.", "“Marta, never.”"]),
    ],
)
def test_a_layer_keeps_marks_that_the_others_do_not_have(layers: list[str], new: str, written: list[str]) -> None:
    head = "[Events]\nFormat: Layer, Start, End, Text\n"
    lines = [f"Dialogue: {i},0:00:01.00,0:00:02.00," for i in range(len(layers))]
    source = head + "".join(f"{line}{layer}\n" for line, layer in zip(lines, layers, strict=True))
    document = formats.read(source, "talk.ass")
    assert len(document.words) == len(new.split())
    output = formats.write(document, new.split())
    assert output == head + "".join(f"{line}{layer}\n" for line, layer in zip(lines, written, strict=True))
    formats.verify(document, output)


def test_ass_text_and_nothing_around_it() -> None:
    document = fixture("ass/talk.ass")
    assert spoken(document) == (
        "so, what is it that makes bread rise it's the yeast\xa0! really drawn and said so it is"
    )
    assert [word.turn for word in document.words] == [1] * 8 + [2] * 3 + [3] * 7
    assert [(notice.line, notice.message) for notice in document.notices] == [
        (18, "unreadable times"),
        (19, "a Dialogue line with too few fields"),
    ]
    texts = ["Yeast." if word.text.startswith("yea") else word.text for word in document.words]
    output = formats.write(document, texts)
    assert "{\\an8}it's the Yea{\\b1}st." in output
    formats.verify(document, output)


def test_karaoke_syllables_are_words_with_times() -> None:
    assert rows(fixture("ass/karaoke.ass")) == [
        ("rain", 10_000, 10_500, 0),
        ("over", 10_500, 11_200, 0),
        ("the", 11_400, 12_000, 0),
        ("hills", 12_000, 13_000, 0),
    ]


def test_ass_fields_are_in_the_order_of_the_format_line() -> None:
    document = fixture("ass/order.ass")
    assert spoken(document) == "one, two and, after that, three"
    assert [word.start for word in document.words if word.start is not None] == [1000, 3000]


def test_sami_clears_end_captions() -> None:
    document = fixture("sami/talk.smi")
    assert [(word.text, word.start, word.end) for word in document.words if word.start or word.end] == [
        ("why", 1000, None),
        ("oven", None, 3500),
        ("it's", 4000, None),
        ("more\xa0!", None, 6000),
    ]


def test_sami_names_its_sources() -> None:
    document = fixture("sami/open-tags.smi")
    assert spoken(document) == "and now the machine it counts, and it writes so they say"
    assert [word.turn for word in document.words] == [1] * 4 + [2] * 5 + [3] * 3


def test_sami_languages_are_read_one_after_the_other() -> None:
    document = fixture("sami/languages.sami")
    assert spoken(document) == "good morning to all of you bonjour à tous et bienvenue"
    assert [word.cue for word in document.words] == [0] * 2 + [2] * 4 + [1] * 3 + [3] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ttml", "<tt>" + "<span>" * 20_000),
        ("ttml", "<tt><!--" + "<!--" * 20_000),
        ("ttml", "<tt><p " + 'a="' * 20_000),
        ("ttml", "<tt><body>" + "<p>" * 3000 + "a" + "</p>" * 3000 + "</body></tt>"),
        ("ttml", "<tt><body><p>" + "<title>" * 2000 + "</title>" * 2000 + "</p></body></tt>"),
        ("ass", "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,,,,,,," + "{\\p1" * 20_000),
        ("ass", "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,,,,,,," + "{\\p1}" * 5_000),
        ("sami", "<SAMI><BODY>" + "<SYNC Start=1><P>" * 5_000),
        ("sami", "<SAMI><BODY>" + "<SYNC>\n" * 40_000),
        ("ttml", "<tt>" + '<p begin="x">a</p>\n' * 10_000 + "</tt>"),
        ("sami", "<SAMI><BODY><SYNC Start=1><P>" + "<!--" * 20_000),
    ],
    ids=range(11),
)
def test_hostile_files_take_no_time(name: str, text: str) -> None:
    # Quadratic code would take minutes for these, and the time limit of the suite would end it.
    with contextlib.suppress(BadInput):
        formats.read(text, format=name)


@pytest.mark.parametrize(
    "text",
    [
        "<ruby>tokyo<rt>tōkyō</rt></ruby> is big",
        "<ruby>tokyo<rt>tōkyō</ruby> is big",
        "<ruby>tokyo<rt>is it</rt> is big",
    ],
)
def test_ruby_text_is_no_word(text: str) -> None:
    found = formats.read(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text}\n", "talk.vtt")
    assert found.texts == ["tokyo", "is", "big"]
    # No mark comes between the word and the text above it.
    assert [word.followed for word in found.words] == [True, False, False]
    new = formats.write(found, ["Tokyo", "Is", "big."])
    assert new.endswith(text.replace("tokyo", "Tokyo").replace(" is big", " Is big.") + "\n")


def test_an_empty_ruby_text_is_nothing() -> None:
    found = formats.read("WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>tokyo<rt></rt></ruby> is big<rt>\n", "talk.vtt")
    assert found.texts == ["tokyo", "is", "big"]


@pytest.mark.parametrize(
    "source",
    [
        "1\n00:00:01,000 --> 00:00:02,000\n1\ufe0f\u20e3 first \U0001f1eb\U0001f1f7 we went\n",
        '{"text": "1\ufe0f\u20e3 first \U0001f1eb\U0001f1f7 we went"}',
    ],
)
def test_an_emoji_is_no_word(source: str) -> None:
    assert formats.read(source).texts == ["first", "we", "went"]


@pytest.mark.parametrize("between", [" <![CDATA[x]]> ", "<![CDATA[x]]>", " <![CDATA[x]]>", "<![CDATA[x]]> "])
@pytest.mark.parametrize("mark", ["–", "...", ",", "!"])
def test_a_mark_after_a_cdata_section_is_not_that_of_the_word_before_it(between: str, mark: str) -> None:
    source = f"<tt><body><div><p begin='1s' end='2s'>here and{between}{mark} so</p></div></body></tt>"
    document = formats.read(source)
    assert [strip(word.text)[0] for word in document.words] == ["here", "and", "so"]
    output = formats.write(document, ["Here", "and,", document.words[2].text])
    assert output == source.replace("here and", "Here and,")
    formats.verify(document, output)


def test_a_cdata_section_parts_words() -> None:
    source = "<tt><body><div><p begin='1s' end='2s'>so<![CDATA[&]]>we left</p></div></body></tt>"
    document = formats.read(source)
    assert document.texts == ["so", "we", "left"]
    assert formats.write(document, ["So", "We", "left."]) == source.replace("so<", "So<").replace("we left", "We left.")
