"""What a role may do, and what a standby can: whoever may read recalls, and whoever may not learn is told."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

import cheatsheet
from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import StoreBusyError, StoreError, StoreReadOnlyError
from cheatsheet.memory.postgres import migrations
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from indexes.hashing import HashingEmbedder
from tests.memory.postgres.worlds import TIMEOUT_S, learn
from tests.memory.stores import new_url

READ_ONLY = "&options=-c%20default_transaction_read_only%3Don"
QUESTION = "What is red?"


def schema_of(url: str) -> str:
    return url.rpartition("schema=")[2]


@pytest.fixture
def memory(postgres_url: str) -> str:
    """The address of a memory that knows something, and whose vectors are on the server."""
    with cheatsheet.open(postgres_url, embedder=HashingEmbedder(dim=8)) as memory:
        memory.learn(QUESTION, "x", expected="a colour")
        assert "a colour" in memory.recall(QUESTION).text
    return postgres_url


@pytest.fixture
def role(postgres_server: PostgresServer) -> Callable[..., str]:
    """Makes a role with some rights to a memory, and gives the memory's address for it."""

    def make(url: str, rights: str = "") -> str:
        name = f"role_of_{schema_of(url)}"
        with psycopg.connect(postgres_server.url, autocommit=True) as db:
            db.execute(f"CREATE ROLE {name} LOGIN")
            if rights:
                db.execute(f"GRANT USAGE ON SCHEMA {schema_of(url)} TO {name}")
                db.execute(f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema_of(url)} TO {name}")
        return url.replace("postgres@", f"{name}@")

    return make


@pytest.mark.parametrize("dim", [8, 16])
def test_a_standby_recalls_by_any_model_and_says_that_it_cannot_learn(memory: str, dim: int) -> None:
    """Vectors of a model that was never used on the primary are searched in this process."""
    with cheatsheet.open(memory + READ_ONLY, embedder=HashingEmbedder(dim=dim)) as standby:
        assert "a colour" in standby.recall(QUESTION).text
        with pytest.raises(StoreReadOnlyError, match="It can be read; to learn, connect to the primary server"):
            standby.learn("What is green?", "x", expected="a colour")
        assert standby.verify() == []


def test_what_is_learnt_on_the_primary_is_found_on_a_standby(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where so much is new that it would be written to the server first."""
    monkeypatch.setattr("cheatsheet.memory.postgres.vectors_in_step.MOST_FRESH", 2)
    with (
        cheatsheet.open(memory, embedder=HashingEmbedder(dim=8)) as primary,
        cheatsheet.open(memory + READ_ONLY, embedder=HashingEmbedder(dim=8)) as standby,
    ):
        for number in range(5):
            primary.learn(f"Where is parcel {number}?", "here", expected=f"in depot {number}")
            assert f"in depot {number}" in standby.recall(f"Where is parcel {number}?").text
        primary.recall(QUESTION)


@pytest.mark.parametrize("dim", [8, 16])
def test_a_role_that_may_only_read_recalls(memory: str, role: Callable[..., str], dim: int) -> None:
    with cheatsheet.open(role(memory, "SELECT"), embedder=HashingEmbedder(dim=dim)) as reader:
        assert "a colour" in reader.recall(QUESTION).text
        with pytest.raises(StoreReadOnlyError, match=r"permission denied.*to learn, INSERT, UPDATE and DELETE"):
            reader.learn("What is green?", "x", expected="a colour")


@pytest.mark.parametrize("dim", [8, 16])
def test_a_role_that_may_not_make_tables_learns_all_the_same(memory: str, role: Callable[..., str], dim: int) -> None:
    url = role(memory, "SELECT, INSERT, UPDATE, DELETE")
    with cheatsheet.open(url, embedder=HashingEmbedder(dim=dim)) as writer:
        writer.learn("What is the capital?", "x", expected="Paris")
        assert "Paris" in writer.recall("What is the capital?").text
        assert writer.verify() == []


def test_where_no_memory_can_be_made_it_is_told(postgres_server: PostgresServer, role: Callable[..., str]) -> None:
    url = new_url(postgres_server)
    for place in (role(url), url + READ_ONLY):
        with pytest.raises(
            StoreReadOnlyError, match=r"no memory at .* yet, and none can be made .* CREATE SCHEMA test_"
        ):
            PostgresStore(place, timeout_s=TIMEOUT_S)


def test_a_schema_that_was_made_for_a_role_is_enough(postgres_server: PostgresServer, role: Callable[..., str]) -> None:
    url = new_url(postgres_server)
    place = role(url)
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {schema_of(url)} AUTHORIZATION role_of_{schema_of(url)}")
    with cheatsheet.open(place, embedder=HashingEmbedder(dim=8)) as memory:
        memory.learn(QUESTION, "x", expected="a colour")
        assert "a colour" in memory.recall(QUESTION).text


def test_a_memory_that_may_not_be_read_is_told(memory: str, role: Callable[..., str]) -> None:
    with pytest.raises(StoreError, match=r"may not use the schema .* GRANT USAGE ON SCHEMA"):
        PostgresStore(role(memory), timeout_s=TIMEOUT_S)


def test_an_older_memory_that_cannot_be_brought_up_to_date_is_told(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, "CREATE TABLE more ()"))
    with pytest.raises(StoreReadOnlyError, match=r"older version and has to be brought up to date once"):
        PostgresStore(memory + READ_ONLY, timeout_s=TIMEOUT_S)


def test_a_statement_that_the_server_ends_is_not_told_as_somebody_s_lock(memory: str) -> None:
    store = PostgresStore(memory + "&options=-c%20statement_timeout%3D50ms", timeout_s=TIMEOUT_S)
    other = PostgresStore(memory, timeout_s=TIMEOUT_S)

    with other.server.connect() as db:
        db.execute("BEGIN")
        db.execute("SELECT * FROM namespaces FOR UPDATE")
        with pytest.raises(StoreBusyError, match=r"did not let this go on .*statement timeout.* ALTER ROLE"):
            learn(store, "two")
        db.execute("ROLLBACK")
    store.close()
    other.close()
