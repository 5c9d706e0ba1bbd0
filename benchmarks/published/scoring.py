"""The tasks of the published runs, and how each is scored: by the paper's rule, and strictly by one of our scorers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.published import rules


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a task is scored.

    Attributes:
        rule: the paper's.
        scorer: the name of ours.
        by_question: the question alone says what is right, so that a row may lack its target.
    """

    rule: rules.Rule
    scorer: str
    by_question: bool = False


_AIME: Final = Scoring(rules.integer, "integer")
_CHOICE: Final = Scoring(rules.choice, "choice")

TASKS: Final[Mapping[str, Scoring]] = {
    "AIME_2024": _AIME,
    "AIME_2025": _AIME,
    "AIME_2020_2024": _AIME,
    "MathEquationBalancer": Scoring(rules.equation, "equation"),
    "MMLU_Pro_Engineering": _CHOICE,
    "MMLU_Pro_Physics": _CHOICE,
    "GPQA_Diamond": _CHOICE,
    "GameOf24": Scoring(rules.game, "game-of-24", by_question=True),
}
"""By their names in the files; there are no recorded runs of the last two, and so no figures to lay beside them."""
