"""Which language a file is in, and which model that asks for."""

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
#: What a text is held for that is too short to tell.
DEFAULT = "en"
#: Characters at the beginning of a file, and words of them, that are looked at.
_LONGEST, _MOST = 100_000, 1000
#: Fewer words, or less certainty, and only languages with a model come into question. Of five words of French two
#: thirds are told, of twelve 99 in 100; of five in a language with a model one in 2000 is taken for another's.
_FEWEST, _SURE = 5, 0.9
#: The share of its frequent words by which English is told, in so many words at least.
_ENGLISH_SHARE, _ENGLISH_FEWEST = 0.15, 20
_LATIN = frozenset(code for code, known in LANGUAGES.items() if known.latin)

_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]*\}|\"[^\"\\\s]{1,40}\"\s*:|&\w+;|\\[nNh]|https?:\S+")
_DECLARED = re.compile(r"(?:\"language\"\s*:\s*\"|^Language:\s*)([A-Za-z]{2,3})\b", re.MULTILINE)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f'’-]+[^\W\d_]*)*")


def words_of(text: str) -> list[str]:
    """The first words of a file of any format, in lower case: not its tags, keys and clock times."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text[:_LONGEST])
    return [word.lower() for word in _WORD.findall(_MARKUP.sub(" ", text))][:_MOST]


def declared(text: str) -> list[str]:
    """The languages that a file says it is in (Whisper's JSON, YouTube's WebVTT); a translation need not be."""
    return sorted({code.lower() for code in _DECLARED.findall(text)})


def detect_language(words: Sequence[str], candidates: Iterable[str]) -> str:
    """The code of the language of some words; of `candidates` alone where the words are few."""
    if not words:
        return DEFAULT
    english = sum(word in LANGUAGES[DEFAULT].frequent for word in words)
    # What most files are is told without the half second that the identifier takes to load.
    if len(words) >= _ENGLISH_FEWEST and english >= _ENGLISH_SHARE * len(words):
        return DEFAULT
    # A word or two say little, and the identifier has a dozen languages to guess among.
    if len(words) < _FEWEST and 2 * english >= len(words):
        return DEFAULT
    identifier = _identifier()
    text = " ".join(words)
    code, certainty = identifier.classify(text)
    if len(words) < _FEWEST or certainty < _SURE:
        known = tuple(sorted(set(candidates) & set(identifier.labels)))
        if _is_foreign(text) and _LATIN.issuperset(known):
            return str(code)
        if not known:
            return DEFAULT
        code, _ = _identifier(known).classify(text)
    return str(code)


def _is_foreign(text: str) -> bool:
    """Whether most letters are not Latin."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c < "\u0250" or "\u1e00" <= c < "\u1f00" for c in letters) < len(letters)


@cache
def _identifier(among: tuple[str, ...] = ()) -> LanguageIdentifier:
    """The identifier of all languages, or some of them; choosing these takes longer than identifying."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    if not among:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    some = copy(_identifier())
    some.set_languages(among)
    return some


def model_for(code: str, engine: str, fast: bool = False) -> str:
    """The directory of a language's best or `fast` model; raises UnknownModel, which tells how to come by one."""
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
            raise UnknownModel(f"{error.message}, or --engine {other}, which has one") from error
        way = f"; cappunc train --lang {code} TEXT -o DIR makes one; --model NAME asks another's"
        way = "" if code in UNSPACED else way
        raise UnknownModel(error.message + way) from error


def by_model(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    engine: str,
    refuse: Callable[[CappuncError], None],
    fast: bool = False,
) -> dict[tuple[str, str | None], list[Job]]:
    """The jobs by model and language, in the order of their files.

    With `lang` auto each file is looked at, unless a named `model` has one language alone; `refuse` hears of those
    that cannot be read or have no model. Otherwise one model does all, and raises BadModel if there is none. The
    language None is the model's.
    """
    named = named_model(lang, model, engine, fast)
    codes = () if lang != AUTO else known_languages() if model is None else languages_of(model, engine)
    if named is not None and len(codes) <= 1:
        return {named: list(jobs)}
    chosen = cache(partial(model_seen, engine=engine, fast=fast)) if model is None else lambda _: model
    result: dict[tuple[str, str | None], list[Job]] = {}
    for job, code in with_languages(jobs, codes, refuse):
        try:
            own = chosen(code)
        except BadModel as error:
            refuse(CappuncError(error.message, job.name))
        else:
            result.setdefault((own, code), []).append(job)
    return result


def with_languages(
    jobs: Iterable[Job], codes: Sequence[str], refuse: Callable[[CappuncError], None]
) -> Iterator[tuple[Job, str]]:
    """Each job with the code of its file's language, as `language_of`; `refuse` hears of those that cannot be read."""
    for job in jobs:
        try:
            code = language_of(job, codes)
        except (CappuncError, OSError) as error:
            refuse(about(error, job.name))
        else:
            yield job, code


def named_model(lang: str, model: str | None, engine: str, fast: bool = False) -> tuple[str, str | None] | None:
    """The model and the language that are asked for; None where a text's language is to say. Raises BadModel."""
    if model is None and lang == AUTO:
        return None
    return model_for(lang, engine, fast) if model is None else model, None if lang == AUTO else lang


def model_of_text(
    text: str, lang: str, model: str | None, engine: str, fast: bool = False, codes: Sequence[str] | None = None
) -> tuple[str, str | None]:
    """The model and the language for a file's text; the language None is the model's. Raises BadModel.

    `codes` are the languages of the named model, which are looked up where they are None.
    """
    named = named_model(lang, model, engine, fast)
    if named is None:
        code = language_of_text(text, known_languages())
        return model_seen(code, engine, fast), code
    name, own = named
    if own is None:
        codes = languages_of(name, engine) if codes is None else codes
        own = language_of_text(text, codes) if len(codes) > 1 else None
    return name, own


def model_seen(code: str, engine: str, fast: bool = False) -> str:
    """As `model_for`, for a language that nobody has named."""
    try:
        return model_for(code, engine, fast)
    except BadModel as error:
        raise BadModel(
            f"looks like {language(code).name}: {error.message}; --lang says what it is if it is not"
        ) from error


def languages_of(model: str, engine: str) -> list[str]:
    """The languages of a model by its name or directory; raises BadModel."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import ModelConfig, find_model

    kind = ENGINES[engine]
    return list(ModelConfig.load(find_model(model, kind), kind.config).languages)


def known_languages() -> list[str]:
    """Languages with a model, whatever its engine: one that the other engine alone has is no other language."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import model_languages

    return sorted({code for config in ENGINES.values() for code in model_languages(config)})


def language_of(job: Job, codes: Sequence[str]) -> str:
    """The code of the language that a file seems to be in, one of `codes` if in doubt; raises BadInput and OSError."""
    return language_of_text(read_text(job.source, job.encoding)[0], codes)


def language_of_text(text: str, codes: Sequence[str]) -> str:
    """The code of the language that the text of a file seems to be in, one of `codes` if in doubt."""
    return detect_language(words_of(text), [*codes, *declared(text)])
