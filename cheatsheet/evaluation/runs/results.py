"""What comes of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cheatsheet.evaluation.runs.protocol import MemoryStats
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """What came of one arm.

    Attributes:
        rows: in the order of the stream.
        memory: how much was in the memory in the end; None when the result was read from a folder.
        notes: what the user should know, such as a torn line that was set aside.
    """

    arm: ArmSpec
    rows: tuple[Row, ...]
    memory: MemoryStats | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of a run: one task, one model, one order."""

    spec: RunSpec
    folder: Path
    arms: tuple[ArmResult, ...]

    @property
    def scored(self) -> int:
        """How many questions were answered; 0 means that there is no score to report, and that the run has failed."""
        return sum(not row.error for arm in self.arms for row in arm.rows)


def in_order(found: Mapping[str, Row]) -> tuple[Row, ...]:
    """Rows in the order of the stream."""
    return tuple(sorted(found.values(), key=lambda row: row.position))
