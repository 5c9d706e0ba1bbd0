"""Memories for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.hashing import HashingEmbedder
from tests.memory.worlds import AllAlike, Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    memory = Memory(HashingEmbedder())
    yield memory
    memory.store.close()


@pytest.fixture
def alike() -> Iterator[Memory]:
    """A memory in which every text is as near as can be to every other."""
    memory = Memory(AllAlike(dim=8))
    yield memory
    memory.store.close()
