from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import cappunc_cli
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import installed

HERE = Path(__file__).resolve().parent
_SLOW_MACHINES = [HealthCheck.too_slow]

# Tests must not depend on the speed of a machine: no deadlines; in CI, no randomness either.
settings.register_profile("default", deadline=None, max_examples=100, suppress_health_check=_SLOW_MACHINES)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, suppress_health_check=_SLOW_MACHINES)
settings.register_profile("release", deadline=None, max_examples=1000, suppress_health_check=_SLOW_MACHINES)
# Tests ignore the user's own configuration, and matplotlib can make no folder there.
os.environ["XDG_CONFIG_HOME"] = os.devnull
# Processes that start elsewhere find the package that the tests have found.
os.environ["PYTHONPATH"] = str(Path(cappunc_cli.__file__).parents[1])
# Terminal output is compared without colours, except in the tests of colours.
os.environ["NO_COLOR"] = "1"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out slow tests unless they are asked for."""
    if not os.environ.get("CAPPUNC_SLOW"):
        skip = pytest.mark.skip(reason="takes long (CAPPUNC_SLOW=1 runs it)")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The samples and texts beside the checkout; CAPPUNC_SHARED names another place."""
    place = Path(os.environ.get("CAPPUNC_SHARED") or HERE.parent.parent / "shared")
    if not place.is_dir():
        pytest.skip(f"no samples at {place} (set CAPPUNC_SHARED)")
    return place


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A model of a few KB for tests of everything but quality."""
    place = HERE / "tiny_model"
    if not (place / "model.onnx").is_file():
        pytest.skip(f"no model at {place}")
    return place


@pytest.fixture(scope="session")
def english() -> Model:
    """The fast English model."""
    directory = next((path for path in installed() if path.name == "en-fast" and (path / "model.onnx").is_file()), None)
    if directory is None:
        pytest.skip("models/en-fast is not trained yet")
    return load_model(str(directory), "cpu")


@pytest.fixture
def memory_store() -> Iterator[None]:
    """An empty file system below memory://."""
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield
    MemoryFileSystem.store.clear()
