"""Live captions: each word once, in order, after a bounded wait and a bounded amount of work, with either engine."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import IO, Any, cast

import numpy as np
import pytest
from commands import TINY, Run, cappunc, line
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.labels import TERMINAL, strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.languages import language
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import OnnxEngine
from cappunc_cli.restoration.models.recurrent import GruEngine
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from cappunc_cli.restoration.tuned import CONTEXT
from cappunc_cli.serving.live_text import LiveInput, LiveOutput, PlainToken

#: Reads a window again for each word; and carries its state from word to word, here with random weights.
MODEL, RECURRENT = load_model(str(TINY), "cpu"), load_model(str(TINY.with_name("tiny_gru")), "cpu", engine="gru")
either_engine = pytest.mark.parametrize("model", [MODEL, RECURRENT], ids=["window", "recurrent"])
BARE = ["hello", "then", "why", "and", "the", "cat", "went", "here", "i", "london", "nato", "iphone", "dr", "3", "she-"]
ODD = ["000", "a", "b", "c", "Anna", "NATO", "here.", "ph.d", "u.s.", "42nd", "..."]


@st.composite
def talks(draw: st.DrawFn, known: Sequence[str] = BARE + ODD) -> list[Word]:
    """Words, with times and turns or without."""
    tokens = draw(st.lists(st.sampled_from(known), min_size=1, max_size=25))
    rng, timed = Random(draw(st.integers(0, 1 << 20))), draw(st.booleans())
    words, clock, turn = [], 0, 0
    for token in tokens:
        start, clock = clock, clock + rng.randint(50, 500)
        words.append(Word(token, start if timed else None, clock if timed else None, turn=turn))
        clock += rng.choice([0, 50, 350, 900])
        turn += rng.random() < 0.1
    return words


def live(words: Sequence[Word], look_ahead: int, model: Model = MODEL, **options: Any) -> list[str]:
    stream = LiveRestorer(model, Options(**options), look_ahead)
    return [*(text for word in words for text in stream.feed(word)), *stream.end()]


@either_engine
@given(words=talks(), look_ahead=st.integers(0, 12), every=st.integers(1, 4), rng=st.randoms())
def test_each_word_comes_once_and_in_order(
    words: list[Word], look_ahead: int, every: int, rng: Any, model: Model
) -> None:
    stream = LiveRestorer(model, None, look_ahead, every)
    found: list[str] = []
    for i, word in enumerate(words, 1):
        found += stream.feed(word)
        assert stream.pending == i - len(found) <= look_ahead + every - 1
        if rng.random() < 0.1:
            found += stream.flush(rng.choice([None, 1, 3]))
    found += stream.end()
    assert [strip(text)[0] for text in found] == [strip(word.text)[0] for word in words]
    assert stream.pending == 0


@either_engine
@given(words=talks(), more=st.integers(0, 5), existing=st.sampled_from([None, "replace", "keep"]))
def test_with_the_whole_text_as_look_ahead_it_is_fix(
    words: list[Word], more: int, existing: str | None, model: Model
) -> None:
    given = {} if existing is None else {"existing": existing}
    # What a text lacks is known only at its end, so auto is replace in a stream.
    options = Options(existing=existing or "replace", window=64, overlap=0)
    assert live(words, len(words) + more, model, **given) == restore(words, model, options)


def test_so_it_does_for_a_text_of_several_windows() -> None:
    rng = Random(2)
    words = [Word(rng.choice(BARE)) for _ in range(3 * MODEL.config.window)]
    assert live(words, len(words)) == restore(words, MODEL)


@either_engine
@given(common=talks(), one=talks(), other=talks(), look_ahead=st.integers(0, 8))
def test_nothing_depends_on_words_beyond_the_look_ahead(
    common: list[Word], one: list[Word], other: list[Word], look_ahead: int, model: Model
) -> None:
    # Of the words that follow, only those right behind the look-ahead can be read too early.
    first, second = (live([*common, *rest[:3]], look_ahead, model) for rest in (one, other))
    committed = max(len(common) - look_ahead, 0)
    assert first[:committed] == second[:committed]


@either_engine
@given(words=talks(BARE), look_ahead=st.integers(0, 8))
def test_committed_words_constrain_the_next_ones(words: list[Word], look_ahead: int, model: Model) -> None:
    new = [strip(text) for text in live(words, look_ahead, model)]
    for (word, label), (following, start) in pairwise(new):
        # `I. I. hello` has initials, whose periods end no sentence.
        if label.mark and label.mark in TERMINAL and word not in ("dr", "i") and following not in ("3", "iphone"):
            assert start.case != "lower", (word, following)
        # After a word that is cut off there can be no mark, yet a sentence may begin: the network decides its case.
        plain = following in ("the", "and", "cat", "went", "here", "she-") and model is MODEL
        if not label.mark and word != "she-" and plain:
            assert start.case == "lower", (word, following)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[int | None]]:
    """The pauses after the words that an engine reads, run by run."""
    asked: list[list[int | None]] = []
    predict, read = OnnxEngine.predict, GruEngine.read

    def predicting(engine: OnnxEngine, words: Any, pauses: Any, *others: Any) -> Any:
        asked.append(list(pauses))
        return predict(engine, words, pauses, *others)

    def reading(engine: GruEngine, words: Any, pauses: Any, *others: Any) -> Any:
        asked.append(list(pauses))
        return read(engine, words, pauses, *others)

    monkeypatch.setattr(OnnxEngine, "predict", predicting)
    monkeypatch.setattr(GruEngine, "read", reading)
    return asked


@pytest.mark.parametrize(("model", "most"), [(MODEL, CONTEXT + 5), (RECURRENT, 5)], ids=["window", "recurrent"])
def test_the_work_for_a_word_is_bounded(model: Model, most: int, runs: list[list[int | None]]) -> None:
    rng, stream = Random(1), LiveRestorer(model, None, 4)
    words = [Word(rng.choice(BARE), 300 * i, 300 * i + 200) for i in range(2 * CONTEXT)]
    found = [text for word in words for text in stream.feed(word)]
    assert [strip(text)[0] for text in found] == [word.text for word in words[:-4]]
    assert len(runs) == 2 * CONTEXT - 4
    assert max(map(len, runs)) == most


@pytest.mark.slow
def test_memory_is_flat_over_hours_of_speech() -> None:
    stream, held = LiveRestorer(RECURRENT), []
    for i in range(811):
        if i == 360:  # until then caches fill, of the package and of NumPy
            tracemalloc.start()
        stream.feed(Word(BARE[i % len(BARE)], 4000 * i, 4000 * i + (300, 4000)[i % 2]))
        if i >= 360 and i % 90 == 0:
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    # A leak grows all the time.
    assert min(after - before for before, after in pairwise(held)) < 4_000, held


@pytest.mark.parametrize(
    ("model", "heard"), [(MODEL, [[100, None], [100, 700]]), (RECURRENT, [[100, None], [700]])], ids=["window", "gru"]
)
def test_the_silence_after_the_last_word_reaches_the_model(
    model: Model, heard: list[list[int | None]], runs: list[list[int | None]]
) -> None:
    stream = LiveRestorer(model, None, 5)
    for word in (Word("hello", 0, 400), Word("anna", 500, 900)):
        stream.feed(word)
    stream.flush(1)
    stream.flush(None, 700)
    assert runs == heard


@either_engine
@pytest.mark.parametrize("look_ahead", [1, 8])
def test_no_mark_comes_before_what_follows(look_ahead: int, model: Model) -> None:
    words = [Word("hello"), Word("then")]
    assert strip(live(words, look_ahead, model)[-1])[1].mark
    stream = LiveRestorer(model, None, look_ahead)
    found = [text for word in words for text in stream.feed(word)]
    stream.follow()
    assert not strip([*found, *stream.end()][-1])[1].mark


@either_engine
def test_letters_and_numbers_are_decided_with_the_words_before_them(model: Model) -> None:
    new = live(
        [Word(text) for text in ["the", "c", "i", "a", "went", "to", "NATO", "here", "10", "000", "cats"]], 3, model
    )
    assert [text[0] for text in new[1:4]] == ["C", "I", "A"]
    assert new[6].startswith("NATO")
    assert new[8] == "10"


def test_flushed_words_do_not_end_the_text() -> None:
    stream = LiveRestorer(MODEL, None, 5)
    assert [text for word in ("hello", "anna", "and", "then") for text in stream.feed(Word(word))] == []
    assert stream.flush(2) == ["Hello", "Anna,"]
    assert stream.pending == 2
    assert stream.flush(1) == ["and"]
    assert stream.flush() + stream.flush() == ["then."]  # the tiny model puts a period after the last word
    assert stream.feed(Word("the")) == []
    assert stream.end() == ["The."]
    assert [*stream.feed(Word("the")), *stream.end()] == ["The."]


def test_the_last_word_may_have_a_comma_while_the_text_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    def commas(_: OnnxEngine, _words: Any, _pauses: Any, _turns: Any, chunks: Any, _lines: Any) -> Any:
        for chunk in chunks:
            rows = np.zeros((len(chunk), 13), np.float32)
            rows[:, [0, 5]] = 1
            yield chunk.kept(rows)

    monkeypatch.setattr(OnnxEngine, "predict", commas)
    words = [Word("hello", 0, 100), Word("cat", 200, 300)]
    stream = LiveRestorer(MODEL, None, 0)
    assert [text for word in words for text in stream.feed(word)] == ["Hello,", "cat,"]
    assert live(words, 2)[-1] != "cat,"


def test_quotation_marks_are_refused_live() -> None:
    with pytest.raises(CappuncError, match="“"):
        LiveRestorer(MODEL, Options(marks=",.?“"))


@pytest.mark.parametrize("look_ahead", [0, 8])
def test_spanish_questions_are_opened_once_and_closed(look_ahead: int) -> None:
    try:
        spanish = load_model(device="cpu", language="es")
    except BadModel:
        pytest.skip("the Spanish model is not installed")
    text = (
        "hola buenos días cómo estás hoy yo muy bien gracias y qué vas a hacer mañana por la tarde cuando vuelva ella"
    )
    new = live([Word(word) for word in text.split()], look_ahead, spanish, language="es")
    signs = [c for c in " ".join(new) if c in "¿?"]
    assert signs
    assert "".join(signs) == "¿?" * (len(signs) // 2)


# --- input and output


class SilenceRecorder:
    """A stream that records the silence that it is flushed with."""

    def __init__(self) -> None:
        self.silences: list[int | None] = []

    def feed(self, _: Word) -> list[str]:
        return []

    def flush(self, _: int, silence: int | None) -> list[str]:
        self.silences.append(silence)
        return []


@pytest.mark.parametrize(
    ("blocks", "waited", "silence"),
    [
        # for each block: (the second at which it arrives, its words)
        ([(10.0, [Word("a", 0, 400)]), (10.5, [Word("b", 500, 900)])], 2.0, 1600),
        ([(10.0, [Word("a", 0, 400), Word("b", 2000, 2400)])], 2.0, None),  # it may all be lag
        ([(10.0, [Word("a", 0, 400), Word("b", 2000, 2400)])], 3.5, 1100),
        ([(10.0, [Word("a"), Word("b")])], 9.0, None),
        ([(10.0, [Word("a", 0, None)])], 9.0, None),
        ([(10.0, [Word("a", 0, 100)])], 99.0, 10_000),
    ],
)
def test_the_silence_is_estimated_from_the_clock_and_the_lag(
    blocks: list[tuple[float, list[Word]]], waited: float, silence: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = SilenceRecorder()
    captions = LiveOutput(cast("LiveRestorer", stream), language("en"), 1000.0, print)
    for second, words in blocks:
        monkeypatch.setattr(time, "monotonic", lambda second=second: second)
        for word in words:
            captions.take(PlainToken((word,), (True,), False, " "))
    last = blocks[-1][0] + waited
    monkeypatch.setattr(time, "monotonic", lambda: last)
    captions.write_overdue()
    assert stream.silences[-1] == silence


TEXTS = {
    "one": "One", "two": "two.", "three": "Three", "four": "“four?”", "five": "Five", "six": "Six…", "meet": "Meet",
    "dr": "Dr.", "smith": "Smith", "ph.d": "Ph.D.", "today": "today.", "yes": "Yes", "r": "R.", "tolkien": "Tolkien",
    "j.r.r": "J.R.R.", "i": "I.", "w": "W.", "bush": "Bush.",
}  # fmt: skip


def written(text: str) -> list[str]:
    """What is written for a plain text whose words are restored to `TEXTS`."""

    class Told:
        def feed(self, word: Word) -> list[str]:
            return [TEXTS[word.text]]

        def follow(self) -> None:
            pass

    wrote: list[str] = []
    output = LiveOutput(cast("LiveRestorer", Told()), language("en"), None, wrote.append)
    for piece in LiveInput(print).pieces(text.encode()):
        output.take(piece)
    return wrote


def test_each_sentence_has_a_line() -> None:
    """A line break is written when the next sentence begins, so that nothing follows the words of an unfinished one."""
    found = written("one two three\nfour five\n\nsix ")
    assert found == ["One", " two.", "\nThree", " “four?”", "\nFive", "\n\nSix…"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("meet dr smith ph.d today yes ", "Meet Dr. Smith Ph.D. today.\nYes"),
        ("r tolkien j.r.r i yes w bush ", "R. Tolkien J.R.R. I.\nYes W. Bush."),
        *(
            (f"one {token} two three ", f"One {token} two.\nThree")
            for token in ("@nasa", "www.example.com", "me@example.com", "[Music]", "(Laughs)", "*sighs*")
        ),
    ],
)
def test_an_abbreviation_ends_no_line_and_what_is_not_a_word_stays(text: str, expected: str) -> None:
    assert "".join(written(text)) == expected


def said(*words: str) -> str:
    return "".join(json.dumps({"word": word}) + "\n" for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one [door slams] two", "one two"),
        ("one [ __ ] two [1]", "one two"),
        ("one [door\n\ntwo three", "one two three"),
        ("one [people speaking in Spanish while a man begins to sing outside] two", "one two"),
        (f"[{'a ' * 16}one two", "one two"),  # never closed
        ("one ♪ la la ♪ two", "one two"),
        ("one\n♪la la la♪\ntwo", "one two"),
        ("one\n♪ la la\ntwo three", "one two three"),  # to the end of the line, as in `fix`
        ("one ♪ two ♪ ♪ three ♪ four", "one four"),
        (f"♪ {'a ' * 16}one two", "one two"),  # never closed
        (said("one", "♪", "la", "la", "♪", "two"), "one two"),
    ],
)
def test_sounds_and_lyrics_are_no_words(text: str, words: str) -> None:
    pieces = [*LiveInput(print).pieces(f"{text} ".encode())]
    assert [word.text for piece in pieces for word in piece.words] == words.split()
    assert "".join(piece.written([word.text for word in piece.words]) for piece in pieces).split() == text.split()


def test_chevrons_start_a_turn() -> None:
    pieces = list(LiveInput(print).pieces(b"one >> two note: three "))
    assert [word.turn for piece in pieces for word in piece.words] == [0, 1, 1, 1]


@given(st.sampled_from(["", "\ufeff"]), st.booleans(), st.data())
def test_the_pieces_do_not_depend_on_how_the_input_is_cut(begin: str, as_json: bool, data: st.DataObject) -> None:
    word = st.sampled_from(["one", "café", "你好", "[door", "slams]", "♪", ">>", "{x}", "www.x.org"])
    if as_json:
        text = said(*data.draw(st.lists(word)))
    else:
        space = st.sampled_from([" ", "\n", "\n\n", "\t", "\r\n", "\u3000", "\xa0"])
        text = begin + "".join(map("".join, data.draw(st.lists(st.tuples(word, space)))))
    sent = text.encode() + data.draw(st.sampled_from([b"", b"\xff", b"\xc3", b"last"]))
    whole, parts = LiveInput(print), LiveInput(print)
    expected = [*whole.pieces(sent), *whole.rest(False)]
    found, at = [], 0
    while at < len(sent):
        size = data.draw(st.integers(1, 40))
        found += parts.pieces(sent[at : at + size])
        at += size
    assert [*found, *parts.rest(False)] == expected


# --- the command


OPTIONS = ("stream", "--model", str(TINY), "--device", "cpu")


def run(data: str | bytes, *arguments: str) -> Run:
    return cappunc(*OPTIONS, *arguments, data=data.encode() if isinstance(data, str) else data)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (
            "\ufeffhello anna and\r\nthen we\n went\nhome\n\nwhy is nato\there",
            "Hello Anna, and then we went home.\n\nWhy is NATO here.\n",
        ),
        ("", ""),
        (" \n\n", ""),
        (b"the caf\xe9 went", b"The caf\xe9 went.\n"),
        # No mark comes before an address.
        ("hello anna @nasa", "Hello Anna @nasa\n"),
        ("hello anna\n\n@nasa", "Hello Anna.\n\n@nasa\n"),
        ("hello anna [Music]", "Hello Anna.\n[Music]\n"),
    ],
)
def test_plain_text(data: str | bytes, shown: str | bytes) -> None:
    found = run(data)
    expected = shown.encode() if isinstance(shown, str) else shown
    assert (found.returncode, found.stdout, found.stderr) == (0, expected, b"")


def test_cues_show_what_is_not_a_word() -> None:
    assert run("hello [Music] anna", "--to", "vtt").stdout.decode().endswith("\nHello [Music] Anna.\n\n")


def test_what_is_not_a_word_stays_as_it_is_in_json_too() -> None:
    given = ["hello anna", "@nasa", "[door", "slams]", "so see www.example.com now", "(laughs)", "then"]
    lines = [json.dumps({"word": word, "start": 2.0 * i, "end": 2.0 * i + 0.5}) for i, word in enumerate(given)]
    shown = [json.loads(line)["word"] for line in run("\n".join(lines)).stdout.splitlines()]
    assert [shown[i] for i in (1, 2, 3, 5)] == ["@nasa", "[door", "slams]", "(laughs)"]
    assert shown[0] == "Hello Anna"
    assert " see www.example.com " in shown[4]
    cues = run("\n".join(lines), "--to", "vtt").stdout.decode()
    assert [word.lower() in cues.lower() for word in ("@nasa", "[door", "slams]", "(laughs)")] == [True] * 4


def test_json_lines_keep_everything_but_the_word() -> None:
    lines = [
        '{"word": "hello", "start": 0.10, "end": 1e0, "conf": 0.50, "word_id": [1, {"a": null}]}',
        ' { "id":1, "text" : " anna\\u00e9 " ,"x":"caf\\u00e9"}',
        '{"text": "and the cat", "start": 2, "end": 3}',
        '{"text": ""}',
        '{"speaker": "B", "word": "why"}',
    ]
    found = run("\n".join(lines) + "\n")
    assert (found.returncode, found.stderr) == (0, b"")
    shown = found.stdout.decode().splitlines()
    assert shown[0] == lines[0].replace("hello", "Hello")
    assert shown[3:] == ['{"text": ""}', '{"speaker": "B", "word": "why."}']
    for old, new in zip(lines, shown, strict=True):
        before, after = json.loads(old), json.loads(new)
        assert list(before) == list(after)
        changed = {key for key in before if before[key] != after[key]}
        assert changed <= {"word", "text"}
        assert all(before[key].casefold().split() == _bare(after[key]) for key in changed)


def _bare(text: str) -> list[str]:
    return [strip(word)[0] for word in text.split()]


def test_results_of_recognisers() -> None:
    lines = [
        '{"partial" : "hello"}',
        '{"result" : [{"conf" : 1.0, "end" : 0.5, "word" : "hello"}, {"word" : "anna"}], "text" : "hello anna"}',
        '{"type":"Metadata","request_id":"1"}',
        '{"channel":{"alternatives":[{"transcript":"and","words":[{"word":"and"}]}]},"is_final":false}',
        '{"channel":{"alternatives":[{"words":[{"word":"and","punctuated_word":"And"},{"word":"nato"}]}]},"is_final":true}',
        '{"channel":{"alternatives":[{"transcript":"","words":[]}]},"is_final":true}',
    ]
    found = run("\n".join(lines))
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.decode().splitlines() == [
        '{"conf" : 1.0, "end" : 0.5, "word" : "Hello"}',
        '{"word" : "Anna,"}',
        # After a new comma only a name is capital.
        '{"word":"and","punctuated_word":"and"}',
        '{"word":"NATO."}',
    ]


def test_a_new_speaker_begins_a_sentence() -> None:
    words = [("the", "A"), ("cat", "A"), ("the", "B"), ("dog", None)]
    lines = [json.dumps({"word": word, "speaker": speaker}) for word, speaker in words]
    shown = [json.loads(line)["word"] for line in run("\n".join(lines)).stdout.splitlines()]
    assert shown == ["The", "cat.", "The", "dog."]


def test_a_broken_line_is_reported_and_the_stream_continues() -> None:
    lines = ['{"word": "hello"}', '{"word": "an', "", "[1]", '{"start": 1}', '{"result": [1]}', '{"word": "anna"}']
    found = run("\n".join(lines))
    assert found.returncode == 1
    assert [json.loads(line)["word"] for line in found.stdout.splitlines()] == ["Hello", "Anna."]
    messages = found.stderr.decode().splitlines()
    assert [message.split(": ")[:2] for message in messages] == [["cappunc", f"<stdin>:{n}"] for n in (2, 4, 5, 6)]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line(*OPTIONS, *arguments), **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _errors(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stderr is not None
    return process.stderr.read()


def test_a_word_is_written_once_its_look_ahead_has_come() -> None:
    with running("--look-ahead", "1") as process:
        stdin, stdout = _pipes(process)
        stdin.write(b"hello anna the")
        stdin.flush()
        assert stdout.read(5) == b"Hello"  # `the` may not be a complete word
        stdin.write(b" cat")
        stdin.flush()
        assert stdout.read(5) == b" Anna"
        assert process.communicate() == (b" the cat.\n", b"")
        assert process.returncode == 0


def test_a_word_is_written_after_the_maximum_delay() -> None:
    with running("--look-ahead", "50", "--max-delay", "0.2") as process:
        stdin, stdout = _pipes(process)
        stdin.write(b"hello anna ")
        stdin.flush()
        assert stdout.read(5) == b"Hello"
        assert process.communicate(b"here")[0].split()[-1].lower() == b"here."


def test_pending_words_are_written_and_missing_terms_told_on_interrupt(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("Kubernetes\nHello\n", "utf-8")
    with running("--look-ahead", "3", "--glossary", str(tmp_path / "terms.txt")) as process:
        stdin, stdout = _pipes(process)
        stdin.write(b"hello anna and the cat")
        stdin.flush()
        assert stdout.read(5) == b"Hello"
        process.send_signal(signal.SIGINT)
        assert stdout.read() == b" Anna, and the cat.\n"
        assert process.wait(60) == 130
        assert _errors(process) == b"cappunc: 1 glossary term found in no stream: Kubernetes\n"


def test_closed_output() -> None:
    with running("--look-ahead", "0") as process:
        stdin, stdout = _pipes(process)
        stdin.write(b"hello ")
        stdin.flush()
        assert stdout.read(5) == b"Hello"
        stdout.close()
        stdin.write(b"anna ")
        stdin.flush()
        assert process.wait(60) != 0
        assert _errors(process) == b""
