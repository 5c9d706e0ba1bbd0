"""The schema: made once, whoever opens it first; refused where it is another's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import (
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
    StoreUnavailableError,
    StoreVersionError,
)
from cheatsheet.memory.postgres import migrations
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from tests.memory.postgres.worlds import check, contents, learn, outside
from tests.memory.stores import new_url


def test_several_that_open_a_new_memory_at_once_make_it_once(postgres_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: PostgresStore(postgres_url), range(4)))
    for number, store in enumerate(stores):
        learn(store, f"{number}")
    assert contents(stores[0]) == ["0", "1", "2", "3"]
    check(stores[0])
    for store in stores:
        store.close()


def test_a_memory_of_a_newer_version_is_refused(store: PostgresStore, postgres_url: str) -> None:
    with outside(store) as db:
        db.execute("UPDATE about SET step = 99")
    with pytest.raises(StoreVersionError, match="schema 99; this version of Cheatsheet knows up to 1"):
        PostgresStore(postgres_url)


def test_a_schema_of_another_program_is_refused_and_left_as_it_is(postgres_server: PostgresServer) -> None:
    """S01: what is no memory is never taken for an empty one."""
    url = new_url(postgres_server)
    schema = url.rpartition("=")[2]
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {schema}")
        db.execute(f"CREATE TABLE {schema}.songs (title TEXT)")
        with pytest.raises(StoreCorruptError, match="tables of another program"):
            PostgresStore(url)
        tables = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
    assert tables == [("songs",)]


def test_a_step_that_fails_leaves_nothing(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            migrations, "MIGRATIONS", (*migrations.MIGRATIONS, "CREATE TABLE more (n INTEGER); CREATE NONSENSE")
        )
        with pytest.raises(psycopg.errors.SyntaxError, match="NONSENSE"):
            PostgresStore(postgres_url)
    store = PostgresStore(postgres_url)
    assert list(store.namespaces()) == []
    store.close()


def test_a_database_of_another_encoding_is_refused(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(StoreError, match="made with ENCODING 'UTF8'"):
        PostgresStore(postgres_server.url.replace("/postgres?", "/latin?"))


def test_who_may_only_read_reads(store: PostgresStore, postgres_url: str, postgres_server: PostgresServer) -> None:
    learn(store, "for everybody")
    schema = postgres_url.rpartition("=")[2]
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute(f"CREATE ROLE reader_{schema} LOGIN")
        db.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}")
        db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}")
    reading = PostgresStore(postgres_url.replace("//postgres@", f"//reader_{schema}@"), timeout_s=2)
    assert contents(reading) == ["for everybody"]
    with pytest.raises(StoreReadOnlyError, match="permission denied"):
        learn(reading, "not for me")
    reading.close()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("/postgres?", "/nowhere?", 'database "nowhere" does not exist'),
        ("//postgres@", "//stranger:s3cret@", 'role "stranger" does not exist'),
        ("host=", "host=/nowhere", "see that the server runs"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_at_once(
    postgres_server: PostgresServer, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(StoreUnavailableError, match=sentence) as told:
        PostgresStore(postgres_server.url.replace(old, new))
    assert "s3cret" not in str(told.value)
