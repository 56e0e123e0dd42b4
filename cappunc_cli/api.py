"""The Python interface: `fix`, `check`, `read` and `write` for files, bytes and text.

`captions`, `convert`, `review` and `evaluate` stand in the modules of these commands.
"""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from types import NoneType
from typing import Any, Literal, TypedDict, Unpack, get_args

from cappunc_cli import formats
from cappunc_cli.document.words import Document
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.files.encodings import UTF_8, Encoding, decode, named_codec
from cappunc_cli.files.fixer import Fixed, Fixer, FixRequest, Opened
from cappunc_cli.files.inspection import missing_entries
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.formats.recogniser_words import RecogniserWords
from cappunc_cli.languages import codes_of
from cappunc_cli.options import require
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.registry import ENGINES, NETWORK
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.terms import Glossary

#: The path of a file, its bytes, or its text.
Source = str | bytes | os.PathLike[str]
#: What to do with diacritics.
Diacritics = Literal["keep", "normalise", "restore"]


class Choices(TypedDict, total=False):
    """The fields of `Options` that `fix` takes as keywords; the glossary may also be a list of terms."""

    marks: str | None
    sensitivity: float
    style: Literal["light", "standard", "heavy"]
    existing: Literal["auto", "keep", "recheck", "replace"]
    window: int | None
    overlap: int | None
    min_words_cut: int | None
    pauses: bool
    glossary: Glossary | Iterable[str]


class How(TypedDict, total=False):
    """How a source is read and restored: the keywords that `captions`, `convert` and `review` share.

    `fps` is the frame rate of files to write in frames, and of sources in frames that do not state their own.
    """

    language: str
    format: str | None
    encoding: str | None
    fast: bool
    device: str
    fps: float | None


@dataclass(frozen=True, slots=True)
class Unrestored:
    """A stretch of words that lack marks, case or both; the fields are the same as in `cappunc check --json`.

    Times are milliseconds, None if the file has none. `lines` is the first and last line in plain text, None in other
    formats. Lines and words are counted from 1.

    >>> (span,) = cappunc.check("so we went to london and then we came back and it was late")
    >>> span.first_word, span.last_word, span.missing
    (1, 14, ('marks', 'case'))
    """

    start_ms: int | None
    end_ms: int | None
    lines: tuple[int, int] | None
    first_word: int
    last_word: int
    words: int
    missing: tuple[str, ...]


def fix(
    source: Source,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    language: str = AUTO,
    format: str | None = None,
    encoding: str | None = None,
    engine: str = NETWORK,
    fast: bool = False,
    device: str = "auto",
    attach: bool = False,
    diacritics: Diacritics = "keep",
    numbers: bool = False,
    apostrophes: bool = False,
    aliases: bool = False,
    **options: Unpack[Choices],
) -> Fixed:
    """Restore the punctuation and case of a transcript, as `cappunc fix` does; nothing is written to disk.

    `source` is the path of a file (as Path, since a str is text), its bytes or its text, in any format that cappunc
    reads. `model` is an open model, a name or a directory. By default the `language` (a code or a name) chooses it;
    without one, the language of each stretch is detected. The last two models stay open
    between calls. `encoding` is that of bytes and files, detected by default. `options` are the fields of `Options`;
    `glossary` may also be a list of terms. The other parameters are described in `cappunc fix --help`.

    Raises BadInput, UnknownFormat, BadModel or WrongUsage (all of them CappuncError), and OSError for a file that
    cannot be read. Warns if there is a GPU that cannot be used, and of words in languages without a model.

    >>> cappunc.fix("good evening london how are you").text
    'Good evening, London. How are you?'
    >>> fixed = cappunc.fix(Path("talk.srt"), marks=".?", glossary=["iPhone"])
    >>> fixed.text.splitlines()[:3]
    ['1', '00:00:01,280 --> 00:00:02,760', 'Good evening London.']
    """
    for name, value, known in (("engine", engine, [*ENGINES]), ("diacritics", diacritics, get_args(Diacritics))):
        if value not in known:
            raise WrongUsage(f"{name} must be one of {', '.join(known)}, not {value!r}")
    changes: dict[str, Any] = {"attach": attach, "numbers": numbers, "apostrophes": apostrophes, "aliases": aliases}
    for name, flag in {"fast": fast, **changes}.items():
        require(name, flag, bool, "True or False")
    how: How = {"language": language, "format": format, "encoding": encoding, "fast": fast, "device": device}
    with opened(source, model, options, how, engine=engine, diacritics=diacritics, **changes) as found:
        return found.write(found.restore())


def restore_words(
    words: Iterable[object],
    model: Model | str | os.PathLike[str] | None = None,
    *,
    language: str = AUTO,
    fast: bool = False,
    device: str = "auto",
    **options: Unpack[Choices],
) -> list[str]:
    """Restore the words of a recogniser (faster-whisper, WhisperX, stable-ts and others); return a new text for each.

    Each word is a dict or an object with `word` or `text`, with `start` and `end` in seconds, or None where unknown,
    and perhaps with a `speaker`. White space around a text is kept. If words begin with a space, a word without one
    continues the word before it. The other parameters and exceptions are the same as of `fix`.

    >>> words = [{"word": " good", "start": 0.0, "end": 0.3}, {"word": " evening", "start": 0.3, "end": 0.7}]
    >>> words.append({"word": " london", "start": 0.72, "end": 1.3})
    >>> cappunc.restore_words(words)
    [' Good', ' evening,', ' London.']
    """
    given = RecogniserWords(list(words))
    document = replace(given.document, source=" ".join(given.document.texts))
    how: How = {"language": language, "fast": fast, "device": device}
    found = _fixer(model, options, how).open(document)
    _warn(found.note)
    return given.written(found.restore())


@contextmanager
def opened(
    source: Source,
    model: Model | str | os.PathLike[str] | None,
    restoring: Choices | None,
    how: How,
    engine: str = NETWORK,
    **changes: Any,
) -> Iterator[Opened]:
    """Read a source for a command; without `restoring` nothing is restored, and no model is needed.

    `changes` are other fields of FixRequest. Errors inside the block name the source. Raises CappuncError and OSError.
    """
    with _errors_about(source):
        hint = how.get("format")
        text, encoding = _content(source, hint, how.get("encoding"))
        fixer, name = _fixer(model, restoring or {}, how, engine, **changes), _name(source)
        found = fixer.open(fixer.request.read(text, name), name, encoding, restore=restoring is not None)
        _warn(found.note)
        yield found


def check(
    source: Source,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    language: str = AUTO,
    format: str | None = None,
    encoding: str | None = None,
    device: str = "auto",
    pauses: bool = True,
) -> list[Unrestored]:
    """List the stretches of a transcript that lack marks or case, as `cappunc check` does; [] if nothing is missing.

    These are the stretches that `fix` would restore. Arguments and exceptions are the same as of `fix`.

    >>> cappunc.check("Good evening, London. How are you?")
    []
    >>> [(span.start_ms, span.words) for span in cappunc.check(Path("talk.srt"))]
    [(1280, 341)]
    """
    how: How = {"language": language, "format": format, "encoding": encoding, "device": device}
    with opened(source, model, {"pauses": pauses}, how) as found:
        return [
            Unrestored(**{**one, "lines": one["lines"] and tuple(one["lines"]), "missing": tuple(one["missing"])})
            for one in missing_entries(found)["stretches"]
        ]


def read(
    source: Source, name: str = "", format: str | None = None, encoding: str | None = None, fps: float | None = None
) -> Document:
    """Read the words of a transcript from the path of a file, its bytes or its text (with original line ends).

    The format is recognised from the content, or from the suffix of `name` if the content is ambiguous. `fps` is the
    frame rate of a file in frames that does not state its own (MicroDVD, Avid DS). Raises UnknownFormat, BadInput for
    malformed input, and OSError.

    >>> document = cappunc.read(Path("talk.srt"))
    >>> document.format, document.words[0].text, document.words[0].start
    ('srt', 'good', 1280)
    """
    with _errors_about(source):
        require("name", name, str, "a str")
        text, _ = _content(source, name or format, encoding)
        return formats.read(text, name or _name(source), format, fps)


def write(document: Document, texts: Sequence[str], *, attach: bool = False) -> str:
    r"""Return the source of a document with new texts, one per word in order, verified by reading it back.

    `attach` moves marks that are entries of their own in the format onto their words. Raises BadInput if anything but
    marks and case would change, and ValueError unless there is one text per word.

    >>> document = cappunc.read("good evening london\n")
    >>> cappunc.write(document, ["Good", "evening,", "London!"])
    'Good evening, London!\n'
    >>> cappunc.write(document, ["Good", "morning,", "London!"])
    Traceback (most recent call last):
    cappunc_cli.errors.BadInput: 1: “evening” cannot become “morning,”: not the same word
    """
    require("document", document, Document, "a Document")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise WrongUsage(f"texts must be a list of str, not {reprlib.repr(texts)}")
    texts = list(texts)
    for text in texts:
        require("a text", text, str, "a str")
    output = formats.write(document, texts, attach=attach)
    formats.verify(document, output)
    return output


def _fixer(
    model: Model | str | os.PathLike[str] | None, restoring: Choices, how: How, engine: str = NETWORK, **changes: Any
) -> Fixer:
    """The Fixer that opens and restores sources. Raises WrongUsage."""
    code, fast, device = how.get("language", AUTO), how.get("fast", False), how.get("device", "auto")
    require("model", model, (Model, str, os.PathLike, NoneType), "an open model, a name or a directory")
    require("language", code, str, "a code or a name")
    require("device", device, str, "a str")
    if fast and model is not None:
        raise WrongUsage("fast and model exclude each other")
    given = model if isinstance(model, Model) else None
    name = given.config.name if given is not None else None if model is None else os.fspath(model)  # type: ignore[arg-type]
    languages = None if given is None else given.config.languages
    terms = restoring.pop("glossary", ())
    glossary = terms if isinstance(terms, Glossary) else Glossary.of(terms)
    options = Options(glossary=glossary, **restoring)  # type: ignore[arg-type, misc]  # the glossary was popped
    changes |= {"options": options, "device": device, "format": how.get("format"), "fps": how.get("fps")}
    return Fixer(FixRequest(codes_of(code), name, engine, fast, languages, **changes), _warn, given=given)


def _warn(message: str) -> None:
    """Warn if there is a message, for example about words in languages without a model."""
    if message:
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _content(source: Source, format_hint: str | None, encoding: str | None) -> tuple[str, Encoding]:
    """The text of a source and its encoding; raises WrongUsage for a str like a file name without a `format_hint`."""
    require("source", source, (str, bytes, os.PathLike), "a Path, bytes or a str")
    require("format", format_hint, (str, NoneType), "a str or None")
    require("encoding", encoding, (str, NoneType), "a str or None")
    if not isinstance(source, str):
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        return decode(data, None if encoding is None else named_codec(encoding))
    suffix = PurePath(source).suffix.lower() if len(source.splitlines()) == 1 else ""
    if format_hint is None and suffix in formats.CLAIMED:
        raise WrongUsage(f"{source!r} looks like a file name: pass Path({source!r}), or format='txt' if it is text")
    return source, UTF_8


def _name(source: Source) -> str:
    """The file name, to help recognise the format; "" unless the source is a path."""
    return "" if isinstance(source, str | bytes) else Path(source).name


@contextmanager
def _errors_about(source: Source) -> Iterator[None]:
    """Add the path of the source to errors that name no file."""
    try:
        yield
    except CappuncError as error:
        if not isinstance(source, str | bytes) and not isinstance(error, WrongUsage):
            error.path = error.path or os.fspath(source)
        raise
