"""The likelihood of a sequence of marks, against every sequence there is; what training makes of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from cappunc_cli.restoration.decoding.paired_marks import viterbi
from models.lab.recipe import LabRecipe

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")
from models.lab.mark_chain import negative_log_likelihood, pad_texts  # noqa: E402

MARKS = 3


def total(scores: np.ndarray, transitions: np.ndarray, marks: tuple[int, ...]) -> float:
    steps = sum(transitions[a, b] for a, b in pairwise(marks))
    return float(sum(scores[i, mark] for i, mark in enumerate(marks)) + steps)


@pytest.mark.parametrize("lengths", [[4], [1], [2, 4, 1]])
def test_likelihood_is_that_among_all_sequences(lengths: list[int]) -> None:
    chance = np.random.default_rng(len(lengths))
    transitions = chance.normal(size=(MARKS, MARKS))
    scores, labels = chance.normal(size=(len(lengths), 4, MARKS)), chance.integers(0, MARKS, (len(lengths), 4))
    expected = 0.0
    for row, length in enumerate(lengths):
        every = [total(scores[row], transitions, marks) for marks in product(range(MARKS), repeat=length)]
        expected += np.log(np.exp(every).sum()) - total(scores[row], transitions, tuple(labels[row, :length]))
    found = negative_log_likelihood(*map(torch.from_numpy, (scores, labels, np.array(lengths), transitions)))
    assert found.item() == pytest.approx(expected / sum(lengths))


def test_the_likeliest_sequence_is_the_one_that_decoding_takes() -> None:
    chance = np.random.default_rng(5)
    scores, transitions = chance.normal(size=(5, MARKS)), chance.normal(size=(MARKS, MARKS))
    every = list(product(range(MARKS), repeat=5))
    labels = torch.tensor(every)
    losses = [
        negative_log_likelihood(
            torch.from_numpy(scores)[None], row[None], torch.tensor([5]), torch.from_numpy(transitions)
        ).item()
        for row in labels
    ]
    assert tuple(viterbi(scores, transitions)) == every[int(np.argmin(losses))]


def test_words_are_laid_out_by_text() -> None:
    found = pad_texts(torch.arange(1, 7), torch.tensor([3, 1, 2]))
    assert found.tolist() == [[1, 2, 3], [4, 0, 0], [5, 6, 0]]


@pytest.mark.parametrize("contextual", [True, False])
def test_a_head_without_context_sees_the_soft_case_alone(
    recipe: LabRecipe, tiny_model: Path, tmp_path: Path, contextual: bool
) -> None:
    from safetensors.torch import save_file

    from cappunc_cli.features.train.network import JointNetwork
    from cappunc_cli.features.train.trainer import make_optimiser
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab.network import SHAPE
    from models.lab.trainer import network_of

    pieces = tiny_model / "tokenizer.json"
    shape = NetworkShape(
        vocabulary=Tokenizer.from_file(str(pieces)).get_vocab_size(),
        positions=16, embedding=24, width=24, heads=2, layers=1, inner=24,
    )  # fmt: skip
    start = tmp_path / "start.safetensors"
    save_file(JointNetwork(shape).state_dict(), start, {SHAPE: json.dumps(asdict(shape))})
    recipe = replace(recipe, start=start, tokenizer=pieces, contextual=contextual)
    network = network_of(recipe)
    optimiser = make_optimiser(network, recipe)
    for group in optimiser.param_groups:
        group["lr"] = 0.01
    ids = torch.tensor([[1, 5, 6, 2]])
    zeros = torch.zeros_like(ids)
    network(ids, torch.ones_like(ids), zeros, zeros)[1].square().sum().backward()
    before = network.mark_in.weight.detach().clone()
    optimiser.step()
    seen, soft = network.mark_in.weight.detach().split([shape.width, shape.case_width], 1)
    assert bool(seen.any()) == contextual
    assert not torch.equal(soft, before[:, shape.width :])
