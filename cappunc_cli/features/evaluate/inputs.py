"""The inputs of `cappunc eval`: all formats of `fix`, label files, JSON Lines and `.xz`; and samples of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.evaluation import Sample, datasets
from cappunc_cli.evaluation.datasets import Source
from cappunc_cli.files.input_files import fixed_name
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import errors_about, read_unpacked

_BLANK_LINES = re.compile(r"(?<=[\r\n])(?:[^\S\r\n]*[\r\n])+")


def load_documents(path: Path, format: str | None = None, only: str | None = None) -> Iterator[Source]:
    """Yield the documents of a file whose names match the glob `only`. Raises CappuncError with the path."""
    with errors_about(str(path)):
        for source in _load(path, format):
            if only is None or fnmatch(source.name, only):
                yield source


def _load(path: Path, format: str | None) -> Iterator[Source]:
    text, name = read_unpacked(str(path)), path.name.removesuffix(".xz")
    if format is None:
        if datasets.is_label_file(text):
            yield Source(name, [Word(word) for word in datasets.read_label_file(text)])
            return
        if datasets.is_nemo_labels(text):
            words = datasets.read_nemo(read_unpacked(str(_nemo_text(path))), text)
            yield Source(name, [Word(word) for word in words])
            return
        if datasets.is_json_lines(text):
            yield from datasets.read_json_lines(text)
            return
    document = formats.read(text, name, format)
    yield plain_source(text, name) if document.format == "txt" else Source(name, document.words)


def plain_source(text: str, name: str) -> Source:
    """Plain text; speech has neither paragraphs nor lines: the breaks of the reference must not help the model."""
    document = formats.read(_BLANK_LINES.sub("", text), name, "txt")
    return Source(name, [replace(word, blank_before=False) for word in document.words])


def _nemo_text(path: Path) -> Path:
    """The text file of a NeMo label file: `text_test.txt` for `labels_test.txt`."""
    other = path.with_name(path.name.replace("labels", "text"))
    if other == path or not other.exists():
        raise BadInput(f"NeMo labels without their text file {other.name.replace('labels', 'text')}")
    return other


def listing(paths: Sequence[Path]) -> list[Path]:
    """The files, with directories replaced by the sorted files in them, except hidden files and NeMo's text files."""
    return [path for path, _ in _placed(paths)]


def _placed(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """The files of `listing`, each with its path below the directory that was named."""
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
            labels = {p for p in inside if "labels" in p.name}
            for file in inside:
                if file.with_name(file.name.replace("text", "labels")) not in labels or file in labels:
                    yield file, file.relative_to(path)
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
    references: Sequence[Path], format: str | None = None, only: str | None = None, reporter: Reporter | None = None
) -> Iterator[Source]:
    """Yield the documents of the references that have words; raises BadInput if there are none.

    Files are counted by the `reporter` when they have been consumed.
    """
    seen = []
    reporter = reporter or Reporter()
    paths = listing(references)
    reporter.files = len(paths)
    for path in paths:
        for source in load_documents(path, format, only):
            seen.append(bool(source.words))
            if source.words:
                yield source
        reporter.finish()
    if not any(seen):
        raise _nothing(only, bool(seen))


def pair_samples(
    references: Sequence[Path], hypotheses: Sequence[Path], format: str | None, only: str | None, reporter: Reporter
) -> list[Sample]:
    """Samples from pairs of reference and hypothesis files, document by document.

    Pairs are counted by the `reporter`. Raises CappuncError.
    """
    samples = []
    pairs = pair_files(references, hypotheses)
    reporter.files = len(pairs)
    for reference, hypothesis in pairs:
        ours, theirs = (list(load_documents(path, format, only)) for path in (reference, hypothesis))
        if len(ours) != len(theirs):
            raise BadInput(f"has {len(theirs)} documents, but {reference.name} has {len(ours)}", path=str(hypothesis))
        for a, b in zip(ours, theirs, strict=True):
            same = len(a.words) == len(b.words)
            times = starts(b.words) or (starts(a.words) if same else [])
            reference_words, texts = ([word.text for word in side.words] for side in (a, b))
            samples.append(Sample(a.name, reference_words, texts, times))
        reporter.finish()
    if not any(sample.reference for sample in samples):
        raise _nothing(only, bool(samples))
    if not any(sample.hypothesis for sample in samples):
        raise BadInput("has no words", path=", ".join(map(str, hypotheses)))
    return samples


def _nothing(only: str | None, matched: bool) -> CappuncError:
    """The error if there is nothing to score, though perhaps a document has `matched` --only."""
    if only is not None and not matched:
        return WrongUsage(f"--only: {only} matches no document")
    return BadInput("no words to score")


def starts(words: Sequence[Word]) -> list[int | None]:
    """The start of each word, or of the last word before it that has one; [] if no word has one."""
    result: list[int | None] = []
    last = None
    for word in words:
        last = last if word.start is None else word.start
        result.append(last)
    return result if last is not None else []
