"""What can be seen of a memory on a server without opening it: nothing is made there, and nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from cheatsheet.memory.postgres.address import Address, read_address
from cheatsheet.memory.postgres.faults import translated

_VECTOR = "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A server that answers.

    Attributes:
        shown: the address without a password.
        version: of PostgreSQL, such as `18.0`.
        has_memory: whether there is a memory in the schema.
        pgvector: the version that is in the database, or that could be; empty for none.
    """

    shown: str
    schema: str
    version: str
    has_memory: bool
    pgvector: str


def shown(url: str) -> str:
    """The address without a password.

    Raises:
        SettingsError: it cannot be read.
    """
    return read_address(url, timeout_s=1).shown


def look(url: str, *, timeout_s: float) -> Seen:
    """Connect, ask, and leave.

    Raises:
        SettingsError: the address cannot be read.
        StoreUnavailableError: the server cannot be reached.
        StoreError: it does not let us in.
    """
    address = read_address(url, timeout_s=timeout_s)
    try:
        with psycopg.connect(address.conninfo, autocommit=True) as db:
            return _seen(db, address)
    except psycopg.Error as error:
        raise translated(error, address, timeout_s) from error


def _seen(db: psycopg.Connection[tuple[str, ...]], address: Address) -> Seen:
    vector = db.execute(_VECTOR).fetchone()
    memory = db.execute("SELECT to_regclass(%s)", (f"{address.schema}.journal",)).fetchone()
    return Seen(
        shown=address.shown,
        schema=address.schema,
        version=str(db.info.parameter_status("server_version")),
        has_memory=memory is not None and memory[0] is not None,
        pgvector=vector[0] if vector else "",
    )
