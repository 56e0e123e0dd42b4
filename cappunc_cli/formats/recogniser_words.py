"""Words as Python objects, as libraries of recognisers return them: faster-whisper, WhisperX, stable-ts and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from numbers import Real
from types import NoneType

from cappunc_cli.document.words import Document, Word
from cappunc_cli.formats.splice import by_character
from cappunc_cli.options import require


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
            items = [i for i in group for _ in texts[i]]
            whole = "".join([texts[i] for i in group])
            lead = len(whole) - len(whole.lstrip())
            shown = [*whole[:lead], *by_character(old, text), *whole[lead + len(old) :]]
            for i in group:
                texts[i] = "".join([c for item, c in zip(items, shown, strict=True) if item == i])
        return texts


def _value(item: object, name: str) -> object:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _text(item: object) -> str:
    texts = [text for name in ("word", "text") if (text := _value(item, name)) is not None]
    require("a word", texts[0] if texts else None, str, "a dict or an object with a word or a text")
    return str(texts[0])


def _milliseconds(item: object, name: str) -> int | None:
    seconds = _value(item, name)
    require(f"{name} of a word", seconds, (Real, NoneType), "seconds or None")
    return None if seconds is None else round(float(seconds) * 1000)  # type: ignore[arg-type]
