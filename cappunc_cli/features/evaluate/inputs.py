"""The inputs of `cappunc eval`: all formats of `fix`, label files, JSON Lines and `.xz`; and samples of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import speech_dashes
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.evaluation import Sample, datasets
from cappunc_cli.evaluation.datasets import Source, gold_windows
from cappunc_cli.features.evaluate.restorer import Restorer
from cappunc_cli.files.input_files import fixed_name
from cappunc_cli.files.progress import FileTally
from cappunc_cli.files.storage import read_unpacked

_BLANK_LINES = re.compile(r"(?<=[\r\n])(?:[^\S\r\n]*[\r\n])+")


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: in this format (None: detected), and only documents whose names match the glob `only`.

    With `speech_dashes`, hyphens before words in plain text are read as dashes of direct speech.
    """

    format: str | None = None
    only: str | None = None
    speech_dashes: bool = False


#: Any format, all documents.
ANYTHING = Reading()


def load_documents(path: Path, how: Reading = ANYTHING) -> Iterator[Source]:
    """Yield the documents of a file. Raises CappuncError with the path."""
    try:
        for source in _load(path, how):
            if how.only is None or fnmatch(source.name, how.only):
                yield source
    except CappuncError as error:
        error.path = error.path or str(path)
        raise


def _load(path: Path, how: Reading) -> Iterator[Source]:
    text, name = read_unpacked(str(path)), path.name.removesuffix(".xz")
    if how.format is None:
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
    document = formats.read(text, name, how.format)
    if document.format == "txt":
        # Speech has neither paragraphs nor lines: the breaks of the reference must not help the model.
        plain = _BLANK_LINES.sub("", text)
        if how.speech_dashes:
            # At the head of a line, a dash would be read as a change of speaker rather than as text.
            plain = speech_dashes(plain).replace("\n—", " —")
        document = formats.read(plain, name, "txt")
        yield Source(name, [replace(word, blank_before=False) for word in document.words])
    else:
        yield Source(name, document.words)


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
    references: Sequence[Path],
    how: Reading = ANYTHING,
    windows: int | None = None,
    tally: FileTally | None = None,
) -> Iterator[Source]:
    """Yield the documents of the references; raises BadInput if there are none.

    With `windows`, they are cut into windows of at most that many words at sentence ends. Files are counted in the
    `tally` when they have been consumed.
    """
    seen = []
    tally = tally or FileTally()
    paths = listing(references)
    tally.files = len(paths)
    for path in paths:
        for source in load_documents(path, how):
            seen.append(bool(source.words))
            if source.words:
                yield from (source,) if windows is None else gold_windows(source, windows)
        tally.done += 1
    if not any(seen):
        raise _nothing(how, bool(seen))


def restore_samples(documents: Iterable[Source], restorer: Restorer) -> Iterator[Sample]:
    """Strip each document, restore it, and pair it with the original."""
    for source in documents:
        words = source.stripped()
        texts, probabilities = restorer.restore(words) if words else ([], None)
        reference = [word.text for word in source.words]
        yield Sample(source.name, reference, texts, starts(words), probabilities)


def pair_samples(
    references: Sequence[Path], hypotheses: Sequence[Path], how: Reading, tally: FileTally | None = None
) -> list[Sample]:
    """Samples from pairs of reference and hypothesis files, document by document.

    Pairs are counted in the `tally`. Raises CappuncError.
    """
    samples = []
    tally = tally or FileTally()
    pairs = pair_files(references, hypotheses)
    tally.files = len(pairs)
    for reference, hypothesis in pairs:
        ours = list(load_documents(reference, how))
        theirs = list(load_documents(hypothesis, how))
        if len(ours) != len(theirs):
            raise BadInput(f"has {len(theirs)} documents, but {reference.name} has {len(ours)}", path=str(hypothesis))
        for a, b in zip(ours, theirs, strict=True):
            same = len(a.words) == len(b.words)
            times = starts(b.words) or (starts(a.words) if same else [])
            reference_words, texts = ([word.text for word in side.words] for side in (a, b))
            samples.append(Sample(a.name, reference_words, texts, times))
        tally.done += 1
    if not any(sample.reference for sample in samples):
        raise _nothing(how, bool(samples))
    if not any(sample.hypothesis for sample in samples):
        raise BadInput("has no words", path=", ".join(map(str, hypotheses)))
    return samples


def _nothing(how: Reading, matched: bool) -> CappuncError:
    """The error if there is nothing to score, though perhaps a document has `matched` --only."""
    if how.only is not None and not matched:
        return WrongUsage(f"--only: {how.only} matches no document")
    return BadInput("no words to score")


def starts(words: Sequence[Word]) -> list[int | None]:
    """The start of each word, or of the last word before it that has one; [] if no word has one."""
    result: list[int | None] = []
    last = None
    for word in words:
        last = last if word.start is None else word.start
        result.append(last)
    return result if last is not None else []
