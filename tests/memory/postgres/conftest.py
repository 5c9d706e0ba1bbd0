"""A store on the server that all tests of this process share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cheatsheet.memory.postgres.postgres_store import PostgresStore
from tests.memory.postgres.worlds import TIMEOUT_S


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    yield store
    store.close()
