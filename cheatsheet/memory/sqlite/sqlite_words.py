"""Finding by words in the SQLite store: BM25 by SQLite's full-text search, FTS5.

Every namespace has tables of words of its own, for its bullets and for its experiences, so that neither what is found
nor how rare a word is says anything about another namespace. They are made when words are first looked for, and are no
part of the schema: whoever never looks pays nothing, and older versions open the file as before. From then on triggers
keep them in step inside the transaction of whoever writes, this version or not. They know of active texts only.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final, Literal, NamedTuple

from cheatsheet.errors import StoreReadOnlyError
from cheatsheet.memory.likeness.lexicon import NO_SPACES
from cheatsheet.memory.search.fusion import fused
from cheatsheet.memory.sqlite.connections import Connections

Table = Literal["bullets", "experiences"]

MOST_TERMS: Final = 256
"""Different words of a text that are looked for, and different parts of a word; the first ones count."""

MOST_ROWS: Final = 10_000
"""Rows that are ranked. Words that would bring more are left out, the most frequent ones first: they say least, and
ranking all that has one of them would take longer the larger the memory is."""

_COLUMN: Final[dict[Table, str]] = {"bullets": "content", "experiences": "query"}
_PART = re.compile(r"[^\W_]+")
_LEAST_PIECE = 3  # signs of a word; the tokenizer `trigram` knows no shorter piece

# Texts in scripts without spaces are kept a second time, in pieces: in `遇到ORA-00942时` no word begins or ends at the
# code. Contentless tables do not know what they hold, so that the triggers tell them what goes.
_UNSPACED: Final = f"*[{NO_SPACES.encode().decode('unicode_escape')}]*"
_MAKE: Final = (
    """CREATE VIRTUAL TABLE {words} USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')""",
    """CREATE VIRTUAL TABLE {pieces} USING fts5(text, content='', tokenize='trigram')""",
    """INSERT INTO {words} (rowid, text)
    SELECT number, {text} FROM {table} WHERE namespace_id = {space} AND status = 'active'""",
    """INSERT INTO {pieces} (rowid, text)
    SELECT number, {text} FROM {table}
    WHERE namespace_id = {space} AND status = 'active' AND {text} GLOB '{unspaced}'""",
    """CREATE TRIGGER {words}_added AFTER INSERT ON {table} WHEN NEW.namespace_id = {space} AND NEW.status = 'active'
    BEGIN {into} END""",
    """CREATE TRIGGER {words}_gone AFTER DELETE ON {table} WHEN OLD.namespace_id = {space} AND OLD.status = 'active'
    BEGIN {out_of} END""",
    """CREATE TRIGGER {words}_changed AFTER UPDATE OF {text}, status ON {table} WHEN NEW.namespace_id = {space}
    AND (OLD.{text} <> NEW.{text} OR (OLD.status = 'active') <> (NEW.status = 'active'))
    BEGIN {out_of} {into} END""",
)
_INTO: Final = """
INSERT INTO {words} (rowid, text) SELECT NEW.number, NEW.{text} WHERE NEW.status = 'active';
INSERT INTO {pieces} (rowid, text)
    SELECT NEW.number, NEW.{text} WHERE NEW.status = 'active' AND NEW.{text} GLOB '{unspaced}';
"""
_OUT_OF: Final = """
INSERT INTO {words} ({words}, rowid, text) SELECT 'delete', OLD.number, OLD.{text} WHERE OLD.status = 'active';
INSERT INTO {pieces} ({pieces}, rowid, text)
    SELECT 'delete', OLD.number, OLD.{text} WHERE OLD.status = 'active' AND OLD.{text} GLOB '{unspaced}';
"""


def matching(connections: Connections, namespace: str, table: Table, text: str, limit: int) -> list[int]:
    """Numbers of active rows that share words with a text, the best by BM25 first, ties by the lowest number.

    Raises:
        SettingsError: SQLite was built without FTS5, or is older than 3.34.
        StoreReadOnlyError: words were never looked for in this memory, and it cannot be written.
        StoreError: their tables cannot be made for another reason.
    """
    asked = _Asked.of(text)
    if not asked.words or limit <= 0:
        return []
    with connections.read() as db:
        space = db.execute("SELECT id FROM namespaces WHERE name = ?", (namespace,)).fetchone()
        if space is None:
            return []
        tables = _Tables(table, space["id"])
        if tables.are_in(db):
            return tables.find(db, asked, limit)
    return _made_and_found(connections, tables, asked, limit)


def faults_in_words(db: sqlite3.Connection) -> Iterator[str]:
    """Tables of words that cannot be searched, or do not hold as many texts as there are."""
    made = "SELECT name FROM sqlite_master WHERE sql GLOB 'CREATE VIRTUAL TABLE words_of_*' ORDER BY name"
    for (name,) in db.execute(made).fetchall():
        table, space = name.removeprefix("words_of_").rsplit("_", 1)
        yield from _Tables(table, int(space)).faults(db)


class _Term(NamedTuple):
    """A word as it stands, such as `ora-00942`, and its parts, which are looked for where it is nowhere as a whole.

    All are quoted, so that none is an operator of FTS5.
    """

    whole: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked for.

    Attributes:
        words: in texts of words, where a whole is its parts one after the other.
        pieces: inside texts without spaces, where it is what stands there, from three signs on.
    """

    words: tuple[_Term, ...]
    pieces: tuple[_Term, ...]

    @classmethod
    def of(cls, text: str) -> _Asked:
        # Composed, because an accent of its own would cut a word here, and not in SQLite.
        chunks = dict.fromkeys(unicodedata.normalize("NFC", text).lower().split())
        known = [(chunk, parts) for chunk in chunks if (parts := _PART.findall(chunk))]
        asked = list(islice(known, MOST_TERMS))
        return cls(
            tuple(_term(" ".join(parts), [part for part in parts if len(part) > 1]) for _, parts in asked),
            tuple(
                _term(whole, [part for part in parts if len(part) >= _LEAST_PIECE])
                for chunk, parts in asked
                if len(whole := _between(chunk, parts)) >= _LEAST_PIECE
            ),
        )


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of words for one table of one namespace."""

    table: Table
    space: int

    @property
    def words(self) -> str:
        return f"words_of_{self.table}_{self.space}"

    @property
    def pieces(self) -> str:
        return f"pieces_of_{self.table}_{self.space}"

    def are_in(self, db: sqlite3.Connection) -> bool:
        return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (self.words,)).fetchone() is not None

    def make(self, db: sqlite3.Connection) -> None:
        """Make and fill them, with their triggers; inside a transaction."""
        names = {
            "words": self.words,
            "pieces": self.pieces,
            "table": self.table,
            "space": self.space,
            "text": _COLUMN[self.table],
            "unspaced": _UNSPACED,
        }
        names |= {"into": _INTO.format_map(names), "out_of": _OUT_OF.format_map(names)}
        for statement in _MAKE:
            db.execute(statement.format_map(names))

    def faults(self, db: sqlite3.Connection) -> Iterator[str]:
        """What is wrong with them, in sentences."""
        active = f"SELECT count(*) FROM {self.table} WHERE namespace_id = {self.space} AND status = 'active'"
        unspaced = f"{active} AND {_COLUMN[self.table]} GLOB '{_UNSPACED}'"
        for name, texts in ((self.words, active), (self.pieces, unspaced)):
            try:
                db.execute(f"SELECT rowid FROM {name} LIMIT 0")
                held, there = db.execute(f"SELECT (SELECT count(*) FROM {name}_docsize), ({texts})").fetchone()
            except sqlite3.DatabaseError as error:
                yield f"The words in {name} cannot be searched: {error}."
            else:
                if held != there:
                    yield f"The words in {name} are those of {held:,} texts; there are {there:,}."

    def find(self, db: sqlite3.Connection, asked: _Asked, limit: int) -> list[int]:
        whole, inside = _best(db, self.words, asked.words, limit), _best(db, self.pieces, asked.pieces, limit)
        return fused([whole, inside])[:limit]


def _made_and_found(connections: Connections, tables: _Tables, asked: _Asked, limit: int) -> list[int]:
    if connections.read_only:
        raise StoreReadOnlyError(
            f"Words were never looked for in the memory {connections.path}, and it cannot be written, so that they "
            f"cannot be indexed. Open it once with search='hybrid' where it can be written."
        )
    with connections.read() if connections.writes_here else connections.write(durable=False) as db:
        if not tables.are_in(db):  # another process may have made them while this one waited
            tables.make(db)
        return tables.find(db, asked, limit)


def _best(db: sqlite3.Connection, words: str, terms: Sequence[_Term], limit: int) -> list[int]:
    """The rows that have some of the terms, the best first."""
    few = _few_rows(_counted(db, words, terms))
    if not few:
        return []
    query = f"SELECT rowid FROM {words} WHERE {words} MATCH ? ORDER BY rank, rowid LIMIT ?"
    return [number for (number,) in db.execute(query, (" OR ".join(few), limit))]


def _counted(db: sqlite3.Connection, words: str, terms: Sequence[_Term]) -> dict[str, int]:
    """What is to be looked for, and in how many rows each is, up to `MOST_ROWS`."""
    query = f"SELECT count(*) FROM (SELECT 1 FROM {words} WHERE {words} MATCH ? LIMIT {MOST_ROWS})"

    def count(asked: str) -> int:
        return int(db.execute(query, (asked,)).fetchone()[0])

    counts: dict[str, int] = {}
    for term in terms:
        whole = {term.whole: count(term.whole)}
        counts |= whole if whole[term.whole] else {part: count(part) for part in term.parts}
    return counts


def _few_rows(counts: Mapping[str, int]) -> list[str]:
    """What is somewhere, the rarest first, as long as that is no more than `MOST_ROWS` together; one at least."""
    there = sorted((asked for asked, count in counts.items() if count), key=counts.__getitem__)
    together = accumulate(counts[asked] for asked in there)
    return [
        asked for place, (asked, rows) in enumerate(zip(there, together, strict=True)) if not place or rows <= MOST_ROWS
    ]


def _term(whole: str, parts: Sequence[str]) -> _Term:
    first = islice(dict.fromkeys(parts), MOST_TERMS)
    return _Term(_quoted(whole), tuple(map(_quoted, first)) if len(parts) > 1 else ())


def _between(chunk: str, parts: Sequence[str]) -> str:
    """From the first part of a chunk to its last, with what stands between them; of what ends at a NUL, the first."""
    whole = chunk[chunk.index(parts[0]) : chunk.rindex(parts[-1]) + len(parts[-1])]
    return parts[0] if "\0" in whole else whole


def _quoted(text: str) -> str:
    # In a quoted text nothing but the quote itself means anything to FTS5.
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
