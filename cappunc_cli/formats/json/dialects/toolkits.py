"""Kaldi, Vosk, NeMo and sherpa-onnx; and aligners, which find the times of a given text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from cappunc_cli.formats.json.dialect import (
    Anchor,
    Dialect,
    Entries,
    Field,
    Track,
    Voices,
    listed,
    node,
    nodes,
    seconds,
    texts,
    values,
)  # fmt: skip
from cappunc_cli.formats.json.scan import Literal, Node


def _bbc_kaldi(value: object) -> Iterator[Track]:
    """BBC Kaldi (Octo): `punct` is the written form of each word; `word` is raw and stays."""
    top = node(value, "retval")
    voices = Voices.of(
        (seconds(s.get("start")), node(s, "speaker").get("@id")) for s in nodes(top, "segmentation.segments[]")
    )
    words = Entries("punct").fields(nodes(top, "words[]"))
    yield Track(voices.named(words), [texts(top, "punct")])


def _kaldi(value: object) -> Iterator[Track]:
    """Kaldi GStreamer server: `word-alignment` with start and length, and `transcript`.

    One response or a stream of them; interim results are not touched.
    """
    for answer in listed(value):
        if node(answer, "result").get("final") is not False:
            best = node(answer, "result.hypotheses[0]")
            words = Entries("word", length="length").fields(nodes(best, "word-alignment[]"))
            yield Track.of(words, texts(best, "transcript"))


def _vosk(value: object) -> Iterator[Track]:
    """Vosk: words in `result` and their `text`; one object, a list, or objects one after the other.

    Partial results in between are ignored, and so are all but the first of N-best alternatives.
    """
    for utterance in listed(value):
        best = node(utterance, "alternatives[0]") if "alternatives" in utterance else utterance
        yield Track.of(Entries("word").fields(nodes(best, "result[]")), texts(best, "text"))


def _nemo(value: object) -> Iterator[Track]:
    """NVIDIA NeMo manifests: JSON Lines with `audio_filepath` and `text`, or `pred_text`.

    `text` beside `pred_text` is a reference and stays as it is.
    """
    for line in listed(value):
        stamps = node(line, "timestamp") or node(line, "timestamps")
        words = Entries("word").fields(nodes(stamps, "word[]"))
        text = texts(line, "pred_text" if "pred_text" in line else "text")
        yield Track.of(words, text, texts(stamps, "segment[].segment"))


def _sherpa_onnx(value: object) -> Iterator[Track]:
    """sherpa-onnx: a `text`, and the `tokens` of the model with their `timestamps`.

    The tokens are word pieces and stay as they are: they only give their times to the text. A word begins with a space.
    """
    for result in listed(value):
        timing: list[Field] = []
        columns = (values(result, f"{key}[]") for key in ("tokens", "timestamps", "durations"))
        for token, time, length in zip_longest(*columns):
            if isinstance(token, Literal):
                entry = Node(start=time, duration=length)
                timing.append(Field(token, *Entries("", length="duration").times(entry), join=""))
        yield Track(texts(result, "text"), timing=timing)


def _gentle(value: object) -> Iterator[Track]:
    """Gentle: only `transcript` has marks; words have character offsets in it.

    The offsets are updated; `alignedWord` is raw and stays.
    """
    for transcript in texts(value, "transcript"):
        entries = nodes(value, "words[]")
        words = Entries("word").fields(entries)
        anchors = [Anchor(transcript.literal, word, key) for word in entries for key in ("startOffset", "endOffset")]
        yield Track([transcript._replace(join=" ")], timing=words, anchors=anchors, bare=[(None, words)])


def _aeneas(value: object) -> Iterator[Track]:
    """aeneas sync maps: fragments with lines and times as strings; each level of fragments repeats the text."""
    levels: list[list[Field]] = []
    fragments = nodes(value, "fragments[]")
    while fragments:
        fields: list[Field] = []
        for fragment in fragments:
            lines = [line for line in values(fragment, "lines[]") if isinstance(line, Literal)]
            for i, line in enumerate(lines):
                start = seconds(fragment.get("begin")) if i == 0 else None
                end = seconds(fragment.get("end")) if i + 1 == len(lines) else None
                fields.append(Field(line, start, end, join=" " if i else "\n"))
        levels.append(fields)
        fragments = nodes(fragments, "[].children[]")
    yield Track.of(*reversed(levels))


DIALECTS = (
    Dialect("bbc-kaldi", _bbc_kaldi, ["retval.words[].punct"]),
    Dialect("kaldi", _kaldi, ["result.hypotheses[]"], listed=True),
    Dialect("aeneas", _aeneas, ["fragments[].begin fragments[].lines"]),
    Dialect("gentle", _gentle, ["transcript:text words[].case"]),
    Dialect("nemo", _nemo, ["audio_filepath"], listed=True),
    Dialect(
        "sherpa-onnx", _sherpa_onnx,
        ["text:text tokens[]:text timestamps[]:number", "text:text tokens timestamps !tokens[]:text !tokens[]:whole"],
        listed=True,
    ),
    Dialect(
        "vosk", _vosk, ["text:text", "partial", "alternatives[].text", "result[].word"],
        only="result text partial partial_result alternatives spk spk_frames", listed=True,
    ),
)  # fmt: skip
