"""What a text says of itself: which share of the marks and capitals that belong in it are missing, along the text.

A recogniser may stop punctuating midway, an editor may correct half a file, and some captions may have marks and others
none. Each word is weighed by what the model expects of it: where a sentence end belongs with probability m and the text
has the share s of its sentence ends, one shows with probability s·m, and none with probability 1 - s·m. The shares of
marks within sentences, of sentence ends and of capitals are the state of a hidden Markov model that seldom changes; the
forward-backward algorithm (Baum et al. 1970) gives the probability of each state at each word. By Bayes' rule the odds
of a mark that does not show are then those of the model multiplied with the share that is missing, 1 - s.

In some files single captions are bare and the others whole. Such a text is a chain of its own, whose states, all or
nothing, change often; the chains are averaged by how well each explains the text (Bayesian model averaging).

A writer may set fewer commas than the model expects and yet leave out none: the sentence ends tell what is missing. And
what a writer does with one word (a comma beside each `um`, or none) is one decision, however often the word comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import LOWER, MARK_CLASSES, QUOTES_AFTER, TERMINAL, UPPER
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.passage import NONE, Flags, Numbers, Passage, Posteriors, writing_style
from cappunc_cli.restoration.decoding.word_properties import WordProperty

#: The shares that a text may have of its marks, or of its capitals; a text that lacks none has the last one.
_SHARES = np.array([0.01, 0.25, 0.5, 0.75, 0.9, 0.99], np.float32)
_GONE = 1 - _SHARES
#: The shares that writers set of the commas that the model expects.
_WRITERS = 1, 0.75, 0.5, 0.25
#: The states of marks: the share of the marks within sentences that show, and the place in _SHARES of that of the
#: sentence ends. Whatever its writer sets, a text lacks as many of either, but it may also lack all of one kind.
_WITHIN_SHARES = np.append(np.outer(_WRITERS, _SHARES), _SHARES[[0, 0, -1]]).astype(np.float32)
_END_SHARES = np.array([*range(len(_SHARES))] * len(_WRITERS) + [2, len(_SHARES) - 1, 0])
#: The shares of both that are missing in each state: few commas are a style.
_MISSING = _GONE[np.stack([_END_SHARES, _END_SHARES], 1)]
_MISSING[-3:, 0] = 1 - _WITHIN_SHARES[-3:]
#: Kinds of mark: none, within a sentence, at its end, either of both; and those that show nothing: a text with only `…`
#: and `—` has pauses written down, one with only `:` has speaker names.
_NO_MARK, _WITHIN, _END, _EITHER, _OTHER = range(5)
_MARK_KINDS = {"": _NO_MARK, ",": _WITHIN, ";": _EITHER, **dict.fromkeys(TERMINAL, _END)}
_KINDS = np.array([_MARK_KINDS.get(mark, _OTHER) for mark in MARK_CLASSES], np.int8)
#: After these a sentence may begin or continue.
_OPEN = frozenset("…:;—")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Missing:
    """The shares of what belongs at each word [n] that are missing: marks `within` sentences, `ends`, `capitals`.

    `upper` [n] flags words in a stretch in upper case, `signs` those of cues that are signs, `layout` those whose
    capital only begins a line, `bare` those in a stretch with hardly any marks. `kept` is the share of the capitals
    after missing sentence ends that are there. `expected` [n, 3] are the probabilities that a mark within a sentence,
    an end or a capital belongs at a word.
    """

    within: Floats
    ends: Floats
    capitals: Floats
    upper: Flags
    signs: Flags
    layout: Flags
    bare: Flags
    kept: float
    expected: Floats

    @property
    def lacks_marks(self) -> Flags:
        """The words [n] in a stretch without many of its marks."""
        flags: Flags = np.maximum(self.within, self.ends) > tuned.LACKING
        return flags

    @property
    def lacks_case(self) -> Flags:
        """The words [n] in a stretch without many of its capitals, or in upper case."""
        flags: Flags = self.upper | (self.capitals > tuned.LACKING)
        return flags

    def shares(self) -> tuple[float, float, float]:
        """The shares of all marks within sentences, of all sentence ends and of all capitals that are missing."""
        gone = np.stack([self.within, self.ends, np.where(self.upper, np.float32(1), self.capitals)], 1)
        within, ends, capitals = ((gone * self.expected).sum(0) / np.maximum(self.expected.sum(0), 1e-6)).tolist()
        return within, ends, capitals


def find_missing(passage: Passage, patchy: bool = True) -> Missing:
    """Estimate what is missing in a passage. It may be `patchy`; its posteriors must cover all marks."""
    cases, marks = passage.written
    text = passage.posteriors
    kinds = _KINDS[marks]
    kinds[text.has[WordProperty.ABBREVIATION] & (kinds == _END)] = _NO_MARK  # `dr.` ends nothing
    ends = text.end_probability()
    none = text.marks[:, NONE]
    expected = _smoothed(np.stack([none, np.maximum(1 - none - ends, 0), ends], 1), tuned.UNSURE_MARKS)
    tails = passage.turn_ends | np.append(passage.cue_starts[1:], True)
    expected[:, _END] *= np.where(tails, 1 - _left_open(expected, kinds, tails), np.float32(1))
    expected[:, _NO_MARK] = np.maximum(1 - expected[:, _WITHIN] - expected[:, _END], 0)
    shouted = _in_upper_cues(passage)
    capitals = _expect_capitals(passage, cases, kinds, expected)
    capitals.cased[shouted] = False
    by_marks = _mark_likelihoods(passage.bare, expected, kinds)
    by_marks, by_case = _forward_backward(by_marks, _case_likelihoods(text, cases, capitals), patchy)
    shares = by_case[:, :-1] / np.maximum(by_case[:, :-1].sum(1), 1e-9)[:, None]
    begins_in_capital = (capitals.starts > 0) | text.has[WordProperty.ALWAYS_CAPITAL]
    only_names = np.where(begins_in_capital, _GONE[0], _GONE[-1])
    begins = np.append(np.float32(1), expected[:-1, _END])
    belongs = np.where(capitals.cased, 1 - (1 - capitals.own) * (1 - begins), np.float32(0))
    by_kind = by_marks @ _MISSING
    ended = (kinds == _END) | passage.turn_ends | np.isin(marks, [MARK_CLASSES.index(mark) for mark in _OPEN])
    ended |= (kinds == _NO_MARK) & (ends > 0.5)
    upper = _in_upper_case(passage, ended, by_case[:, -1] > 0.5)
    signs = _signs(shouted & ~upper, ended, passage.cue_starts)
    style = writing_style(passage.bare, cases, marks)
    bare = np.full(len(cases), not style.punctuated) | (by_kind.min(1) > 0.5)
    # Title Case says as little as upper case, unless it is that of headlines with marks.
    upper |= style.title and bool(bare.mean() > 0.5)
    return Missing(
        within=by_kind[:, 0],
        ends=by_kind[:, 1],
        capitals=shares[:, :-1] @ _GONE + shares[:, -1] * only_names,
        upper=upper,
        signs=signs,
        layout=capitals.layout,
        bare=bare,
        kept=capitals.kept,
        expected=np.column_stack([expected[:, 1:], belongs]),
    )


def _smoothed(probabilities: Floats, by: float) -> Floats:
    """The probabilities [n, ...] interpolated with their mean over the text."""
    probabilities = np.maximum(probabilities, np.float32(1e-6))
    mixed: Floats = (1 - by) * probabilities + by * probabilities.mean(0)
    return mixed


def _left_open(expected: Floats, kinds: Numbers, tails: Flags) -> float:
    """The share of turns and lines that this writer leaves without a mark.

    It is what is missing at their `tails` beyond what is missing elsewhere: a recogniser or a half-corrected file has
    gaps in both places, but some transcripts have no mark where a speaker is interrupted, and some chats none at all.
    """
    end = expected[:, _END] / (expected[:, _END] + expected[:, _NO_MARK])
    sure = (end > tuned.SURE_END) & ((kinds == _END) | (kinds == _NO_MARK))
    places = sure & tails, sure & ~tails, sure
    shown = np.array([(place & (kinds == _END)).sum() for place in places])
    due = np.maximum([end[place].sum() for place in places], shown)
    due[2] = due[0] + due[1]
    at_tails, elsewhere, both = shares = np.clip(shown / np.maximum(due, 1e-6), 0.01, 0.99)
    nats = shown * np.log(shares / both) + (due - shown) * np.log((1 - shares) / (1 - both))
    surely = at_tails < elsewhere and nats[:2].sum() > tuned.SURELY_OPEN
    return min(1 - float(at_tails / elsewhere), tuned.MOST_OPEN) if surely else 0.0


def _mark_likelihoods(bare: Sequence[str], expected: Floats, kinds: Numbers) -> Floats:
    """The likelihoods [n, states] of the existing marks in each state of marks.

    The places beside words at which many marks are expected in all count less.
    """
    numbers: dict[str, int] = {}
    word = np.fromiter([numbers.setdefault(text, len(numbers)) for text in bare], np.intp, len(bare))
    none, within, end = expected[:, :1], expected[:, 1:2], expected[:, 2:]
    after = np.bincount(word, within[:, 0])[word]
    before = np.append(np.bincount(word[1:], within[:-1, 0], len(numbers))[word[1:]], 0)
    weight = tuned.ONE_WORD / np.maximum(np.maximum(after, before), tuned.ONE_WORD)
    weight = 1 - (1 - weight[:, None]) * within / (within + end)
    within_share, end_share = _WITHIN_SHARES, _SHARES[_END_SHARES]
    by_kind = {
        _NO_MARK: none + within * (1 - within_share) + end * (1 - end_share),
        _WITHIN: within * within_share,
        _END: end * end_share,
        _EITHER: (within + end) * np.maximum(within_share, end_share),
    }
    likelihoods = np.ones_like(by_kind[_END])
    for kind, likelihood in by_kind.items():
        likelihoods[kinds == kind] = likelihood[kinds == kind]
    weighed: Floats = (likelihoods**weight).astype(np.float32)
    return weighed


@dataclass(frozen=True, slots=True)
class _Capitals:
    """What is expected of the case of each word [n].

    `own`: the probability of a capital form although no sentence begins; `starts`: that of a capital since one begins
    after an existing mark, 0 where there is none; `opens`: that of a missing sentence end before it if all are missing.
    `cased` words have a case that can be seen. `layout` and `kept` are as in `Missing`.
    """

    own: Floats
    starts: Floats
    opens: Floats
    cased: Flags
    layout: Flags
    kept: float


def _expect_capitals(passage: Passage, cases: Numbers, kinds: Numbers, expected: Floats) -> _Capitals:
    text, labels = passage.posteriors, passage.labels
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1)
    before = np.append(np.float32(1), text.end_probability(as_read=True)[:-1])
    own: Floats = np.clip((capital - before) / np.maximum(1 - before, np.float32(1e-3)), 0, 1)
    own = _smoothed(own, tuned.UNSURE_CASE)
    turns = np.append(False, passage.turn_ends[:-1])
    # Either case is right after `“What?”`, `so:` and `well…`.
    open_end = [label.mark in _OPEN or not QUOTES_AFTER.isdisjoint(label.after) for label in labels[:-1]]
    own = np.where(turns | np.array([False, *open_end]), np.maximum(own, tuned.OPEN_START), own)
    ended = np.append(True, kinds[:-1] == _END)
    # No end shows before these words, but may belong there.
    opens = np.append(np.float32(0), np.where(kinds[:-1] == _NO_MARK, expected[:-1, _END], np.float32(0)))
    cased = ~(text.has[WordProperty.NO_CASE] | text.has[WordProperty.NO_CAPITAL])
    # After ten heads of lines or turns the text shows more than the rule does; its first word is none of them.
    heads = np.append(False, (turns | passage.cue_starts)[1:])
    begins = ended & heads & cased & (own < 0.5)
    shown = min(int((begins & (cases == LOWER)).sum()) / (10 + int(begins.sum())), tuned.MOST_LOWER)
    low = np.maximum(np.where(turns, tuned.LOWER_TURN, tuned.LOWER_START), np.where(heads, shown, 0))
    lines = passage.cue_starts & ~ended & cased & (own < 0.5)
    is_capital = cases > LOWER
    by_layout = int((lines & is_capital).sum()) * 2 > int(lines.sum())
    unsaid = opens * (1 - own) * (cased & (cases != UPPER) & ~lines)
    # How a writer spells `the president` is one decision: words that are never capital count once.
    capitals = {word for word, flag in zip(passage.bare, is_capital.tolist(), strict=True) if flag}
    first = {word: -i for i, word in enumerate(reversed(passage.bare), 1 - len(passage.bare))}
    repeated = [first[word] < i and word not in capitals for i, word in enumerate(passage.bare)]
    cased &= ~(lines & by_layout) & ~np.array(repeated)
    kept = float((1 + unsaid[is_capital].sum()) / (2 + unsaid.sum()))
    starts = np.where(ended, 1 - low, 0).astype(np.float32)
    return _Capitals(own, starts, opens, cased, lines & by_layout & is_capital, kept)


def _case_likelihoods(text: Posteriors, cases: Numbers, expected: _Capitals) -> Floats:
    """The likelihoods [n, ends, cases] of the existing cases, for each share of ends and each state of capitals.

    Those of a text that has each share of its capitals, of one in which names have theirs but starts do not, and of one
    in upper case.
    """
    own, starts = expected.own[:, None], expected.starts[:, None]
    opens = expected.opens[:, None] * _GONE
    opens /= 1 - expected.opens[:, None] + opens
    capital = np.where(starts > 0, starts, own + (1 - own) * opens * expected.kept)
    only_names = capital * np.where(starts > 0, _SHARES[0], _SHARES[-1])
    shown = np.concatenate([capital[:, :, None] * _SHARES, only_names[:, :, None]], 2)
    lower, upper, one_letter = cases == LOWER, cases == UPPER, text.has[WordProperty.ONE_LETTER]
    least = np.float32(1e-3)
    raised = np.clip(text.cases[:, UPPER] / np.maximum(np.clip(1 - text.cases[:, LOWER], 0, 1), least), 0.01, 0.99)
    form = np.where(one_letter, np.float32(1), np.where(upper, raised, 1 - raised))
    by_share = np.where(lower[:, None, None], 1 - shown, shown * form[:, None, None])
    by_share[text.has[WordProperty.ALWAYS_CAPITAL]] = 0.5  # YouTube writes `I` in a text in lower case
    in_upper = np.where(upper | (one_letter & ~lower), 1 - tuned.STRAY, tuned.STRAY / 2).astype(np.float32)
    in_upper = np.broadcast_to(in_upper[:, None, None], (*capital.shape, 1))
    found: Floats = np.concatenate([by_share, in_upper], 2)
    found[~expected.cased] = 1
    return found


def _in_upper_case(passage: Passage, ended: Flags, likely: Flags) -> Flags:
    """Which words are in a stretch in upper case, [n], given which have `ended` a sentence, and where that is `likely`.

    A few such words amid good text are a sign, a title or a shout, unless they are whole cues in a sentence that
    goes on in good case.
    """
    cases = passage.written[0]
    has, found = passage.posteriors.has, np.zeros(len(cases), np.bool_)
    neutral = has[WordProperty.NO_CASE] | (has[WordProperty.ONE_LETTER] & (cases > LOWER))
    for start, stop in runs(likely):
        upper = int(((cases == UPPER) | neutral)[start:stop].sum())
        is_long = upper >= tuned.MIN_UPPER_WORDS or stop - start == len(likely)
        found[start:stop] = likely[start] and is_long
    for start, stop in runs((cases == UPPER) | neutral):
        is_run = int((cases[start:stop] == UPPER).sum()) >= tuned.MIN_LINE and not neutral[start:stop].all()
        if is_run and not found[start:stop].any():
            first, last = passage.cue_starts[start], stop == len(cases) or passage.cue_starts[stop]
            goes_on = (start > 0 and not ended[start - 1]) or (
                stop < len(cases) and not ended[stop - 1] and cases[stop] == LOWER
            )
            found[start:stop] = stop - start >= tuned.MIN_UPPER_WORDS or (first and last and goes_on)
    return found


def _in_upper_cues(passage: Passage) -> Flags:
    """Which words are in a few cues in upper case amid others, [n]: they do not show how the text is written."""
    cases, neutral = passage.written[0], passage.posteriors.has[WordProperty.NO_CASE]
    found = np.zeros(len(cases), np.bool_)
    for start, stop in pairwise([*np.flatnonzero(passage.cue_starts).tolist(), len(cases)]):
        own = cases[start:stop] == UPPER
        found[start:stop] = own.any() and (own | neutral[start:stop]).all()
    for start, stop in runs(found):
        found[start:stop] &= stop - start < min(tuned.MIN_UPPER_WORDS, len(found) / 2)
    return found


def _signs(shouted: Flags, ended: Flags, cue_starts: Flags) -> Flags:
    """Which words are in a sign or on-screen title, [n]: in a cue that is `shouted`, but not within a sentence."""
    signs = np.zeros(len(shouted), np.bool_)
    for start, stop in pairwise([*np.flatnonzero(cue_starts).tolist(), len(shouted)]):
        signs[start:stop] = shouted[start:stop].all() and (start == 0 or bool(ended[start - 1] | signs[start - 1]))
    return signs


def _prior() -> Floats:
    """The prior probability of each state [marks, cases]."""
    none, some, nearly, all_ = tuned.PRIOR_NONE, tuned.PRIOR_SOME, tuned.PRIOR_NEARLY, tuned.PRIOR_ALL
    writers = np.array([1, *tuned.PRIOR_FEW])
    marks = np.append(np.outer(writers, [none, some, some, some, nearly, all_]), [some] * 3)
    one_kind = [some, tuned.PRIOR_ONE_KIND, some]
    without_case = np.append(np.outer(writers, [none, some, some, some, nearly, none]), one_kind)
    prior = marks[:, None] * np.array([none, some, some, some, some, all_, 0, tuned.PRIOR_UPPER])
    prior[:, [0, -1]] = without_case[:, None] * np.array([tuned.PRIOR_NONE, tuned.PRIOR_UPPER])
    prior[[0, len(_SHARES) - 1], -2] = tuned.PRIOR_NAMES * np.array([none, all_])
    found: Floats = (prior / prior.sum()).astype(np.float32)
    return found


def _patchy_prior() -> Floats:
    """The prior probability of each state [marks, cases] in a text with bare captions among whole ones."""
    whole, bare = len(_SHARES) - 1, 0
    found = np.zeros_like(_PRIOR)
    for i, writer in enumerate((1, *tuned.PRIOR_FEW)):
        marks = found[i * len(_SHARES) :]
        marks[whole, whole], marks[bare, bare] = writer * (1 - tuned.BARE_CAPTIONS), writer * tuned.BARE_CAPTIONS
        marks[bare, whole] = marks[whole, bare] = writer * tuned.BARE_OF_ONE
    normalised: Floats = (found / found.sum()).astype(np.float32)
    return normalised


_PRIOR = _prior()
_PATCHY = _patchy_prior()


def _forward_backward(by_marks: Floats, by_case: Floats, patchy: bool) -> tuple[Floats, Floats]:
    """The probabilities of the states of marks [n, marks] and of capitals [n, cases] at each word.

    Given the likelihoods of the marks [n, marks], and of the cases for each share of sentence ends [n, ends, cases].
    """
    log_marks, log_cases = (np.log(np.maximum(likelihoods, 1e-4)) for likelihoods in (by_marks, by_case))
    [even], nats = _chains(log_marks, log_cases, _PRIOR, tuned.STEP, [tuned.SWITCH])
    if not patchy:
        return even
    changing, more = _chains(log_marks, log_cases, _PATCHY, 1, tuned.PATCHY_SWITCHES)
    evidence = np.append(nats, more - tuned.PATCHY_COST)
    weights = np.exp(evidence - evidence.max()).astype(np.float32)
    weights /= weights.sum()
    marks, cases = zip(even, *changing, strict=True)
    return sum(map(np.multiply, weights, marks)), sum(map(np.multiply, weights, cases))


def _chains(
    log_marks: Floats, log_cases: Floats, prior: Floats, step: int, switches: Sequence[float]
) -> tuple[list[tuple[Floats, Floats]], Floats]:
    """The probabilities, as from `_forward_backward`, of chains that change with each of the `switches`.

    The states [marks, cases] with a `prior` may change before every `step`th word. Also returns the evidence for each
    chain, the log-likelihood (nats) of the whole text.
    """
    marks, cases = used = np.nonzero(prior)
    at = np.arange(0, len(log_marks), step)
    logs = np.add.reduceat(log_marks, at)[:, marks]
    logs += np.add.reduceat(log_cases, at)[:, _END_SHARES[marks], cases]
    most = logs.max(1, keepdims=True)
    gains, start, change = np.exp(logs - most), prior[used], np.array(switches, np.float32)[:, None]
    stay = 1 - change
    # A chain read backwards changes in the same way, so both directions are one loop. `before` holds the odds of each
    # state against its prior, given what comes before a word in either direction.
    before = np.empty((len(gains), 2, len(change), len(start)), np.float32)
    totals = np.empty((len(gains), len(change)))
    odds = np.ones_like(before[0])
    for i in range(len(gains)):
        before[i] = odds
        odds[0] *= gains[i]
        odds[1] *= gains[-1 - i]
        total = odds @ start
        totals[i] = total[0]
        odds = stay * (odds / total[:, :, None]) + change
    found = before[:, 0]
    found *= before[::-1, 1]
    found *= (gains * start)[:, None]
    found /= found.sum(2, keepdims=True)
    # Sums over the states with the same marks, and over those with the same cases.
    by_marks, by_case = (
        np.repeat(found @ np.eye(size, dtype=np.float32)[place], step, 0)[: len(log_marks)].swapaxes(0, 1)
        for size, place in zip(prior.shape, used, strict=True)
    )
    return [*zip(by_marks, by_case, strict=True)], np.log(totals).sum(0) + most.sum()


def runs(values: npt.NDArray[np.integer] | Flags) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of equal values."""
    if len(values):
        yield from pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)])
