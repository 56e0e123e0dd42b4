"""Probabilities averaged with those of another model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, PairedMark
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadModel, UnknownModel
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.record import signature
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import Chunk, Rows
from cappunc_cli.restoration.models.registry import ModelConfig, find_model, installed
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities

TINY = Path(__file__).parents[1] / "tiny_model"
CONFIG = replace(
    ModelConfig.load(TINY), languages=("es", "fr"), around=(PairedMark.OPEN_QUESTION, PairedMark.OPEN_EXCLAMATION)
)
LABELS = len(CASE_CLASSES) + len(MARK_CLASSES)
WORDS = [Word(text) for text in ["so", "are", "you", "coming"] * 40]


@dataclass
class Constant:
    """An engine that gives every word the same probabilities, and counts its runs."""

    config: ModelConfig
    row: Sequence[float]
    lexicons: Lexicons = field(default_factory=Lexicons)
    device: str = "cpu"
    reads_lines: bool = False
    warning: str | None = None
    runs: int = 0

    def predict(
        self,
        words: Sequence[str],  # noqa: ARG002
        pauses: Sequence[int | None],  # noqa: ARG002
        turns: Sequence[bool],  # noqa: ARG002
        chunks: Sequence[Chunk],
        lines: Sequence[bool],  # noqa: ARG002
    ) -> Iterator[Rows]:
        self.runs += 1
        for chunk in chunks:
            yield chunk.kept(np.tile(np.array(self.row, np.float32), (len(chunk), 1)))


def constant(value: float, config: ModelConfig = CONFIG, *paired: float) -> Model:
    row = [value] * LABELS + list(paired)
    return Model(config, Constant(config, row), Lexicons())


def test_each_model_counts_with_its_share() -> None:
    others = [(constant(1.0, CONFIG, 1.0, 1.0), 0.2), (constant(0.5, CONFIG, 0.5, 0.0), 0.3)]
    model = replace(constant(0.0, CONFIG, 0.0, 0.0), ensemble=others)
    rows = probabilities(WORDS, model, Options(language="es"))
    assert rows.shape == (len(WORDS), LABELS + 2)
    assert np.allclose(rows[:, :LABELS], 0.2 * 1.0 + 0.3 * 0.5)
    assert np.allclose(rows[:, LABELS:], [0.2 + 0.15, 0.2])


def test_only_models_of_the_language_count() -> None:
    spanish = replace(CONFIG, languages=("es",))
    other = constant(1.0, spanish, 1.0, 1.0)
    model = replace(constant(0.0, CONFIG, 0.0, 0.0), ensemble=[(other, 0.4)])
    assert np.allclose(probabilities(WORDS, model, Options(language="fr")), 0)
    assert isinstance(other.engine, Constant)
    assert other.engine.runs == 0
    assert np.allclose(probabilities(WORDS, model, Options(language="es")), 0.4)
    assert np.allclose(probabilities(WORDS, model, Options()), 0.4)  # the first language


def copied(tmp_path: Path, name: str, **changes: object) -> Path:
    directory = tmp_path / name
    shutil.copytree(TINY, directory)
    config = json.loads((TINY / "config.json").read_text("utf-8")) | {"name": name} | changes
    (directory / "config.json").write_text(json.dumps(config), "utf-8")
    return directory


def test_a_member_is_found_beside_the_model(tmp_path: Path) -> None:
    copied(tmp_path, "other")
    model = load_model(str(copied(tmp_path, "first", ensemble={"other": 0.25})), "cpu")
    [(member, part)] = model.ensemble
    assert (member.config.name, part) == ("other", 0.25)
    # The same network twice: the average is what each of them says.
    alone = load_model(str(TINY), "cpu")
    assert np.allclose(probabilities(WORDS, model), probabilities(WORDS, alone), atol=1e-6)


def test_a_missing_member_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="no model 'nowhere'"):
        load_model(str(copied(tmp_path, "first", ensemble={"nowhere": 0.25})), "cpu")


def test_an_ensemble_of_ensembles_is_refused(tmp_path: Path) -> None:
    """Of models that name each other, too, where loading would never end."""
    copied(tmp_path, "other", ensemble={"first": 0.25})
    with pytest.raises(BadModel, match="other has one of its own"):
        load_model(str(copied(tmp_path, "first", ensemble={"other": 0.25})), "cpu")


def test_a_member_with_other_paired_marks_is_refused(tmp_path: Path) -> None:
    copied(tmp_path, "other", around=["¿"])
    with pytest.raises(BadModel, match="other has other paired marks"):
        load_model(str(copied(tmp_path, "first", ensemble={"other": 0.25})), "cpu")


@pytest.mark.parametrize("shares", [{"other": -0.1}, {"other": 0.6, "third": 0.6}])
def test_shares_that_make_no_average_are_refused(tmp_path: Path, shares: dict[str, float]) -> None:
    with pytest.raises(BadModel, match="ensemble: shares"):
        ModelConfig.load(copied(tmp_path, "first", ensemble=shares))


def test_a_record_notices_another_member(tmp_path: Path) -> None:
    """A run that is resumed with another second model must not keep the results of the first one."""
    copied(tmp_path, "other")
    first = copied(tmp_path, "first", ensemble={"other": 0.25})
    request = FixRequest(model=str(first), device="cpu")
    before = signature(request)
    assert signature(request) == before
    config = tmp_path / "other" / "config.json"
    config.write_text(config.read_text("utf-8").replace('"version"', '"note": 1, "version"', 1), "utf-8")
    assert signature(request) != before


def test_the_members_of_installed_models_are_installed_and_share_a_language() -> None:
    for directory in installed():
        config = ModelConfig.load(directory)
        for name in config.ensemble:
            member = ModelConfig.load(find_model(name))
            assert set(member.languages) & set(config.languages), (config.name, name)
            assert not member.ensemble, "the average of an average"
