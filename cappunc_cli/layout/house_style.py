"""What a house wants of captions that are made anew: capitals only, fewer marks, no fillers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cappunc_cli.document.labels import MARK_CHARACTERS, TERMINAL, strip
from cappunc_cli.languages import Language

CASES = ("keep", "upper", "lower")


@dataclass(frozen=True, slots=True)
class HouseStyle:
    """How the words of new captions are written; by default as they are."""

    case: str = "keep"
    marks: bool = True
    periods: bool = True
    fillers: bool = True

    def spoken(self, texts: Sequence[str], language: Language) -> tuple[list[str], list[str]]:
        """The texts of words, "" for a filler that is left out, and what is left out."""
        return (list(texts), []) if self.fillers else _without_fillers(texts, language.fillers)

    def lines(self, lines: Sequence[str], language: Language) -> tuple[str, ...]:
        """The lines of a caption as the house writes them; the caption was cut by its marks."""
        if not (self.marks and self.periods):
            lines = [" ".join(self._fewer(text, language) for text in line.split()) for line in lines]
        case = {"upper": str.upper, "lower": str.lower}.get(self.case, str)
        return tuple(map(case, lines))

    def _fewer(self, text: str, language: Language) -> str:
        """A word without marks, but for the colon of a speaker's name, or without the period of a sentence end."""
        bare, label = strip(text)
        own = language.abbreviates(language.spelled(bare))
        if not self.marks:
            unwanted = MARK_CHARACTERS - {":", "." if own else ":"}
            after = "".join(c for c in label.after if c not in unwanted)
        elif label.after.startswith(".") and label.mark == "." and not own:
            after = label.after[1:]
        else:
            return text
        return text[: len(text) - len(label.after)].rstrip() + after.strip() or text


def _without_fillers(texts: Sequence[str], fillers: Collection[str]) -> tuple[list[str], list[str]]:
    """The texts with "" for fillers, whose sentence ends and capitals go to the words beside them."""
    shown, without = list(texts), list[str]()
    for i, text in enumerate(texts):
        bare, label = strip(text)
        if bare not in fillers or label.before:
            continue
        shown[i] = ""
        without.append(text)
        last = next((j for j in range(i - 1, -1, -1) if shown[j]), None)
        ends = label.mark in TERMINAL
        if last is not None and ends and strip(shown[last])[1].mark not in TERMINAL:
            shown[last] = shown[last].removesuffix(",") + label.mark
        begins = last is None or strip(shown[last])[1].mark in TERMINAL
        if begins and i + 1 < len(texts):
            shown[i + 1] = shown[i + 1][:1].upper() + shown[i + 1][1:]
        elif last is not None and label.mark == "," and shown[last].endswith(",") and strip(texts[last])[1].mark == ",":
            shown[last] = shown[last][:-1]  # `so, um, we` is `so we`
    return shown, without
