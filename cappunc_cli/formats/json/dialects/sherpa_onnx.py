"""sherpa-onnx: a `text`, and the `tokens` of the model with their `timestamps`.

The tokens are word pieces and stay as they are: they only give their times to the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, only_listed, seconds, with_length


def sniff(value: object) -> bool:
    results = only_listed(value)
    return bool(results) and all(_pieces(result) is not None for result in results)


def tracks(value: object) -> Iterator[Track]:
    for result in only_listed(value):
        yield Track([Field(result["text"], join="\n")], clock=_pieces(result) or ())


def _pieces(result: Node) -> list[Field] | None:
    """The tokens with their times; None for an object that is no result. A word begins with a space."""
    tokens, times, lengths = (result.get(key) for key in ("tokens", "timestamps", "durations"))
    if not isinstance(result.get("text"), Literal) or not isinstance(tokens, list) or not isinstance(times, list):
        return None
    if len(tokens) != len(times) or not all(isinstance(token, Literal) for token in tokens):
        return None
    known = lengths if isinstance(lengths, list) and len(lengths) == len(tokens) else [None] * len(tokens)
    spans = [with_length(seconds(time), seconds(length)) for time, length in zip(times, known, strict=True)]
    return [Field(token, *span, join="") for token, span in zip(tokens, spans, strict=True)]
