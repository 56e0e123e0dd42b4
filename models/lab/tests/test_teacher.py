"""A model that teaches another: what it says of the windows that the other one reads."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.dataset import IGNORED, Vocabulary, split
from cappunc_cli.restoration.models.network import Chunk, OnnxEngine
from models.lab.recipe import LabRecipe

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")
from cappunc_cli.features.train.network import JointNetwork  # noqa: E402
from cappunc_cli.restoration.models.graph import NetworkShape, build  # noqa: E402
from models.lab.arrays import save  # noqa: E402
from models.lab.network import LabNetwork  # noqa: E402
from models.lab.teacher import TEACHERS_WORDS, Teacher, TeacherLabels, retokenise  # noqa: E402
from models.lab.trainer import loss_of  # noqa: E402
from models.lab.windows import LabBatch  # noqa: E402

CPU = torch.device("cpu")
ROWS = [["so", "anna", "went", "to", "london"], ["where", "is", "peter", "mcdonald", "the", "dog", "said"], ["hello"]]
PAUSES = [[None, 50, 200, 900, None], [0, None, None, 400, 300, None, 800], [None]]


@pytest.fixture(autouse=True)
def whole_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products in float32 on every machine."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)


@pytest.fixture
def model(tmp_path: Path, tiny_model: Path) -> Path:
    """A directory with the tiny model's words and pauses and a random network."""
    shutil.copytree(tiny_model, directory := tmp_path / "model")
    torch.manual_seed(2)
    shape = NetworkShape(
        vocabulary=Tokenizer.from_file(str(directory / "tokenizer.json")).get_vocab_size(),
        positions=32, embedding=16, width=16, heads=2, layers=1, inner=24, pause_bins=4,
    )  # fmt: skip
    network = JointNetwork(shape)
    for table in (network.words, network.pauses, network.mark_out):
        torch.nn.init.normal_(table.weight)
    arrays = {name: value.numpy() for name, value in network.state_dict().items()}
    (directory / "model.onnx").write_bytes(build(arrays, shape, "float32", {}).SerializeToString())
    return directory


@pytest.fixture
def recipe(tmp_path: Path, tiny_model: Path) -> LabRecipe:
    values = {
        "name": "t", "data": tmp_path, "runs": tmp_path / "runs", "tokenizer": tiny_model / "tokenizer.json",
        "start": None, "corpora": {}, "pieces": (16,), "batch": 64, "tokens": 1000, "encoder_rate": 1e-4,
        "head_rate": 1e-3, "warmup": 0.01, "decay": 0.4, "case_weight": 1.0, "noise": 0.0, "noise_rate": 0.0,
        "pauses": 1.0, "turns": 1.0, "edge": 0, "edge_weight": 1.0, "heldout": 0.0,
        "pause_bins_ms": (100, 300, 700), "seed": 1, "decoding": {}, "evaluation": {},
    }  # fmt: skip
    return LabRecipe(**values)


def batch_of(engine: OnnxEngine) -> LabBatch:
    """The rows as training lays them out, padded to the longest; words are numbered from row to row."""
    texts = [
        engine.encoder.encode(words, pauses, [False] * len(words)) for words, pauses in zip(ROWS, PAUSES, strict=True)
    ]
    shape = len(ROWS), max(len(text.ids) for text in texts) + 2
    ids, attention, pauses, turns, lines, types = (np.zeros(shape, np.int64) for _ in range(6))
    labels = np.full(shape, IGNORED, np.int64)
    for row, text in enumerate(texts):
        count = len(text.ids)
        ids[row, : count + 2] = [engine.encoder.opening, *text.ids, engine.encoder.closing]
        attention[row, : count + 2] = 1
        last = text.ends[1:]
        pauses[row, last], labels[row, last] = text.pauses, 0
        types[row, last] = types.max() + 1 + np.arange(len(last))
    around, weights, styles = np.zeros(shape, np.uint8), np.ones(shape, "f4"), np.zeros((len(ids), 1), "f4")
    languages = np.full(len(ids), "en")
    return LabBatch(
        ids, attention, pauses, turns, lines, labels, labels.copy(), around, weights, styles, types, languages
    )


def test_it_says_what_fix_would_say_of_the_same_words(model: Path, recipe: LabRecipe) -> None:
    engine = OnnxEngine(model, "cpu")
    said = []
    for words, pauses in zip(ROWS, PAUSES, strict=True):
        whole = Chunk(0, len(words))
        said += engine.predict(words, pauses, [False] * len(words), [whole])
    taught = Teacher(model, recipe, CPU).read(batch_of(engine))
    assert taught is not None
    assert np.allclose(np.concatenate([taught.case, taught.marks], 1), np.concatenate(said), atol=1e-5)
    assert len({int(row.argmax()) for row in taught.marks}) > 1, "a teacher that says the same of every word would pass"


def test_it_reads_only_rows_in_its_languages_that_are_not_told_their_corpus(model: Path, recipe: LabRecipe) -> None:
    teacher, batch = Teacher(model, recipe, CPU), batch_of(OnnxEngine(model, "cpu"))
    whole = teacher.read(batch)
    assert whole is not None
    assert whole.at.tolist() == list(range(sum(map(len, ROWS))))
    kept = [*range(len(ROWS[0])), len(whole.at) - 1]
    for other in ({"styles": np.array([[0], [0.5], [0]], "f4")}, {"languages": np.array(["en", "sv", "en"])}):
        some = teacher.read(replace(batch, **other))
        assert some is not None
        assert some.at.tolist() == kept
        assert torch.allclose(some.marks, whole.marks[kept], atol=1e-5)
    assert teacher.read(replace(batch, styles=np.ones((3, 1), "f4"))) is None


def test_it_reads_the_words_in_its_own_pieces(model: Path, recipe: LabRecipe, tmp_path: Path) -> None:
    """The learner's pieces are other ones, and twice as many: what the teacher says of the words stays the same."""
    batch = batch_of(OnnxEngine(model, "cpu"))
    whole = Teacher(model, recipe, CPU).read(batch)
    assert whole is not None
    (other := tmp_path / "tokenizer.json").write_text("{}")
    recipe = replace(recipe, tokenizer=other)
    with pytest.raises(BadModel, match="prepare the recipe again"):
        Teacher(model, recipe, CPU)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    starts, pieces, frame = split(["", *(word for row in ROWS for word in row)], tokenizer)
    nothing = np.zeros(len(starts) - 1, np.int8)
    recipe.arrays().mkdir(parents=True)
    save(Vocabulary(nothing, nothing, nothing.view("u1"), starts, pieces, frame), recipe.arrays() / TEACHERS_WORDS)
    wide = {
        name: np.repeat(value, 2, axis=1) for name in ("ids", "attention", "pauses", "turns", "lines", "types", "marks")
        if (value := getattr(batch, name)) is not None
    }  # fmt: skip
    wide["marks"][:, ::2] = IGNORED
    taught = Teacher(model, recipe, CPU).read(replace(batch, **wide))
    assert taught is not None
    assert taught.at.tolist() == whole.at.tolist()
    assert torch.allclose(taught.marks, whole.marks, atol=1e-5)
    assert torch.allclose(taught.case, whole.case, atol=1e-5)


def test_words_that_its_places_do_not_hold_are_not_taught(model: Path) -> None:
    batch = batch_of(OnnxEngine(model, "cpu"))
    lengths = [len(Tokenizer.from_file(str(model / "tokenizer.json")).encode(word).ids) for row in ROWS for word in row]
    starts = np.append(0, np.cumsum([0, *lengths]))
    most = 2 + sum(lengths[:3])
    nothing = np.zeros(len(starts) - 1, np.int8)
    words = Vocabulary(nothing, nothing, nothing.view("u1"), starts, np.arange(starts[-1]), np.array([1, 2]))
    (ids, attention, *_), places, at = retokenise(batch, np.arange(len(ROWS)), words, most)
    assert ids.shape[1] == most
    assert at[:3].tolist() == [0, 1, 2]
    assert 3 not in at
    assert len(ROWS[0]) in at, "the next row begins anew"
    assert places.sum() == len(at)
    assert (ids[0, 1 : most - 1] == np.arange(most - 2)).all()
    assert (attention.sum(1) <= most).all()


def test_it_teaches_only_what_reads_the_same_pauses(model: Path, recipe: LabRecipe) -> None:
    with pytest.raises(BadModel, match="the same pause_bins_ms"):
        Teacher(model, replace(recipe, pause_bins_ms=(100, 300)), CPU)


class Itself:
    """A teacher that says what the network itself says."""

    def __init__(self, network: JointNetwork) -> None:
        self.network = network

    @torch.no_grad()
    def read(self, batch: LabBatch) -> TeacherLabels:
        rows = np.flatnonzero(batch.styles[:, 0] == 0)
        given = (
            torch.from_numpy(a[rows]) for a in (batch.ids, batch.attention, batch.pauses, batch.turns, batch.lines)
        )
        case, marks = self.network(*given)
        known = batch.marks != IGNORED
        at = np.isin(np.nonzero(known)[0], rows).nonzero()[0]
        where = torch.from_numpy(known[rows])
        return TeacherLabels(torch.from_numpy(at), case[where].softmax(-1), marks[where].softmax(-1))


def slopes(tiny_model: Path, recipe: LabRecipe, styles: list[int]) -> tuple[float, dict[float, float]]:
    """How much there is to learn without a teacher, and from one that says the same, by what it counts (`taught`)."""
    batch = replace(batch_of(OnnxEngine(tiny_model, "cpu")), styles=np.array(styles, "f4")[:, None])
    torch.manual_seed(1)
    shape = NetworkShape(vocabulary=100, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24)
    network = LabNetwork(shape).eval()

    def slope(taught: float, teacher: object) -> float:
        network.zero_grad()
        sum(loss_of(network, batch, replace(recipe, taught=taught), CPU, teacher)).backward()
        return sum(float(p.grad.abs().sum()) for p in network.parameters() if p.grad is not None)

    return slope(0.5, None), {taught: slope(taught, Itself(network)) for taught in (0.0, 0.5, 1.0)}


def test_nothing_is_learnt_from_a_teacher_that_says_the_same(tiny_model: Path, recipe: LabRecipe) -> None:
    alone, taught = slopes(tiny_model, recipe, [0, 0, 0])
    assert taught[0.0] == pytest.approx(alone, rel=1e-3)
    assert taught[1.0] < 0.05 * alone
    assert 0.3 * alone < taught[0.5] < 0.7 * alone


def test_windows_that_are_told_their_corpus_learn_from_the_text_alone(tiny_model: Path, recipe: LabRecipe) -> None:
    alone, taught = slopes(tiny_model, recipe, [1, 2, 1])
    assert taught[1.0] == pytest.approx(alone)
    _, taught = slopes(tiny_model, recipe, [1, 0, 1])
    assert 0.05 * alone < taught[1.0] < 0.95 * alone
