"""What the tests of searching share."""

from __future__ import annotations

import pytest

from cheatsheet.memory.search import index_file


@pytest.fixture
def kept_when_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes are kept in files from one row on, and after every change."""
    monkeypatch.setattr(index_file, "LEAST_ROWS", 1)
    monkeypatch.setattr(index_file, "SHARE", 0.0001)
