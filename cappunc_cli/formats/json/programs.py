"""Programs: Kaldi, Vosk, NeMo, sherpa-onnx; aligners, which find the times of a text; editors, players, publishers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

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
    rows,
    seconds,
    spaces_begin_words,
    texts,
    values,
)  # fmt: skip
from cappunc_cli.formats.json.scan import Literal, Node


def _bbc_kaldi(value: object) -> Iterator[Track]:
    """BBC Kaldi (Octo): `punct` is the written form of each word; `word` is raw and stays."""
    top = node(value, "retval")
    voices = Voices(
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


def _youtube(value: object) -> Iterator[Track]:
    """YouTube's json3: events with segs; the time of a word is the time of its event plus the word's offset."""
    fields: list[Field] = []
    for event in nodes(value, "events[]"):
        # Events with aAppend hold only the line break between two rows.
        segs = [seg for seg in nodes(event, "segs[]") if isinstance(seg.get("utf8"), Literal)]
        start, end = Entries("", "tStartMs", length="dDurationMs", unit=1).times(event)
        timed = any(seconds(seg.get("tOffsetMs"), 1) is not None for seg in segs)
        join = "\n"
        for i, seg in enumerate(segs):
            if not seg["utf8"].strip() and join == "\n":
                continue
            offset = seconds(seg.get("tOffsetMs"), 1)
            begin = start if offset is None or start is None else start + offset
            # The end of a word with an offset is unknown, as events overlap the next ones.
            known = begin if timed or i == 0 else None
            fields.append(Field(seg["utf8"], known, None if timed or i + 1 < len(segs) else end, join=join))
            join = ""
    yield Track(fields)


def _draftjs(value: object) -> Iterator[Track]:
    """DraftJS documents of transcript editors: texts of blocks, and an entity for each word.

    The offsets of entities in the text of a block, in UTF-16 code units, are updated.
    `data.words` of a block repeats the words as `punct`; `word` there is raw and stays.
    """
    listed = node(value, "").get("entityMap")
    pairs = listed.items() if isinstance(listed, dict) else enumerate(listed if isinstance(listed, list) else [])
    entities = {str(key): entity for key, entity in pairs}
    fields: list[Field] = []
    anchors: list[Anchor] = []
    blocks = [block for block in nodes(value, "blocks[]") if isinstance(block.get("text"), Literal)]
    for block in blocks:
        ranges = [r for r in nodes(block, "entityRanges[]") if isinstance(r.get("offset"), int)]
        ranges.sort(key=lambda r: r["offset"])
        data = [node(entities.get(str(r.get("key"))), "data") for r in ranges]
        fields += Entries("text").fields(data, node(block, "data").get("speaker"), " ", "\n")
        for place, entity in zip(ranges, data, strict=True):
            # When blocks are joined, editors leave the offsets in the data as they were: such offsets stay.
            fresh = all(place.get(key) == entity.get(key) for key in ("offset", "length"))
            for counting in (place, entity) if fresh else (place,):
                anchors.append(Anchor(block["text"], counting, "offset", utf16=True))
                anchors.append(Anchor(block["text"], counting, "length", "offset", grows=True, utf16=True))
    copies = texts(blocks, "[].text"), texts(blocks, "[].data.words[].punct", " ")
    yield Track.of(fields, *copies, anchors=anchors)


def _podcast(value: object) -> Iterator[Track]:
    """Podcasting 2.0 transcripts: segments whose `body` is a word or a sentence."""
    yield Track(Entries("body", "startTime", "endTime").fields(nodes(value, "segments[]"), join="\n"))


def _editors(value: object) -> Iterator[Track]:
    """Word lists of transcript editors: the BBC's Digital Paper Edit and hyperaudio."""
    voices = Voices((seconds(p.get("start")), p.get("speaker")) for p in nodes(value, "paragraphs[]"))
    words = nodes(value, "words[]")
    flat = Entries("name", "time", length="duration", unit=1).fields(words)
    yield Track.of(flat, voices.named(Entries("text").fields(words)))


def _premiere(value: object) -> Iterator[Track]:
    """Adobe's transcript format 1.0.0 for Premiere: segments of words by speakers of a list.

    A mark is an entry of its own, of the type `punctuation`, or touches its word; new ones are as those of the file.
    """
    names = {str(speaker.get("id")): speaker.get("name") for speaker in nodes(value, "speakers[]")}
    segments = nodes(value, "segments[]")
    fields: list[Field] = []
    for segment in segments:
        speaker = names.get(str(segment.get("speaker"))) or segment.get("speaker")
        fields += _PREMIERE.fields(nodes(segment, "words[]"), speaker, " ", "\n")
    apart = any(word.get("type") == "punctuation" for word in nodes(segments, "[].words[]"))
    yield Track(fields, new_mark=_premiere_mark if apart else None)


_PREMIERE = Entries("text", length="duration", mark="type=punctuation", items=True)


def _premiere_mark(word: Node, mark: str) -> dict[str, Any]:
    end = ((seconds(word.get("start")) or 0) + (seconds(word.get("duration")) or 0)) / 1000
    entry = {"confidence": 1.0, "duration": 0.0, "eos": mark[:1] in ".?!", "start": end, "tags": []}
    return {**entry, "text": mark, "type": "punctuation"}


def _timings(value: object) -> Iterator[Track]:
    """Lists of [word, start, end], as in 3Blue1Brown's captions."""
    found = rows(values(value, "[]"))
    single = 2 * sum(len(row.literal.split()) <= 1 for row in found) > len(found)
    join = "\n" if not single else "" if spaces_begin_words(row.literal for row in found) else " "
    yield Track([row._replace(join=join) for row in found])


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
    Dialect("youtube", _youtube, ["wireMagic", "events[].segs events[].tStartMs"]),
    Dialect("draftjs", _draftjs, ["blocks[] entityMap"]),
    Dialect("premiere", _premiere, ["segments[].words[].eos segments[].words[].text"]),
    Dialect("podcast", _podcast, ["segments[].body"]),
    Dialect("editors", _editors, ["paragraphs[] words[].text words[].start", "words[].name words[].time"]),
    Dialect("timings", _timings, ["[][]:text [][]:number", "[][]:text [][]:whole"]),
)  # fmt: skip
