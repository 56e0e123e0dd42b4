"""The pages of `cappunc eval --html` that show results and references side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from cappunc_cli.document.words import Document, Word
from cappunc_cli.evaluation import Sample
from cappunc_cli.files.atomic import write_atomic
from cappunc_cli.pages.review_page import comparison, review_page

#: Most documents that get a page of their own; each page takes 45 KB.
_MAX_PAGES = 200
#: Characters that not every file system accepts in names.
_UNSAFE = re.compile(r"[^\w.-]+")


def write_comparisons(samples: Sequence[Sample], folder: Path) -> dict[int, str]:
    """Write a page for each sample that differs from its reference into a folder.

    Returns the links to them, relative to the folder's parent, by sample number. Raises OSError.
    """
    differing = [i for i, sample in enumerate(samples) if list(sample.reference) != list(sample.hypothesis)][
        :_MAX_PAGES
    ]
    if not differing:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    links = {}
    for i in differing:
        sample = samples[i]
        starts = sample.starts or [None] * len(sample.hypothesis)
        words = [Word(text, start) for text, start in zip(sample.hypothesis, starts, strict=True)]
        found = comparison(Document("", "", words), f"{sample.name}, result", sample.reference, "reference")
        name = f"{i + 1:04}-{_UNSAFE.sub('_', sample.name)[-80:]}.html"
        write_atomic(folder / name, review_page(found))
        links[i] = f"{quote(folder.name)}/{quote(name)}"
    return links
