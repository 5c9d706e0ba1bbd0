"""What the past of a memory looks like in rows and in JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

# Only names for the types: what a command works with is imported when it runs.
if TYPE_CHECKING:
    from cheatsheet.memory.bullet import Bullet
    from cheatsheet.memory.experience import Experience
    from cheatsheet.memory.history.blame import Touch
    from cheatsheet.memory.history.journal import JournalEntry
    from cheatsheet.memory.history.past import Difference

HISTORY = ("version", "time (UTC)", "cause", "turn", "mode", "changes", "experiences", "notes")
CHANGES = ("version", "time (UTC)", "by", "change")
BLAME = ("version", "time (UTC)", "by", "bullet", "change", "learnt from")
DIFFERENCE = ("change", "what", "how")

# How the operations are told of, in this order.
_DONE = {
    "add": "added",
    "update": "updated",
    "merge": "merged",
    "tag": "tagged",
    "remove": "archived",
    "restore": "restored",
}
_MOST_CHARS = 60


def entry_row(entry: JournalEntry) -> tuple[str, ...]:
    """A row of `HISTORY`."""
    counts = Counter[str](operation.type for operation in entry.operations)
    changes = ", ".join(f"{counts[name]} {done}" for name, done in _DONE.items() if counts[name])
    turns = ranges(entry.experience_ids)
    where = (entry.cause, entry.turn_id, entry.mode)
    return (str(entry.version), time_text(entry.at), *where, changes, turns, str(len(entry.notes)))


def operation_rows(entry: JournalEntry) -> list[tuple[str, ...]]:
    """Rows of `CHANGES`, one for each operation of an entry."""
    from cheatsheet.interfaces.cli.turns import describe

    told = [describe(operation) for operation in entry.operations] or ["no change"]
    return [(str(entry.version), time_text(entry.at), _by(entry), text) for text in told]


def change_row(touch: Touch) -> tuple[str, ...]:
    """A row of `CHANGES`."""
    return (str(touch.version), time_text(touch.at), _by(touch), change_text(touch))


def blame_rows(touches: Sequence[Touch]) -> list[tuple[str, ...]]:
    """Rows of `BLAME`; uses of a bullet that follow each other are one row."""
    rows: list[tuple[str, ...]] = []
    for (bullet_id, only_used), group in groupby(touches, key=lambda touch: (touch.bullet_id, _only_used(touch))):
        some = list(group)
        if only_used and len(some) > 1:
            rows.append(_uses_row(bullet_id, some))
        else:
            rows += [_blame_row(touch) for touch in some]
    return rows


def change_text(touch: Touch) -> str:
    """What happened to the bullet, in words."""
    said = _said(touch)
    edits = sorted(touch.edits.items(), key=lambda edit: edit[0] != "content")
    told = [f"{name} {_value(old)} → {_value(new)}" for name, (old, new) in edits]
    return "; ".join([said, *told] if said else told) or "no change"


def difference_rows(told: Difference) -> list[tuple[str, ...]]:
    """Rows of `DIFFERENCE`."""
    rows: list[tuple[str, ...]] = [("added", bullet.id, bullet.content + _fate(bullet)) for bullet in told.added]
    rows += [("not there yet", bullet.id, bullet.content) for bullet in told.gone]
    rows += [("archived", bullet.id, bullet.content + _fate(bullet)) for bullet in told.archived]
    rows += [("merged", bullet.id, f"into {bullet.metadata.get('merged_into')}") for bullet in told.merged]
    rows += [("served again", bullet.id, bullet.content) for bullet in told.restored]
    rows += [
        ("reworded", pair.after.id, f"{_quoted(pair.before.content)} → {_quoted(pair.after.content)}")
        for pair in told.reworded
    ]
    for word, pairs in (("counted", told.recounted), ("altered", told.altered)):
        rows += [(word, pair.after.id, _edits_text(pair.edits, counters=word == "counted")) for pair in pairs]
    turns = {
        "added": told.experiences_added,
        "not there yet": told.experiences_gone,
        "archived": told.experiences_archived,
        "served again": told.experiences_restored,
    }
    return rows + [(word, ranges(ids), _turns(len(ids))) for word, ids in turns.items() if ids]


def difference_json(told: Difference) -> dict[str, Any]:
    """The difference for programs: bullets whole, and old and new value of each property that changed."""
    values: dict[str, Any] = {}
    for name in told.__dataclass_fields__:
        value = getattr(told, name)
        if name in ("reworded", "recounted", "altered"):
            value = [{"id": pair.after.id} | {key: list(both) for key, both in pair.edits.items()} for pair in value]
        elif not name.startswith("experiences"):
            value = [bullet.model_dump(mode="json") for bullet in value]
        values[name] = value
    return values


def touch_json(touch: Touch) -> dict[str, Any]:
    """A change for programs."""
    return {
        "version": touch.version,
        "at": touch.at.isoformat(),
        "cause": touch.cause,
        "turn_id": touch.turn_id,
        "mode": touch.mode,
        "model": touch.model,
        "bullet_id": touch.bullet_id,
        "operation": touch.operation.model_dump(mode="json", exclude_defaults=True) | {"type": touch.operation.type},
        "before": None if touch.before is None else touch.before.model_dump(mode="json"),
        "after": touch.after.model_dump(mode="json"),
        "experiences": [experience.model_dump(mode="json") for experience in touch.experiences],
        "notes": touch.notes,
    }


def time_text(moment: datetime) -> str:
    """A time in UTC, to the second."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def ranges(ids: Iterable[str]) -> str:
    """Ids as one text, those that follow each other as a range: `exp-00001…exp-00004 exp-00007`."""
    runs: list[list[str]] = []
    for id in ids:
        if runs and _number(id) == _number(runs[-1][-1]) + 1:
            runs[-1][1:] = [id]
        else:
            runs.append([id])
    return " ".join("…".join(run) for run in runs)


def _said(touch: Touch) -> str:
    operation, after = touch.operation, touch.after
    if touch.merged_into:
        return f"merged into {touch.merged_into}"
    if operation.type == "add":
        return f"added to {after.section}{_fate(after)}: {after.content}"
    if operation.type == "merge":
        took = [*operation.absorbed, *([_quoted(operation.draft.content)] if operation.draft else [])]
        return f"merged with {', '.join(took)}"
    if operation.type == "remove":
        return _archived(after)
    if operation.type == "restore":
        return "served again" if operation.state is None else f"made what it was before, {after.status}"
    return ""


def _blame_row(touch: Touch) -> tuple[str, ...]:
    learnt_from = "; ".join(_lived_text(experience) for experience in touch.experiences)
    return (str(touch.version), time_text(touch.at), _by(touch), touch.bullet_id, change_text(touch), learnt_from)


def _uses_row(bullet_id: str, touches: Sequence[Touch]) -> tuple[str, ...]:
    first, last = touches[0], touches[-1]
    before, after = first.edits["uses"][0], last.edits["uses"][1]
    versions = f"{first.version}…{last.version}"
    return (
        versions,
        time_text(last.at),
        "turns",
        bullet_id,
        f"used in {len(touches)} turns; uses {before} → {after}",
        "",
    )


def _only_used(touch: Touch) -> bool:
    return touch.operation.type == "tag" and touch.edits.keys() == {"uses"}


def _by(change: Touch | JournalEntry) -> str:
    turn = f"{change.cause} {change.turn_id}".rstrip()
    return ", ".join(part for part in (turn, change.mode, change.model) if part)


def _lived_text(experience: Experience) -> str:
    feedback = experience.feedback
    verdict = {True: "right", False: "wrong", None: ""}[feedback.verdict]
    expected = "" if feedback.expected is None else f"expected {_short(feedback.expected)}"
    known = ", ".join(part for part in (verdict, expected, _short(feedback.comment)) if part)
    return f"{experience.id} {_short(experience.query)} → {_short(experience.answer)}: {known or 'no feedback'}"


def _edits_text(edits: dict[str, tuple[object, object]], *, counters: bool) -> str:
    from cheatsheet.memory.history.past import COUNTERS

    wanted = {name: both for name, both in edits.items() if name != "content" and (name in COUNTERS) == counters}
    return ", ".join(f"{name} {_value(old)} → {_value(new)}" for name, (old, new) in wanted.items())


def _fate(bullet: Bullet) -> str:
    if bullet.status == "merged":
        return f" (merged into {bullet.metadata.get('merged_into')})"
    return f" ({_archived(bullet)})" if bullet.status == "archived" else ""


def _archived(bullet: Bullet) -> str:
    reason = bullet.metadata.get("archived_because")
    return f"archived: {reason}" if reason else "archived"


def _turns(count: int) -> str:
    return "1 experience" if count == 1 else f"{count:,} experiences"


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return f"{time_text(value)} UTC"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else _quoted(value) if isinstance(value, str) and " " in value else str(value)


def _quoted(text: str) -> str:
    return f"“{text}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return _quoted(line if len(line) <= _MOST_CHARS else line[: _MOST_CHARS - 1] + "…") if line else ""


def _number(id: str) -> int:
    return int(id.rpartition("-")[2])
