"""Google Speech-to-Text v1 and v2, and the speech part of Video Intelligence.

Times are "1.200s" or {"seconds": "1", "nanos": 200000000}, where keys with the value zero are missing.
The last result of a diarised file repeats all words with speaker tags. Results of separately
recognised channels are in order of their ends, each with the tag of its channel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tokens import key_of
from cappunc_cli.formats.json.tracks import Field, Track, entries, first, node, seconds, text_fields

_REPEATED = 0.9


def sniff(value: object) -> bool:
    found = _results(value)
    return bool(found) and any("alternatives" in r for r in found) and any(_is_result(r) for r in found)


def tracks(value: object) -> Iterator[Track]:
    results = _results(value)
    tags = [_channel(result) for result in results]
    for channel in dict.fromkeys(tags) if None not in tags else [None]:
        own = [result for result, tag in zip(results, tags, strict=True) if channel in (None, tag)]
        yield _track([first(result.get("alternatives")) for result in own], channel)


def _channel(result: Node) -> str | None:
    tag = result.get("channelTag", result.get("channel_tag"))
    return None if tag is None else str(tag)


def _track(best: Sequence[Node], channel: object) -> Track:
    *earlier, last = best
    if earlier and _repeats(last, earlier):
        copies = [
            _fields(earlier, channel),
            text_fields([b.get("transcript") for b in earlier]),
            text_fields([last.get("transcript")]),
        ]
        return Track(_fields([last], channel), copies, channel=channel)
    words = []
    for alternative in best:
        own = _fields([alternative], channel)
        words += own or [
            field._replace(speaker=_speaker(channel, None)) for field in text_fields([alternative.get("transcript")])
        ]
    texts = text_fields([b.get("transcript") for b in best if _fields([b])])
    return Track(words, [texts], channel=channel)


def _results(value: object) -> list[Node]:
    if isinstance(value, list):
        return [result for part in value for result in _results(part)]
    response = node(value, "response") or node(value)
    videos = [
        transcription
        for annotation in entries(response, "annotationResults")
        for transcription in entries(annotation, "speechTranscriptions")
    ]
    return videos or entries(response, "results")


def _is_result(result: Node) -> bool:
    best = first(result.get("alternatives"))
    words = entries(best, "words")
    return "transcript" in best and "timestamps" not in best and all("word" in word for word in words)


def _fields(alternatives: Sequence[Node], channel: object = None) -> list[Field]:
    fields = []
    for alternative in alternatives:
        join = "\n"
        for word in entries(alternative, "words"):
            if isinstance(word.get("word"), Literal):
                end = _time(word, "endTime", "endOffset", "end_time")
                start = _time(word, "startTime", "startOffset", "start_time")
                start = 0 if start is None and end is not None else start
                speaker = _speaker(channel, word.get("speakerTag", word.get("speakerLabel")))
                fields.append(Field(word["word"], start, end, speaker, join))
                join = " "
    return fields


def _speaker(channel: object, name: object) -> object:
    return name if channel is None else (channel, name)


def _time(word: Node, *keys: str) -> int | None:
    value = next((word[key] for key in keys if key in word), None)
    if isinstance(value, dict):
        whole_seconds, nanos = seconds(value.get("seconds", 0)), seconds(value.get("nanos", 0), 1e-6)
        return None if whole_seconds is None or nanos is None else whole_seconds + nanos
    return seconds(value)


def _repeats(last: Node, earlier: Sequence[Node]) -> bool:
    """Whether the last result repeats the words of all others."""
    ours = [key_of(f.literal) for f in _fields([last])]
    theirs = [key_of(word) for b in earlier for word in str(b.get("transcript", "")).split()]
    if not ours or abs(len(ours) - len(theirs)) > (1 - _REPEATED) * len(theirs):
        return False
    common = len(set(ours) & set(theirs))
    return common >= _REPEATED * len(set(theirs))
