"""Words that are decided together, and all that is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.cue_breaks import CueBreaks, weigh_cue_breaks
from cappunc_cli.restoration.decoding.posteriors import Flags, Posteriors, fold_marks
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import Options
from cappunc_cli.transcript.labels import Label

#: What closes a quotation that somebody has opened so, in every language.
_CLOSED_BY = {'"': '"', "“": "”", "«": "»", "‹": "›"}


@dataclass(slots=True)
class Passage:
    """Words in columns [n], at least one, and what a model says of them.

    `bare` words have the `labels` with which they are written; the speaker changes after `turn_ends`, and behind
    `followed` words stands what is no word: nothing is written between the two. `cue_starts` begin a caption,
    `cues` (None: that is no evidence) say where they end. The first `given` words are out already, and nothing new
    comes around them; a text that `goes_on` does not end with its last word.
    """

    bare: Sequence[str]
    labels: list[Label]
    posteriors: Posteriors
    turn_ends: Flags
    followed: Flags
    cue_starts: Flags
    cues: CueBreaks | None
    config: ModelConfig
    options: Options
    conventions: Language
    lexicon: Mapping[str, str]
    given: int = 0
    goes_on: bool = False

    @property
    def marks(self) -> str:
        """The marks that may be set."""
        return self.conventions.marks if self.options.marks is None else self.options.marks

    def quotes(self) -> tuple[str, str]:
        """What opens and closes a quotation: as in the text, straight as its apostrophes, or as the language has it."""
        written = Counter(c for label in self.labels for c in label.before if c in _CLOSED_BY)
        if written:
            [(opened, _)] = written.most_common(1)
            return opened, _CLOSED_BY[opened]
        own = self.conventions.quotes
        apostrophes = {c for word in self.bare for c in "'’" if c in word} if own == ("“", "”") else set()
        return ('"', '"') if apostrophes == {"'"} else own

    def allowed(self) -> Posteriors:
        """The posteriors within what the user allows, and with what the ends of captions tell."""
        text = fold_marks(self.posteriors, self.marks)
        if self.cues is None or self.options.apart:
            return text
        return weigh_cue_breaks(text, self.cues, self.turn_ends)
