"""Aliases of a glossary: what a recogniser writes in place of a term. They are listed and replaced by the term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cappunc_cli.spelling.spoken_numbers import PassageWords


def heard(text: PassageWords, aliases: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """(first, stop, new text) of the words of each alias, the longest first; a term of several words word by word."""
    longest, at = max((key.count(" ") + 1 for key in aliases), default=0), 0
    keys = [bare.lower() for bare in text.bare]
    while at < len(keys):
        for stop in range(min(at + longest, len(keys)), at, -1):
            term = aliases.get(" ".join(keys[at:stop]))
            if term is None or not all(map(text.joined, range(at + 1, stop))) or text.protected & {*range(at, stop)}:
                continue
            words = term.split()
            spans = [(at, stop)] if len(words) == 1 else [(i, i + 1) for i in range(at, stop)]
            yield from ((first, last, word) for (first, last), word in zip(spans, words, strict=True))
            at = stop - 1
            break
        at += 1
