"""Embeddings in a memory file that no text needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from cheatsheet.memory.sqlite.sqlite_vectors import forget
from indexes.cached import CacheKey

_KEY: Final = "model_id, kind, sha256"
# The words of a merged bullet come back by a rollback only, and are embedded again then.
_UNNEEDED: Final = (
    "FROM embeddings WHERE sha256 NOT IN ("
    "SELECT text_sha256(content) FROM bullets WHERE status <> 'merged' "
    "UNION SELECT text_sha256(query) FROM experiences)"
)


def count_unneeded(db: sqlite3.Connection, unusable: Collection[CacheKey]) -> int:
    """How many embeddings are of no use, or of texts that no bullet and no experience has any more."""
    _teach(db)
    keys = (CacheKey(model, kind, digest.hex()) for model, kind, digest in db.execute(f"SELECT {_KEY} {_UNNEEDED}"))
    return len(unusable) + sum(key not in unusable for key in keys)


def forget_unneeded(db: sqlite3.Connection, unusable: Collection[CacheKey]) -> int:
    """Delete them, within the caller's transaction; returns how many they were."""
    _teach(db)
    forget(db, unusable)
    return len(unusable) + db.execute(f"DELETE {_UNNEEDED}").rowcount


def size_of(db: sqlite3.Connection) -> int:
    """Bytes of the whole file, without what SQLite keeps beside it."""
    (pages,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def _teach(db: sqlite3.Connection) -> None:
    """Let SQL name a text as the cache of embeddings does (`CacheKey.sha256`)."""
    db.create_function("text_sha256", 1, lambda text: sha256(text.encode()).digest(), deterministic=True)
