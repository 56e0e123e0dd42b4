"""What `cappunc convert` and `cappunc captions` make of one file: another format, new captions, other line breaks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Unpack

from cappunc_cli import formats
from cappunc_cli.api import How, Source, opened
from cappunc_cli.errors import BadInput, WrongUsage
from cappunc_cli.features.convert.made_captions import (
    caption_file,
    cut_captions,
    left_out,
    own_cues,
    refuse_unread,
    restored,
    spread,
    timed_words,
    verify_same,
)
from cappunc_cli.files.caption_report import report_of, summary
from cappunc_cli.files.encodings import Encoding, encode, new_utf_8
from cappunc_cli.files.progress import counted
from cappunc_cli.formats import rewrap, verify
from cappunc_cli.formats.markup import INVISIBLE
from cappunc_cli.languages import Language
from cappunc_cli.layout import CAPTION_FORMATS, Limits, LineBreaker
from cappunc_cli.layout.caption_files import VOICED
from cappunc_cli.layout.caption_profiles import LimitOptions, Profiles
from cappunc_cli.layout.frames import USUAL_RATE, Writing, frame_rate, on_frames
from cappunc_cli.layout.shown_text import shown_texts
from cappunc_cli.layout.speakers import shown_names
from cappunc_cli.layout.transcripts import TRANSCRIPTS, transcript, words_json

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.division import Division
    from cappunc_cli.files.inspection import Report
    from cappunc_cli.layout.caption_profiles import CaptionProfile
    from cappunc_cli.restoration.models.model import Model
    from cappunc_cli.restoration.terms import Glossary


#: What `convert` writes.
CAPTION_KINDS = tuple(CAPTION_FORMATS)
KINDS = (*CAPTION_KINDS, *TRANSCRIPTS, "json")
TTML_PROFILES = ("ebu-tt-d", "imsc")


def file_suffix(kind: str) -> str:
    """The suffix of the files of a format."""
    return ".sub" if kind == "microdvd" else f".{kind}"


def named_kind(output: str | None, kinds: Sequence[str]) -> str | None:
    """The output format that the suffix of a name means, if any."""
    suffix = PurePath(output or "").suffix.lower()
    known = ((kind, formats.FORMATS[kind].suffixes if kind in formats.FORMATS else ()) for kind in kinds)
    return next((kind for kind, others in known if suffix in (file_suffix(kind), *others)), None)


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts documents to one format (`kind`).

    `names` are those asked for, by the file's label; without `speakers` none is shown. With `attach`, marks that are
    entries of their own are moved onto their words.
    """

    language: Language
    kind: str
    speakers: bool = True
    times: bool = False
    attach: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    writing: Writing = field(default_factory=Writing)

    def make(self, division: Division, name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The new file with all that was shown, in its order, and a summary. Raises CappuncError."""
        refuse_unread(division.document, encoding)
        document = restored(division, self.attach)
        if self.kind in CAPTION_FORMATS:
            return self._captions(document)
        return self._transcript(document, name)

    def _transcript(self, document: Document, name: str) -> tuple[bytes, str]:
        shown = shown_texts(document)
        names = shown_names(document.speakers, self.names) if self.speakers else {}
        notes = [f"{len(document.words):,} words", left_out(document)]
        if self.kind == "json":
            kept = {turn: self.names.get(label, label) for turn, label in document.speakers.items()}
            output = words_json(document, document.texts, shown, self.language, kept)
            notes.insert(1, spread(document.words)[1])
            _verify_words(output, document.texts)
            return new_utf_8(output), "; ".join(filter(None, notes))
        found = transcript(document, shown, self.language, names, self.times)
        kept_texts = [part for paragraph in found for part in paragraph.text.split()]
        if kept_texts != [part for text in shown for part in text.split()]:
            raise BadInput("words would be lost between paragraphs")
        made = TRANSCRIPTS[self.kind](found, PurePath(name).stem, self.language.code)
        return made if isinstance(made, bytes) else new_utf_8(made), "; ".join(filter(None, notes))

    def _captions(self, document: Document) -> tuple[bytes, str]:
        how = "none" if not self.speakers else "voice" if self.kind in VOICED else "name"
        names = shown_names(document.speakers, self.names)
        made, notes = own_cues(document, how, self.names), []
        if made is None:
            words, note = timed_words(document)
            named = replace(document, speakers=names)
            shown = shown_texts(document)
            made = cut_captions(named, words, shown, self.language, Limits(), how)
            notes = [note, left_out(document)]
        data = caption_file(made, self.kind, replace(self.writing, language=self.language.code))
        counts = f"{len(document.words):,} words, {counted(len(made), 'caption')}"
        return data, "; ".join(filter(None, (counts, *notes)))


def _verify_words(output: str, texts: Sequence[str]) -> None:
    """Raises BadInput unless new JSON is all UTF-8, and these words are read back from it."""
    if any("\udc80" <= c <= "\udcff" for c in output):
        raise BadInput("part of a character cannot be written in JSON")
    found = formats.read(output, "x.json").words if texts else ()
    wanted = [part for text in texts for part in INVISIBLE.sub("", text).split()]
    verify_same([part for word in found for part in word.text.split()], wanted, "json")


@dataclass(frozen=True, slots=True)
class CaptionMaker:
    """Makes captions of a format (`kind`) within the limits of a profile, and adds their faults to `reports`.

    With `fps`, times are rounded to frames.
    """

    language: Language
    kind: str
    profile: CaptionProfile
    speakers: str = "none"
    sentences: bool = False
    fps: float | None = None
    reports: list[Report] = field(default_factory=list)

    def make(self, division: Division, name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The captions in UTF-8, with every word once and in order, and a summary. Raises CappuncError."""
        refuse_unread(division.document, encoding)
        document = restored(division)
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

    def make(self, division: Division, _name: str, encoding: Encoding, /) -> tuple[bytes, str]:
        """The same captions with other line breaks, and a summary. Raises CappuncError."""
        document, language, width = division.document, self.language, self.width
        output = rewrap(document, lambda texts: LineBreaker(texts, language, width).best(0, len(texts))[1])
        verify(document, output, lines=True)
        return encode(output, encoding), f"{len(document.words):,} words, lines of {width} characters"


def captions(
    source: Source,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    to: str = "srt",
    profile: str = "netflix",
    limits: Mapping[str, float] = MappingProxyType({}),
    by: str = "limits",
    speakers: str = "none",
    restore: bool = True,
    glossary: Glossary | Iterable[str] = (),
    **how: Unpack[How],
) -> bytes:
    """Make captions from words with times, as `cappunc captions` does; returns the content of the new file.

    `limits` override those of the profile, by the names of the options: `{"cps": 17, "min_gap": 80}`. The other
    parameters are described in `cappunc captions --help`; `source`, `model`, `how` and exceptions are those of `fix`.

    >>> print(cappunc.captions(Path("talk.srt"), limits={"width": 30}).decode()[:53])
    1
    00:00:01,280 --> 00:00:02,716
    Good evening, London.
    """
    _require("to", to, CAPTION_KINDS)
    _require("by", by, ("limits", "sentence"))
    _require("speakers", speakers, ("none", "dash", "name", "voice"))
    known = [field.name for field in fields(LimitOptions)]
    if unknown := limits.keys() - {*known}:
        raise WrongUsage(f"no limit {min(unknown)!r}; there are {', '.join(known)}")
    profiles = Profiles(profile, {}, LimitOptions(**limits).asked(), how.get("fps"))  # type: ignore[arg-type]  # verified by Limits
    with opened(source, model, {"glossary": glossary} if restore else None, how) as found:
        own, sentences = profiles.of(found.language.code), by == "sentence"
        maker = CaptionMaker(found.language, to, own, speakers, sentences, how.get("fps"))
        return maker.make(found.division, found.name, found.encoding)[0]


def convert(
    source: Source,
    to: str,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    speakers: bool = True,
    names: Mapping[str, str] = MappingProxyType({}),
    times: bool = False,
    attach: bool = False,
    ttml_profile: str = "",
    restore: bool = True,
    glossary: Glossary | Iterable[str] = (),
    **how: Unpack[How],
) -> bytes:
    """Convert a transcript to another format, as `cappunc convert` does; returns the content of the new file.

    `names` are those of speakers, by their label in the source. The other parameters are described in `cappunc convert
    --help`; `source`, `model`, `how` and exceptions are those of `fix`.

    >>> print(cappunc.convert(Path("talk.srt"), "txt", times=True).decode()[:55])
    [00:00:01] Good evening, London. It is lovely to see so
    """
    _require("to", to, KINDS)
    _require("ttml_profile", ttml_profile, ("", *TTML_PROFILES))
    writing = Writing(frame_rate(how.get("fps") or USUAL_RATE), ttml_profile)
    with opened(source, model, {"glossary": glossary} if restore else None, how) as found:
        maker = Converter(found.language, to, speakers, times, attach, names, writing)
        return maker.make(found.division, found.name, found.encoding)[0]


def _require(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise WrongUsage(f"{name} must be one of {', '.join(filter(None, known))}, not {value!r}")
