"""The trigram engine, from estimating a model to restoring files."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from commands import process

from cappunc_cli import formats
from cappunc_cli.document.labels import MARKS, Case, strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput, BadModel
from cappunc_cli.features.train.dataset import TokenStream, Types
from cappunc_cli.languages import language
from cappunc_cli.restoration.models import trigrams
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import Chunk, split
from cappunc_cli.restoration.models.registry import find_model_for, installed, model_languages, verify_model
from cappunc_cli.restoration.models.trigrams import NgramEngine
from cappunc_cli.restoration.orthography import DiacriticRestorer, normalise
from cappunc_cli.restoration.pipeline import restore
from models.lab.ngram.estimate import estimate
from models.lab.ngram.token_text import NgramSize, analyse, running, sequence, vocabulary
from models.lab.ngram.trigram_file import save

#: Sentences that share words and trigrams.
_SENTENCES = [
    "El știe că țara e mare, dar pleacă.",
    "Maria a spus că vine la București.",
    "Ce faci, Maria?",
    "El a plecat la București, dar nu știe nimic.",
    "Nu știe că Maria vine.",
    "Maria pleacă la NATO, iar el vine.",
    "Vine Maria la București?",
]


def written(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [word for _ in range(count) for word in rng.choice(_SENTENCES).split()]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Romanian model trained on seven sentences."""
    place = tmp_path_factory.mktemp("models") / "ro"
    place.mkdir()
    types = Types()
    numbers = np.array([types.setdefault(word, len(types)) for word in written(0, 400)], np.int32)
    # About every fourth sentence ends a turn.
    ends = np.array([word[-1] in ".?" for word in written(0, 400)]) & (
        np.random.default_rng(0).random(len(numbers)) < 0.25
    )
    ends[-1] = True
    stream = TokenStream(numbers, np.full(len(numbers), -1, np.int32), ends, ends)
    table = analyse(types, language("ro"))
    text = running([stream], table)
    size = NgramSize(words=20, members=10)
    lexicon = vocabulary(text, table, size)
    save(estimate(sequence(text, lexicon.tokens), lexicon, size), place / "ngram.xz")
    config = {"name": "ro-ngram", "languages": ["ro"], "licence": "", "cases": list(Case), "marks": ["", *MARKS]}
    sizes = {"window": 40, "overlap": 16, "min_words_cut": 8, "max_pieces": 64, "pause_bins_ms": []}
    (place / "ngram.json").write_text(json.dumps({**config, **sizes}))
    return place


@pytest.fixture(scope="module")
def model(directory: Path) -> Model:
    return load_model(str(directory), engine="ngram")


@pytest.fixture(scope="module")
def engine(model: Model) -> NgramEngine:
    assert isinstance(model.engine, NgramEngine)
    return model.engine


def test_probabilities_sum_to_one(engine: NgramEngine) -> None:
    lm = engine.model
    every = np.arange(1, len(lm.words))
    for first, second in [(0, 12), (12, 2), (15, 14), (13, 13)]:
        one = lm.after_one(np.full(len(every), second), every)
        pair = lm.pair(np.array([first]), np.array([second])).repeat(len(every))
        # Saving rounds to 1/12 nat.
        assert abs(np.exp(one).sum() - 1) < 0.1
        assert abs(np.exp(lm.after_two(pair, every, one)).sum() - 1) < 0.1


def test_a_broken_model_is_an_error(directory: Path, tmp_path: Path) -> None:
    whole = (directory / "ngram.xz").read_bytes()
    for data, message in ((b"", "not a trigram model"), (whole[:-9], "not a trigram model"), (None, "cannot be read")):
        path = tmp_path / "ngram.xz"
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(BadModel, match=message):
            trigrams.load(path)


def predict(engine: NgramEngine, bare: Sequence[str], chunks: Sequence[Chunk]) -> np.ndarray:
    return np.concatenate([*engine.predict(bare, [None] * len(bare), [False] * len(bare), chunks)])


def test_rows_are_probabilities_and_windows_change_little(engine: NgramEngine) -> None:
    bare = [strip(word)[0] for word in written(1, 30)] + ["xyzzy", "—", "42", "", "日"]
    whole = predict(engine, bare, [Chunk(0, len(bare))])
    assert whole.shape == (len(bare), 4 + 9)
    np.testing.assert_allclose(whole[:, :4].sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(whole[:, 4:].sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(predict(engine, bare, split(len(bare), 40, 16)), whole, atol=0.02)


def test_probabilities_equal_the_sum_over_all_readings(engine: NgramEngine) -> None:
    """Compared with brute force over every reading of three words."""
    bare = ["știe", "maria", "vine"]
    lm = engine.model
    forms = [engine.forms_of(word) for word in bare]
    sums = np.zeros((3, 9))
    marks = range(9)
    for chosen in np.ndindex(*map(len, forms)):
        for reading in np.ndindex(9, 9, 9):
            line, score = [trigrams.BEGIN], 0.0
            for word, k, mark in zip(forms, chosen, reading, strict=True):
                line += [word[k].token, *([trigrams.FIRST_MARK + mark - 1] if mark else [])]
                score += word[k].share
            line.append(trigrams.END)
            for i in range(1, len(line)):
                token, last = np.array([line[i]]), np.array([line[i - 1]])
                one = lm.after_one(last, token)
                if i > 1:
                    one = lm.after_two(lm.pair(np.array([line[i - 2]]), last), token, one)
                score += float(one[0])
            for place, mark in enumerate(reading):
                sums[place, mark] += np.exp(score)
    expected = sums / sums.sum(1, keepdims=True)
    np.testing.assert_allclose(predict(engine, bare, [Chunk(0, 3)])[:, 4:], expected, rtol=1e-3, atol=1e-6)
    assert len(marks) == expected.shape[1]


def test_it_restores_the_training_sentences(model: Model) -> None:
    truth = written(2, 40)
    new = restore([Word(strip(word)[0]) for word in truth], model)
    right = sum(a == b for a, b in zip(new, truth, strict=True))
    assert right > 0.9 * len(truth)
    assert "NATO," in new


def test_a_turn_ends_a_sentence(engine: NgramEngine) -> None:
    bare = ["nu", "știe", "că", "maria"]
    chunks = [Chunk(0, 4)]
    free, turned = (
        next(engine.predict(bare, [None] * 4, turns, chunks))[1, 4:]
        for turns in ([False] * 4, [False, True, False, False])
    )
    ends = [1 + MARKS.index(mark) for mark in ".?!"]
    assert turned[ends].sum() > free[ends].sum()


# -- diacritics ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def speller(engine: NgramEngine) -> DiacriticRestorer:
    return DiacriticRestorer(engine, language("ro"))


PLAIN = str.maketrans("ăâîșțĂÂÎȘȚ", "aaistAAIST")


def test_diacritics_are_restored(speller: DiacriticRestorer) -> None:
    truth = written(3, 60)
    new = speller.restore([word.translate(PLAIN) for word in truth])
    assert sum(a == b for a, b in zip(new, truth, strict=True)) > 0.95 * len(truth)
    assert speller.restore(new) == new
    assert [len(word) for word in new] == [len(word) for word in truth]


def test_a_text_with_diacritics_keeps_its_words(speller: DiacriticRestorer) -> None:
    texts = ["El", "știe", "ca", "Maria", "e", "mare."]
    assert speller.restore(texts) == texts


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("ro", "ŞI,", "ȘI,"),
        ("ro", normalize("NFD", "aţă"), normalize("NFD", "ață")),
        ("ro", "façade", "façade"),
        ("es", "şi", "şi"),
        *(("ro", f"Într{hyphen}un", "Într-un") for hyphen in "‐‑"),
        *(("es", f"Vitoria{hyphen}Gasteiz", f"Vitoria{hyphen}Gasteiz") for hyphen in "‐‑"),
    ],
)
def test_cedillas_and_hyphens_are_normalised_in_romanian_only(code: str, old: str, new: str) -> None:
    assert normalise(old, language(code)) == new


def test_letters_change_only_where_diacritics_may() -> None:
    source = "1\n00:00:01,000 --> 00:00:02,000\nsi <i>t</i>ara &#351;i\n"
    document = formats.read(source, "a.srt")
    new = ["Și", "țara", "și."]
    with pytest.raises(BadInput, match="not the same word"):
        formats.write(document, new)
    output = formats.write(document, new, diacritics=True)
    formats.verify(document, output, diacritics=True)
    with pytest.raises(BadInput, match="not the same word"):
        formats.write(document, ["Și", "țări", "și."], diacritics=True)
    assert output == "1\n00:00:01,000 --> 00:00:02,000\nȘi <i>ț</i>ara &#537;i.\n"
    with pytest.raises(BadInput, match="became another"):
        formats.verify(document, output)


# -- the command line ------------------------------------------------------------------------


def test_fix_restores_diacritics_with_the_engine(directory: Path) -> None:
    srt = "1\n00:00:01,000 --> 00:00:02,000\nmaria a spus ca vine la bucuresti\n"
    options = ("--lang", "ro", "--engine", "ngram", "--diacritics", "restore")
    run = process("fix", *options, "-", "-o", "-", data=srt.encode(), env={"CAPPUNC_MODELS": str(directory.parent)})
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode().splitlines()[2].startswith("Maria a spus că vine la București")


def test_models_are_found_by_language(directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = tmp_path / "a-joint"
    shutil.copytree(directory, shared)
    config = json.loads((shared / "ngram.json").read_text())
    (shared / "ngram.json").write_text(json.dumps({**config, "languages": ["ro", "mo"]}))
    monkeypatch.setenv("CAPPUNC_MODELS", f"{tmp_path}:{directory.parent}")
    assert find_model_for("ro", "ngram") == directory  # its own model before a shared one
    assert find_model_for("mo", "ngram") == shared
    assert {"mo", "ro"} <= set(model_languages("ngram"))
    with pytest.raises(BadModel, match="no model for tlh"):
        find_model_for("tlh", "ngram")
    with pytest.raises(BadModel, match="lists no files"):
        verify_model(directory)


@pytest.mark.parametrize("directory", installed("ngram"), ids=lambda path: path.name)
def test_every_installed_model_is_complete_and_small(directory: Path) -> None:
    verify_model(directory)
    assert (directory / "ngram.xz").stat().st_size < 1_500_000
    assert NgramEngine(directory).config.languages == (directory.name,)
