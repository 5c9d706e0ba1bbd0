"""One cell after the other, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from cheatsheet.evaluation.runs.cell import Cell, attempt
from cheatsheet.evaluation.runs.coordinator import Coordinator


class Sequential:
    """A `CellEngine` without workers: nothing is pickled, and Ctrl-C ends the question that is being asked (G6)."""

    def run(self, cells: Sequence[Cell], coordinator: Coordinator) -> None:
        """Live the cells in their order."""
        for cell in cells:
            if coordinator.closed:
                return
            coordinator.over(attempt(cell, coordinator))
