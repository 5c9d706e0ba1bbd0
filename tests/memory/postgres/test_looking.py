"""Looking at a server without opening the memory on it: nothing is made there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.errors import SettingsError, StoreUnavailableError
from cheatsheet.memory.postgres.looking import look, shown
from cheatsheet.memory.postgres.postgres_store import PostgresStore


def test_a_server_is_seen_before_and_after_there_is_a_memory(postgres_url: str) -> None:
    before = look(postgres_url, timeout_s=5)
    assert not before.has_memory
    assert before.pgvector.startswith("0.")
    assert int(before.version.partition(".")[0]) >= 14
    assert not look(postgres_url, timeout_s=5).has_memory, "looking makes none"
    PostgresStore(postgres_url).close()
    assert look(postgres_url, timeout_s=5).has_memory


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="postgresql:"):
        look(f"postgresql://mara:hush@/db?host={tmp_path}", timeout_s=1)


def test_an_address_is_told_without_its_password() -> None:
    assert shown("postgresql://mara:hush@somewhere/db") == "postgresql://mara@somewhere/db"
    with pytest.raises(SettingsError, match="cannot be read"):
        shown("postgresql://mara:%zz@somewhere/db")
