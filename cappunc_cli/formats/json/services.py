"""Services that do little else than transcribe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Entries,
    Field,
    Track,
    Voices,
    listed,
    named,
    node,
    nodes,
    seconds,
    text_at,
    texts,
)  # fmt: skip


def _deepgram(value: object) -> Iterator[Track]:
    """Each channel; the transcript, paragraphs, sentences and utterances repeat the words."""
    for number, channel in enumerate(nodes(value, "results.channels[]")):
        own = [said for said in nodes(value, "results.utterances[]") if said.get("channel", 0) == number]
        best = node(channel, "alternatives[0]")
        streams = [
            _deepgram_words(nodes(best, "words[]")),
            texts(best, "transcript"),
            [field._replace(labels=True) for field in texts(best, "paragraphs.transcript")],
            texts(best, "paragraphs.paragraphs[].sentences[].text"),
            texts(own, "[].transcript"),
            _deepgram_words(nodes(own, "[].words[]")),
        ]
        yield Track(streams, channel=str(number))


def _deepgram_words(words: Iterable[Node]) -> list[Field]:
    return [field for word in words for field in Entries("punctuated_word|word").fields([word])]


def _elevenlabs(value: object) -> Iterator[Track]:
    """ElevenLabs Scribe: words, spaces and sounds are entries of one list; `text` is all of them joined."""
    for part in nodes(value, "transcripts[]") or listed(value):
        words = [word for word in nodes(part, "words[]") if word.get("type") in ("word", "spacing")]
        join = "" if any(word["type"] == "spacing" for word in words) else " "
        channel = part.get("channel_index")
        fields = Entries("text", speaker="speaker_id").fields(words, join=join)
        yield Track([fields, texts(part, "text")], channel=None if channel is None else str(channel))


def _revai(value: object) -> Iterator[Track]:
    """Rev: monologues of elements, which are words, marks, and the spaces between words.

    The times of Rev AI are seconds, those of Rev's editors "00:00:05,410". One file has a single `monologue`.
    """
    names = {str(s.get("id")): s.get("name", s.get("display_name")) for s in nodes(value, "speakers[]")}
    fields: list[Field] = []
    for monologue in nodes(value, "monologues[]") or nodes(value, "monologue"):
        elements = [e for e in nodes(monologue, "elements[]") if isinstance(e.get("value"), Literal)]
        spaced = any(e["value"].isspace() for e in elements) or len(elements) < 2
        speaker = monologue.get("speaker")
        speaker = names.get(str(speaker)) or monologue.get("speaker_info") or speaker
        for i, element in enumerate(elements):
            mark = element.get("type") == "punct"
            join = "\n" if not i else "" if spaced or mark else " "
            times = (None, None) if mark else _REV.times(element)
            fields.append(Field(element["value"], *times, None if mark else speaker, join, element))
    yield Track([fields], new_mark=lambda _, mark: {"type": "punct", "value": mark})


_REV = Entries("value", "ts|timestamp", "end_ts|end_timestamp")


def _soniox(value: object) -> Iterator[Track]:
    """Soniox: `tokens` of one piece of a word each, where a word begins with a space; in older results, `words`.

    What has been translated into another language stands between the tokens, without times.
    """
    entries = Entries("text", "start_ms", "end_ms", "duration_ms", unit=1)
    for result in listed(value):
        top = node(result, "result") or result
        names = ((speaker.get("speaker"), speaker.get("name")) for speaker in nodes(top, "speakers[]"))
        tokens = [t for t in nodes(top, "tokens[]") or nodes(top, "words[]") if t.get("is_final") is not False]
        translated = [token for token in tokens if token.get("translation_status") == "translation"]
        spoken = entries.fields([token for token in tokens if token not in translated], join="")
        yield Track([named(spoken, names), texts(top, "text")])
        yield Track([entries.fields(translated, join="")])


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
            if (content := text_at(result, "alternatives[0].content")) is None:
                continue
            mark = result.get("type") == "punctuation"
            attaches = result.get("attaches_to", "previous") if mark else "none"
            join = "" if glued or attaches in ("previous", "both") else " "
            glued = attaches in ("next", "both")
            speaker = node(result, "alternatives[0]").get("speaker") or result.get("channel")
            timed = Field(content, *_RESULT.times(result), speaker, join, result)
            fields.append(Field(content, join=join, item=result) if mark else timed)
        forms = [texts(field.item, "written_form[].alternatives[0].content", " ") for field in fields]
        text = texts(message, "metadata.transcript") if fields else []
        yield Track([fields, text], new_mark=_speechmatics_mark, bare=[(i, f) for i, f in enumerate(forms) if f])


_RESULT = Entries("content", "start_time", "end_time")


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
    voices = Voices((seconds(s.get("time")), s.get("name")) for s in nodes(value, "speakers[]"))
    said = _SPEECHMATICS_V1.fields(nodes(value, "words[]"), join=" ")
    marks = [not any(map(str.isalnum, field.literal)) for field in said]
    fields = [
        Field(field.literal, join="", item=field.item) if mark else field._replace(speaker=voices.at(field.start))
        for field, mark in zip(said, marks, strict=True)
    ]
    yield Track([fields], new_mark=_speechmatics_v1_mark)


_SPEECHMATICS_V1 = Entries("name", "time", length="duration", items=True)


def _speechmatics_v1_mark(item: Node, mark: str) -> dict[str, Any]:
    start, length = seconds(item.get("time")) or 0, seconds(item.get("duration")) or 0
    return {"duration": "0.00", "confidence": "1.000", "name": mark, "time": f"{(start + length) / 1000:.2f}"}


TRACKS = {
    "deepgram": _deepgram,
    "elevenlabs": _elevenlabs,
    "revai": _revai,
    "soniox": _soniox,
    "speechmatics": _speechmatics,
    "speechmatics-v1": _speechmatics_v1,
}
