"""The options of `cappunc glossary`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Inputs, Messages, ModelOptions
from cappunc_cli.options import OUTPUT, Option


@dataclass(frozen=True, slots=True)
class GlossaryOptions:
    """Suggest names and other terms for a glossary.

    Terms are words with capitals in mid-sentence, the most frequent first. In
    files without case the model restores it first. Check the list: a misheard
    name is listed as it was heard.

    \b
    cappunc glossary slides.txt notes/ > terms.txt      from text with case
    cappunc glossary --counts talk.srt                  with counts
    cappunc fix --glossary terms.txt talk.srt
    """

    inputs: Inputs
    model: ModelOptions
    messages: Messages
    counts: Annotated[bool, Option("Print the count of each term before it.", OUTPUT)] = False
    as_json: Annotated[bool, Option("Print JSON: terms and counts.", OUTPUT, name="json")] = False
    least: Annotated[int, Option("Only terms that occur at least N times.", OUTPUT, least=1, settable=True)] = 1
