"""Keep a memory file of the schema of today: `python -m tests.memory.files.keep`."""

from __future__ import annotations

import gzip
import json
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite.migrations import MIGRATIONS
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.vacuum import vacuum
from indexes.cached import CacheKey

FOLDER = Path(__file__).parent
START = datetime(2026, 1, 5, 7, 30, 0, 250_000, tzinfo=UTC)
VECTOR = np.array([0.6, -0.8, 0.0], dtype=np.float32)


def place(schema: int) -> tuple[Path, Path]:
    """Where the file of a schema is kept, and what was read from it."""
    return FOLDER / f"schema-{schema}.db.gz", FOLDER / f"schema-{schema}.json"


def main() -> None:
    """Write the two for the newest schema."""
    kept, told = place(len(MIGRATIONS))
    if kept.exists():
        raise SystemExit(f"{kept} is there already. Files of a schema that people have are never written again.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with closing(SqliteStore(path)) as store:
            live(store)
            told.write_text(json.dumps(contents(store), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        kept.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def live(store: SqliteStore) -> None:
    """A life with a bit of everything in two namespaces, part of it compacted."""
    for number, (namespace, operations, more) in enumerate(life()):
        change = Change.model_validate(
            {"at": START + timedelta(hours=number), "cause": "turn", "operations": operations} | more
        )
        store.commit(namespace, change)
    for bullet in store.bullets("default"):
        key = CacheKey("hashing-1-3", "document", sha256(bullet.content.encode()).hexdigest())
        store.put_many({key: VECTOR})
    vacuum(store, "default", 4)


def life() -> list[tuple[str, tuple[Operation, ...], dict[str, Any]]]:
    """Namespace, operations, and what else belongs to each change."""
    lived = Experience(
        query="How many km are 5 miles?",
        answer="8",
        choices=("8", "10"),
        reasoning="5 × 1.609",
        feedback=Feedback(correct=False, score=0.25, expected="8.05", comment="round less 🙂"),
        created_at=START,
        metadata={"unit": "km"},
    )
    plain = lived.model_copy(update={"query": "数据库连接要关闭吗？", "answer": "是", "feedback": Feedback()})
    return [
        (
            "default",
            (_add("Check the units.", section="FORMULAS & CALCULATIONS", helpful=2, pinned=True),),
            _turn(1, lived),
        ),
        (
            "default",
            (_add("Round at the end."), _add("check units"), _add("数据库连接要关闭", tags=("db",))),
            _turn(2, plain),
        ),
        ("default", (Tag(id="calc-00001", uses=1), Tag(id="misc-00002", harmful=3, uses=1)), _turn(3)),
        ("default", (Remove(id="misc-00002", reason="harmful 3 times"),), {"cause": "refine"}),
        ("Ünïcode.x", (_add("Elsewhere: “quotes”, \t tabs\nand lines.", metadata={"n": [1, None]}),), _turn(1)),
        (
            "default",
            (Merge(into="calc-00001", absorbed=("misc-00003",)), Tag(id="calc-00001", uses=2)),
            _turn(4, lived),
        ),
        (
            "default",
            (Update(id="misc-00004", content="数据库连接要马上关闭", expires_at=START + timedelta(days=9)),),
            _turn(5),
        ),
        (
            "default",
            (_add("Expired long ago.", expires_at=START), _add("Comes back.")),
            {"cause": "import", "notes": ("a note",)},
        ),
        ("default", (Remove(id="misc-00006"), Remove(id="misc-00005", reason="expired")), {"cause": "user"}),
        ("default", (Restore(id="misc-00006"),), {"cause": "user", "mode": "retrieval", "model": "m"}),
    ]


def contents(store: SqliteStore) -> dict[str, Any]:
    """What a version of Cheatsheet reads from a file."""
    return {
        namespace: {
            "version": store.version(namespace),
            "bullets": [bullet.model_dump(mode="json") for bullet in store.bullets(namespace, status=None)],
            "experiences": [lived.model_dump(mode="json") for lived in store.experiences(namespace, status=None)],
            "turns": {entry.turn_id: entry.record for entry in store.journal(namespace) if entry.turn_id},
        }
        for namespace in store.namespaces()
    }


def _add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def _turn(number: int, *lived: Experience) -> dict[str, Any]:
    return {"turn_id": f"turn-{number}", "record": {"row": number}, "experiences": lived}


if __name__ == "__main__":
    main()
