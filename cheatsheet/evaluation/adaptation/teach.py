"""Learning from traces: what was lived elsewhere becomes part of a memory, without a single question asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cheatsheet.engine.lived import Answered
from cheatsheet.engine.results import Lesson, MemoryStats
from cheatsheet.errors import OperationError
from cheatsheet.evaluation.adaptation.traces import Trace, Traces, Unread


class Pupil(Protocol):
    """What is needed of a memory: an engine is one."""

    def learn_batch(self, turns: Sequence[Answered]) -> Sequence[Lesson]: ...

    def learnt(self, turn_id: str) -> bool: ...

    def stats(self) -> MemoryStats: ...


@dataclass(slots=True, kw_only=True)
class Taught:
    """What came of a file of traces.

    Attributes:
        turns: how many lines it holds; each is learnt, known or unread.
        learnt: how many were learnt now.
        known: how many had been learnt before, or stand in the file twice.
        unread: lines that could not be learnt, with their reasons.
        changes: how many operations of each type were made, those of refinement among them.
        experiences: how many turns are kept as experiences.
        said: what was left out or is worth knowing, with how often it was said.
        version: of the memory afterwards.
    """

    turns: int = 0
    learnt: int = 0
    known: int = 0
    unread: list[Unread] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    experiences: int = 0
    said: Counter[str] = field(default_factory=Counter)
    version: int = 0

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "turns": self.turns,
            "learnt": self.learnt,
            "known": self.known,
            "unread": [{"line": one.line, "reason": one.reason} for one in self.unread],
            "changes": dict(sorted(self.changes.items())),
            "experiences": self.experiences,
            "notes": [{"text": text, "times": times} for text, times in self.said.items()],
            "version": self.version,
        }


def teach(
    memory: Pupil, traces: Traces, *, batch_size: int = 1, tell: Callable[[int, int], None] | None = None
) -> Taught:
    """Let a memory learn from traces.

    Args:
        batch_size: so many turns are learnt together.
        tell: told, after each batch, how many turns are dealt with and how many there are.

    Raises:
        StoreError: the memory could not be written; what was learnt before stays learnt.
    """
    taught = Taught(turns=len(traces.traces) + len(traces.unread), unread=list(traces.unread))
    for name, times in traces.ignored.items():
        taught.said[f"The field {name!r} means nothing here and was left out ({_lines(times)})."] += 1
    for batch in _batches(memory, traces.traces, batch_size, taught):
        _learn(memory, batch, taught)
        if tell is not None:
            tell(taught.learnt + taught.known + len(taught.unread), taught.turns)
    taught.unread.sort(key=lambda one: one.line)
    taught.version = memory.stats().version
    return taught


def _batches(memory: Pupil, traces: Sequence[Trace], size: int, taught: Taught) -> Iterator[list[Trace]]:
    """New traces, so many at a time; those that are known are counted."""
    batch: list[Trace] = []
    ids: set[str] = set()
    for trace in traces:
        if trace.turn.turn_id in ids or memory.learnt(trace.turn.turn_id):
            taught.known += 1
            continue
        ids.add(trace.turn.turn_id)
        batch.append(trace)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _learn(memory: Pupil, batch: Sequence[Trace], taught: Taught) -> None:
    """Learn a batch; where it cannot be learnt together, one by one, so that one bad turn does not sink the others."""
    try:
        lessons = memory.learn_batch([trace.turn for trace in batch])
    except OperationError as error:
        if len(batch) > 1:
            for trace in batch:
                _learn(memory, [trace], taught)
        else:
            taught.unread.append(Unread(line=batch[0].line, reason=str(error).removesuffix(".")))
        return
    taught.learnt += len(batch)
    for lesson in lessons:
        taught.changes.update(operation.type for operation in (*lesson.operations, *lesson.archived))
        taught.experiences += bool(lesson.experience_id)
        taught.said.update((*lesson.skipped, *lesson.notes))


def _lines(times: int) -> str:
    return "1 line" if times == 1 else f"{times:,} lines"
