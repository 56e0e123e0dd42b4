"""`cappunc convert` for one file: restore what lacks marks or case, write another format, and verify it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadInput
from cappunc_cli.features.convert.made_captions import (
    cut_captions,
    left_out,
    own_cues,
    refuse_unread,
    spread_note,
    timed_words,
)
from cappunc_cli.features.convert.readable import readable, words_json
from cappunc_cli.files.encodings import Encoding, new_utf_8
from cappunc_cli.files.progress import counted
from cappunc_cli.formats.markup import INVISIBLE, visible
from cappunc_cli.languages import Language

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.layout import Caption

#: Output formats: captions, readable text, and words with times.
CAPTIONS, TEXTS, WORDS = ("srt", "vtt", "ass", "ttml"), ("txt", "md"), ("json",)
KINDS = (*CAPTIONS, *TEXTS, *WORDS)
#: Formats with a field for speakers.
_VOICED = ("vtt", "ass", "ttml")


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts documents to one format (`kind`)."""

    fixer: Fixer
    language: Language
    kind: str
    restore: bool
    speakers: bool = True
    times: bool = False

    def make(self, document: Document, _name: str, _encoding: Encoding, /) -> tuple[bytes, str]:
        """The new file in UTF-8, with every word once and in order, and a summary. Raises CappuncError."""
        refuse_unread(document)
        output, summary = self._converted(document)
        return new_utf_8(output), summary

    def _converted(self, document: Document) -> tuple[str, str]:
        texts = document.texts
        if self.restore and texts:
            texts = list(next(self.fixer.restore([document])))
        own = self.language
        if self.kind in TEXTS:
            output = readable(document, texts, own, self.kind, self.speakers, self.times)
            return output, _summary(f"{len(texts):,} words", left_out(document))
        if self.kind in WORDS:
            output = words_json(document, texts, own)
            _check(output, "json", texts)
            return output, _summary(f"{len(texts):,} words", spread_note(document.words), left_out(document))
        return self._captions(document, texts)

    def _captions(self, document: Document, texts: Sequence[str]) -> tuple[str, str]:
        from cappunc_cli import formats
        from cappunc_cli.layout import Limits, render

        speakers = "none" if not self.speakers else "voice" if self.kind in _VOICED else "name"
        changed = document
        if list(texts) != document.texts:
            source = formats.write(document, texts)
            changed = formats.read(source, format=document.format)
        made = own_cues(changed, speakers)
        notes = []
        if made is not None:
            shown = [word for caption in made for line in caption.lines for word in line.split()]
            texts = changed.texts
        else:
            words, note = timed_words(document)
            made, shown = cut_captions(document, words, texts, self.language, Limits(), speakers)
            texts = texts if len(set(formats.channels(document))) < 2 else shown
            notes = [note, left_out(document)]
        output = render(made, shown, self.kind)
        if speakers == "name":  # whether a name at the head of a line is read as a word depends on the name
            _compare(_seen(made), shown, self.kind)
        else:
            _check(output, self.kind, texts)
        return output, _summary(f"{len(document.words):,} words, {counted(len(made), 'caption')}", *notes)


def _summary(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _check(output: str, kind: str, texts: Sequence[str]) -> None:
    """Raises BadInput unless these words are read back from the new file."""
    from cappunc_cli import formats

    if not texts:
        return
    document = formats.read(output, f"x.{kind}", None if kind == "json" else kind)
    _compare([part for text in document.texts for part in text.split()], texts, kind)


def _seen(captions: Sequence[Caption]) -> list[str]:
    """What a viewer of SRT sees of the captions, word by word."""
    texts = ["\n".join(caption.lines) for caption in captions]
    return [part for text in texts for part in visible(text, 0, len(text)).text.split()]


def _compare(found: Sequence[str], texts: Sequence[str], kind: str) -> None:
    """Raises BadInput unless the found words are those of the texts, but for invisible characters."""
    wanted = [part for text in texts for part in INVISIBLE.sub("", text).split()]
    for i, (one, other) in enumerate(zip([*found, ""], [*wanted, ""], strict=False), 1):
        if one.lstrip("-–—") != other.lstrip("-–—"):  # a dash at the head of a line marks a speaker
            raise BadInput(f"word {i}, “{other}”, would be read as “{one}” in {kind.upper()}")
    if len(found) != len(wanted):
        raise BadInput(f"{kind.upper()} would have {len(found)} words instead of {len(wanted)}")
