"""The speech services of Amazon, Google, IBM and Microsoft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tokens import key_of
from cappunc_cli.formats.json.tracks import (
    Anchor,
    Entries,
    Field,
    Track,
    Voices,
    by_channel,
    lines,
    listed,
    node,
    nodes,
    rows,
    seconds,
    texts,
    values,
)  # fmt: skip

#: Milliseconds in the 100 ns of Azure's times.
_TICK = 1e-4
#: The last result of a diarised file repeats the words of all others if it has so many of them.
_REPEATED = 0.9


def _aws(value: object) -> Iterator[Track]:
    """AWS Transcribe: `results.items`, or just that list, with marks as items of their own, without times.

    A new mark becomes an item after its word. Where items have an `id` that audio segments refer to, no item can be
    added, and the mark is written on the word.
    """
    results = Node(items=value) if isinstance(value, list) else node(value, "results")
    items = nodes(results, "items[]")
    voices = Voices(
        (seconds(item.get("start_time")), item.get("speaker_label", segment.get("speaker_label")))
        for segment in nodes(results, "speaker_labels.segments[]")
        for item in nodes(segment, "items[]")
    )
    channels = _in_order(nodes(results, "channel_labels.channels[].items[]"))
    copies = texts(results, "transcripts[0].transcript"), texts(results, "audio_segments[].transcript")
    new_mark = None if any("id" in item for item in items) else _aws_mark
    who = "speaker_label" if any("speaker_label" in item for item in items) else "channel_label"
    entries = Entries("alternatives[0].content", *_AWS_TIMES, speaker=who, mark="type=punctuation", items=True)
    words = voices.named(entries.fields(items, join=" "))
    yield Track([words, *copies, entries.fields(channels, join=" ")], new_mark=new_mark)


def _aws_mark(item: Node, mark: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"alternatives": [{"confidence": "0.0", "content": mark}], "type": "punctuation"}
    return entry | {key: item[key] for key in ("speaker_label", "channel_label") if key in item}


_AWS_TIMES = ("start_time", "end_time")


def _in_order(items: Iterable[Node]) -> list[Node]:
    """Items of all channels in the order of the transcript: by time, marks after their word."""
    timed: list[tuple[int, Node]] = []
    for item in items:
        moment = seconds(item.get("start_time"))
        timed.append((timed[-1][0] if moment is None and timed else moment or 0, item))
    return [item for _, item in sorted(timed, key=lambda pair: pair[0])]


def _aws_calls(value: object) -> Iterator[Track]:
    """AWS Transcribe Call Analytics: a `Transcript` of turns, each with `Content` and `Items`.

    The character offsets of issues, outcomes and action items in `Content` are updated.
    """
    entries = Entries("Content", "BeginOffsetMillis", "EndOffsetMillis", unit=1, mark="Type=punctuation", items=True)
    fields: list[Field] = []
    anchors: list[Anchor] = []
    for turn in nodes(value, "Transcript[]"):
        fields += entries.line(nodes(turn, "Items[]"), turn.get("ParticipantRole"), " ")
        if isinstance(content := turn.get("Content"), Literal):
            counted = nodes(list(turn.values()), "[][].CharacterOffsets")
            anchors += [Anchor(content, found, key) for found in counted for key in ("Begin", "End")]
    yield Track([fields, texts(value, "Transcript[].Content")], anchors=anchors, new_mark=_aws_calls_mark)


def _aws_calls_mark(_: Node, mark: str) -> dict[str, Any]:
    return {"Type": "punctuation", "Confidence": 0.0, "Content": mark}


def _azure(value: object) -> Iterator[Track]:
    """Azure batch transcription: phrases sorted by channel, times in ticks of 100 ns or in milliseconds.

    `lexical`, `itn`, `maskedITN` and `words` are raw by definition and stay: the words only give their times
    to `display` and its copies.
    """
    whole = by_channel(nodes(value, "combinedRecognizedPhrases[]"))
    for channel, phrases in by_channel(nodes(value, "recognizedPhrases[]")).items():
        display = [field for phrase in phrases for field in _azure_fields([phrase], "nBest[0].display", join="\n")]
        copies = texts(whole.get(channel), "[].display"), _azure_words(phrases, "displayWords", "displayText")
        yield Track([display, *copies], _azure_words(phrases, "words", "word"), channel=channel)


def _azure_words(phrases: Iterable[Node], key: str, text: str) -> list[Field]:
    spoken = ((nodes(phrase, f"nBest[0].{key}[]"), phrase.get("speaker")) for phrase in phrases)
    return [field for words, speaker in spoken for field in _azure_fields(words, text, speaker)]


def _azure_fields(entries: Sequence[Node], text: str, speaker: object = None, join: str = " ") -> list[Field]:
    unit = _AZURE_MS if any("offsetMilliseconds" in entry for entry in entries) else _AZURE_TICKS
    return replace(unit, text=text).line(entries, speaker, join)


_AZURE_MS = Entries("text", "offsetMilliseconds", length="durationMilliseconds", unit=1)
_AZURE_TICKS = Entries("text", "offsetInTicks", length="durationInTicks", unit=_TICK)
_AZURE_LIVE = Entries("Word", "Offset", length="Duration", unit=_TICK)


def _azure_fast(value: object) -> Iterator[Track]:
    """Azure fast transcription: phrases and their words, all with marks, and the text of each channel."""
    whole = by_channel(nodes(value, "combinedPhrases[]"))
    for channel, phrases in by_channel(nodes(value, "phrases[]")).items():
        spoken = [nodes(phrase, "words[]") for phrase in phrases]
        streams = [*lines(phrases, spoken, _AZURE_MS, _AZURE_MS), texts(whole.get(channel), "[].text")]
        yield Track(streams, channel=channel)


def _azure_live(value: object) -> Iterator[Track]:
    """Azure real-time recognition, one result or several: capitalised keys, times in ticks of 100 ns."""
    for result in listed(value):
        timing = _AZURE_LIVE.fields(nodes(result, "NBest[0].Words[]"))
        shown = [*texts(result, "NBest[0].Display"), *texts(result, "DisplayText")]
        if shown:
            start, end = _AZURE_LIVE.times(result)
            words = shown[0]._replace(start=start, end=end, join=" ")
            yield Track([[words], *([text] for text in shown[1:])], timing)


def _ibm(value: object) -> Iterator[Track]:
    """IBM Watson: `timestamps` are lists of [word, start, end]; `word_confidence` repeats the words."""
    # A result may wrap a whole response, and so may a list.
    holders = nodes(value, "[]") or [node(value, "")]
    holders = [inner for holder in holders for inner in nodes(holder, "results[]") if "results" in inner] or holders
    labels = [label for holder in holders for label in nodes(holder, "speaker_labels[]")]
    voices = Voices((seconds(label.get("from")), label.get("speaker")) for label in labels)
    words: list[Field] = []
    copies: tuple[list[Field], list[Field]] = [], []
    for best in [found for holder in holders for found in nodes(holder, "results[].alternatives[0]")]:
        timed = rows(values(best, "timestamps[]"))
        words += voices.named(timed) or texts(best, "transcript")
        copies[0].extend(texts(best, "transcript") if timed else ())
        copies[1].extend(Field(row.literal) for row in rows(values(best, "word_confidence[]")))
    yield Track([words, *copies])


def _google(value: object) -> Iterator[Track]:
    """Google Speech-to-Text v1 and v2, batches of v2, and the speech part of Video Intelligence.

    Times are "1.200s" or {"seconds": "1", "nanos": 200000000}, where keys with the value zero are missing.
    The last result of a diarised file repeats all words with speaker tags. Results of separately
    recognised channels are in order of their ends, each with the tag of its channel.
    """
    for number, results in enumerate(_google_files(value)):
        tags = [result.get("channelTag", result.get("channel_tag")) for result in results]
        several = bool(results) and None not in tags
        for channel in dict.fromkeys(map(str, tags)) if several else [None]:
            own = [result for result, tag in zip(results, tags, strict=True) if channel in (None, str(tag))]
            track = _google_track([node(result, "alternatives[0]") for result in own], channel)
            yield replace(track, begins_turn=number > 0)


def _google_files(value: object) -> Iterator[list[Node]]:
    """The results of each file."""
    if isinstance(value, list):
        yield [result for part in nodes(value, "[]") for file in _google_files(part) for result in file]
        return
    response = node(value, "response") or node(value, "")
    # A batch of v2 has its files by their names.
    files = list(response["results"].values()) if isinstance(response.get("results"), Node) else []
    if batch := [node(file, "inlineResult.transcript") or node(file, "transcript") for file in files]:
        for transcript in batch:
            yield nodes(transcript, "results[]")
    else:
        videos = nodes(response, "annotationResults[].speechTranscriptions[]")
        yield videos or nodes(response, "results[]")


def _google_track(best: Sequence[Node], channel: str | None) -> Track:
    *earlier, last = best or [Node()]
    if earlier and _repeats(last, earlier):
        copies = _google_words(earlier), texts(list(earlier), "[].transcript"), texts(last, "transcript")
        return Track([_google_words([last]), *copies], channel=channel)
    words: list[Field] = []
    copy: list[Field] = []
    for alternative in best:
        own, transcript = _google_words([alternative]), texts(alternative, "transcript")
        words += own or transcript
        copy += transcript if own else []
    return Track([words, copy], channel=channel)


def _google_words(alternatives: Iterable[Node]) -> list[Field]:
    fields: list[Field] = []
    for alternative in alternatives:
        join = "\n"
        for word in nodes(alternative, "words[]"):
            if isinstance(word.get("word"), Literal):
                end = _google_time(word, "endTime", "endOffset", "end_time")
                start = _google_time(word, "startTime", "startOffset", "start_time")
                start = 0 if start is None and end is not None else start
                fields.append(Field(word["word"], start, end, word.get("speakerTag", word.get("speakerLabel")), join))
                join = " "
    return fields


def _google_time(word: Node, *keys: str) -> int | None:
    value = next((word[key] for key in keys if key in word), None)
    if isinstance(value, dict):
        whole_seconds, nanos = seconds(value.get("seconds", 0)), seconds(value.get("nanos", 0), 1e-6)
        return None if whole_seconds is None or nanos is None else whole_seconds + nanos
    return seconds(value)


def _repeats(last: Node, earlier: Sequence[Node]) -> bool:
    """Whether the last result repeats the words of all others."""
    ours = [key_of(f.literal) for f in _google_words([last])]
    theirs = [key_of(word) for b in earlier for word in str(b.get("transcript", "")).split()]
    if not ours or abs(len(ours) - len(theirs)) > (1 - _REPEATED) * len(theirs):
        return False
    return len(set(ours) & set(theirs)) >= _REPEATED * len(set(theirs))


TRACKS = {
    "azure": _azure,
    "azure-live": _azure_live,
    "azure-fast": _azure_fast,
    "aws": _aws,
    "aws-calls": _aws_calls,
    "ibm": _ibm,
    "google": _google,
}
