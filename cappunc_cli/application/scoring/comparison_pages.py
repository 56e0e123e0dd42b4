"""Pages of `cappunc eval --html`: each result beside its reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from cappunc_cli.transcript.words import Document, Words

if TYPE_CHECKING:
    from cappunc_cli.evaluation import Sample

#: Of a corpus of thousands of documents the first so many that differ have pages: each page takes 45 KB.
_MOST = 200
#: What is no part of a name on every file system.
_ODD = re.compile(r"[^\w.-]+")


def write_comparisons(samples: Sequence[Sample], folder: Path) -> dict[int, str]:
    """Write the pages of the samples that differ into a folder; their addresses from beside it, by number of sample.

    Raises OSError.
    """
    differing = [i for i, sample in enumerate(samples) if list(sample.reference) != list(sample.hypothesis)][:_MOST]
    if not differing:
        return {}
    from cappunc_cli.application.review.page import page_bytes
    from cappunc_cli.application.review.page_data import comparison
    from cappunc_cli.application.storage.files import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    links = {}
    for i in differing:
        sample = samples[i]
        words = Words()
        starts = sample.starts or [None] * len(sample.hypothesis)
        for text, start in zip(sample.hypothesis, starts, strict=True):
            words.add(text, start)
        found = comparison(Document("", words, None), f"{sample.name}, result", sample.reference, "reference")
        name = f"{i + 1:04}-{_ODD.sub('_', sample.name)[-80:]}.html"
        write_atomic(folder / name, page_bytes(found))
        links[i] = f"{quote(folder.name)}/{quote(name)}"
    return links
