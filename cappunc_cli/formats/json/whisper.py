"""Whisper and its many derivatives: segments with word lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.dialect import Dialect, Entries, Field, Track, node, nodes, seconds, text_at, texts
from cappunc_cli.formats.json.scan import Literal, Node

_ROOTS = ("segments[]", "transcription.segments[]", "result.segments[]", "output.segments[]", "[]")
_WORDS = Entries("word", length="duration")


def find_segments(value: object) -> list[Node]:
    """The segments of a file: `segments`, also in `transcription`, `result` or `output`, or a bare list."""
    return next((found for root in _ROOTS if (found := nodes(value, root))), [])


def _track(value: object, entries: Entries, *others: Sequence[Field]) -> Track:
    """The words, with the texts of segments and of the file as copies, and `others` after them."""
    segments = find_segments(value)
    timed = [segment for segment in segments if entries.fields(nodes(segment, "words[]"))]
    copies = texts(timed, "[].text"), texts(value, "text"), texts(value, "transcription.text"), *others
    return Track.of(entries.segments(segments), *copies)


def _whisper(value: object) -> Iterator[Track]:
    """openai-whisper and faster-whisper: segments, with the words (` One`) under `word` if they were asked for.

    faster-whisper has no JSON format; its users dump the segments as a list or under a key. stable-ts is like
    openai-whisper; its `ori_dict` is the original result and stays as it is.
    """
    yield _track(value, _WORDS)


def _whisper_timestamped(value: object) -> Iterator[Track]:
    """whisper-timestamped: words under `text`, without a leading space, each with a `confidence`.

    With `punctuations_with_words=False` the words have no marks while the texts have them; such words
    get only their case restored. A word may contain a space: `Bonjour !`.
    """
    yield _track(value, Entries("text", length="duration"))


def _whisperx(value: object) -> Iterator[Track]:
    """WhisperX: words in segments, repeated in `word_segments`, without a leading space; times may be missing."""
    yield _track(value, _WORDS, _WORDS.fields(nodes(value, "word_segments[]")))


def _openai_api(value: object) -> Iterator[Track]:
    """OpenAI's transcription API, verbose_json: `text` or segments with marks, and `words` without.

    The words are raw and stay; they only give their times to the text or the segments. A diarised transcript has
    speakers on its segments.
    """
    segments = Entries("text", length="duration").fields(nodes(value, "segments[]"), join="\n")
    yield Track.of(segments, texts(value, "text"), timing=_WORDS.fields(nodes(value, "words[]")))


def _huggingface(value: object) -> Iterator[Track]:
    """Hugging Face pipelines and insanely-fast-whisper: `chunks` with `timestamp: [start, end]`.

    Also just the list of chunks; in a diarised file, `speakers` repeats them. The end may be null.
    """
    chunks = _chunks(value, "[]") or _chunks(value, "chunks[]") or _chunks(value, "speakers[]")
    yield Track(chunks, [texts(value, "text"), _chunks(value, "speakers[]")])


def _chunks(value: object, path: str) -> list[Field]:
    found = [
        c for c in nodes(value, path) if isinstance(c.get("text"), Literal) and isinstance(c.get("timestamp"), list)
    ]
    # Sentences are lines; words are joined with their own leading spaces, if they have any.
    words = 2 * sum(len(chunk["text"].split()) <= 1 for chunk in found) > len(found)
    join = _CHUNKS.join(found) if words else "\n"
    times = ([*map(seconds, chunk["timestamp"]), None, None][:2] for chunk in found)
    return [
        Field(chunk["text"], start, end, chunk.get("speaker"), join)
        for chunk, (start, end) in zip(found, times, strict=True)
    ]


_CHUNKS = Entries("text")


def _whispercpp(value: object) -> Iterator[Track]:
    """whisper.cpp (-oj, -ojf): a `transcription` of segments with offsets in milliseconds.

    With `-ml` a segment can begin within a word (` 100`, `,`, `000`). The `tokens` are the model's
    word pieces and stay as they are.
    """
    segments = nodes(value, "transcription[]")
    pieces = _CHUNKS.join(segments) == ""
    fields = []
    for segment in segments:
        start, end = _OFFSETS.times(node(segment, "offsets"))
        if (text := text_at(segment, "text")) is not None:
            join = "" if pieces and not text[:1].isspace() else "\n"
            fields.append(Field(text, start, end, segment.get("speaker"), join))
    yield Track(fields)


_OFFSETS = Entries("text", "from", "to", unit=1)

DIALECTS = (
    Dialect(
        "whispercpp", _whispercpp, ["transcription[].text @"],
        at=("systeminfo", "params", "model", "result", "transcription[].offsets"),
    ),
    Dialect("stable-ts", _whisper, ["@ ori_dict", "@ regroup_history", "@ nonspeech_sections"], at=_ROOTS),
    Dialect(
        "whisperx", _whisperx, ["word_segments[]", "@ word_segments", "@.words[].word @.words[].score"], at=_ROOTS
    ),
    Dialect(
        "whisper-timestamped", _whisper_timestamped, ["@.words[].text @.words[].confidence @.words[].start"], at=_ROOTS
    ),
    Dialect(
        "openai-api", _openai_api,
        ["text:text words[].word words[].start !segments[].words", "text:text task=transcribe !segments"],
    ),
    Dialect(
        "huggingface", _huggingface,
        ["@[].text:text @[].timestamp[]:number", "@[].text:text @[].timestamp[]:whole"], at=("chunks", "speakers", ""),
    ),
    Dialect(
        "whisper", _whisper,
        ["text:text segments !segments[]", "@.text:text @.start segments", "@.text:text @.start transcription",
         "@.text:text @.start result", "@.text:text @.start output", "@.words[].word @.text:text @.start",
         "@.text:text @.start @.seek", "@.text:text @.start @.tokens", "@.text:text @.start @.avg_logprob",
         "@.text:text @.start @.no_speech_prob"],
        at=_ROOTS,
    ),
)  # fmt: skip
