"""The signature of a score: everything that it depends on, in one line (the idea is sacreBLEU's)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cappunc_cli.document.labels import FOLD


@dataclass(frozen=True, slots=True)
class Signature:
    """Version, model, options and data; `str()` gives `cappunc:1.0|model:en@0123456789ab|…`."""

    version: str
    model: str
    options: tuple[tuple[str, str], ...]
    data: str

    def fields(self) -> dict[str, str]:
        """The parts by name."""
        return {"cappunc": self.version, "model": self.model, **dict(self.options), "data": self.data}

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields().items())


def describe_fold(fold: Mapping[str, str] = FOLD) -> str:
    """The folding of marks as `!;…>. :—>,`, or `none`."""
    marks = {target: "".join(m for m, t in fold.items() if t == target) for target in dict.fromkeys(fold.values())}
    return " ".join(f"{sources}>{target}" for target, sources in marks.items()) or "none"


def hash_words(documents: Sequence[Sequence[str]]) -> str:
    """Twelve hex digits of the SHA-256 of the written words; the same text in another format gives the same."""
    digest = hashlib.sha256()
    for words in documents:
        # Halves of characters, which JSON may have, are hashed as they are.
        digest.update(" ".join(words).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:12]
