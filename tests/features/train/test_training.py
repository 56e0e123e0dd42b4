"""The training data path, and the network against its ONNX graph (where the extra [train] is there)."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, Case
from cappunc_cli.features.train.corpora import Corpus, Turn
from cappunc_cli.features.train.dataset import (
    IGNORED,
    TokenStream,
    Types,
    Vocabulary,
    Windows,
    build_vocabulary,
    case_lexicon,
    read_stream,
)
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.restoration.models.network import OnnxEngine
from cappunc_cli.restoration.models.registry import find_model

TEXT = ["Well, it was — as I said… you know — NATO's iPhone.", "Why? “Because!”"], ["Another document: yes;"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    found = Tokenizer.from_file(str(find_model("en-fast") / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    return found


def labels_of(stream: TokenStream, vocabulary: Vocabulary) -> list[tuple[str, str]]:
    return [(CASE_CLASSES[vocabulary.cases[t]], MARK_CLASSES[vocabulary.marks[t]]) for t in stream.types]


def test_a_long_word_has_the_pieces_in_training_that_the_engine_gives_it(tiny_model: Path) -> None:
    encoder = OnnxEngine(tiny_model, "cpu").encoder
    types = {"the": 0, "q" * 11: 1, "q" * 14 + "z": 2, "q" * 15 + "z": 3, "q" * 90 + "z": 4}
    vocabulary, bares = build_vocabulary(types, Tokenizer.from_file(str(tiny_model / "tokenizer.json")))
    read = encoder.encode(bares, [None] * len(bares), [False] * len(bares))
    assert vocabulary.pieces.tolist() == read.ids[read.ends[0] : read.ends[-1]].tolist()
    assert np.diff(vocabulary.starts).tolist() == np.diff(read.ends).tolist()
    assert vocabulary.pieces[-1] != vocabulary.pieces[-2], "the last piece, at which the label stands"


def test_text_becomes_labels_through_strip(tokenizer: Tokenizer) -> None:
    types = Types()
    stream = read_stream(Corpus([list(map(Turn, document)) for document in TEXT], dialogue=True), types)
    vocabulary, bares = build_vocabulary(types, tokenizer)
    words = [bares[t] for t in stream.types]
    spoken = "well it was as i said you know nato's iphone why because another document yes"
    assert " ".join(words) == spoken
    low, cap = Case.LOWER, Case.CAPITAL
    assert labels_of(stream, vocabulary) == [
        (cap, ","), (low, ""), (low, "—"), (low, ""), (cap, ""), (low, "…"), (low, ""), (low, "—"),
        (Case.UPPER, ""), (Case.MIXED, "."), (cap, "?"), (cap, "!"), (cap, ""), (low, ":"), (low, ";"),
    ]  # fmt: skip
    assert np.flatnonzero(stream.turn_ends).tolist() == [9, 11, 14]
    assert np.flatnonzero(stream.document_ends).tolist() == [11, 14]


@pytest.mark.parametrize(
    ("counts", "lexicon"),
    [
        # Words of mixed case in their usual form, and acronyms.
        (
            {"iPhone,": 3, "IPhone": 1, "eBay": 2, "BBC.": 9, "bbc": 1, "U.S.": 9, "London": 9, "I": 9},
            ["BBC", "iPhone"],
        ),
        ({"US": 60, "us": 40}, []),
        # A mixed form that is rarer than the one with a capital is not in it.
        ({"T-Shirt": 3, "T-shirt": 9, "t-shirt": 50, "X-Men": 9, "X-men": 3}, ["T-shirt", "X-Men"]),
        ({"DeMarcus": 3, "Demarcus": 4}, []),
    ],
)
def test_a_lexicon_has_the_usual_forms(counts: dict[str, int], lexicon: list[str]) -> None:
    types = {word: number for number, word in enumerate(counts)}
    assert case_lexicon(types, np.array(list(counts.values()))) == lexicon


def test_rows_are_full_and_labels_sit_on_last_pieces(recipe: Recipe, tokenizer: Tokenizer) -> None:
    types = Types()
    stream = read_stream(Corpus([[Turn("Unquestionably, Schwarzenegger went. " * 60)]]), types)
    vocabulary, bares = build_vocabulary(types, tokenizer)
    batch = Windows(recipe, {"text": stream}, vocabulary).batch(np.random.default_rng(0))
    assert batch.ids.shape == (4, 16)
    assert batch.attention.all(), "a training row has no padding"
    ends = {bare: tokenizer.encode(bare, add_special_tokens=False).ids[-1] for bare in set(bares)}
    comma, stop = MARK_CLASSES.index(","), MARK_CLASSES.index(".")
    for row in range(4):
        for place in np.flatnonzero(batch.marks[row] == comma):
            assert batch.ids[row, place] == ends["unquestionably"]
        for place in np.flatnonzero(batch.marks[row] == stop):
            assert batch.ids[row, place] == ends["went"]
    assert (batch.marks == stop).any()
    assert ((batch.marks == IGNORED) == (batch.cases == IGNORED)).all()


def test_held_out_words_are_read_once_with_their_pauses(recipe: Recipe, tokenizer: Tokenizer) -> None:
    types, text = Types(), "Unquestionably, we saw Schwarzenegger go. Why? " * 10
    silences = [None, 0, 99, 100, 5000, 7] * 10
    stream = read_stream(Corpus([[Turn(text, silences)]], dialogue=True), types)
    vocabulary, bares = build_vocabulary(types, tokenizer)
    windows = Windows(replace(recipe, heldout=0.5), {"text": stream}, vocabulary)
    batch = windows.heldout("text", 16, 30)
    labelled = batch.marks != IGNORED
    assert batch.marks[labelled].tolist() == vocabulary.marks[stream.types[30:60]].tolist()
    bins = [0, 1, 1, 2, 3, 1]  # unknown, below 100 ms, from 100 and from 1000 ms on
    assert batch.pauses[labelled].tolist() == bins * 5
    assert not batch.turns.any()
    pieces = [tokenizer.encode(bares[kind], add_special_tokens=False).ids for kind in stream.types[30:60]]
    inner = batch.attention.astype(bool)
    assert set(batch.ids[inner].tolist()) == {*vocabulary.frame.tolist(), *chain.from_iterable(pieces)}


def test_f1_counts_folded_marks() -> None:
    pytest.importorskip("torch")
    from cappunc_cli.features.train.trainer import FOLDED, micro_f1

    assert micro_f1(np.zeros(3, int), np.zeros(3, int)) == 0
    exclaimed, stop, comma = (MARK_CLASSES.index(mark) for mark in "!.,")
    guesses, golds = FOLDED[[exclaimed, 0, comma, 0, comma]], FOLDED[[stop, 0, 0, comma, comma]]
    assert micro_f1(guesses, golds) == pytest.approx(2 * 2 / (3 + 3))


def test_words_with_the_same_neighbours_begin_alike_and_rare_ones_as_they_were() -> None:
    pytest.importorskip("torch")
    from cappunc_cli.features.train.network import vectors_from_own_text

    rng = np.random.default_rng(3)
    pieces = np.array([[1, 2 + rng.integers(2), 4, 5 + rng.integers(2)] for _ in range(500)]).ravel()
    initial = rng.normal(size=(8, 6)).astype(np.float32)
    found = vectors_from_own_text(np.append(7, pieces), initial)
    assert np.linalg.norm(found[1:7], axis=1) == pytest.approx([6**0.5] * 6, rel=1e-4)
    assert (found[[0, 7]] == initial[[0, 7]]).all()
    alike = found[1:7] @ found[1:7].T / 6
    assert min(alike[1, 2], alike[4, 5]) > 0.9 > max(alike[0, 1], alike[1, 3], alike[1, 4])


def test_a_network_loses_values_only_while_it_learns() -> None:
    torch = pytest.importorskip("torch")
    from cappunc_cli.features.train.network import JointNetwork
    from cappunc_cli.restoration.models.graph import NetworkShape

    torch.manual_seed(0)
    shape = NetworkShape(vocabulary=50, positions=32, embedding=16, width=16, heads=2, layers=2, inner=24, pause_bins=5)
    plain, network = JointNetwork(shape), JointNetwork(shape, dropout=0.3)
    network.load_state_dict(plain.state_dict())
    ids, known, none = torch.arange(32)[None] % 50, torch.ones(1, 32), torch.zeros(1, 32, dtype=torch.long)
    states = plain.encode(ids, known, none, none)
    assert not torch.allclose(network.encode(ids, known, none, none), network.encode(ids, known, none, none))
    assert torch.equal(network.eval().encode(ids, known, none, none), states)


@pytest.mark.parametrize("units", [True, False])
def test_products_are_halved_only_where_a_cpu_has_units_for_it(monkeypatch: pytest.MonkeyPatch, units: bool) -> None:
    torch = pytest.importorskip("torch")
    from cappunc_cli.features.train.network import mixed_precision

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": True, "avx512_bf16": units})
    with mixed_precision(torch.device("cpu")):
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == (torch.bfloat16 if units else torch.float32)
