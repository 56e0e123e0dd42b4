from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def memory_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty file system below memory://, where nothing is waited for."""
    from fsspec.implementations.memory import MemoryFileSystem

    from cappunc_cli.files import urls

    monkeypatch.setattr(urls, "_FIRST_WAIT_S", 0.0)
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield
    MemoryFileSystem.store.clear()
