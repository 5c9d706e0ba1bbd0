"""The schema of the SQLite store, as steps that are only ever appended to.

A file knows the number of its last step (`PRAGMA user_version`). Opening an older file applies the missing steps, each
in one transaction; a file with a higher number was written by a newer version and is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cheatsheet.errors import StoreVersionError
from cheatsheet.memory.sqlite.rows import teach_digest

APPLICATION_ID = 0x43484541  # "CHEA": marks a SQLite file as a memory of ours


# Times are whole microseconds since 1970 in UTC: exact, and they sort. `version` is the journal entry that last
# touched a row, by which an index catches up. The number of a bullet or experience is unique in its namespace.
_M001 = """
CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_bullet INTEGER NOT NULL DEFAULT 1,
    next_experience INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE journal (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace_id INTEGER NOT NULL REFERENCES namespaces (id),
    at INTEGER NOT NULL,
    cause TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    operations TEXT NOT NULL,
    experience_id TEXT NOT NULL,
    record TEXT,
    notes TEXT NOT NULL
);
CREATE INDEX journal_by_namespace ON journal (namespace_id, version);
CREATE UNIQUE INDEX journal_by_turn ON journal (namespace_id, turn_id) WHERE turn_id <> '';
CREATE TABLE bullets (
    namespace_id INTEGER NOT NULL REFERENCES namespaces (id),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    section TEXT NOT NULL,
    content TEXT NOT NULL,
    helpful INTEGER NOT NULL,
    harmful INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER,
    uses INTEGER NOT NULL,
    sources TEXT NOT NULL,
    tags TEXT NOT NULL,
    expires_at INTEGER,
    pinned INTEGER NOT NULL,
    status TEXT NOT NULL,
    kind TEXT NOT NULL,
    metadata TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace_id, number)
);
CREATE INDEX bullets_by_version ON bullets (namespace_id, version);
CREATE INDEX bullets_by_utility
    ON bullets (namespace_id, status, (helpful - harmful) DESC, (ifnull(last_used_at, created_at)) DESC, number);
CREATE INDEX bullets_by_section ON bullets (namespace_id, status, section, number);
CREATE INDEX bullets_by_expiry ON bullets (namespace_id, expires_at, number) WHERE expires_at IS NOT NULL;
CREATE INDEX bullets_by_tokens ON bullets (namespace_id, status, tokens);
CREATE TABLE experiences (
    namespace_id INTEGER NOT NULL REFERENCES namespaces (id),
    number INTEGER NOT NULL,
    query TEXT NOT NULL,
    data TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace_id, number)
);
CREATE INDEX experiences_by_version ON experiences (namespace_id, version);
CREATE TABLE embeddings (
    model_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model_id, kind, sha256)
);
"""

# How experiences stand, and the sizes of a namespace: kept by triggers, so that no turn counts rows. The time of an
# experience is read from its JSON (`2026-01-05T07:30:00Z` or `…:00.123456Z`), exact to the microsecond. An experience's
# `version` is the entry that stored it or last changed its status.
_M002 = """
ALTER TABLE experiences ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
ALTER TABLE experiences ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiences ADD COLUMN last_used_at INTEGER;
ALTER TABLE experiences ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
UPDATE experiences SET created_at =
    strftime('%s', substr(json_extract(data, '$.created_at'), 1, 19)) * 1000000
    + CAST(substr(rtrim(substr(json_extract(data, '$.created_at'), 21), 'Z') || '000000', 1, 6) AS INTEGER);
CREATE INDEX experiences_by_use ON experiences (namespace_id, status, (ifnull(last_used_at, created_at)), number);
CREATE INDEX bullets_by_change ON bullets (namespace_id, status, updated_at DESC, number);
CREATE INDEX experiences_by_status ON experiences (namespace_id, status, number);
ALTER TABLE namespaces ADD COLUMN active_bullets INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN active_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN active_experiences INTEGER NOT NULL DEFAULT 0;
UPDATE namespaces SET
    active_bullets = (SELECT count(*) FROM bullets WHERE namespace_id = namespaces.id AND status = 'active'),
    active_tokens = (
        SELECT ifnull(sum(tokens), 0) FROM bullets WHERE namespace_id = namespaces.id AND status = 'active'
    ),
    active_experiences = (SELECT count(*) FROM experiences WHERE namespace_id = namespaces.id);
CREATE TRIGGER bullet_added AFTER INSERT ON bullets WHEN NEW.status = 'active' BEGIN
    UPDATE namespaces SET active_bullets = active_bullets + 1, active_tokens = active_tokens + NEW.tokens
    WHERE id = NEW.namespace_id; END;
CREATE TRIGGER bullet_changed AFTER UPDATE OF status, tokens ON bullets BEGIN
    UPDATE namespaces SET
        active_bullets = active_bullets + (NEW.status = 'active') - (OLD.status = 'active'),
        active_tokens = active_tokens + NEW.tokens * (NEW.status = 'active') - OLD.tokens * (OLD.status = 'active')
    WHERE id = NEW.namespace_id; END;
CREATE TRIGGER experience_added AFTER INSERT ON experiences WHEN NEW.status = 'active' BEGIN
    UPDATE namespaces SET active_experiences = active_experiences + 1 WHERE id = NEW.namespace_id; END;
CREATE TRIGGER experience_changed AFTER UPDATE OF status ON experiences BEGIN
    UPDATE namespaces SET active_experiences = active_experiences + (NEW.status = 'active') - (OLD.status = 'active')
    WHERE id = NEW.namespace_id; END;
"""

# Where a journal was compacted: from which state its entries are replayed (`Snapshot`), and the mark that a rewritten
# entry had. `data` of a bullet is the JSON of its row in `bullets`. Sums of tokens are kept since the second step, so
# that their index has no use any more, and costs time at every new bullet. What an experience says stands in no
# journal: a digest tells whether it is as it was stored.
_M003 = """
ALTER TABLE journal ADD COLUMN mark TEXT;
ALTER TABLE experiences ADD COLUMN digest BLOB;
UPDATE experiences SET digest = digest_of(CAST(query AS BLOB), CAST(data AS BLOB));
CREATE TABLE snapshots (
    namespace_id INTEGER PRIMARY KEY REFERENCES namespaces (id),
    version INTEGER NOT NULL,
    next_bullet INTEGER NOT NULL
);
CREATE TABLE snapshot_bullets (
    namespace_id INTEGER NOT NULL REFERENCES snapshots (namespace_id),
    number INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (namespace_id, number)
);
CREATE TABLE snapshot_experiences (
    namespace_id INTEGER NOT NULL REFERENCES snapshots (namespace_id),
    number INTEGER NOT NULL,
    status TEXT NOT NULL,
    uses INTEGER NOT NULL,
    last_used_at INTEGER,
    PRIMARY KEY (namespace_id, number)
) WITHOUT ROWID;
DROP INDEX bullets_by_tokens;
"""

MIGRATIONS: Sequence[str] = (_M001, _M002, _M003)


def is_newest(connection: sqlite3.Connection) -> bool:
    """Whether every step was applied to the file."""
    (current,) = connection.execute("PRAGMA user_version").fetchone()
    return bool(current == len(MIGRATIONS))


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest schema.

    Raises:
        StoreVersionError: the file was written by a newer version of Cheatsheet.
    """
    (current,) = connection.execute("PRAGMA user_version").fetchone()
    if current > len(MIGRATIONS):
        _, _, file = connection.execute("PRAGMA database_list").fetchone()
        raise StoreVersionError(
            f"The memory {file} has schema {current}; this version of Cheatsheet knows up to {len(MIGRATIONS)}. Open "
            f"it with the version that wrote it, or with a newer one."
        )
    teach_digest(connection)
    for number, script in enumerate(MIGRATIONS[current:], start=current + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            (now,) = connection.execute("PRAGMA user_version").fetchone()
            if now < number:  # another process may have applied the step while this one waited
                for statement in script.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
