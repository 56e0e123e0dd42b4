"""Azure Video Indexer: the `transcript` among the insights of a video, one line each with one instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, first, node, seconds


def sniff(value: object) -> bool:
    return any("instances" in line for insights in _insights(value) for line in entries(insights, "transcript"))


def tracks(value: object) -> Iterator[Track]:
    for insights in _insights(value):
        lines = [line for line in entries(insights, "transcript") if isinstance(line.get("text"), Literal)]
        names = {speaker.get("id"): speaker.get("name") for speaker in entries(insights, "speakers")}
        yield Track([_field(line, names) for line in lines])


def _insights(value: object) -> list[Node]:
    """The insights of all videos, or those of one in a file of their own."""
    return [node(video, "insights") for video in entries(value, "videos")] or [node(value)]


def _field(line: Node, names: Mapping[object, object]) -> Field:
    shown, speaker = first(line.get("instances")), line.get("speakerId")
    times = seconds(shown.get("start")), seconds(shown.get("end"))
    return Field(line["text"], *times, names.get(speaker, speaker), "\n")
