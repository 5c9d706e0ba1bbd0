"""The memory of an arm whose models are on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cheatsheet.errors import ModelError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.runs.protocol import Memory, MemoryStats, TurnView
from cheatsheet.evaluation.runs.recording.recording import Recording
from cheatsheet.memory.experience import Feedback, Query


class MemoryOnRecord:
    """Tells the recording which question is being asked. Promises: R1 to R4 of `Memory`, as the memory keeps them.

    Args:
        memory: its models, counter and embedder have the recording before them.
        failed: how often each turn failed before; see `failures`.
    """

    def __init__(self, memory: Memory, recording: Recording, *, failed: Mapping[str, int]) -> None:
        self._memory = memory
        self._recording = recording
        self._failed = failed

    def solve(
        self,
        query: Query,
        *,
        judge: Callable[[str], Feedback],
        turn_id: str,
        record: Callable[[TurnView], dict[str, Any]],
    ) -> TurnView:
        """As the memory; an error of the model knows how long the recorded calls took."""
        with self._recording.turn(turn_id, attempt=self._failed.get(turn_id, 0)):
            try:
                return self._memory.solve(query, judge=judge, turn_id=turn_id, record=self._flushed(record))
            except ModelError as error:
                error.seconds = self._recording.seconds()
                raise

    def learnt(self, turn_id: str) -> bool:
        return self._memory.learnt(turn_id)

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        return self._memory.recorded(turn_id)

    def stats(self) -> MemoryStats:
        return self._memory.stats()

    def close(self) -> None:
        self._memory.close()

    def _flushed(self, record: Callable[[TurnView], dict[str, Any]]) -> Callable[[TurnView], dict[str, Any]]:
        """The row is made last before the turn is stored: what it stands on must be on the disk by then."""

        def flushed(turn: TurnView) -> dict[str, Any]:
            self._recording.flush()
            return record(turn)

        return flushed


def failures(rows: Path, arm: str) -> Counter[str]:
    """How many failed rows each turn of an arm has in its file of rows.

    Only they tell a try that ended from one that was cut off with its process: the answers of the first are used up,
    those of the second are still to be given out.
    """
    data = rows.read_bytes() if rows.exists() else b""
    records = jsonl.parse(data, source=str(rows)).records
    return Counter(f"{arm}:{record.value['id']}" for record in records if record.value.get("error"))
