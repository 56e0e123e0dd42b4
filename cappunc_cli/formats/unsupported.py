"""Kinds of file that cappunc recognises but cannot read, so that it does not take them for plain text.

To support one, write its module, name it in the table of `formats` and remove its line here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from cappunc_cli.formats.xml_elements import PROLOG


@dataclass(frozen=True, slots=True)
class UnsupportedFormat:
    """A kind of file: a description, file name extensions, a pattern for its start, and full file names.

    If `plain`, it is text, and a user can have it read as such. `advice` says what else helps.
    """

    name: str
    suffixes: tuple[str, ...]
    start: re.Pattern[str] | None = None
    names: tuple[str, ...] = ()
    plain: bool = False
    advice: str = "not supported"

    def claims(self, name: str) -> bool:
        """Whether a file name is that of this kind."""
        path = PurePath(name.lower())
        return path.suffix in self.suffixes or path.name in self.names

    @property
    def refusal(self) -> str:
        """The error message for such a file."""
        return f"{self.name}: {self.advice}" + ("; --format txt reads it as text" if self.plain else "")


def _begins(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"[\s\ufeff]*+(?:{pattern})", re.IGNORECASE)


_KNOWN_ROOT = (
    r"(?:[\w.-]+:)?(?:tt|timedtext|transcript|SAMI|fcpxml|xmeml|ANNOTATION_DOCUMENT|basic-transcription|Trans"
    r"|TEI|teiCorpus)"
)
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_COMMENTS = r"(?>(?:;;[^\n]*\n)*)"
_GAP = r"[ \t]+"
_RTTM_TYPE = "(?:SPEAKER|LEXEME|NON-LEX|NON-SPEECH|SPKR-INFO|NOSCORE|SEGMENT)"
_RTTM = rf"{_COMMENTS}{_RTTM_TYPE}{_GAP}\S+{_GAP}\S+{_GAP}(?:{_NUMBER}|<NA>){_GAP}(?:{_NUMBER}|<NA>)\s"

_CODE = """
.py .pyi .pyx .ipynb .c .h .cc .cpp .cxx .hh .hpp .cs .java .kt .kts .scala .groovy .gradle .swift .m .mm .go .rs .zig
.js .mjs .cjs .jsx .ts .tsx .vue .svelte .css .scss .sass .less .php .rb .pl .pm .lua .tcl .r .jl .hs .ml .mli .ex .exs
.erl .clj .lisp .el .scm .f90 .f95 .pas .vb .dart .asm .s .sql .proto .graphql .sh .bash .zsh .fish .ps1 .bat .cmd .awk
.tex .sty .cls .bib .cmake .mk .toml .ini .cfg .yaml .yml
"""
_CODE_NAMES = """
makefile gnumakefile dockerfile jenkinsfile rakefile gemfile vagrantfile cmakelists.txt requirements.txt
"""

_AUDIO = ".mp3 .wav .m4a .aac .flac .ogg .oga .opus .wma .aif .aiff"
_VIDEO = ".mp4 .m4v .mkv .webm .mov .avi .wmv .mpg .mpeg .mxf"
_SAVE_AS_TEXT = "not supported; save it as text, or as subtitles with times"

#: In the order in which they are tried.
UNSUPPORTED_FORMATS = (
    UnsupportedFormat("a chronological TextGrid", (), _begins('"Praat chronological TextGrid')),
    UnsupportedFormat("RTTM, a table of who speaks when", (".rttm",), _begins(_RTTM)),
    UnsupportedFormat("an EDL, a list of cuts and markers", (".edl",), _begins(r"TITLE:[^\n]*\n\s*FCM:")),
    UnsupportedFormat("a web page", (".html", ".htm"), _begins(rf"{PROLOG}<html[\s>]"), plain=True),
    UnsupportedFormat("RTF", (".rtf",), _begins(r"\{\\rtf"), advice=_SAVE_AS_TEXT),
    UnsupportedFormat("PDF", (".pdf",), _begins("%PDF-"), advice=_SAVE_AS_TEXT),
    UnsupportedFormat("a Word or OpenDocument file", (".docx", ".doc", ".odt"), advice=_SAVE_AS_TEXT),
    UnsupportedFormat("a Zip archive or an office document", (".zip", ".xlsx"), _begins("PK\x03\x04")),
    UnsupportedFormat("DCSubtitle, the captions of digital cinema", (), _begins(rf"{PROLOG}<DCSubtitle[\s>]")),
    UnsupportedFormat(
        "a segmented transcription of EXMARaLDA, which is made of a basic one",
        (),
        _begins(rf"{PROLOG}<segmented-transcription[\s>]"),
    ),
    UnsupportedFormat("XML", (".xml",), _begins(rf"(?!{PROLOG}<{_KNOWN_ROOT}[\s/>])<\?xml\b")),
    UnsupportedFormat("a table", (".csv",)),
    UnsupportedFormat(
        "program code or settings",
        tuple(_CODE.split()),
        re.compile(r"\ufeff?#![ \t]*/\S"),
        tuple(_CODE_NAMES.split()),
        plain=True,
    ),
    UnsupportedFormat("audio", tuple(_AUDIO.split()), advice="transcribe it first; cappunc restores transcripts"),
    UnsupportedFormat(
        "a video",
        tuple(_VIDEO.split()),
        advice="take out its subtitles with ffmpeg -v error -i FILE -map 0:s:0 -f srt - | cappunc fix, "
        "or transcribe it first",
    ),
)
