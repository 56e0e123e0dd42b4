"""`cappunc captions` for one file: cut words with times into captions, or rewrap the lines of captions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cappunc_cli.features.convert.made_captions import (
    caption_file,
    cut_captions,
    left_out,
    refuse_unread,
    restored,
    timed_words,
)
from cappunc_cli.files.caption_report import report_of, summary
from cappunc_cli.files.encodings import Encoding, encode
from cappunc_cli.formats import rewrap, verify
from cappunc_cli.languages import Language
from cappunc_cli.layout import LineBreaker
from cappunc_cli.layout.frames import on_frames
from cappunc_cli.layout.shown_text import shown_texts

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.inspection import Report
    from cappunc_cli.layout.caption_profiles import CaptionProfile


@dataclass(frozen=True, slots=True)
class CaptionMaker:
    """Makes captions of a format (`kind`) within the limits of a profile, and adds their faults to `reports`.

    With `fps`, times are rounded to frames.
    """

    fixer: Fixer
    language: Language
    kind: str
    profile: CaptionProfile
    restore: bool = True
    speakers: str = "none"
    sentences: bool = False
    fps: float | None = None
    reports: list[Report] = field(default_factory=list)

    def make(self, document: Document, name: str, _encoding: Encoding, /) -> tuple[bytes, str]:
        """The captions in UTF-8, with every word once and in order, and a summary. Raises CappuncError."""
        refuse_unread(document)
        document = restored(document, self.fixer, self.restore)
        words, note = timed_words(document)
        limits = self.profile.limits
        shown = shown_texts(document, sounds=False)
        made = cut_captions(document, words, shown, self.language, limits, self.speakers, self.sentences)
        if self.fps is not None:
            made = on_frames(made, self.fps, self.profile.gap_frames, limits.longest)
        report = report_of(name, made, self.language, self.profile)
        self.reports.append(report)
        counts = f"{len(words):,} words, {summary([report])}"
        return caption_file(made, self.kind), "; ".join(filter(None, (counts, note, left_out(document))))


@dataclass(frozen=True, slots=True)
class LineRewrapper:
    """Rewraps captions to lines of at most `width` characters."""

    language: Language
    width: int

    def make(self, document: Document, _name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The same captions with other line breaks, and a summary. Raises CappuncError."""
        language, width = self.language, self.width
        output = rewrap(document, lambda texts: LineBreaker(texts, language, width).best(0, len(texts))[1])
        verify(document, output, lines=True)
        return encode(output, encoding), f"{len(document.words):,} words, lines of {width} characters"
