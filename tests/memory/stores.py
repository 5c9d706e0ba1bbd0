"""Stores of every kind, for the tests that say what all of them keep. A plugin of `tests/conftest.py`.

`store` is an empty store and `place` is where it lies, so that it can be opened again; each test that asks for one runs
once for every kind. `shared_place` leaves out the memory in RAM, which only whoever opened it can see. `lasting_store`
is for Hypothesis: one store for a whole module, in which every example takes a namespace of its own
(`fresh_namespace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Literal

import pytest

from benchmarks.perf.postgres_server import PACKAGE, PostgresServer
from cheatsheet.memory.apply import Limits
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import MemoryStore

Kind = Literal["file", "memory", "postgres"]
KINDS: tuple[Kind, ...] = ("file", "memory", "postgres")
SHARED_KINDS: tuple[Kind, ...] = ("file", "postgres")

_numbers = count(1)


class Place:
    """Where one memory lies.

    Attributes:
        address: what `cheatsheet.open` takes.
    """

    def __init__(self, kind: Kind, address: str) -> None:
        self.kind = kind
        self.address = address
        self._opened: list[MemoryStore] = []

    def open(self, *, limits: Limits | None = None, timeout_s: float = 30.0) -> MemoryStore:
        """Open it, once more where it is open already. Whoever closes it or not: it is closed after the test."""
        self._opened.append(_open(self.kind, self.address, limits, timeout_s))
        return self._opened[-1]

    def close(self) -> None:
        for store in self._opened:
            store.close()


def _open(kind: Kind, address: str, limits: Limits | None, timeout_s: float) -> MemoryStore:
    if kind != "postgres":
        return SqliteStore(address, limits=limits, busy_timeout_s=timeout_s)
    from cheatsheet.memory.postgres.postgres_store import PostgresStore

    return PostgresStore(address, limits=limits, timeout_s=timeout_s)


def fresh_namespace() -> str:
    """A name that no test has had."""
    return f"space-{next(_numbers)}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of this process; gone when the process is, however it ends."""
    for package in ("psycopg", "psycopg_pool", PACKAGE):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}: pip install -e '.[dev]'")
    with PostgresServer(careless=True) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """The address of an empty memory on the server: a schema of its own."""
    return new_url(postgres_server)


def new_url(server: PostgresServer) -> str:
    return f"{server.url}&schema=test_{next(_numbers)}"


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    yield from _places(request, tmp_path)


@pytest.fixture(params=SHARED_KINDS)
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    yield from _places(request, tmp_path)


@pytest.fixture
def store(place: Place) -> MemoryStore:
    return place.open()


@pytest.fixture(scope="module", params=KINDS)
def lasting_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    for place in _places(request, tmp_path_factory.mktemp("lasting")):
        yield place.open()


def _places(request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    kind: Kind = request.param
    addresses: dict[Kind, Callable[[], str]] = {
        "file": lambda: str(folder / "memory.db"),
        "memory": lambda: ":memory:",
        "postgres": lambda: new_url(request.getfixturevalue("postgres_server")),
    }
    place = Place(kind, addresses[kind]())
    yield place
    place.close()
