"""What a grid may spend, and what is done when that runs low: a cheaper mode first, then a clean stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from cheatsheet.errors import SetupError
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.llm.model import Usage

CHEAPER_FROM: Final = 0.8
"""The share of a budget from which on questions are asked in the next cheaper mode."""


class Stage(StrEnum):
    """How the next question is asked."""

    PLANNED = "planned"  # in the arm's own mode
    CHEAPER = "cheaper"  # in the next cheaper mode, where there is one
    STOP = "stop"  # not at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that all rows together may cost; None is no limit.

    Attributes:
        max_cost_usd: US dollars, as far as prices are known.
        max_tokens: of prompts and completions together, cached ones too.
    """

    max_cost_usd: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("max_cost_usd", self.max_cost_usd), ("max_tokens", self.max_tokens)):
            if value is not None and not value > 0:
                raise SetupError(f"{name} is {value}. A budget is more than 0; leave it out for no limit.")

    def share(self, spent: Usage) -> float:
        """The share of it that is spent, from 0; of two limits that which is nearer."""
        cost = (spent.cost_usd or 0.0) / self.max_cost_usd if self.max_cost_usd else 0.0
        tokens = tokens_of(spent) / self.max_tokens if self.max_tokens else 0.0
        return max(cost, tokens)

    def stage(self, spent: Usage) -> Stage:
        """How to go on when so much is spent."""
        share = self.share(spent)
        if share >= 1:
            return Stage.STOP
        return Stage.CHEAPER if share >= CHEAPER_FROM else Stage.PLANNED

    def told(self, spent: Usage) -> str:
        """How much of it is spent, as "$0.8120 of $1.0000 and 8,120 of 10,000 tokens"."""
        dollars = f"{'' if spent.cost_complete else '≥ '}${spent.cost_usd or 0.0:.4f}"
        parts = [f"{dollars} of ${self.max_cost_usd:.4f}"] if self.max_cost_usd else []
        parts += [f"{tokens_of(spent):,} of {self.max_tokens:,} tokens"] if self.max_tokens else []
        return " and ".join(parts)


def tokens_of(spent: Usage) -> int:
    """Tokens of prompts and completions together."""
    return spent.prompt_tokens + spent.completion_tokens


# By what a question costs: a cheatsheet that a model writes for it, or after it, costs a second long call; a whole
# history or a whole cheatsheet in the prompt costs more than what is retrieved; no memory in the prompt costs least.
_WITHOUT_A_WRITER: Final = MappingProxyType(
    {("cumulative", "curation", "rewrite"): "delta", ("retrieval", "synthesis", True): False}
)
_NEXT_MODE: Final = MappingProxyType(
    {"full-history": "retrieval", "cumulative": "retrieval", "retrieval": "default", "auto": "default"}
)


def cheaper(arm: ArmSpec, settings: Mapping[str, Any]) -> ArmSpec | None:
    """The arm in its next cheaper mode, named as that mode; None where nothing is cheaper, as for a control.

    A control asked in another way would be no control any more, so that it goes on as it is until the budget is spent.

    Args:
        settings: those of the run; the arm's own come before them.
    """
    told = {**settings, **arm.settings}
    for (mode, setting, costly), plain in _WITHOUT_A_WRITER.items():
        if arm.mode == mode and told.get(setting) == costly:
            name = f"{mode}+{setting}-{plain}"
            return ArmSpec(mode=mode, name=name, settings={**arm.settings, setting: plain})
    if arm.mode not in _NEXT_MODE:
        return None
    own = {**arm.settings, "synthesis": False} if told.get("synthesis") else arm.settings
    return ArmSpec(mode=_NEXT_MODE[arm.mode], settings=own)
