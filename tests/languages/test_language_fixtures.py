"""The promises of CONTRIBUTING.md on files of many languages, in both Unicode normal forms; language detection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import is_normalized, normalize

import numpy as np
import pytest

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.errors import BadModel
from cappunc_cli.files.language_detection import detect_language, language_of_text, words_of
from cappunc_cli.languages import LANGUAGES, language
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import Chunk, Rows
from cappunc_cli.restoration.models.registry import ModelConfig, find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

FIXTURES = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "languages").iterdir())
CODES = tuple(LANGUAGES)


class Stub:
    """An engine whose probabilities depend on a hash of the word, but not on its normal form."""

    device, warning, reads_lines = "cpu", None, False

    def predict(self, words: Sequence[str], *asked: Sequence[Any]) -> Iterator[Rows]:
        chunks: Sequence[Chunk] = asked[2]
        for chunk in chunks:
            yield chunk.kept(np.stack([self._row(word) for word in words[chunk.start : chunk.stop]]))

    def _row(self, word: str) -> Rows:
        rng = np.random.default_rng(sum(normalize("NFC", word).encode()))
        return np.concatenate([rng.dirichlet([0.5] * 4), rng.dirichlet([0.5] * 9)]).astype(np.float32)


def models(code: str) -> Iterator[Model]:
    config = ModelConfig("stub", (code,), 24, 8, 2, 64, ())
    yield Model(config, Stub(), Lexicons())
    try:
        find_model_for(code, "ngram")
    except BadModel:
        return
    yield trigrams(code)


@cache
def trigrams(code: str) -> Model:
    return load_model(language=code, engine="ngram")


def code_of(path: Path) -> str:
    return path.name[:2]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_every_promise_is_kept_in_both_normal_forms(path: Path) -> None:
    options = Options(language=code_of(path))
    for model in models(code_of(path)):
        restored = []
        for form in ("NFC", "NFD"):
            source = normalize(form, path.read_text("utf-8"))  # type: ignore[arg-type]
            document = formats.read(source, path.name)
            assert formats.write(document, document.texts) == source
            new = restore(document.words, model, options)
            output = formats.write(document, new)
            formats.verify(document, output)
            assert output != source
            read = language(code_of(path)).read
            assert [strip(read(a))[0] for a in new] == [strip(read(word.text))[0] for word in document.words]
            # JSON may write letters as escapes, which normalising the file leaves as they are; a new `İ` is one letter.
            for text, old in zip(new, document.texts, strict=True) if "İ" not in output else ():
                assert is_normalized(form, text) == is_normalized(form, old)  # type: ignore[arg-type]
            again = formats.read(output, path.name)
            assert formats.write(again, restore(again.words, model, options)) == output
            restored.append([normalize("NFC", text) for text in new])
        assert restored[0] == restored[1]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_the_language_is_detected(path: Path) -> None:
    for form in ("NFC", "NFD"):
        text = normalize(form, path.read_text("utf-8"))  # type: ignore[arg-type]
        assert detect_language(words_of(text), CODES) == code_of(path)
        few = " ".join(words_of(text)[:6])
        assert detect_language(words_of(few), CODES) in CODES


def test_english_is_detected_and_is_the_default() -> None:
    speech = "so that is what we have and it was for the people that you are with and this is it and they know"
    assert detect_language(words_of(speech), CODES) == "en"
    assert detect_language([], CODES) == "en"
    assert detect_language(words_of('{"word": "the", "start": 1.0}'), CODES) == "en"
    assert words_of('{"word": "\\u00e9l", "conf": 1}\n<i>Sí</i> {\\an8}no') == ["él", "sí", "no"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("où est-ce que vous allez demain matin avec les enfants", "fr"),
        ("wir haben gestern lange mit dem neuen nachbarn gesprochen", "de"),
        ("was ist das denn für eine komische frage", "de"),
        ("tell me where the old station is", "en"),
        ("no sé qué decirte de todo esto", "es"),
        ("тебе не кажется что он опоздал", "ru"),
        ("чому ти нічого мені не сказав", "uk"),
        ("γεια σου φίλε μου", "el"),
        ("hvad har du gjort med mig", "da"),
        ("hva har du gjort med meg nå", "nb"),
        ("gdje je tvoj prijatelj i tko je ovaj čovjek", "hr"),
        ("gde je tvoj prijatelj i ko je ovaj čovek", "sr"),
        ("где је твој пријатељ и ко је овај човек", "sr"),
        ("bu akşam bizimle gelmek istemediğini söyledi", "tr"),
        ("kamu mau pergi ke mana malam ini", "id"),
        ("unha muller que non coñezo chamou á porta", "gl"),
        # Icelandic, and other scripts: languages without a model.
        ("ég veit ekki hvað þú ert að tala um", None),
        *((text, None) for text in ("مرحبا كيف حالك", "今天天气很好", "안녕하세요 친구")),
    ],
)
def test_the_language_of_a_single_line_is_detected(text: str, found: str | None) -> None:
    detected = detect_language(words_of(text), CODES)
    assert detected == found if found else detected not in CODES


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"text": " Dis-moi, est-ce que l\'avion vole?", "language": "fr"}', "fr"),
        ('{"text": " Tell me, does the plane fly?", "language": "fr"}', "en"),  # translated
        ("WEBVTT\nKind: captions\nLanguage: fr-FR\n\n00:01.000 --> 00:02.000\nDis-moi, ça vole\n", "fr"),
    ],
)
def test_a_file_may_name_its_language(text: str, found: str) -> None:
    assert language_of_text(text, CODES) == found


@pytest.mark.parametrize("text", ["webvtt region id fred asd a a' region fred asd a a' text", "invalid x " * 50])
def test_what_is_no_language_is_not_taken_for_one_without_a_model(text: str) -> None:
    assert detect_language(words_of(text), CODES) in CODES
