"""Respell words in a text, list each change, and verify that nothing else has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput, WrongUsage, install_extra
from cappunc_cli.formats.splice import Edit, shown, splice
from cappunc_cli.languages import Language
from cappunc_cli.spelling.aliases import heard
from cappunc_cli.spelling.spoken_numbers import PassageWords, SpokenNumbers


@dataclass(frozen=True, slots=True)
class Respelled:
    """One change: the 1-based `number` of its first word in the unchanged text, how many `words` it replaces, and how.

    >>> Respelled(12, 2, "twenty five.", "25.").line()
    'word 12: “twenty five.” is now “25.”'
    """

    number: int
    words: int
    old: str
    new: str

    def line(self) -> str:
        """The change as a line for the user."""
        return f"word {self.number}: “{self.old}” is now “{self.new}”"


#: A change, and the edits of the source that make it.
_Change = tuple[Respelled, tuple[Edit, ...]]


def check_spelling(known: Language, numbers: bool, apostrophes: bool) -> None:
    """Raise WrongUsage where a language does not support what is asked, or the library for it is missing."""
    if numbers and find_spec("text_to_num") is None:
        raise WrongUsage(f"--numbers needs the package text2num: {install_extra('spelling')}")
    for option, asked, words in (
        ("--numbers", numbers, known.numbers),
        ("--apostrophes", apostrophes, known.apostrophes),
    ):
        if asked and not words:
            raise WrongUsage(f"{option} is for English only, not for {known.name}")


def respell(
    document: Document,
    known: Language,
    *,
    numbers: bool,
    apostrophes: bool,
    aliases: Mapping[str, str] = MappingProxyType({}),
    protected: Set[int] = frozenset(),
) -> tuple[str, tuple[Respelled, ...]]:
    """Respell words of a document; returns the new source and the changes. Words of `protected` (indices) stay.

    `aliases` are the terms for what a recogniser writes in their place, in lower case. A number of several words
    becomes one word. The result has passed `verify_respelling`. Raises BadInput for a format that is not running text.
    """
    # Where each word has its own entry with times, joining two words would lose the times of one.
    if document.format not in formats.RUNNING_TEXT:
        what = "--numbers, --apostrophes and --aliases are for running text only"
        raise BadInput(f"{what}; {document.format} has an entry for each word")
    text = PassageWords(document, protected)
    changes: list[_Change] = []
    if apostrophes and known.apostrophes:
        changes += _missing_apostrophes(text, known.apostrophes)
    spans = list(heard(text, aliases))
    if numbers and known.numbers:
        spans += SpokenNumbers(text, known.numbers, known.code)
    for first, stop, written in spans:
        if place := text.place(first, stop):
            new = f"{text.labels[first].before}{written}{text.labels[stop - 1].after}"
            old = " ".join(word.text for word in text.words[first:stop])
            if new != old:
                changes.append((Respelled(first + 1, stop - first, old, new), ((*place, new),)))
    changes.sort(key=lambda change: change[0].number)
    safe = _safe(document, changes)
    output, listed = _apply(document, safe)
    if len(safe) < len(changes):  # verified in parts so far, not all together
        verify_respelling(document, output, listed)
    return output, listed


def _missing_apostrophes(text: PassageWords, known: Mapping[str, frozenset[str]]) -> Iterator[_Change]:
    """Put the apostrophe into words that lack it (`dont`, `youre`), if they cannot be another word without it."""
    written = [word.text for word in text.words]
    curly = any("’" in word for word in written) and not any("'" in word for word in written)
    sure, after_subject = (
        {word.replace("'", "").lower(): word for word in known[key]} for key in ("sure", "after_subject")
    )
    for i, bare in enumerate(text.bare):
        new = sure.get(bare)
        if new is None and text.before(i) in known["subjects"] and text.next(i + 1) not in known["objects"]:
            new = after_subject.get(bare)
        if new is None or text.before(i) in known["determiners"] or not text.may_change(i):
            continue
        copies = text.words[i].places
        if any(len(copy) != 1 or text.source[slice(*copy[0])] != shown(text.source, copy) for copy in copies):
            continue  # a tag or an entity within the word
        new = new.replace("'", "’") if curly else new
        edits = tuple((start, stop, _dress(text.source[start:stop], new)) for ((start, stop),) in copies)
        yield Respelled(i + 1, 1, written[i], _dress(written[i], new)), edits


def _dress(old: str, new: str) -> str:
    """The new spelling (lower case except `I`), in the case and with the marks of the old word."""
    _, label = strip(old)
    core = iter(label.inside(old))
    letters = (c if c in "'’" or (c.isupper() and next(core)) else next(core) for c in new)
    return f"{label.before}{''.join(letters)}{label.after}"


def _apply(document: Document, changes: Sequence[_Change]) -> tuple[str, tuple[Respelled, ...]]:
    return splice(document.source, [edit for _, edits in changes for edit in edits]), tuple(
        listed for listed, _ in changes
    )


def _safe(document: Document, changes: Sequence[_Change]) -> Sequence[_Change]:
    """The changes without those that would not be read back as words, such as a time at the start of a line."""
    try:
        verify_respelling(document, *_apply(document, changes))
    except BadInput:
        return [one for one in changes if len(changes) > 1 and _safe(document, [one])]
    return changes


def verify_respelling(document: Document, output: str, changes: Sequence[Respelled]) -> None:
    """Read `output` back; raise BadInput unless it differs from the document's source in the listed words only.

    Each change must be where the list says, every other word must be the same and keep its times, and undoing the
    changes must give the source.
    """
    again = formats.read(output, format=document.format, fps=document.fps)
    source, old, new = document.source, document.words, again.words
    expected, found = ([(one.text, one.start, one.end, one.cue, one.turn) for one in words] for words in (old, new))
    undo: list[Edit] = []
    removed = 0
    for change in changes:
        first, last, at = change.number - 1, change.number + change.words - 2, change.number - 1 - removed
        stop = at + change.words
        if " ".join(text for text, *_ in expected[at:stop]) != change.old or at >= len(new):
            raise BadInput(f"word {change.number} is not “{change.old}”")
        # A new word starts with the first one that it replaces, and ends with the last.
        _, start, _, cue, turn = expected[at]
        expected[at:stop] = [(change.new, start, expected[stop - 1][2], cue, turn)]
        for head, tail, copy in zip(old[first].places, old[last].places, new[at].places, strict=False):
            undo.append((copy[0][0], copy[-1][1], source[head[0][0] : tail[-1][1]]))
        removed += change.words - 1
    if expected != found or document.speakers != again.speakers or splice(output, undo) != source:
        raise BadInput("the result differs in more than the listed words")
