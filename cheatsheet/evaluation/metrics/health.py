"""How healthy the memory of an arm is, and what it went through, from its file and its rows."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cheatsheet.errors import CheatsheetError, StoreError
from cheatsheet.evaluation.metrics.learnt import CourseStep, steps_of
from cheatsheet.evaluation.metrics.quantities import hit_rate, mean_of_answered, refused_of
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, Standing
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.past import History
from cheatsheet.memory.operations import Merge
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHealth:
    """How an arm's memory fared. What the memory's file alone knows is None where it cannot be read.

    Attributes:
        bullets: active ones in the end.
        experiences: active ones in the end.
        made: bullets that were ever added.
        growth: active bullets in the end, for each question that was learnt from.
        archived: bullets that are archived in the end.
        merges: how often a bullet took in others, or a draft that never became a bullet of its own.
        used_share: share of the bullets ever made that were shown at least once; None where none was made.
        utility: helpful / (helpful + harmful) over all tags of the bullets that are not merged in the end, whose own
            tags live on in others; None where none was ever tagged.
        refused: how many proposals were left out in learning (`quantities.refused_of`).
        hit_rate: share of the answered questions for which a bullet or an experience was shown; None without answers.
        right_shown_rate: share of the answered questions for which an experience was shown whose known answer is the
            target, letter by letter; it may be the answer to another question.
    """

    bullets: int | None = None
    experiences: int | None = None
    made: int | None = None
    growth: float | None = None
    archived: int | None = None
    merges: int | None = None
    used_share: float | None = None
    utility: float | None = None
    refused: int
    hit_rate: float | None
    right_shown_rate: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCourse:
    """The memory of an arm along its stream.

    Attributes:
        arm: its name.
        steps: one for each question that the memory learnt from, in the order in which it did.
        health: in the end.
        problem: one sentence where the memory cannot be read, so that there are no steps; else empty.
    """

    arm: str
    steps: tuple[CourseStep, ...]
    health: MemoryHealth
    problem: str = ""


def read_course(memory_path: str | Path, arm: str, rows: Sequence[Row]) -> MemoryCourse:
    """What the memory of an arm went through.

    A copy of the file is read, so that the file stays as it is, byte for byte, whatever version wrote it. Where it is
    missing or damaged, `problem` says so, and the health tells what the rows alone know.

    Args:
        memory_path: `arms/<arm>/memory.db` of a run.
        arm: its name, with which the ids of its turns begin.
        rows: of the arm, in the order of the stream.
    """
    try:
        kept = _read(Path(memory_path), arm)
        steps = steps_of(kept.journal, arm, rows, kept.experiences)
        return MemoryCourse(arm=arm, steps=steps, health=_health(kept, steps, rows))
    except (CheatsheetError, OSError, sqlite3.Error, ValueError) as error:
        return MemoryCourse(arm=arm, steps=(), health=_health_of_rows(rows), problem=_told(error, Path(memory_path)))


def shown(row: Row) -> frozenset[str]:
    """Ids of the bullets and experiences that stood in the context of a question."""
    return frozenset(id for entry in row.ledger for id in entry.kept)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is in a memory's file."""

    journal: Sequence[JournalEntry]
    bullets: Mapping[str, Bullet]
    standings: Mapping[str, Standing]
    experiences: Mapping[str, Experience]


def _read(path: Path, arm: str) -> _Kept:
    with _copied(path) as copy, closing(SqliteStore(copy, synchronous="normal")) as store:
        for namespace in store.namespaces():
            history = History.of(store, namespace)
            if any(entry.turn_id.startswith(f"{arm}:") for entry in history.journal):
                sheet = history.as_of()
                found = {one.id: one for one in store.experiences(namespace, status=None)}
                return _Kept(history.journal, sheet.bullets, sheet.standings, found)
    raise StoreError(f"The memory {path} knows no question of {arm!r}: it was removed, replaced or set back.")


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """The file, and what SQLite has not yet moved into it, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="cheatsheet-") as folder:
        copy = Path(folder) / path.name
        for ending in ("", "-wal"):
            source = path.with_name(path.name + ending)
            if not ending or source.exists():
                shutil.copyfile(source, copy.with_name(copy.name + ending))
        try:
            yield copy
        except StoreError as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from error


def _told(error: Exception, path: Path) -> str:
    """One sentence on why a memory cannot be read, with its place."""
    if isinstance(error, FileNotFoundError):
        return f"The memory {path} is missing: nothing is known of what was learnt."
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error).partition("\n")[0]
    return reason if str(path) in reason else f"The memory {path} cannot be read: {reason.rstrip('.')}."


def _health(kept: _Kept, steps: Sequence[CourseStep], rows: Sequence[Row]) -> MemoryHealth:
    bullets = kept.bullets.values()
    active = sum(bullet.status == "active" for bullet in bullets)
    seen = frozenset(id for row in rows for id in shown(row))
    used = sum(bullet.uses > 0 or bullet.id in seen for bullet in bullets)
    return MemoryHealth(
        bullets=active,
        experiences=sum(standing.status == "active" for standing in kept.standings.values()),
        made=len(bullets),
        growth=active / len(steps) if steps else None,
        archived=sum(bullet.status == "archived" for bullet in bullets),
        merges=sum(isinstance(operation, Merge) for entry in kept.journal for operation in entry.operations),
        used_share=used / len(bullets) if bullets else None,
        utility=_utility([bullet for bullet in bullets if bullet.status != "merged"]),
        refused=sum(map(refused_of, rows)),
        hit_rate=hit_rate(rows),
        right_shown_rate=mean_of_answered(lambda row: _right_shown(row, kept.experiences))(rows),
    )


def _health_of_rows(rows: Sequence[Row]) -> MemoryHealth:
    return MemoryHealth(refused=sum(map(refused_of, rows)), hit_rate=hit_rate(rows))


def _utility(bullets: Sequence[Bullet]) -> float | None:
    helpful, harmful = sum(bullet.helpful for bullet in bullets), sum(bullet.harmful for bullet in bullets)
    return helpful / (helpful + harmful) if helpful + harmful else None


def _right_shown(row: Row, experiences: Mapping[str, Experience]) -> bool:
    answers = (experiences[id].known_answer for id in shown(row) if id in experiences)
    return any(answer is not None and answer.strip() == row.target.strip() for answer in answers)
