"""The tickets of `benchmarks.tasks.ticket_routing` as experiences, which the same threshold rules as bullets.

Each problem is told five times. One wording after the other is asked of a memory that holds the other four, and the
tickets that tell of the same problem are its answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.calibration.labelled import Lookup
from benchmarks.tasks import ticket_routing
from benchmarks.tasks.rows import TaskRow

GROUP = "tickets"


def read_ticket_lookups() -> tuple[Lookup, ...]:
    """One lookup for each of the five wordings."""
    rows = ticket_routing.load()
    return tuple(_held_out(rows, wording) for wording in range(1, ticket_routing.WORDINGS + 1))


def _held_out(rows: Sequence[TaskRow], wording: int) -> Lookup:
    asked = [row for row in rows if row["metadata"]["wording"] == wording]
    known = [row for row in rows if row["metadata"]["wording"] != wording]
    problems = [ticket_routing.problem(row) for row in known]
    return Lookup(
        group=GROUP,
        questions=tuple(row["input"] for row in asked),
        texts=tuple(row["input"] for row in known),
        answers=tuple(_places(problems, ticket_routing.problem(row)) for row in asked),
    )


def _places(problems: Sequence[str], wanted: str) -> frozenset[int]:
    return frozenset(place for place, problem in enumerate(problems) if problem == wanted)
