"""The options of `cappunc fix`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Changes, Force, Inputs, Log, Messages, ModelOptions, OtherFiles, Output
from cappunc_cli.options import FILES, SPEED, Option


@dataclass(frozen=True, slots=True)
class FixOptions:
    """Restore punctuation and case in files.

    Changes only case and marks. Writes talk.fixed.srt, or to stdout in a pipe.

    \b
    cappunc fix talk.srt                      write talk.fixed.srt
    cappunc fix --in-place season1/           overwrite all files of a directory
    cappunc fix *.vtt -o fixed/ --jobs 4      many files; resumes if stopped
    cappunc fix --diff talk.srt               show what would change
    """

    inputs: Inputs
    changes: Changes
    model: ModelOptions
    messages: Messages
    others: OtherFiles
    output: Output = None
    in_place: Annotated[bool, Option("Overwrite the input files.", FILES, short="i")] = False
    force: Force = False
    diff: Annotated[bool, Option("Print the changes as a diff; write nothing.", FILES)] = False
    log: Log = None
    jobs: Annotated[
        int | None,
        Option("Number of worker processes, each with its own model.", SPEED, short="j", least=1, settable=True),
    ] = None
