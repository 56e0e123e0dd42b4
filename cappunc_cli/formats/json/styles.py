"""The style of a copy: whether it shows case and marks when read, and so gets them when written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cappunc_cli.document.labels import Label, cached_strip, dress
from cappunc_cli.formats.json.tokens import Token

# A copy without marks or capitals has that style only if more than this share of its words have them elsewhere.
_RARE = 1 / 50
#: Features of a token, as bits: it has a mark, it has a capital; and that it is there at all.
_MARKED, _CAPITAL, _SHOWN = 1, 2, 4


class Style(NamedTuple):
    """Whether a copy shows marks and case; a word list, for example, may have case but leave marks to the text."""

    case: bool = True
    marks: bool = True


#: The style with both.
FULL_STYLE = Style()


@lru_cache(maxsize=1 << 15)
def _features(text: str) -> int:
    label = cached_strip(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | _MARKED * marked | _CAPITAL * capital


def styles_of(spoken: Sequence[Sequence[Token]], first: int, count: int, unmarked: Container[int]) -> Iterator[Style]:
    """The style of each of `count` streams from `first` on, from the tokens of each word; `unmarked` have no marks."""
    shown = [0] * count
    for tokens in spoken:
        for token in tokens:
            shown[token.stream - first] |= _features(token.text)
    for stream in range(first, first + count):
        raw = _lacks(stream, _MARKED, spoken, shown, first)
        # Lower case in all streams, or together with marks, is not a style but what is to be restored.
        case = not (raw and _lacks(stream, _CAPITAL, spoken, shown, first))
        yield Style(case, not raw and stream not in unmarked)


def _lacks(stream: int, feature: int, spoken: Sequence[Sequence[Token]], shown: Sequence[int], first: int) -> bool:
    """Whether a stream never has a feature that other streams show of the same words."""
    own = shown[stream - first]
    if not own or own & feature or not any(bits & feature for bits in shown):
        return False
    count, elsewhere = 0, [0] * len(shown)
    for tokens in spoken:
        if any(token.stream == stream for token in tokens):
            count += 1
            for token in tokens:
                elsewhere[token.stream - first] += bool(_features(token.text) & feature)
    return max(elsewhere) > _RARE * count


def differing(spoken: Sequence[Sequence[Token]], styles: Mapping[int, Style]) -> Iterator[int]:
    """The words that some streams show with a capital and others without, though all of these show case."""
    for i, tokens in enumerate(spoken):
        if len({_features(token.text) & _CAPITAL for token in tokens if styles[token.stream].case}) > 1:
            yield i


class Change(NamedTuple):
    """How the words change: their texts before and after, and the words whose copies are to agree in case."""

    before: Sequence[str]
    after: Sequence[str]
    same_case: Container[int] = ()


class Showing(NamedTuple):
    """The words whose case and whose mark a copy shows, by their numbers.

    Both are None for a token that is not the first or the last one of another spelling: `25` for "twenty five" has
    both, but the "and" in "one hundred and five" for `105` has neither. Where the same letters are split into other
    words (`well-known` for "well known"), `letters` are the first word, the one after the last, and the number of
    their letters that come before this token.
    """

    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


def target(own: str, showing: Showing, style: Style, change: Change) -> str:
    """The new text of a copy that reads `own`: it follows the changes of its words."""
    before, after, same_case = change
    case_of, mark_of, letters = showing
    if case_of is not None and case_of not in same_case and before[case_of] == after[case_of]:
        case_of = None
    if mark_of is not None and before[mark_of] == after[mark_of]:
        mark_of = None
    if case_of == mark_of and case_of is not None and style == FULL_STYLE and own == before[case_of]:
        return after[case_of]
    if letters is not None and style.case:
        own = _with_letters(own, letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = cached_strip(own)
    if case_of is not None and bare == cached_strip(before[case_of])[0]:
        bare = cached_strip(after[case_of])[0]  # its diacritics may have been restored
    if case_of is not None and style.case:
        same = case_of in same_case and bare == cached_strip(after[case_of])[0]
        label = _with_case(label, None if same else before[case_of], after[case_of])
    if mark_of is not None and style.marks:
        label = label.with_mark(cached_strip(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str | None, after: str) -> Label:
    """The label with the case of `after`, unless that is the case of `before`."""
    new = cached_strip(after)[1]
    if before is not None and ((old := cached_strip(before)[1]).case, old.form) == (new.case, new.form):
        return label
    return replace(label, case=new.case, form=new.form)


def _with_letters(own: str, letters: tuple[int, int, int], before: Sequence[str], after: Sequence[str]) -> str:
    """The token with each letter changed like that letter of the words."""
    first, stop, at = letters
    old = "".join([c for text in before[first:stop] for c in text if c.isalnum()])
    new = "".join([c for text in after[first:stop] for c in text if c.isalnum()])
    shown = list(own)
    for i, c in enumerate(own):
        if c.isalnum():
            if at < len(new) == len(old) and old[at] != new[at]:
                shown[i] = new[at]
            at += 1
    return "".join(shown)
