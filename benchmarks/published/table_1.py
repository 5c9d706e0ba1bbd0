"""Table 1 of Dynamic Cheatsheet (Suzgun et al. 2025, arXiv 2504.07952), for the cells whose runs were recorded.

The figures are per cent of right answers. They are here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ARMS: Final = ("BL", "DC-∅", "DR", "DC-Cu", "DC-RS", "FH")
"""The columns of the table, and the whole history, of which no run was recorded."""

APPROACHES: Final[Mapping[str, str]] = {
    "Baseline": "BL",
    "EmptyCheatsheet": "DC-∅",
    "default": "DC-∅",  # as the published program calls it
    "Dynamic_Retrieval": "DR",
    "DynamicCheatsheet_Cumulative": "DC-Cu",
    "DynamicCheatsheet_RetrievalSynthesis": "DC-RS",
    "FullHistoryAppending": "FH",
}
"""The arm that an approach's name in a file means."""

QUESTIONS: Final[Mapping[str, int]] = {
    "AIME_2024": 30,
    "AIME_2025": 30,
    "AIME_2020_2024": 133,
    "MathEquationBalancer": 250,
    "MMLU_Pro_Engineering": 250,
    "MMLU_Pro_Physics": 250,
}
"""How many questions a task has."""

# BL, DC-∅, DR, DC-Cu, DC-RS, and None where no run was recorded.
_TABLE: Final[Mapping[tuple[str, str], tuple[float | None, ...]]] = {
    ("AIME_2024", "claude-3-5-sonnet"):            (23.3, 36.7, 43.3, 50.0, 46.7),
    ("AIME_2024", "gpt-4o"):                       (20.0, 36.7, 26.7, 36.7, 40.0),
    ("AIME_2025", "claude-3-5-sonnet"):            (6.7, 23.3, 23.3, 36.7, 30.0),
    ("AIME_2025", "gpt-4o"):                       (6.7, 10.0, 10.0, 16.7, 20.0),
    ("AIME_2020_2024", "claude-3-5-sonnet"):       (6.8, 30.1, None, 38.3, None),
    ("AIME_2020_2024", "gpt-4o"):                  (9.8, 24.1, None, None, None),
    ("MathEquationBalancer", "claude-3-5-sonnet"): (44.8, 56.4, None, None, 97.8),
    ("MathEquationBalancer", "gpt-4o"):            (50.0, 88.0, None, None, None),
    ("MMLU_Pro_Engineering", "claude-3-5-sonnet"): (61.2, 57.2, None, None, None),
    ("MMLU_Pro_Engineering", "gpt-4o"):            (53.2, None, None, None, None),
    ("MMLU_Pro_Physics", "claude-3-5-sonnet"):     (74.0, 75.6, None, None, None),
    ("MMLU_Pro_Physics", "gpt-4o"):                (75.6, 70.8, None, None, None),
}  # fmt: skip

# This run was recorded up to its 139th question.
_SHORTER: Final = {("MathEquationBalancer", "claude-3-5-sonnet", "DC-RS"): 139}

_VERSION: Final = r"(?:-\d{4}-?\d{2}-?\d{2}|-latest)?"


@dataclass(frozen=True, slots=True)
class Figure:
    """A cell of the table.

    Attributes:
        percent: of right answers, to one decimal.
        rows: how many answers it is of.
    """

    percent: float
    rows: int

    @property
    def correct(self) -> int:
        """How many right answers it stands for."""
        return round(self.percent * self.rows / 100)


def figure(task: str, model: str, arm: str) -> Figure | None:
    """What the paper says of an arm; None where the table has no such cell.

    A provider before a model's name and a date after it do not count: `openai/gpt-4o-2024-11-20` is `gpt-4o`.
    """
    for (of_task, of_model), percents in _TABLE.items():
        if of_task == task and re.fullmatch(rf"(?:.*/)?{of_model}{_VERSION}", model):
            percent = dict(zip(ARMS, percents, strict=False)).get(arm)
            rows = _SHORTER.get((of_task, of_model, arm), QUESTIONS[of_task])
            return None if percent is None else Figure(percent, rows)
    return None
