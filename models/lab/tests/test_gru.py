"""The recurrent network: what it sees, what it is taught, and its step graph (where the extra [train] is there)."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from torch import Tensor, nn  # noqa: E402

from cappunc_cli.features.train.dataset import IGNORED  # noqa: E402
from models.lab.gru.gru_export import build, parity  # noqa: E402
from models.lab.gru.gru_network import GruSizes, RecurrentNetwork, WordTensors, contradictions  # noqa: E402
from models.lab.gru.gru_trainer import (  # noqa: E402
    GruRecipe,
    WordBatch,
    counted_by,
    initial_states,
    loss_of,
    narrowed,
    truncated,
    words_of,
)
from models.lab.recipe import LabRecipe  # noqa: E402
from models.lab.teacher import TeacherLabels  # noqa: E402
from models.lab.windows import LabBatch  # noqa: E402

SIZES = GruSizes(30, 5, 7, 6, 9, 4, 3, layers=2)


@pytest.fixture
def network() -> RecurrentNetwork:
    torch.manual_seed(3)
    network = RecurrentNetwork(SIZES).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.6)
        for table in (network.words, network.pauses, network.turns):
            table.weight[0] = 0
    return network


def texts(seed: int, lengths: list[int]) -> tuple[WordTensors, Tensor]:
    rng = np.random.default_rng(seed)
    shape = len(lengths), max(lengths)
    there = np.arange(shape[1]) < np.array(lengths)[:, None]
    counts = rng.integers(1, 4, shape) * there
    pieces = rng.integers(1, SIZES.vocabulary, counts.sum())
    pauses, turns = rng.integers(0, SIZES.pause_bins + 1, shape) * there, rng.integers(0, 2, shape) * there
    return WordTensors(*map(torch.from_numpy, (pieces, np.append(0, counts.cumsum()), pauses, turns))), torch.tensor(
        lengths
    )


def by_hand(network: RecurrentNetwork, spoken: WordTensors, row: int, word: int, last: int) -> tuple[Tensor, Tensor]:
    """The logits of one word that sees the words behind it up to `last`, step by step with cells of torch's own."""
    width = spoken.pauses.shape[1]

    def vector(i: int, known: bool) -> Tensor:
        start, stop = spoken.offsets[row * width + i], spoken.offsets[row * width + i + 1]
        found = network.words.weight[spoken.pieces[start:stop]].sum(0)
        if known:
            found = found + network.pauses.weight[spoken.pauses[row, i]] + network.turns.weight[spoken.turns[row, i]]
        return found

    def cell(gru: nn.GRU) -> nn.GRUCell:
        found = nn.GRUCell(gru.input_size, gru.hidden_size)
        found.load_state_dict({name.removesuffix("_l0"): value for name, value in gru.state_dict().items()})
        return found

    #: The forward state of the last layer before each word, and after the last one.
    ahead = [torch.zeros(SIZES.forward)]
    states = [torch.zeros(SIZES.forward) for _ in network.ahead]
    for i in range(last + 1):
        x = vector(i, True)
        for layer, gru in enumerate(network.ahead):
            states[layer] = cell(cast("nn.GRU", gru))(x, states[layer])
            x = states[layer] + x if layer else states[layer]
        ahead.append(x)
    back = torch.zeros(SIZES.backward)
    for i in range(last, word - 1, -1):
        back = cell(network.back)(torch.cat((vector(i, i < last), ahead[i])), back)
    return network.heads(vector(word, True), ahead[word + 1], back)


@torch.no_grad()
@pytest.mark.parametrize(("block", "first"), [(1, 1), (4, 1), (4, 3), (5, 5), (50, 50)])
def test_a_word_sees_up_to_the_end_of_its_block(network: RecurrentNetwork, block: int, first: int) -> None:
    lengths = [11, 3, 7]
    spoken, sizes = texts(1, lengths)
    case, marks, _ = network(spoken, sizes, block, first)
    for row, length in enumerate(lengths):
        for word in range(length):
            end = first - 1 if word < first else first + (word - first) // block * block + block - 1
            expected = by_hand(network, spoken, row, word, min(end, length - 1))
            torch.testing.assert_close((case[row, word], marks[row, word]), expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("look_ahead", [0, 1, 4, 30])
def test_a_word_sees_its_look_ahead(network: RecurrentNetwork, look_ahead: int) -> None:
    lengths = [9, 2]
    spoken, sizes = texts(2, lengths)
    nothing = torch.zeros(spoken.pauses.shape, dtype=torch.int64)
    case, marks = truncated(network, WordBatch(spoken, sizes, nothing, nothing, nothing.float()), look_ahead)
    for row, length in enumerate(lengths):
        for word in range(length):
            expected = by_hand(network, spoken, row, word, min(word + look_ahead, length - 1))
            torch.testing.assert_close((case[row, word], marks[row, word]), expected, atol=1e-5, rtol=1e-4)


def test_the_graph_is_the_network_whatever_state_and_padding(network: RecurrentNetwork) -> None:
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    assert parity(network, build(arrays, SIZES, False, {}), 1e-4) > 0
    parity(network, build(arrays, SIZES, True, {}), 0.5)
    arrays["back.weight_hh_l0"] = arrays["back.weight_hh_l0"][::-1]
    with pytest.raises(SystemExit, match="differs"):
        parity(network, build(arrays, SIZES, False, {}), 1e-3)


def batch() -> LabBatch:
    """Two windows: `[CLS] a-b c d-e… [SEP]`, whose last word is cut off, and `[CLS] f [SEP]`."""
    ids = np.array([[1, 10, 11, 12, 13, 14, 2], [1, 15, 2, 0, 0, 0, 0]])
    marks = np.full(ids.shape, IGNORED)
    marks[0, 2], marks[0, 3], marks[1, 1] = 1, 0, 2
    cases = np.where(marks == IGNORED, IGNORED, 3 - marks)
    pauses = np.where(marks == IGNORED, 0, marks + 5)
    weights = np.where(marks == IGNORED, 0, 0.5).astype(np.float32)
    around, styles = np.zeros(ids.shape, np.uint8), np.zeros((len(ids), 0), np.float32)
    types, languages = np.zeros_like(ids), np.full(len(ids), "en")
    turns = np.zeros_like(ids)
    return LabBatch(
        ids,
        (ids > 0).astype(int),
        pauses,
        turns,
        np.zeros_like(ids),
        cases,
        marks,
        around,
        weights,
        styles,
        types,
        languages,
    )


@torch.no_grad()
def test_a_text_that_goes_on_from_what_the_one_before_has_left_is_one_text(network: RecurrentNetwork) -> None:
    spoken, sizes = texts(5, [12])
    case, marks, _ = network(spoken, sizes, 4, 4)
    cut = int(spoken.offsets[8])
    parts = [
        WordTensors(spoken.pieces[:cut], spoken.offsets[:9], spoken.pauses[:, :8], spoken.turns[:, :8]),
        WordTensors(spoken.pieces[cut:], spoken.offsets[8:] - cut, spoken.pauses[:, 8:], spoken.turns[:, 8:]),
    ]
    nothing = torch.zeros(1, 8, dtype=torch.int64)
    first = WordBatch(parts[0], torch.tensor([8]), nothing, nothing, torch.ones(1, 8))
    live = GruRecipe({}, (4,), (), 0.0, 0.0, 0.3)
    _, left = loss_of(network, first, 4, 4, cast("LabRecipe", SimpleNamespace(taught=0.0, case_weight=1.0)), live)
    # On a processor that halves its products, the loss does; the states are those of the whole to a hundredth.
    state = initial_states(left, 1, 1.0, np.random.default_rng(1))
    found = network(parts[1], torch.tensor([4]), 4, 4, state)
    torch.testing.assert_close(found[:2], (case[:, 8:], marks[:, 8:]), atol=0.1, rtol=0.05)
    fresh = network(parts[1], torch.tensor([4]), 4, 4)
    assert (fresh[1] - marks[:, 8:]).abs().max() > 0.2


def test_a_share_of_the_texts_goes_on_from_another() -> None:
    states = torch.arange(1.0, 6)[:, None].expand(5, 7)
    assert initial_states(None, 3, 0.5, np.random.default_rng(1)) is None
    assert initial_states(states, 3, 0.0, np.random.default_rng(1)) is None
    found = initial_states(states, 4000, 0.7, np.random.default_rng(1))
    assert found is not None
    assert found.shape == (4000, 7)
    assert (found != 0).float().mean().item() == pytest.approx(0.7, abs=0.03)
    assert set(found[:, 0].tolist()) == {0, 1, 2, 3, 4, 5}


def test_windows_become_words() -> None:
    taught = TeacherLabels(torch.arange(3), torch.arange(12.0).reshape(3, 4), torch.arange(27.0).reshape(3, 9))
    found = words_of(batch(), taught)
    bounds = found.spoken.offsets.tolist()
    pieces = found.spoken.pieces.tolist()
    assert [pieces[a:b] for a, b in pairwise(bounds)] == [[10, 11], [12], [15], []]
    assert found.lengths.tolist() == [2, 1]
    assert found.marks.tolist() == [[1, 0], [2, 0]]
    assert found.cases.tolist() == [[2, 3], [1, 0]]
    assert found.spoken.pauses.tolist() == [[6, 5], [7, 0]]
    assert found.weights.tolist() == [[0.5, 0.5], [0.5, 0.0]]
    assert found.soft_cases is not None
    assert found.soft_cases[1, 0].tolist() == [8, 9, 10, 11]
    assert found.soft_cases[1, 1].tolist() == [0, 0, 0, 0]


def test_words_that_see_little_count_little() -> None:
    words, lengths = torch.arange(7), torch.tensor([7, 4])
    found = counted_by(words, lengths, 3, 2, (0.1, 0.5))
    # Blocks of 2, 3 and 2 words: behind each there are so many of its block and of its text.
    assert found[0].tolist() == pytest.approx([0.5, 0.1, 1, 0.5, 0.1, 0.5, 0.1])
    assert found[1, :4].tolist() == pytest.approx([0.5, 0.1, 0.5, 0.1])


def test_a_sentence_end_before_lower_case_has_a_price() -> None:
    high = 50.0
    case, marks = torch.zeros(1, 3, 4), torch.zeros(1, 3, 9)
    marks[0, 0, 2] = marks[0, 1, 1] = high  # a period, a comma
    case[0, 1, 0] = case[0, 2, 0] = high  # lower case after both
    assert contradictions(case, marks, torch.ones(1, 2)).item() == pytest.approx(0.5)
    assert contradictions(case, marks, torch.tensor([[0.0, 1.0]])).item() == pytest.approx(0)
    case[0, 1] = torch.tensor([0, high, 0, 0])
    assert contradictions(case, marks, torch.ones(1, 2)).item() == pytest.approx(0, abs=1e-6)


def test_piece_vectors_keep_their_main_directions() -> None:
    rng = np.random.default_rng(1)
    table = torch.from_numpy(rng.normal(size=(50, 3)) @ rng.normal(size=(3, 12))).float()
    found = narrowed(table, 3)[1:]
    theirs, ours = ((x[:, None] - x).norm(dim=-1).flatten() for x in (table[1:], found))
    # All there is lies in three directions, so distances stay but for the unit.
    different = theirs > 1e-3
    np.testing.assert_allclose((ours / theirs)[different], float((ours / theirs)[1]), rtol=1e-2)
