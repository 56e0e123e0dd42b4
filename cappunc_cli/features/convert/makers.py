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
    labelled,
    left_out,
    own_cues,
    restored,
    spread,
    verify_same,
)
from cappunc_cli.features.convert.options import ALL_KINDS, CAPTION_KINDS, ENDS, SPEAKERS, TTML_PROFILES
from cappunc_cli.features.convert.translation import Sentence, onto, sentences, translated_lines, written
from cappunc_cli.files.caption_report import report_of, summary
from cappunc_cli.files.encodings import encode
from cappunc_cli.files.fixer import Opened
from cappunc_cli.files.output import counted, new_utf_8
from cappunc_cli.formats.markup import INVISIBLE
from cappunc_cli.formats.shown_cues import rewrap
from cappunc_cli.layout.caption_files import STYLED, VOICED
from cappunc_cli.layout.caption_profiles import LimitOptions, Limits, Profiles
from cappunc_cli.layout.frames import USUAL_RATE, Writing, frame_rate, on_frames
from cappunc_cli.layout.house_style import HouseStyle
from cappunc_cli.layout.line_breaks import LineBreaker
from cappunc_cli.layout.shown_text import shown_texts
from cappunc_cli.layout.speakers import shown_names
from cappunc_cli.layout.transcripts import TRANSCRIPTS, transcript, words_json

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.inspection import Report
    from cappunc_cli.files.speakers_from import Speakers
    from cappunc_cli.restoration.models.model import Model
    from cappunc_cli.restoration.terms import Glossary

#: The content of a new file, and a summary for the user.
Made = tuple[bytes, str]


def file_suffix(kind: str) -> str:
    """The suffix of the files of a format."""
    return {"microdvd": ".sub", "sentences": ".sentences.txt"}.get(kind, f".{kind}")


def named_kind(output: str | None, kinds: Sequence[str]) -> str | None:
    """The output format that the suffix of a name means, if any."""
    suffix = PurePath(output or "").suffix.lower()
    known = ((kind, formats.FORMATS[kind].suffixes if kind in formats.FORMATS else ()) for kind in kinds)
    return next((kind for kind, others in known if suffix in (file_suffix(kind), *others)), None)


def _notes(*notes: str) -> str:
    return "; ".join(filter(None, notes))


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts documents to one format (`kind`).

    `names` are those asked for, by the file's label; without `speakers` none is shown. With `attach`, marks that are
    entries of their own are moved onto their words. `fps` is for formats in frames.
    """

    kind: str
    speakers: bool = True
    times: bool = False
    attach: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    fps: float | None = None
    ttml_profile: str = ""
    #: Of sentences: .txt, .tsv or .jsonl.
    suffix: str = ".txt"

    def make(self, found: Opened) -> Made:
        """The new file with all that was shown, in its order. Raises CappuncError."""
        document = restored(found, self.attach)
        if self.kind in CAPTION_KINDS:
            return self._captions(document, found)
        if self.kind == "sentences":
            named = replace(document, speakers=shown_names(document.speakers, self.names) if self.speakers else {})
            parts = sentences(named, found.language)
            return new_utf_8(written(parts, self.suffix)), _notes(counted(len(parts), "sentence"), left_out(document))
        shown, words = shown_texts(document), f"{counted(len(document.words), 'word')}"
        if self.kind == "json":
            kept = {turn: self.names.get(label, label) for turn, label in document.speakers.items()}
            output = words_json(document, document.texts, shown, found.language, kept)
            if any("\udc80" <= c <= "\udcff" for c in output):
                raise BadInput("part of a character cannot be written in JSON")
            seen = formats.read(output, "x.json").texts if document.texts else []
            verify_same(" ".join(seen).split(), INVISIBLE.sub("", " ".join(document.texts)).split(), "json")
            return new_utf_8(output), _notes(words, spread(document.words)[1], left_out(document))
        names = shown_names(document.speakers, self.names) if self.speakers else {}
        paragraphs = transcript(document, shown, found.language, names, self.times)
        if " ".join(part.text for part in paragraphs).split() != " ".join(shown).split():
            raise BadInput("words would be lost between paragraphs")
        made = TRANSCRIPTS[self.kind](paragraphs, PurePath(found.name).stem, found.language.code)
        return made if isinstance(made, bytes) else new_utf_8(made), _notes(words, left_out(document))

    def _asked(self, given: Speakers | None) -> Mapping[str, str]:
        """The names asked for, and the names of other speakers whose labels were given."""
        if given is None:
            return self.names
        labels = dict(enumerate(sorted({turn.speaker for turn in given.turns})))
        return {labels[i]: name for i, name in shown_names(labels, self.names).items()}

    def _captions(self, document: Document, found: Opened) -> Made:
        language, given = found.language, found.speakers
        how = "none" if not self.speakers else "voice" if self.kind in VOICED else "name"
        made = own_cues(document, how, self._asked(given), given)
        notes = [left_out(document, styled=made is not None and self.kind in STYLED)]
        if made is None:
            named = replace(document, speakers=shown_names(document.speakers, self.names))
            made, note = cut_captions(named, shown_texts(document), language, Limits(), how)
            notes = [note, *notes]
        writing = Writing(frame_rate(self.fps or USUAL_RATE), self.ttml_profile, language.code)
        data = caption_file(made, self.kind, writing)
        return data, _notes(f"{counted(len(document.words), 'word')}, {counted(len(made), 'caption')}", *notes)


@dataclass(frozen=True, slots=True)
class CaptionMaker:
    """Makes captions of a format (`kind`) within the limits of profiles, and adds their faults to `reports`.

    With `fps`, times are rounded to frames.
    """

    kind: str
    profiles: Profiles
    speakers: str = "none"
    sentences: bool = False
    fps: float | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    house: HouseStyle = field(default_factory=HouseStyle)
    reports: list[Report] = field(default_factory=list)

    def make(self, found: Opened) -> Made:
        """The captions in UTF-8, with every word once and in order. Raises CappuncError."""
        document = restored(found)
        document = replace(document, speakers=shown_names(document.speakers, self.names))
        limits, shown = self.profiles.of(found.language.code), shown_texts(document, sounds=False)
        shown, fillers = self.house.spoken(shown, found.language)
        made, note = cut_captions(document, shown, found.language, limits, self.speakers, self.sentences)
        if self.fps is not None:
            made = on_frames(made, self.fps, limits.gap_frames, limits.longest)
        made = [replace(one, lines=self.house.lines(one.lines, found.language)) for one in made]
        report = report_of(found.name, made, found.language, self.profiles)
        self.reports.append(report)
        counts = f"{counted(len(document.words), 'word')}, {summary([report])}"
        named = ", ".join(dict.fromkeys(text.strip(",.").lower() for text in fillers))
        without = f"without {counted(len(fillers), 'filler')} ({named})" if fillers else ""
        return caption_file(made, self.kind), _notes(counts, note, without, left_out(document))

    def onto(self, found: Opened, original: Sequence[Sentence], name: str) -> Made:
        """Captions of a translation in the times of the original's sentences. Raises CappuncError."""
        language, limits = found.language, self.profiles.of(found.language.code)
        lines = translated_lines(found.document.source, original, name)
        turns, names = [one.words[0].turn for one in original], [one.speaker for one in original]
        shown = labelled(lines, turns, names, self.speakers) if self.speakers in ("dash", "name") else lines
        made = onto(original, shown, language, limits)
        if self.speakers == "voice":
            owners = [name for line, name in zip(shown, names, strict=True) for _ in line.split()]
            made = [replace(caption, speaker=owners[caption.first]) for caption in made]
        seen = [word for caption in made for line in caption.lines for word in line.split()]
        verify_same(seen, " ".join(shown).split(), self.kind)
        if self.fps is not None:
            made = on_frames(made, self.fps, limits.gap_frames, limits.longest)
        report = report_of(found.name, made, language, self.profiles)
        self.reports.append(report)
        return caption_file(made, self.kind), f"{counted(len(lines), 'sentence')}, {summary([report])}"

    def rewrap(self, found: Opened) -> Made:
        """The same captions with other line breaks. Raises CappuncError."""
        document, language = found.document, found.language
        width = self.profiles.of(language.code).width
        output = rewrap(document, lambda texts: LineBreaker(texts, language, width).best(0, len(texts))[1])
        formats.verify(document, output, lines=True)
        return encode(output, found.encoding), f"{counted(len(document.words), 'word')}, lines of {width} characters"


def captions(
    source: Source,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    to: str = "srt",
    profile: str = "netflix",
    limits: Mapping[str, float] = MappingProxyType({}),
    by: str = "limits",
    speakers: str = "none",
    names: Mapping[str, str] = MappingProxyType({}),
    restore: bool = True,
    glossary: Glossary | Iterable[str] = (),
    **how: Unpack[How],
) -> bytes:
    """Make captions from words with times, as `cappunc captions` does; returns the content of the new file.

    `limits` override the profile's limits, by the names of the options: `{"cps": 17, "min_gap": 80}`. `names` are those
    of speakers, by their label in the source. The other
    parameters are described in `cappunc captions --help`; `source`, `model`, `how` and exceptions are as for `fix`.

    >>> print(cappunc.captions(Path("talk.srt"), limits={"width": 30}).decode()[:53])
    1
    00:00:01,280 --> 00:00:02,716
    Good evening, London.
    """
    _require("to", to, CAPTION_KINDS)
    _require("by", by, ENDS)
    _require("speakers", speakers, SPEAKERS)
    known = [field.name for field in fields(LimitOptions)]
    if unknown := limits.keys() - {*known}:
        raise WrongUsage(f"no limit {min(unknown)!r}; there are {', '.join(known)}")
    profiles = Profiles(profile, {}, LimitOptions(**limits).asked(), how.get("fps"))  # type: ignore[arg-type]  # verified by Limits
    with opened(source, model, {"glossary": glossary} if restore else None, how) as found:
        return CaptionMaker(to, profiles, speakers, by == "sentence", how.get("fps"), names).make(found)[0]


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

    `names` are the names of speakers, by their label in the source. `cappunc convert --help` describes the other
    parameters; `source`, `model`, `how` and exceptions are as for `fix`.

    >>> print(cappunc.convert(Path("talk.srt"), "txt", times=True).decode()[:55])
    [00:00:01] Good evening, London. It is lovely to see so
    """
    _require("to", to, ALL_KINDS)
    _require("ttml_profile", ttml_profile, ("", *TTML_PROFILES))
    converter = Converter(to, speakers, times, attach, names, how.get("fps"), ttml_profile)
    with opened(source, model, {"glossary": glossary} if restore else None, how) as found:
        return converter.make(found)[0]


def _require(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise WrongUsage(f"{name} must be one of {', '.join(filter(None, known))}, not {value!r}")
