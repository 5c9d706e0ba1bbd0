"""A memory on a PostgreSQL server as the source or the target of a move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from cheatsheet.errors import SetupError
from cheatsheet.memory.moving.tables import AT_ONCE, KEYS, TABLES, Row, Source, parts
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.rows import HELD
from cheatsheet.memory.postgres.texts import held
from cheatsheet.memory.postgres.texts import told as plain
from cheatsheet.memory.postgres.words import indexed
from cheatsheet.memory.store import Progress
from cheatsheet.memory.upkeep.flaw import Flaw
from cheatsheet.memory.upkeep.verify import verify

# What a row has here beside what is moved, and from which of its texts that is worked out.
_WORDS_OF = {"bullets": "content", "experiences": "query"}

# All of them at once, when the rows are there; next numbers of journal and namespaces, so that none is given twice.
_SETTLE = (
    """UPDATE namespaces SET version = (SELECT coalesce(max(version), 0) FROM journal WHERE namespace_id = id)""",
    """UPDATE namespaces SET active_bullets = count, active_tokens = tokens, bullet_words = words FROM (
        SELECT namespace_id, count(*) AS count, sum(tokens) AS tokens, sum(length) AS words
        FROM bullets WHERE status = 'active' GROUP BY namespace_id
    ) AS found WHERE namespace_id = id""",
    """UPDATE namespaces SET active_experiences = count, experience_words = words FROM (
        SELECT namespace_id, count(*) AS count, sum(length) AS words
        FROM experiences WHERE status = 'active' GROUP BY namespace_id
    ) AS found WHERE namespace_id = id""",
    """SELECT setval(pg_get_serial_sequence('namespaces', 'id'), max(id)) FROM namespaces HAVING count(*) > 0""",
    """SELECT setval(pg_get_serial_sequence('journal', 'version'), max(version)) FROM journal HAVING count(*) > 0""",
)


class ServerSource:
    """Reads a memory on a server; others may write to it meanwhile."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._store = PostgresStore(url, timeout_s=timeout_s, max_connections=2)
        self.shown = self._store.address
        self._open = ExitStack()

    def __enter__(self) -> Source:
        self._open.callback(self._store.close)
        self._open.enter_context(self._store.pinned())
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def flaws(self) -> Sequence[Flaw]:
        return verify(self._store)

    def count(self, table: str) -> int:
        return int(self._store.server.rows(f"SELECT count(*) AS rows FROM {table}")[0]["rows"])

    def rows(self, table: str) -> Iterator[Sequence[Row]]:
        columns, keys = ", ".join(TABLES[table]), ", ".join(KEYS[table])
        after, last = "", ()
        while True:
            query = f"SELECT {columns} FROM {table} {after} ORDER BY {keys} LIMIT {AT_ONCE}"
            found = self._store.server.rows(query, last)
            if not found:
                return
            yield [tuple(_plain(table, column, row[column]) for column in TABLES[table]) for row in found]
            after = f"WHERE ({keys}) > ({', '.join(['%s'] * len(KEYS[table]))})"
            last = tuple(found[-1][key] for key in KEYS[table])


class ServerTarget:
    """Fills a memory on a server."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s

    def fill(self, source: Source, told: Progress) -> None:
        with ExitStack() as open:
            store = PostgresStore(self._url, timeout_s=self._timeout_s, max_connections=2)
            open.callback(store.close)

            def fill(db: Db, unanswered: Sequence[None]) -> None:
                db.execute("SET LOCAL statement_timeout = 0")
                # Nobody begins a namespace meanwhile, and what is there is seen.
                db.execute("LOCK TABLE namespaces, embeddings IN SHARE ROW EXCLUSIVE MODE")
                if any(_is_filled(db, table) for table in TABLES):
                    if unanswered:
                        return  # it was stored, and only the answer was lost
                    raise SetupError(
                        f"{store.address} holds a memory already. Move to another schema (?schema=NAME) or database."
                    )
                for table, rows in parts(source, told):
                    _copy(db, table, rows)
                for statement in _SETTLE:
                    db.execute(statement)

            store.server.transaction(fill)


def _is_filled(db: Db, table: str) -> bool:
    return db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None


def _copy(db: Db, table: str, rows: Sequence[Row]) -> None:
    columns = TABLES[table]
    text = _WORDS_OF.get(table)
    more = () if text is None else ("words", "length")
    with db.cursor().copy(f"COPY {table} ({', '.join((*columns, *more))}) FROM STDIN") as copy:
        for row in rows:
            values = [_held(table, column, value) for column, value in zip(columns, row, strict=True)]
            if text is not None:
                words = indexed(row[columns.index(text)])
                values += [words.vector, words.length]
            copy.write_row(values)


def _held(table: str, column: str, value: Any) -> Any:
    if column == "pinned":
        return bool(value)
    return held(value) if column in HELD.get(table, ()) else value


def _plain(table: str, column: str, value: Any) -> Any:
    if column == "pinned":
        return int(value)
    return plain(value) if column in HELD.get(table, ()) else value
