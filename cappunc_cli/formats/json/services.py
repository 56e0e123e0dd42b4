"""Services that transcribe, for whose JSON no entry of dialects.toml will do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tokens import key_of
from cappunc_cli.formats.json.tracks import (
    Anchor,
    Entries,
    Field,
    Track,
    by_channel,
    lines,
    listed,
    named,
    node,
    nodes,
    texts,
    values,
    voiced,
)


def _deepgram(value: object) -> Iterator[Track]:
    """Each channel; the transcript, paragraphs, sentences and utterances repeat the words."""
    words = Entries("punctuated_word|word", join=" ")
    for number, channel in enumerate(nodes(value, "results.channels[]")):
        own = [said for said in nodes(value, "results.utterances[]") if said.get("channel", 0) == number]
        best = node(channel, "alternatives[0]")
        streams = [
            words.fields(nodes(best, "words[]")),
            texts(best, "transcript"),
            [field._replace(labels=True) for field in texts(best, "paragraphs.transcript")],
            texts(best, "paragraphs.paragraphs[].sentences[].text"),
            texts(own, "[].transcript"),
            words.fields(nodes(own, "[].words[]")),
        ]
        yield Track(streams, channel=str(number))


def _revai(value: object) -> Iterator[Track]:
    """Rev: monologues of elements: words, marks, and the spaces between words.

    The times of Rev AI are seconds, the times of Rev's editors "00:00:05,410". One file has a single `monologue`.
    """
    entries = Entries("value", "ts|timestamp", "end_ts|end_timestamp", speaker="", mark="type=punct", items=True)
    names = {str(s.get("id")): s.get("name", s.get("display_name")) for s in nodes(value, "speakers[]")}
    fields: list[Field] = []
    for monologue in nodes(value, "monologues[]") or nodes(value, "monologue"):
        elements = [e for e in nodes(monologue, "elements[]") if isinstance(e.get("value"), Literal)]
        spaced = any(e["value"].isspace() for e in elements) or len(elements) < 2
        speaker = monologue.get("speaker")
        speaker = names.get(str(speaker)) or monologue.get("speaker_info") or speaker
        fields += entries.line(elements, speaker, "" if spaced else " ")
    yield Track([fields], new_mark=lambda _, mark: {"type": "punct", "value": mark})


def _soniox(value: object) -> Iterator[Track]:
    """Soniox: `tokens` of one piece of a word each, where a word begins with a space; in older results, `words`.

    What has been translated into another language stands between the tokens, without times.
    """
    entries = Entries("text", "start_ms", "end_ms", "duration_ms", unit=1, join="")
    for result in listed(value):
        top = node(result, "result") or result
        names = ((speaker.get("speaker"), speaker.get("name")) for speaker in nodes(top, "speakers[]"))
        tokens = [t for t in nodes(top, "tokens[]|words[]") if t.get("is_final") is not False]
        kinds = [token.get("translation_status") == "translation" for token in tokens]
        spoken, translated = (
            entries.fields([token for token, other in zip(tokens, kinds, strict=True) if other == kind])
            for kind in (False, True)
        )
        yield Track([named(spoken, names), texts(top, "text")])
        yield Track([translated])


def _speechmatics(value: object) -> Iterator[Track]:
    """Speechmatics json-v2 (batch) and AddTranscript messages: marks are results of their own.

    The written form of an entity (`17th of January`) repeats its words without marks; its
    spoken form (`seventeenth of january`) is raw and stays.
    """
    for message in listed(value):
        results = nodes(message, "results[]")
        known = all(result.get("type") in ("word", "punctuation", "entity") for result in results)
        if message.get("message", "AddTranscript") != "AddTranscript" or not known:
            continue
        fields: list[Field] = []
        glued = False
        for result in results:
            mark = result.get("type") == "punctuation"
            attaches = result.get("attaches_to", "previous") if mark else "none"
            join = "" if glued or attaches in ("previous", "both") else " "
            speaker = node(result, "alternatives[0]").get("speaker") or result.get("channel")
            if own := _RESULT.fields([result], speaker):
                fields.append(own[0]._replace(join=join))
                glued = attaches in ("next", "both")
        forms = [texts(field.item, "written_form[].alternatives[0].content", " ") for field in fields]
        text = texts(message, "metadata.transcript") if fields else []
        yield Track([fields, text], new_mark=_speechmatics_mark, bare=[(i, f) for i, f in enumerate(forms) if f])


_RESULT = Entries("alternatives[0].content", "start_time", "end_time", speaker="", mark="type=punctuation", items=True)


def _speechmatics_mark(item: Node, mark: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "alternatives": [{**node(item, "alternatives[0]"), "confidence": 1.0, "content": mark}],
        "attaches_to": "previous",
        "end_time": item.get("end_time"),
        "is_eos": mark[:1] in ".?!",
        "start_time": item.get("end_time"),
        "type": "punctuation",
    }
    return entry | ({"channel": item["channel"]} if "channel" in item else {})


def _speechmatics_v1(value: object) -> Iterator[Track]:
    """Speechmatics' first format: `words` with times as strings, and "." as a word of its own."""
    said = Entries("name", "time", length="duration", items=True).fields(nodes(value, "words[]"), join=" ")
    marks = [not any(map(str.isalnum, field.literal)) for field in said]
    fields = [Field(f.literal, join="", item=f.item) if mark else f for f, mark in zip(said, marks, strict=True)]
    turns = [(seconds(turn.get("time")), turn.get("name")) for turn in nodes(value, "speakers[]")]
    yield Track([voiced(fields, turns)], new_mark=_speechmatics_v1_mark)


def _speechmatics_v1_mark(item: Node, mark: str) -> dict[str, Any]:
    start, length = seconds(item.get("time")) or 0, seconds(item.get("duration")) or 0
    return {"duration": "0.00", "confidence": "1.000", "name": mark, "time": f"{(start + length) / 1000:.2f}"}


def _aws(value: object) -> Iterator[Track]:
    """AWS Transcribe: `results.items`, or just that list, with marks as items of their own, without times.

    A new mark becomes an item after its word. Where items have an `id` that audio segments refer to, no item can be
    added, and the mark is written on the word.
    """
    results = Node(items=value) if isinstance(value, list) else node(value, "results")
    items = nodes(results, "items[]")
    turns = [
        (seconds(item.get("start_time")), item.get("speaker_label", segment.get("speaker_label")))
        for segment in nodes(results, "speaker_labels.segments[]")
        for item in nodes(segment, "items[]")
    ]
    # Items of all channels are in the order of the transcript by their times, marks after their word.
    channels: list[tuple[int, Node]] = []
    for item in nodes(results, "channel_labels.channels[].items[]"):
        moment = seconds(item.get("start_time"))
        channels.append((channels[-1][0] if moment is None and channels else moment or 0, item))
    ordered = [item for _, item in sorted(channels, key=lambda pair: pair[0])]
    copies = texts(results, "transcripts[0].transcript"), texts(results, "audio_segments[].transcript")
    new_mark = None if any("id" in item for item in items) else _aws_mark
    who = "speaker_label" if any("speaker_label" in item for item in items) else "channel_label"
    entries = replace(_RESULT, speaker=who, join=" ")
    yield Track([voiced(entries.fields(items), turns), *copies, entries.fields(ordered)], new_mark=new_mark)


def _aws_mark(item: Node, mark: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"alternatives": [{"confidence": "0.0", "content": mark}], "type": "punctuation"}
    return entry | {key: item[key] for key in ("speaker_label", "channel_label") if key in item}


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
    copies = [fields, texts(value, "Transcript[].Content")]
    yield Track(copies, (), anchors, lambda _, mark: {"Type": "punctuation", "Confidence": 0.0, "Content": mark})


def _azure(value: object) -> Iterator[Track]:
    """Azure batch transcription: phrases sorted by channel, times in ticks of 100 ns or in milliseconds.

    `lexical`, `itn`, `maskedITN` and `words` are raw by definition and stay: the words only give their times
    to `display` and its copies.
    """
    found = nodes(value, "recognizedPhrases[]")
    unit = _AZURE_MS if any("offsetMilliseconds" in phrase for phrase in found) else _AZURE_TICKS
    whole = by_channel(nodes(value, "combinedRecognizedPhrases[]"))
    for channel, phrases in by_channel(found).items():
        display, display_words, words = (
            [
                field
                for phrase in phrases
                for field in replace(unit, text=text).line(nodes(phrase, path), phrase.get("speaker"))
            ]
            for path, text in _AZURE_TEXTS
        )
        yield Track([display, texts(whole.get(channel), "[].display"), display_words], words, channel=channel)


_AZURE_TEXTS = ("", "nBest[0].display"), ("nBest[0].displayWords[]", "displayText"), ("nBest[0].words[]", "word")
_AZURE_MS = Entries("text", "offsetMilliseconds", length="durationMilliseconds", unit=1, join=" ")
_AZURE_TICKS = Entries("text", "offsetInTicks", length="durationInTicks", unit=1e-4, join=" ")


def _azure_fast(value: object) -> Iterator[Track]:
    """Azure fast transcription: phrases and their words, all with marks, and the text of each channel."""
    words = replace(_AZURE_MS, join=None)
    whole = by_channel(nodes(value, "combinedPhrases[]"))
    for channel, phrases in by_channel(nodes(value, "phrases[]")).items():
        spoken = [nodes(phrase, "words[]") for phrase in phrases]
        streams = [*lines(phrases, spoken, words, words), texts(whole.get(channel), "[].text")]
        yield Track(streams, channel=channel)


def _ibm(value: object) -> Iterator[Track]:
    """IBM Watson: `timestamps` are lists of [word, start, end]; `word_confidence` repeats the words."""
    # A result may wrap a whole response, and so may a list.
    holders = nodes(value, "[]") or [node(value, "")]
    holders = [inner for holder in holders for inner in nodes(holder, "results[]") if "results" in inner] or holders
    labels = [label for holder in holders for label in nodes(holder, "speaker_labels[]")]
    turns = [(seconds(label.get("from")), label.get("speaker")) for label in labels]
    row, words = Entries("[0]", "[1]", "[2]", join=" "), list[Field]()
    copies: tuple[list[Field], list[Field]] = [], []
    for best in [found for holder in holders for found in nodes(holder, "results[].alternatives[0]")]:
        timed = row.line(values(best, "timestamps[]"))
        words += voiced(timed, turns) or texts(best, "transcript")
        copies[0].extend(texts(best, "transcript") if timed else ())
        copies[1].extend(texts(best, "word_confidence[].[0]", " "))
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
    if files:
        yield from (nodes(file, "inlineResult.transcript.results[]|transcript.results[]") for file in files)
    else:
        yield nodes(response, "annotationResults[].speechTranscriptions[]|results[]")


def _google_track(best: Sequence[Node], channel: str | None) -> Track:
    *earlier, last = best or [Node()]
    words, theirs = _google_words([last]), [word for one in earlier for word in str(one.get("transcript", "")).split()]
    # The last result of a diarised file repeats nearly all words.
    ours, others = {key_of(field.literal) for field in words}, set(map(key_of, theirs))
    same = len(ours & others) >= _REPEATED * len(others)
    if words and earlier and same and abs(len(words) - len(theirs)) <= (1 - _REPEATED) * len(theirs):
        copies = _google_words(earlier), texts(list(earlier), "[].transcript"), texts(last, "transcript")
        return Track([words, *copies], channel=channel)
    spoken = [(_google_words([alternative]), texts(alternative, "transcript")) for alternative in best]
    said = [field for own, transcript in spoken for field in own or transcript]
    return Track([said, [f for own, transcript in spoken if own for f in transcript]], channel=channel)


#: The last result of a diarised file repeats the words of all others if it has so many of them.
_REPEATED = 0.9


_GOOGLE = Entries(
    "word",
    "startTime|startOffset|start_time",
    "endTime|endOffset|end_time",
    speaker="speakerTag|speakerLabel",
    join=" ",
)


def _google_words(alternatives: Iterable[Node]) -> list[Field]:
    found = [field for one in alternatives for field in _GOOGLE.line(nodes(one, "words[]"))]
    return [field._replace(start=0) if field.start is None and field.end is not None else field for field in found]


TRACKS = {
    "deepgram": _deepgram,
    "revai": _revai,
    "soniox": _soniox,
    "speechmatics": _speechmatics,
    "speechmatics-v1": _speechmatics_v1,
    "azure": _azure,
    "azure-fast": _azure_fast,
    "aws": _aws,
    "aws-calls": _aws_calls,
    "ibm": _ibm,
    "google": _google,
}
