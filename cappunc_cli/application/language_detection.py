"""Detect the language of files and choose their models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cache, partial
from typing import TYPE_CHECKING

from cappunc_cli.application.plan import Job
from cappunc_cli.application.storage.files import about, read_text
from cappunc_cli.errors import BadModel, CappuncError, UnknownModel
from cappunc_cli.languages import LANGUAGES, UNSPACED, language

if TYPE_CHECKING:
    from collections.abc import Callable

    from py3langid.langid import LanguageIdentifier

AUTO = "auto"
#: The language assumed for texts that are too short to tell.
DEFAULT = "en"
#: Detection looks at this many characters from the beginning of a file, and at this many words of them.
_MAX_CHARACTERS, _MAX_WORDS = 100_000, 1000
#: With fewer words or less certainty, only languages with a model are considered. French is recognised in two thirds
#: of texts of five words and in 99 % of texts of twelve; of texts of five words in a language with a model, one in
#: 2000 is taken for a language without.
_MIN_WORDS, _MIN_CERTAINTY = 5, 0.9
#: A text of at least this many words is English if at least this share of them are frequent English words.
_ENGLISH_SHARE, _ENGLISH_MIN_WORDS = 0.15, 20
_LATIN = frozenset(code for code, known in LANGUAGES.items() if known.latin)

_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]*\}|\"[^\"\\\s]{1,40}\"\s*:|&\w+;|\\[nNh]|https?:\S+")
_DECLARED = re.compile(r"(?:\"language\"\s*:\s*\"|^Language:\s*)([A-Za-z]{2,3})\b", re.MULTILINE)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f'’-]+[^\W\d_]*)*")


def words_of(text: str) -> list[str]:
    """The first words of a file of any format, in lower case, without tags, keys and timestamps."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text[:_MAX_CHARACTERS])
    return [word.lower() for word in _WORD.findall(_MARKUP.sub(" ", text))][:_MAX_WORDS]


def declared(text: str) -> list[str]:
    """The language codes that a file declares (Whisper's JSON, YouTube's WebVTT); wrong for some translations."""
    return sorted({code.lower() for code in _DECLARED.findall(text)})


def detect_language(words: Sequence[str], candidates: Iterable[str]) -> str:
    """The language code of some words in lower case; one of `candidates` if the words are few."""
    if not words:
        return DEFAULT
    english = sum(word in LANGUAGES[DEFAULT].frequent for word in words)
    # Most files are English: spare them the half second that the identifier takes to load.
    if len(words) >= _ENGLISH_MIN_WORDS and english >= _ENGLISH_SHARE * len(words):
        return DEFAULT
    # The identifier is unreliable on a word or two.
    if len(words) < _MIN_WORDS and 2 * english >= len(words):
        return DEFAULT
    identifier = _identifier()
    text = " ".join(words)
    code, certainty = identifier.classify(text)
    if len(words) < _MIN_WORDS or certainty < _MIN_CERTAINTY:
        known = tuple(sorted(set(candidates) & set(identifier.labels)))
        if _is_foreign(text) and _LATIN.issuperset(known):
            return str(code)
        if not known:
            return DEFAULT
        code, _ = _identifier(known).classify(text)
    return str(code)


def _is_foreign(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c < "\u0250" or "\u1e00" <= c < "\u1f00" for c in letters) < len(letters)


@cache
def _identifier(among: tuple[str, ...] = ()) -> LanguageIdentifier:
    """The identifier of all languages, or of those named; cached, since restricting it is slower than identifying."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    if not among:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    restricted = copy(_identifier())
    restricted.set_languages(among)
    return restricted


def model_for(code: str, engine: str, fast: bool = False) -> str:
    """The directory of a language's best or `fast` model; raises UnknownModel, which says how to get one."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import find_model_for

    try:
        return str(find_model_for(code, ENGINES[engine], fast=fast))
    except BadModel as error:
        for other, config in ENGINES.items():
            try:
                find_model_for(code, config)
            except BadModel:
                continue
            raise UnknownModel(f"{error.message}; --engine {other} has one") from error
        hint = f"; train one with cappunc train --lang {code} TEXT -o DIR, or use another with --model NAME"
        hint = "" if code in UNSPACED else hint
        raise UnknownModel(error.message + hint) from error


def by_model(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    engine: str,
    refuse: Callable[[CappuncError], None],
    fast: bool = False,
) -> dict[tuple[str, str | None], list[Job]]:
    """Group jobs by model and language code, keeping their order; the code None stands for the model's own language.

    With `lang` auto, the language of each file is detected, unless the named `model` has only one; `refuse` is called
    for files that cannot be read or whose language has no model. Otherwise all jobs share one model; raises BadModel
    if there is none.
    """
    named = named_model(lang, model, engine, fast)
    codes = () if lang != AUTO else known_languages() if model is None else languages_of(model, engine)
    if named is not None and len(codes) <= 1:
        return {named: list(jobs)}
    model_of = cache(partial(model_for_detected, engine=engine, fast=fast)) if model is None else lambda _: model
    result: dict[tuple[str, str | None], list[Job]] = {}
    for job, code in with_languages(jobs, codes, refuse):
        try:
            name = model_of(code)
        except BadModel as error:
            refuse(CappuncError(error.message, job.name))
        else:
            result.setdefault((name, code), []).append(job)
    return result


def with_languages(
    jobs: Iterable[Job], codes: Sequence[str], refuse: Callable[[CappuncError], None]
) -> Iterator[tuple[Job, str]]:
    """Yield each job with its file's language as `language_of` finds it; `refuse` is called for unreadable files."""
    for job in jobs:
        try:
            code = language_of(job, codes)
        except (CappuncError, OSError) as error:
            refuse(about(error, job.name))
        else:
            yield job, code


def named_model(lang: str, model: str | None, engine: str, fast: bool = False) -> tuple[str, str | None] | None:
    """The requested model and language code; None if the model depends on the text's language. Raises BadModel."""
    if model is None and lang == AUTO:
        return None
    return model_for(lang, engine, fast) if model is None else model, None if lang == AUTO else lang


def model_of_text(
    text: str, lang: str, model: str | None, engine: str, fast: bool = False, codes: Sequence[str] | None = None
) -> tuple[str, str | None]:
    """The model and the language code for a text; the code None stands for the model's own language.

    `codes` are the languages of the named model; they are looked up if None. Raises BadModel.
    """
    named = named_model(lang, model, engine, fast)
    if named is None:
        code = language_of_text(text, known_languages())
        return model_for_detected(code, engine, fast), code
    name, own = named
    if own is None:
        codes = languages_of(name, engine) if codes is None else codes
        own = language_of_text(text, codes) if len(codes) > 1 else None
    return name, own


def model_for_detected(code: str, engine: str, fast: bool = False) -> str:
    """As `model_for`, for a language that was detected: the error says so."""
    try:
        return model_for(code, engine, fast)
    except BadModel as error:
        raise BadModel(
            f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
        ) from error


def languages_of(model: str, engine: str) -> list[str]:
    """The language codes of a model, given by name or directory; raises BadModel."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import ModelConfig, find_model

    kind = ENGINES[engine]
    return list(ModelConfig.load(find_model(model, kind), kind.config).languages)


def known_languages() -> list[str]:
    """Languages that have a model of any engine."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import model_languages

    return sorted({code for config in ENGINES.values() for code in model_languages(config)})


def language_of(job: Job, codes: Sequence[str]) -> str:
    """The detected language of a job's file, one of `codes` if in doubt; raises BadInput and OSError."""
    return language_of_text(read_text(job.source, job.encoding)[0], codes)


def language_of_text(text: str, codes: Sequence[str]) -> str:
    """The detected language of a file's text, one of `codes` if in doubt."""
    return detect_language(words_of(text), [*codes, *declared(text)])
