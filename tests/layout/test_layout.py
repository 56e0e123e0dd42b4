"""Line breaks and captions: properties, cases, fixtures (fixtures/layout), samples, and `cappunc captions`."""

from __future__ import annotations

import json
import lzma
import re
import shlex
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import layout as benchmark
import pysrt
import pytest
import webvtt
from commands import WORDS, cappunc
from hypothesis import given, reject
from hypothesis import strategies as st

from cappunc_cli import formats
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput, CappuncError, UnknownFormat
from cappunc_cli.files.storage import read_text
from cappunc_cli.formats.cues import milliseconds
from cappunc_cli.formats.shown_cues import rewrap
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_files import CAPTION_FORMATS, render
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, LineBreaker, break_qualities
from cappunc_cli.layout.segmentation import Caption, cut
from cappunc_cli.layout.speakers import interleaved

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "layout"
CASES = sorted(path for path in FIXTURES.iterdir() if ".captions." not in path.name and path.suffix != ".arguments")

ENGLISH = language("en")
VOCABULARY = [
    *("the", "a", "of", "and", "I", "it", "is", "not", "that", "which", "Mr.", "Dr.", "Smith", "Anna", "London"),
    *("said,", "yes.", "no?", "20", "metres", "caterpillar", "wait…", "«so»", "on,"),
]
WORD = st.one_of(st.sampled_from(VOCABULARY), st.text("abcdeXYZ.,", min_size=1, max_size=60))
TEXTS = st.lists(WORD, min_size=1, max_size=40)


@st.composite
def speech(draw: st.DrawFn) -> list[Word]:
    """Words as recognisers time them: with pauses and overlap, some without ends or times, of several speakers."""
    at, turn = draw(st.integers(0, 5000)), 0
    words: list[Word] = []
    for text in draw(TEXTS):
        start: int | None = at
        end: int | None = at + draw(st.integers(0, 1500))
        known = draw(st.sampled_from("aaaaaasn"))
        at = max(at, (end or at) + draw(st.sampled_from([-200, 0, 0, 10, 80, 300, 1200, 2500])))
        turn += draw(st.sampled_from([0] * 9 + [1]))
        words.append(Word(text, start if known != "n" else None, end if known == "a" else None, turn=turn))
    words[0] = Word(words[0].text, 0, words[0].end, turn=words[0].turn)
    return words


LIMITS = st.builds(
    Limits,
    width=st.integers(5, 50),
    lines=st.integers(1, 3),
    shortest=st.sampled_from([0, 833]),
    longest=st.sampled_from([1000, 7000]),
    gap=st.sampled_from([0, 1, 83]),
)


# --- lines


@given(TEXTS, st.integers(3, 45))
def test_lines_hold_every_word_once_and_keep_the_width(texts: list[str], width: int) -> None:
    lines = LineBreaker(texts, ENGLISH, width)
    shown = list(lines.shown(lines.best(0, len(texts))[1], len(texts)))
    assert " ".join(shown) == " ".join(texts)
    for line in shown:
        assert len(line) <= width or len(max(line.split(" "), key=len)) > width


@given(st.lists(WORD, min_size=1, max_size=10), st.integers(3, 45))
def test_best_lines_are_found_by_exhaustive_search(texts: list[str], width: int) -> None:
    lines, stop = LineBreaker(texts, ENGLISH, width), len(texts)
    cost, begins = lines.best(0, stop)
    ways = combinations(range(1, stop), len(begins) - 1)
    assert cost == pytest.approx(min(lines.cost((0, *way), stop) for way in ways))
    assert len(begins) == len(lines.greedy(0, stop))  # the fewest there can be


def test_a_whole_talk_in_one_cue_has_lines() -> None:
    texts = VOCABULARY * 1500  # 34,500 words: quick only because each line has few places where it can start
    begins = LineBreaker(texts, ENGLISH, 42).best(0, len(texts))[1]
    assert all(len(" ".join(texts[a:b])) <= 42 for a, b in pairwise((*begins, len(texts))))


@pytest.mark.parametrize(
    "lines",
    [
        "one line if it fits in one",
        "After the comma, / that is where we break it, not before",
        "I have never understood / why she went back to her house",
        "We asked the very friendly / Mr. Rogers about his old cat",
        "Everybody has already spoken / to Anna Brown yesterday",
    ],
)
def test_english_lines(lines: str) -> None:
    known = LineBreaker(lines.replace(" / ", " ").split(), ENGLISH, 42)
    assert " / ".join(known.shown(known.best(0, len(known.texts))[1], len(known.texts))) == lines


@pytest.mark.parametrize(
    ("code", "pair", "place"),
    [
        ("en", "house. The", BreakQuality.SENTENCE),
        ("en", "house, the", BreakQuality.CLAUSE),
        ("en", "Dr. No", BreakQuality.BOUND),
        ("en", "Inc. said", BreakQuality.WORD),
        ("en", "R. Tolkien", BreakQuality.BOUND),
        ("en", "J.R.R. Tolkien", BreakQuality.BOUND),
        ("en", "B. The", BreakQuality.SENTENCE),
        ("en", "I. Nobody", BreakQuality.SENTENCE),
        ("de", "z. B.", BreakQuality.BOUND),
        ("de", "h. alle", BreakQuality.WORD),
        ("es", "UU. y", BreakQuality.PHRASE),
        ("en", "the house", BreakQuality.BOUND),
        ("en", "of house", BreakQuality.BOUND),
        ("en", "house of", BreakQuality.PHRASE),
        ("en", "is not", BreakQuality.BOUND),
        ("en", "is in", BreakQuality.WORD),
        ("en", "house (which", BreakQuality.PHRASE),
        ("en", "Anna Brown", BreakQuality.BOUND),
        ("en", "yesterday I'm", BreakQuality.WORD),
        ("en", "20 metres", BreakQuality.BOUND),
        ("en", "green house", BreakQuality.WORD),
        ("es", "la casa", BreakQuality.BOUND),
        ("es", "casa donde", BreakQuality.PHRASE),
        ("es", "Sra. López", BreakQuality.BOUND),
        ("es", "dijo ¿qué", BreakQuality.PHRASE),
        ("eu", "joan da", BreakQuality.BOUND),
        ("eu", "etxea eta", BreakQuality.PHRASE),
        ("ro", "și casa", BreakQuality.BOUND),
        ("ro", "şi casa", BreakQuality.BOUND),
        ("ro", "casa pentru", BreakQuality.PHRASE),
        ("vi", "những người", BreakQuality.BOUND),
        ("vi", "nhà và", BreakQuality.PHRASE),
        ("is", "eitt hús", BreakQuality.WORD),
        ("is", "hús, eitt", BreakQuality.CLAUSE),
        ("fr", "la maison", BreakQuality.BOUND),
    ],
)
def test_places(code: str, pair: str, place: BreakQuality) -> None:
    assert break_qualities(pair.split(), language(code)) == [place, BreakQuality.SENTENCE]


# --- captions


def made(words: list[Word], limits: Limits) -> list[Caption]:
    """The captions. Examples where words without times fill a caption of their own are refused and skipped."""
    try:
        return cut(words, [word.text for word in words], ENGLISH, limits)
    except BadInput:
        assert None in [word.start for word in words]
        reject()
        raise


@given(speech(), LIMITS)
def test_captions_hold_every_word_once_within_the_limits(words: list[Word], limits: Limits) -> None:
    texts = [word.text for word in words]
    captions = made(words, limits)
    assert [part for caption in captions for part in " ".join(caption.lines).split()] == texts
    assert [caption.first for caption in captions] == [0, *(caption.stop for caption in captions[:-1])]
    for caption in captions:
        alone = caption.stop - caption.first == 1
        assert alone or (len(caption.lines) <= limits.lines and max(map(len, caption.lines)) <= limits.width)
        assert caption.start < caption.end
        assert caption.end - caption.start <= limits.longest
    for one, other in pairwise(captions):
        assert other.start - one.end >= limits.gap


@given(speech(), LIMITS)
def test_captions_come_with_their_words_and_linger_only_where_there_is_room(words: list[Word], limits: Limits) -> None:
    captions = made(words, limits)
    latest = free = 0
    for caption, following in zip(captions, [*captions[1:], None], strict=True):
        known = [word.start for word in words[caption.first : caption.stop] if word.start is not None]
        latest = max(latest, known[0])
        assert caption.start == max(latest, free)
        free = caption.end + limits.gap
        latest = max(latest, *known)
        ends = [w.end or (w.start or 0) + 7000 for w in words[: caption.stop] if w.start is not None]
        reading = round(1000 * len(" ".join(caption.lines)) / limits.speed)
        assert caption.end <= max(*ends, 0, caption.start + max(limits.shortest, reading, limits.gap, 1))
        if following is not None and caption.end - caption.start > max(limits.shortest, limits.gap, 1):
            assert caption.end + limits.gap <= following.start


@given(speech(), st.sampled_from(["srt", "vtt"]))
def test_libraries_read_back_what_is_written(words: list[Word], kind: str) -> None:
    captions = made(words, Limits())
    text = render(captions, kind)
    if kind == "srt":
        found = [(c.start.ordinal, c.end.ordinal, c.text) for c in pysrt.from_string(text)]
    else:
        found = [(milliseconds(c.start), milliseconds(c.end), c.text) for c in webvtt.from_string(text).captions]
    assert found == [(c.start, c.end, "\n".join(c.lines)) for c in captions]


def timed(text: str, step: int = 300, start: int = 0) -> list[Word]:
    return [Word(word, start + i * step, start + i * step + step) for i, word in enumerate(text.split())]


def shown(words: list[Word], limits: Limits | None = None) -> list[str]:
    return [" / ".join(c.lines) for c in cut(words, [w.text for w in words], ENGLISH, limits or Limits())]


def test_another_speaker_and_a_long_pause_begin_a_caption() -> None:
    words = [*timed("are you"), Word("yes", 600, 900, turn=1), Word("good", 2900, 3200, turn=1)]
    assert shown(words) == ["are you", "yes", "good"]


def test_short_sentences_share_a_caption_and_long_ones_do_not() -> None:
    assert shown(timed("No. It was. More.", 200)) == ["No. It was. More."]
    first, second = "The harbour office is closed on Sundays.", "Nobody has asked me for a ticket in years."
    assert shown(timed(f"{first} {second}")) == [first, second]


def test_a_caption_lingers_into_silence_and_keeps_its_gap() -> None:
    [one, other] = cut(words := [*timed("yes"), Word("no", 2400, 2600)], [w.text for w in words], ENGLISH, Limits())
    assert (one.start, one.end, other.start, other.end) == (0, 833, 2400, 3233)
    [one, other] = cut(words := [Word("yes", 0, 300), Word("no", 500, 900, turn=1)], ["yes", "no"], ENGLISH, Limits())
    assert (one.end, other.start) == (417, 500)


@pytest.mark.slow
def test_captions_of_words_that_have_starts_alone_end_with_the_last_word(shared: Path) -> None:
    """On a call of Earnings-21, with its known ends hidden."""
    with lzma.open(shared / "data/timed/earnings21_revkaldi.jsonl.xz", "rt", encoding="utf-8") as calls:
        rows = json.loads(next(calls))["words"][:4000]
    words = [Word(text, benchmark.ms(start), benchmark.ms(end)) for text, start, end in rows]
    captions = cut([replace(w, end=None) for w in words], [w.text for w in words], ENGLISH, Limits())
    late = [c.end - end for c in captions if (end := words[c.stop - 1].end) is not None]
    assert len(late) > 300
    assert sum(gap < -100 for gap in late) < 0.05 * len(late)
    assert sum(gap > 500 for gap in late) < 0.06 * len(late)


def test_a_number_in_digits_takes_as_long_as_it_is_spoken() -> None:
    ends = [
        cut([Word(text, 0)], [text], ENGLISH, Limits(shortest=0, speed=1000))[0].end for text in ("year", "1984", "a")
    ]
    assert ends[2] < ends[0] < 700 < ends[1]


def test_a_word_without_time_stays_with_its_neighbours() -> None:
    words = [
        Word("in", 0, 200),
        Word("1984"),
        Word("we", 900, 1000),
        Word("oh", turn=1),
        Word("no", 1500, 1700, turn=2),
    ]
    assert [(c.start, c.end, c.lines) for c in cut(words, [w.text for w in words], ENGLISH, Limits())] == [
        (0, 1000, ("in 1984 we",)),
        (1500, 2333, ("oh no",)),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([Word("hello")], "no time for “hello” (word 1)"),
        ([Word("so", 0, 10), *[Word("immeasurably")] * 9], "no time for “immeasurably” (word 8)"),
        ([*timed("one two", 9000), Word("again", 0, 10)], "go back by 9.0 s at “again” (word 3)"),
    ],
)
def test_words_without_usable_times_are_named(words: list[Word], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        cut(words, [word.text for word in words], ENGLISH, Limits())


def test_limits_that_hold_nothing_are_refused() -> None:
    for arguments in ({"width": 0}, {"shortest": 8000}, {"speed": 0.0}, {"gap": -1}):
        with pytest.raises(CappuncError):
            Limits(**arguments)  # type: ignore[arg-type]


# --- channels


@given(st.lists(speech(), min_size=1, max_size=3))
def test_channels_are_heard_together(spoken: list[list[Word]]) -> None:
    words = [word for channel in spoken for word in channel]
    names = [name for name, channel in enumerate(spoken) for _ in channel]
    order, heard = interleaved(words, names)
    assert sorted(order) == list(range(len(words)))
    for name in range(len(spoken)):
        own = [i for i in order if names[i] == name]
        assert own == sorted(own)
    assert [(w.text, w.start, w.end) for w in heard] == [(words[i].text, words[i].start, words[i].end) for i in order]
    for (i, one), (j, other) in pairwise(zip(order, heard, strict=True)):
        assert (one.turn == other.turn) == (names[i] == names[j] and words[i].turn == words[j].turn)


def test_simultaneous_speakers_wait_for_each_other() -> None:
    long, short = timed("so this is all that we have seen in the last two years"), timed("yes I know", 300, 900)
    order, heard = interleaved([*long, *short], ["A"] * len(long) + ["B"] * len(short))
    assert " ".join(w.text for w in heard) == "so this is all that we have seen in the yes I know last two years"
    assert [w.turn for w in heard] == [0] * 10 + [1] * 3 + [2] * 3
    assert order[10] == len(long)
    late = timed("yes", 300, 4000)
    assert [w.text for w in interleaved([*late, *long], "BAAAAAAAAAAAAA")[1]][-1] == "yes"


CHANNELS = ([("hello", 0.0), ("there", 0.5), ("good", 20.0)], [("who", 2.0), ("is", 2.5), ("it", 3.0)])
HEARD = [[{"word": w, "text": w, "type": "word", "start": t, "end": t + 0.4} for w, t in said] for said in CHANNELS]
CTM = "".join(f"1 {name} {t} 0.4 {w}\n" for name, said in zip("AB", CHANNELS, strict=True) for w, t in said)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("ctm", CTM),
        ("deepgram", json.dumps({"results": {"channels": [{"alternatives": [{"words": said}]} for said in HEARD]}})),
        ("elevenlabs", json.dumps({"transcripts": [{"channel_index": i, "words": w} for i, w in enumerate(HEARD)]})),
    ],
)
def test_channels_are_turns(kind: str, text: str, tmp_path: Path) -> None:
    assert formats.read(text).format == kind
    (path := tmp_path / "call").write_text(text)
    run = cappunc("captions", "--no-restore", path, "-o", "-")
    captions = [caption.text for caption in pysrt.from_string(run.stdout.decode())]
    assert (run.returncode, captions) == (0, ["hello there", "who is it", "good"])


def test_several_recordings_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "call.ctm").write_text(CTM.replace("1 B", "2 A"))
    run = cappunc("captions", "--no-restore", path, "-o", "-")
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr.endswith(b"has several recordings, each with times from zero; put each into a file of its own\n")


@pytest.mark.parametrize("case", ["aws", "azure", "azure-fast", "google"])
def test_channels_are_heard_in_the_order_of_time(case: str) -> None:
    path = ROOT / "fixtures" / "json" / case / "channels.json"
    document = formats.read(path.read_text("utf-8"), path.name)
    names = document.speakers
    said = {name: [w.text for w in document.words if names[w.turn] == name] for name in sorted(set(names.values()))}
    assert len(said) > 1
    run = cappunc("captions", "--no-restore", "--lang", "en", path, "--to", "vtt", "--speakers", "voice", "-o", "-")
    cues = list(webvtt.from_string(run.stdout.decode()).captions)
    assert [cue.start for cue in cues] == sorted(cue.start for cue in cues)
    for number, words in enumerate(said.values(), 1):
        assert [word for cue in cues if cue.voice == f"Speaker {number}" for word in cue.text.split()] == words


# --- fixtures and samples


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_fixtures(path: Path) -> None:
    options = path.with_suffix(".arguments")
    arguments = shlex.split(options.read_text("utf-8")) if options.exists() else []
    run = cappunc("captions", "--no-restore", path, "-o", "-", *arguments)
    assert run.returncode == 0, run.stderr
    [expected] = FIXTURES.glob(f"{path.stem}.captions.*")
    assert run.stdout.decode() == expected.read_bytes().decode()


@pytest.mark.slow
def test_samples_become_captions(shared: Path) -> None:
    """Every word-timed sample is refused in one line, or becomes captions that are read back with the same words."""
    made = refused = fast = 0
    for path in sorted((shared / "samples").rglob("*.*")):
        if path.stat().st_size > 300_000:
            continue  # they take seconds each and add no new kinds
        try:
            document = formats.read(read_text(str(path))[0], path.name)
        except CappuncError:
            continue
        words = document.words
        if not words or sum(word.start is not None for word in words) < 0.75 * len(words):
            continue
        try:
            captions = cut(words, document.texts, ENGLISH, Limits())
        except BadInput:
            refused += 1
            continue
        made += 1
        for caption in captions:
            assert len(caption.lines) <= 2
            assert max(map(len, caption.lines)) <= 42 or caption.stop - caption.first == 1
        fast += sum(1000 * sum(map(len, c.lines)) > 20 * (c.end - c.start) for c in captions)
        for kind in formats.FORMATS.keys() & CAPTION_FORMATS:
            again = formats.read(render(captions, kind), format=kind).texts
            # A dash before a line is a speaker's when it is read again, and no mark.
            assert [text.lstrip("-—") for text in again] == [text.lstrip("-—") for text in document.texts], path
    print(f"{made} samples became captions, {refused} were refused; {fast} captions are too fast to read")
    assert made > 50
    assert refused < 0.3 * made


# --- the command


def test_a_directory_of_a_recogniser(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    words = [
        {"word": w.text, "start": (w.start or 0) / 1000, "end": (w.end or 0) / 1000} for w in timed("Well, hello.")
    ]
    talk = json.dumps(
        {"text": "Well, hello.", "segments": [{"start": 0, "end": 1, "text": "Well, hello.", "words": words}]}
    )
    (folder / "talk.json").write_text(talk)
    (folder / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nWell, hello there, again.\n")
    run = cappunc("captions", "--no-restore", folder, "-o", tmp_path / "new", "--to", "vtt")
    assert (run.returncode, run.stdout) == (0, b"")
    assert [path.name for path in (tmp_path / "new").glob("[!.]*")] == ["talk.vtt"]
    assert (tmp_path / "new/talk.vtt").read_text() == "WEBVTT\n\n00:00:00.000 --> 00:00:00.833\nWell, hello.\n"
    run = cappunc("captions", "--no-restore", "-q", folder / "talk.json", "-o", tmp_path / "new/talk.vtt")
    assert run.returncode == 1
    assert b"already exists; --force overwrites it" in run.stderr
    run = cappunc("captions", "--no-restore", folder / "talk.srt", "-o", "-")
    assert run.stdout == (folder / "talk.srt").read_bytes() + b"\n"
    assert b"3 of 4 words have no times of their own: interpolated within their segments" in run.stderr
    (folder / "talk.txt").write_text("Well, hello there, again.\n")
    run = cappunc("captions", "--no-restore", folder / "talk.txt", "-o", "-")
    assert (run.returncode, run.stdout) == (1, b"")
    assert b"talk.txt: only 0 of 4 words have times, too few for captions" in run.stderr
    (folder / "talk.txt").unlink()
    run = cappunc("captions", "--rewrap", "--width", 14, folder, "-o", tmp_path / "wrapped/")
    assert run.returncode == 0
    assert (tmp_path / "wrapped/talk.srt").read_text().endswith("Well, hello\nthere, again.\n")
    run = cappunc("captions", "--rewrap", folder / "talk.srt", "-o", tmp_path / "talk.vtt")
    assert (run.returncode, (tmp_path / "talk.vtt").exists()) == (1, False)
    assert b"stays srt" in run.stderr
    for option in (("--speakers", "name"), ("--restore",), ("--glossary", folder / "talk.srt")):
        run = cappunc("captions", "--rewrap", *option, folder / "talk.srt", "-o", tmp_path / "named.srt")
        assert (run.returncode, (tmp_path / "named.srt").exists()) == (2, False)
        assert f"{option[0]}".encode() in run.stderr
        assert b": does not apply to --rewrap" in run.stderr
    run = cappunc("captions", "--rewrap", folder / "talk.srt", "-o", folder / "talk.srt")
    assert (run.returncode, b"talk.srt: is the input itself" in run.stderr) == (1, True)


def test_a_directory_without_captions_is_not_rewrapped(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text("")
    run = cappunc("captions", "--rewrap", tmp_path, "-o", tmp_path / "new")
    assert (run.returncode, run.stdout, run.stderr) == (1, b"", b"cappunc: no captions found\n")


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (("-o", "talk.txt"), None),
        (("-o", "new.json"), None),
        (("-o", "talk.v2"), None),
        (("-o", "new.webvtt"), "WEBVTT"),
        (("-o", "new.VTT"), "WEBVTT"),
        (("-o", "new"), "1\n"),
        (("-o", "new.txt", "--to", "vtt"), "WEBVTT"),
        (("-o", "v2.dir/", "--to", "vtt"), "WEBVTT"),
        (("-o", "v2.dir/"), "1\n"),
    ],
)
def test_the_output_name_determines_the_format(arguments: tuple[str, ...], begins: str | None, tmp_path: Path) -> None:
    source = tmp_path / "talk.ctm"
    source.write_text("a 1 0.0 0.5 hello\n")
    (tmp_path / "v2.dir").mkdir()
    run = cappunc("captions", "--no-restore", source, *arguments, cwd=tmp_path)
    made = [path for path in tmp_path.rglob("*.*") if path.is_file() and path != source and path.suffix != ".jsonl"]
    made += [path for path in [tmp_path / "new"] if path.is_file()]
    if begins is None:
        assert (run.returncode, made) == (2, [])
        assert f"{arguments[1]} names none of srt, vtt, ass, ttml, ".encode() in run.stderr
    else:
        assert (run.returncode, len(made)) == (0, 1)
        assert made[0].read_text().startswith(begins)


def test_text_is_restored_first(tiny_model: Path, tmp_path: Path) -> None:
    rows = [f"talk 1 {i * 0.4:.2f} 0.3 {word}\n" for i, word in enumerate(WORDS.split())]
    path = tmp_path / "talk.ctm"
    path.write_text("".join(rows))
    plain = cappunc("captions", "--no-restore", path, "-o", "-")
    run = cappunc("captions", "--model", tiny_model, path, "-o", "-")
    assert run.returncode == plain.returncode == 0, run.stderr
    assert b"hello anna then" in plain.stdout
    assert b"London" in run.stdout
    piped = cappunc("captions", "--no-restore", "-", data=path.read_bytes())
    assert piped.stdout == plain.stdout


def rewrapped(text: str, name: str = "talk.srt", width: int = 42) -> str:
    document = formats.read(text, name)
    output = rewrap(document, lambda texts: LineBreaker(texts, ENGLISH, width).best(0, len(texts))[1])
    formats.verify(document, output, lines=True)
    return output


@pytest.mark.parametrize(
    ("name", "cue", "expected"),
    [
        ("a.srt", "It was\ntaken down.", "It was taken down."),
        ("a.srt", "It was\r\ntaken down.", "It was taken down."),
        ("a.srt", "{\\an8}We <i>all\nwent</i> home, to sleep.", "{\\an8}We <i>all went</i> home,\nto sleep."),
        ("a.srt", "- One.\n- Two.", None),
        ("a.srt", "♪ la la\nla ♪", None),
        ("a.srt", "ANNA: come\nhere", None),
        ("a.srt", "one<br>two", None),
        ("a.srt", "Bonjour\u00a0!\nÇa va\u00a0?", "Bonjour\u00a0! Ça va\u00a0?"),
        ("a.vtt", "<v Bob>come\nhere</v>", "<v Bob>come here</v>"),
        ("a.vtt", "Fish &amp;\nchips", None),
    ],
)  # fmt: skip
def test_rewrap(name: str, cue: str, expected: str | None) -> None:
    head = "WEBVTT\n\n" if name.endswith("vtt") else "3\n"
    stamp = "00:01.000" if name.endswith("vtt") else "00:00:01,5"
    frame = f"{head}{stamp} --> 00:00:04.000 X1:1\n%s\n\n"
    assert rewrapped(frame % cue, name, 22) == frame % (cue if expected is None else expected)


def test_rewrap_of_other_formats_is_refused() -> None:
    with pytest.raises(BadInput, match="only srt, vtt, sbv can be rewrapped, and this is ctm"):
        rewrapped("a 1 0.0 0.5 hello\n", "a.ctm")
    rolling = "WEBVTT\n\n" + "".join(
        f"00:{i:02}.000 --> 00:{i + 2:02}.000\nline number {i}\nline number {i + 1}\n\n" for i in range(0, 40)
    )
    with pytest.raises(BadInput, match="roll"):
        rewrapped(rolling, "a.vtt")


@pytest.mark.slow
def test_rewrap_changes_line_breaks_alone_in_the_samples(shared: Path) -> None:
    done = changed = 0
    for path in sorted((shared / "samples").glob("[svb]*/*")):
        if path.stat().st_size > 30_000:
            continue
        try:
            text, _ = read_text(str(path))
            output = rewrapped(text, path.name, 32)
        except (UnknownFormat, BadInput):
            continue
        done += 1
        changed += output != text
        assert "".join(output.split()) == "".join(text.split()), path
    assert done > 100
    assert changed > 20
