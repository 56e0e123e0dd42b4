"""A model that teaches another: what it says of the windows that the other one reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.chunks import Chunk
from cappunc_cli.restoration.model.onnx_engine import OnnxEngine
from cappunc_cli.training.data.windows import IGNORED, Batch
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.training.teacher import Teacher

ROWS = [["so", "anna", "went", "to", "london"], ["where", "is", "peter", "mcdonald", "the", "dog", "said"], ["hello"]]
PAUSES = [[None, 50, 200, 900, None], [0, None, None, 400, 300, None, 800], [None]]


@pytest.fixture
def recipe(tmp_path: Path, tiny_model: Path) -> Recipe:
    values = {
        "name": "t", "data": tmp_path, "runs": tmp_path / "runs", "tokenizer": tiny_model / "tokenizer.json",
        "start": None, "corpora": {}, "pieces": (16,), "batch": 64, "tokens": 1000, "encoder_rate": 1e-4,
        "head_rate": 1e-3, "warmup": 0.01, "decay": 0.4, "case_weight": 1.0, "noise": 0.0, "noise_rate": 0.0,
        "pauses": 1.0, "turns": 1.0, "edge": 0, "edge_weight": 1.0, "heldout": 0.0,
        "pause_bins_ms": (100, 300, 700), "seed": 1, "decoding": {}, "evaluation": {},
    }  # fmt: skip
    return Recipe(**values)


def batch_of(engine: OnnxEngine) -> Batch:
    """The rows as training lays them out, padded to the longest."""
    texts = [
        engine.encoder.encode(words, pauses, [False] * len(words)) for words, pauses in zip(ROWS, PAUSES, strict=True)
    ]
    shape = len(ROWS), max(len(text.ids) for text in texts) + 2
    ids, attention, pauses, turns = (np.zeros(shape, np.int64) for _ in range(4))
    labels = np.full(shape, IGNORED, np.int64)
    for row, text in enumerate(texts):
        count = len(text.ids)
        ids[row, : count + 2] = [engine.encoder.opening, *text.ids, engine.encoder.closing]
        attention[row, : count + 2] = 1
        last = text.ends[1:]
        pauses[row, last], labels[row, last] = text.pauses, 0
    around, weights, styles = np.zeros(shape, np.uint8), np.ones(shape, "f4"), np.zeros(len(ids), np.int64)
    return Batch(ids, attention, pauses, turns, labels, labels.copy(), around, weights, styles)


def test_it_says_what_fix_would_say_of_the_same_words(tiny_model: Path, recipe: Recipe) -> None:
    engine = OnnxEngine(tiny_model, "cpu")
    said = []
    for words, pauses in zip(ROWS, PAUSES, strict=True):
        whole = Chunk(0, len(words), 0, len(words))
        said += [rows for _, rows in engine.predict(words, pauses, [False] * len(words), [whole])]
    case, marks = Teacher(tiny_model, recipe).read(batch_of(engine))
    assert np.allclose(np.concatenate([case, marks], 1), np.concatenate(said), atol=1e-6)
    assert len({row.argmax() for row in marks}) > 1, "a teacher that says the same of every word would pass"


def test_it_teaches_only_what_reads_as_it_does(tiny_model: Path, recipe: Recipe, tmp_path: Path) -> None:
    (other := tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadModel, match="the same pieces"):
        Teacher(tiny_model, replace(recipe, tokenizer=other))
    with pytest.raises(BadModel, match="the same pauses"):
        Teacher(tiny_model, replace(recipe, pause_bins_ms=(100, 300)))
    with pytest.raises(BadModel, match="only case and the one mark"):
        Teacher(tiny_model, replace(recipe, around=("¿",)))


def test_nothing_is_learnt_from_a_teacher_that_says_the_same(tiny_model: Path, recipe: Recipe) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra [train]")
    from cappunc_cli.training.network import JointNetwork, NetworkShape
    from cappunc_cli.training.trainer import loss_of

    batch, device = batch_of(OnnxEngine(tiny_model, "cpu")), torch.device("cpu")
    shape = NetworkShape(vocabulary=100, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24)
    torch.manual_seed(1)
    network = JointNetwork(shape).eval()

    class Itself:
        def read(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
            given = map(torch.from_numpy, (batch.ids, batch.attention, batch.pauses, batch.turns))
            with torch.no_grad():
                case, marks = network(*given)
            at = batch.marks != IGNORED
            return case.softmax(-1).numpy()[at], marks.softmax(-1).numpy()[at]

    def slope(taught: float, teacher: object) -> float:
        network.zero_grad()
        sum(loss_of(network, batch, replace(recipe, taught=taught), device, teacher)).backward()
        return sum(float(p.grad.abs().sum()) for p in network.parameters() if p.grad is not None)

    alone = slope(0.5, None)
    assert slope(0.0, Itself()) == pytest.approx(alone, rel=1e-3)
    assert slope(1.0, Itself()) < 0.05 * alone
    assert 0.3 * alone < slope(0.5, Itself()) < 0.7 * alone
