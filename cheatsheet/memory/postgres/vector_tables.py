"""Finding the table of an embedding model, or making it, with pgvector itself where the database lacks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from psycopg import errors

from cheatsheet.errors import StoreError, StoreReadOnlyError
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.postgres.vector_table import VectorTable

_OLDEST: Final = (0, 8)  # the first pgvector whose searches go on until they have found enough (iterative scans)
_MOST_DIM: Final = 16_000
_CREATE: Final = "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"
_EXTENSION: Final = (
    "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
    "WHERE extname = 'vector'"
)
_FIND: Final = """
SELECT id, has_table_privilege(name, 'SELECT') AS readable,
    has_table_privilege(name, 'INSERT') AND has_table_privilege(name, 'DELETE') AS writable
FROM (
    SELECT id, to_regclass('vectors_' || id)::oid AS name FROM vector_tables WHERE model_id = %s AND dim = %s
) AS named
"""
_LOCK: Final = 0x43484556  # "CHEV": under which the extension and the tables are made


def open_table(server: Server, model_id: str, dim: int) -> VectorTable | None:
    """The table of a model, made with pgvector itself where they are not there yet.

    Returns:
        None where it can be neither read nor made: on a standby, or by a role without the rights.

    Raises:
        StoreError: the server has no pgvector, or one that is too old, or the vectors are too long for it.
    """
    if dim > _MOST_DIM:
        raise StoreError(
            f"pgvector holds vectors of up to {_MOST_DIM:,} dimensions, not of {dim:,}. Choose another embedder, or "
            f"index='auto' with a memory file."
        )
    found = _found(server, model_id, dim)
    if found is None and not server.read_only:
        with suppress(StoreReadOnlyError):
            server.apart(lambda db: _make(db, server.address.shown, model_id, dim))
            found = _found(server, model_id, dim)
    return found


def _found(server: Server, model_id: str, dim: int) -> VectorTable | None:
    rows = server.rows(_FIND, (model_id, dim))
    extension = _schema_of(server.rows(_EXTENSION), server.address.shown)
    if not rows or not extension or not rows[0]["readable"]:
        return None
    may_write = rows[0]["writable"] and not server.read_only
    return VectorTable(server, rows[0]["id"], dim, extension, may_write=may_write)


def _make(db: Db, shown: str, model_id: str, dim: int) -> None:
    db.execute("SELECT pg_advisory_xact_lock(%s, 0)", (_LOCK,))
    _create_extension(db, shown)
    if db.execute(_FIND, (model_id, dim)).fetchone():
        return  # another process has made it
    extension = _schema_of(db.execute(_EXTENSION).fetchall(), shown)
    row = db.execute(
        "INSERT INTO vector_tables (model_id, dim) VALUES (%s, %s) RETURNING id", (model_id, dim)
    ).fetchone()
    assert row is not None
    db.execute(
        f"CREATE TABLE vectors_{row['id']} (namespace_id INTEGER NOT NULL, what SMALLINT NOT NULL, "
        f'number BIGINT NOT NULL, embedding "{extension}".vector({dim}) NOT NULL, '
        f"PRIMARY KEY (namespace_id, what, number))"
    )


def _create_extension(db: Db, shown: str) -> None:
    try:
        with db.transaction():
            db.execute(_CREATE)
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        said = (error.diag.message_primary or "").rstrip(".")
        raise StoreError(
            f"The vector search of PostgreSQL needs pgvector, which {shown} does not have ({said}). "
            f"Let an administrator run CREATE EXTENSION vector in the database, after installing pgvector on the "
            f"server; or choose index='faiss', which searches in this process."
        ) from error


def _schema_of(found: Sequence[Mapping[str, str]], shown: str) -> str:
    """The schema in which pgvector lies; empty where it is not there."""
    if not found:
        return ""
    version = found[0]["extversion"]
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        raise StoreError(
            f"{shown} has pgvector {version}; the vector search needs 0.8 or newer. Let an administrator run "
            f"ALTER EXTENSION vector UPDATE, or choose index='faiss'."
        )
    return found[0]["nspname"]
