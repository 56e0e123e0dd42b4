"""The options of `cappunc convert` and `cappunc captions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import (
    Force,
    GlossaryFiles,
    Inputs,
    Messages,
    ModelOptions,
    OtherFiles,
    Output,
    ReportFile,
)
from cappunc_cli.layout.caption_profiles import LimitOptions, profile_names
from cappunc_cli.layout.house_style import CASES
from cappunc_cli.options import CHANGE, EXPERT, FILES, LIMITS, OUTPUT, Option, not_empty

#: Formats of captions, formats of paragraphs, and all formats that `convert` writes.
CAPTION_KINDS = ("srt", "vtt", "ass", "ttml", "stl", "microdvd", "fcpxml")
TEXT_KINDS = ("txt", "md", "html", "docx")
KINDS = (*CAPTION_KINDS, *TEXT_KINDS, "json")
#: What a translator gets is none of these files, whose readers see all that the source shows.
ALL_KINDS = (*KINDS, "sentences")
TTML_PROFILES = ("ebu-tt-d", "imsc")
#: Where new captions end, and how they show who speaks.
ENDS, SPEAKERS = ("limits", "sentence"), ("none", "dash", "name", "voice")

SpeakerNames = Annotated[
    tuple[str, ...],
    Option('Name a speaker, such as 0="Ann Lee"; repeatable.', OUTPUT, metavar="LABEL=NAME"),
]
Restore = Annotated[bool, Option("Do not restore anything: keep marks and case.", CHANGE, settable=True)]


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """Convert transcripts to captions, readable text or JSON.

    Keeps cues, and their styles if the format has them. Cuts words with times
    of their own into captions, as `cappunc captions` does. Writes talk.vtt next
    to talk.srt, or to standard output in a pipe.

    \b
    cappunc convert talk.srt --to vtt             write talk.vtt
    cappunc convert talk.json --to md --times     write a readable transcript
    cappunc convert --to ttml -o out/ season1/    convert many files
    """

    inputs: Inputs
    model: ModelOptions
    messages: Messages
    others: OtherFiles
    to: Annotated[
        str | None,
        Option(
            f"{', '.join(ALL_KINDS)} (default: by the name of -o).",
            OUTPUT,
            metavar="FORMAT",
            choices=ALL_KINDS,
            settable=True,
        ),
    ] = None
    output: Output = None
    force: Force = False
    restore: Restore = True
    glossary: GlossaryFiles = ()
    speakers: Annotated[bool, Option("Leave the names of speakers out.", OUTPUT, settable=True)] = True
    speaker: SpeakerNames = ()
    times: Annotated[
        bool, Option("In readable text, print the time of each paragraph.", OUTPUT, settable=True, negatable=True)
    ] = False
    attach: Annotated[bool, Option("Join separate marks to their words.", CHANGE, settable=True)] = False
    ttml_profile: Annotated[
        str | None,
        Option(
            "Profile of TTML to write: ebu-tt-d or imsc.", EXPERT, metavar="NAME", choices=TTML_PROFILES, settable=True
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class CaptionsOptions:
    """Make captions from words with times.

    \b
    cappunc captions talk.json                 write talk.captions.srt
    """

    inputs: Inputs
    limits: LimitOptions
    model: ModelOptions
    messages: Messages
    others: OtherFiles
    output: Output = None
    force: Force = False
    to: Annotated[
        str | None,
        Option(
            f"{', '.join(CAPTION_KINDS)} (default: srt).",
            OUTPUT,
            metavar="FORMAT",
            choices=CAPTION_KINDS,
            settable=True,
        ),
    ] = None
    profile: Annotated[
        str, Option("Guideline that sets the limits.", LIMITS, metavar="NAME", complete=profile_names, settable=True)
    ] = "netflix"
    by: Annotated[
        str,
        Option("Cut by limits or by sentence.", OUTPUT, metavar="HOW", choices=ENDS, settable=True),
    ] = "limits"
    speakers: Annotated[
        str,
        Option("Show none, dash, name or voice.", OUTPUT, metavar="HOW", choices=SPEAKERS, settable=True),
    ] = "none"
    speaker: SpeakerNames = ()
    case: Annotated[str, Option("Letters: keep, upper or lower.", EXPERT, choices=CASES, settable=True)] = "keep"
    marks: Annotated[bool, Option("Leave all marks out.", EXPERT, settable=True)] = True
    periods: Annotated[bool, Option("Leave the periods of sentence ends out.", EXPERT, settable=True)] = True
    fillers: Annotated[bool, Option("Leave uh, um and the like out, and list them.", EXPERT, settable=True)] = True
    report: ReportFile = None
    onto: Annotated[
        str | None,
        Option("Give translated lines the times of this file.", FILES, metavar="FILE", check=not_empty),
    ] = None
    rewrap: Annotated[bool, Option("Keep captions and times; change only line breaks.", OUTPUT)] = False
    restore: Restore = True
    glossary: GlossaryFiles = ()
