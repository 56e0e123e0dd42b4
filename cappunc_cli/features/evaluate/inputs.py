"""The inputs of `cappunc eval`: all formats of `fix`, also as `.xz`; and samples of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Word
from cappunc_cli.errors import BadInput, WrongUsage
from cappunc_cli.evaluation import Sample
from cappunc_cli.files.jobs import fixed_name
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.storage import errors_about, read_unpacked
from cappunc_cli.languages import Language

_BLANK_LINES = re.compile(r"(?<=[\r\n])(?:[^\S\r\n]*[\r\n])+")


@dataclass(frozen=True, slots=True)
class Source:
    """One document and its words."""

    name: str
    words: Sequence[Word]

    def stripped(self, language: Language | None = None) -> list[Word]:
        """The words that the model gets."""
        return bare(self.words, language)


def bare(words: Sequence[Word], language: Language | None = None) -> list[Word]:
    """Words as a recogniser writes them: lower case, no marks; times and turns are kept."""
    if language is None or not language.read_as:
        return [replace(word, text=strip(word.text)[0]) for word in words]
    return [replace(word, text=language.written(strip(language.read(word.text))[0])) for word in words]


#: Reads the documents of a file; models/lab reads other files than transcripts, too.
Reader = Callable[[Path], Iterable[Source]]


def read_transcript(path: Path, format: str | None = None) -> list[Source]:
    """The only document of a file in a format (None: detected). Raises CappuncError with the path."""
    with errors_about(str(path)):
        text, name = read_unpacked(str(path)), path.name.removesuffix(".xz")
        document = formats.read(text, name, format)
        rows = [line for line in text.split("\n", 20)[:20] if line.strip()]
        if document.format == "txt" and rows and all("\t" in row for row in rows):
            raise BadInput("is a table of words and labels: in a clone, python -m models.lab.variants reads it")
        return [Source(name, without_breaks(document) if document.format == "txt" else document.words)]


def without_breaks(document: Document) -> list[Word]:
    """The words of plain text as one paragraph: speech has no breaks, and a reference's breaks must not help."""
    text = _BLANK_LINES.sub("", document.source)
    words = document.words if text == document.source else formats.read(text, format="txt").words
    return [replace(word, blank_before=False) for word in words]


def listing(paths: Sequence[Path]) -> list[Path]:
    """The files, with directories replaced by the sorted files in them, except hidden files."""
    return [path for path, _ in _placed(paths)]


def _placed(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """The files of `listing`, each with its path below the directory that was named."""
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
            yield from ((file, file.relative_to(path)) for file in inside)
        else:
            yield path, Path(path.name)


def pair_files(references: Sequence[Path], hypotheses: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Pairs of reference and hypothesis files.

    Files are paired in order; with directories, by name without suffix and `.fixed`, and by their path below the
    directory where several have the same name. A result `talk.fixed.srt` takes the place of `talk.srt`. Raises
    WrongUsage if the numbers of files differ, and BadInput for a reference without hypothesis, which would distort the
    score, or with several, and for a second reference with the same hypothesis.
    """
    if not any(path.is_dir() for path in (*references, *hypotheses)):
        if len(references) != len(hypotheses):
            raise WrongUsage(f"the numbers of references ({len(references)}) and hypotheses ({len(hypotheses)}) differ")
        return list(zip(references, hypotheses, strict=True))
    places = dict(_placed(hypotheses))
    partners: dict[tuple[int, str], list[Path]] = {}
    for path, place in places.items():
        if path.with_name(fixed_name(path)) not in places:
            for key in enumerate(_names(place)):
                partners.setdefault(key, []).append(path)
    pairs: dict[Path, Path] = {}
    for reference, place in _placed(references):
        found = next((partners[key] for key in enumerate(_names(place)) if key in partners), [])
        if len(found) != 1:
            number = "several hypotheses" if found else "no hypothesis"
            raise BadInput(f"{number} with the name of {reference.name}", path=str(reference))
        if other := pairs.get(found[0]):
            raise BadInput(f"has the hypothesis of {other}, {found[0]}", path=str(reference))
        pairs[found[0]] = reference
    if not pairs:
        raise BadInput("no files to score")
    return [(reference, hypothesis) for hypothesis, reference in pairs.items()]


def _names(place: Path) -> tuple[str, str, str]:
    """The names by which a file is paired, the closest first: its path, that without suffix, and its bare name."""
    name = Path(place.name.removesuffix(".xz"))
    bare = name.stem.removesuffix(".fixed")
    return f"{place.parent}/{bare}{name.suffix}", f"{place.parent}/{bare}", bare


def sources(
    references: Sequence[Path], read: Reader = read_transcript, reporter: Reporter | None = None
) -> Iterator[Source]:
    """Yield the documents of the references that have words; raises BadInput if there are none.

    Files are counted by the `reporter` when they have been consumed.
    """
    seen = False
    reporter = reporter or Reporter()
    paths = listing(references)
    reporter.files = len(paths)
    for path in paths:
        for source in read(path):
            if source.words:
                seen = True
                yield source
        reporter.finish()
    if not seen:
        raise BadInput("no words to score")


def pair_samples(
    references: Sequence[Path], hypotheses: Sequence[Path], read: Reader, reporter: Reporter
) -> list[Sample]:
    """Samples from pairs of reference and hypothesis files, document by document.

    Pairs are counted by the `reporter`. Raises CappuncError.
    """
    samples = []
    pairs = pair_files(references, hypotheses)
    reporter.files = len(pairs)
    for reference, hypothesis in pairs:
        ours, theirs = (list(read(path)) for path in (reference, hypothesis))
        if len(ours) != len(theirs):
            raise BadInput(f"has {len(theirs)} documents, but {reference.name} has {len(ours)}", path=str(hypothesis))
        for a, b in zip(ours, theirs, strict=True):
            same = len(a.words) == len(b.words)
            times = starts(b.words) or (starts(a.words) if same else [])
            reference_words, texts = ([word.text for word in side.words] for side in (a, b))
            samples.append(Sample(a.name, reference_words, texts, times))
        reporter.finish()
    if not any(sample.reference for sample in samples):
        raise BadInput("no words to score")
    if not any(sample.hypothesis for sample in samples):
        raise BadInput("has no words", path=", ".join(map(str, hypotheses)))
    return samples


def starts(words: Sequence[Word]) -> list[int | None]:
    """The start of each word, or of the last word before it that has one; [] if no word has one."""
    result: list[int | None] = []
    last = None
    for word in words:
        last = last if word.start is None else word.start
        result.append(last)
    return result if last is not None else []
