"""Words as Python objects, as libraries of recognisers return them: faster-whisper, WhisperX, stable-ts and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from numbers import Real
from types import NoneType

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Word
from cappunc_cli.errors import require


class RecogniserWords:
    """The `document` of some items, each a dict or an object with `word` or `text`, and perhaps times and a speaker.

    If most texts begin with a space, one that does not is the rest of the word before it.
    """

    def __init__(self, items: Sequence[object]) -> None:
        """Raises WrongUsage."""
        self._texts = [_text(item) for item in items]
        #: The numbers of the items of each word.
        self._groups: list[list[int]] = []
        joins = 2 * sum(text[:1].isspace() for text in self._texts) > len(self._texts)
        for i, text in enumerate(self._texts):
            if self._groups and joins and text and not text[:1].isspace():
                self._groups[-1].append(i)
            elif text.strip():
                self._groups.append([i])
        changes = (a != b for a, b in pairwise(_value(item, "speaker") for item in items))
        turns = list(accumulate(changes, initial=0))
        words = []
        for group in self._groups:
            start, end = _milliseconds(items[group[0]], "start"), _milliseconds(items[group[-1]], "end")
            words.append(Word("".join(self._texts[i] for i in group).strip(), start, end, turn=turns[group[0]]))
        self.document = Document("words", "", words)

    def written(self, new: Sequence[str]) -> list[str]:
        """The text of each item, with the new text of each word, and with the white space that it had."""
        texts = list(self._texts)
        for group, old, text in zip(self._groups, self.document.texts, new, strict=True):
            for i, piece in zip(group, _pieces(old, text, [texts[i] for i in group]), strict=True):
                texts[i] = piece
        return texts


def _value(item: object, name: str) -> object:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _text(item: object) -> str:
    text = _value(item, "word")
    text = _value(item, "text") if text is None else text
    require("a word", text, str, "a dict or an object with a word or a text")
    assert isinstance(text, str)
    return text


def _milliseconds(item: object, name: str) -> int | None:
    seconds = _value(item, name)
    require(f"{name} of a word", seconds, (Real, NoneType), "seconds or None")
    return None if seconds is None else round(float(seconds) * 1000)  # type: ignore[arg-type]


def _pieces(old: str, new: str, texts: Sequence[str]) -> list[str]:
    """The pieces `texts` of a word `old` with the letters and marks of the `new` one."""
    (_, old_label), (_, label) = strip(old), strip(new)
    core = new[len(label.before) : len(new) - len(label.after)]
    if len(texts) == 1 or len(core) != len(old) - len(old_label.before) - len(old_label.after):
        found = [new, *[""] * (len(texts) - 1)]
    else:
        found, at = [], -len(old_label.before)
        for text in texts:
            stop = at + len(text.strip())
            found.append(core[max(at, 0) : max(stop, 0)])
            at = stop
        last = max((i for i, piece in enumerate(found) if piece), default=0)
        found[0], found[last] = label.before + found[0], found[last] + label.after
    spaces = [(text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]) for text in texts]
    return [f"{before}{piece}{after}" for (before, after), piece in zip(spaces, found, strict=True)]
