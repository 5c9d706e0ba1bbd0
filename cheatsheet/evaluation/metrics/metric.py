"""Metrics by name: one text says which number of an arm is meant, and parses back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from cheatsheet.errors import UnknownNameError
from cheatsheet.evaluation.metrics.health import MemoryHealth
from cheatsheet.evaluation.metrics.pairing import extra_per_point, pair_up
from cheatsheet.evaluation.metrics.quantities import MEANS, MEMORY, MEMORY_PREFIX, TOTALS
from cheatsheet.evaluation.metrics.summary import second_half
from cheatsheet.evaluation.runs.rows import Row

QUANTITIES: Final = {
    **{name: mean.meaning for name, mean in MEANS.items()},
    **{name: total.meaning for name, total in TOTALS.items()},
    **MEMORY,
}
"""Every quantity and what it means."""

PARTS: Final = ("first-half", "second-half", "first-N", "last-N")
"""Parts of a stream; N is a number of rows from 1 on."""

PER_QUESTION: Final = "question"
PER_POINT: Final = "gained-point"

_FORM = re.compile(r"(?P<quantity>[^@/]*)(?:@(?P<part>[^@/]+))?(?:/(?P<per>[^@/]+))?")
_COUNTED = re.compile(r"(?P<end>first|last)-(?P<n>[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of an arm: `QUANTITY`, `QUANTITY@PART`, `QUANTITY/DIVISOR` or `QUANTITY@PART/DIVISOR`.

    `accuracy`, `accuracy@second-half`, `score@last-20`, `prompt_tokens/question`, `cost_usd/gained-point` and
    `memory.utility` are metrics; `str` of one is its name, which `parse` reads.

    Attributes:
        quantity: one of `QUANTITIES`.
        part: of the stream: `first-half`, `second-half`, `first-N` or `last-N`; empty for all of it. The numbers of a
            memory in the end (`memory.…`) have no parts.
        per: what a total is divided by: `question`, or `gained-point`. The latter is for what a run takes (tokens,
            calls, money, time): how much more than the baseline took, for each percentage point gained over it. Empty
            for the total, and for what is a mean by itself.

    Raises:
        UnknownNameError: one of the three is not one of these, or does not suit the quantity.
    """

    quantity: str
    part: str = ""
    per: str = ""

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise UnknownNameError("metric", self.quantity, QUANTITIES)
        parted = not self.part or (self.quantity not in MEMORY and _is_part(self.part))
        if not parted or self.per not in divisors_of(self.quantity):
            raise UnknownNameError("metric", str(self), forms_of(self.quantity))

    def __str__(self) -> str:
        return _name(self.quantity, self.part, self.per)

    @classmethod
    def parse(cls, name: str) -> Self:
        """The metric of this name.

        Raises:
            UnknownNameError: there is none; names the nearest.
        """
        found = _FORM.fullmatch(name.strip())
        if found is None:
            raise UnknownNameError("metric", name, QUANTITIES)
        return cls(found["quantity"], found["part"] or "", found["per"] or "")

    def of(
        self, rows: Sequence[Row], *, baseline: Sequence[Row] = (), health: MemoryHealth | None = None
    ) -> float | None:
        """The number.

        Args:
            rows: of the arm, in the order of the stream.
            baseline: rows of the baseline in the same run, for `/gained-point`.
            health: of the arm's memory, for `memory.…`.

        Returns:
            None where it is not known: no question was answered, a price is missing, nothing was gained, or the rows or
            the memory that it needs are not there.
        """
        if self.quantity in MEMORY:
            return None if health is None else getattr(health, self.quantity.removeprefix(MEMORY_PREFIX))
        chosen = part_of(rows, self.part)
        if self.quantity in MEANS:
            return MEANS[self.quantity].of(chosen) if chosen and not all(row.error for row in rows) else None
        measured = TOTALS[self.quantity].of
        if self.per == PER_POINT:
            return extra_per_point(pair_up([chosen], [baseline]).pairs, measured)
        total = _sum(chosen, measured)
        return total if total is None or not self.per else total / len(chosen) if chosen else None


def divisors_of(quantity: str) -> tuple[str, ...]:
    """What a quantity can be divided by; an empty text for nothing."""
    if quantity not in TOTALS:
        return ("",)
    return ("", PER_QUESTION, PER_POINT) if TOTALS[quantity].taken else ("", PER_QUESTION)


def forms_of(quantity: str) -> tuple[str, ...]:
    """The names of all metrics of a quantity; N stands for a number of rows."""
    parts = ("",) if quantity in MEMORY else ("", *PARTS)
    return tuple(_name(quantity, part, per) for per in divisors_of(quantity) for part in parts)


def part_of(rows: Sequence[Row], part: str) -> Sequence[Row]:
    """The rows of a part of the stream, such as `second-half` or `last-20`; all of them where it is empty."""
    late = second_half(rows)
    if counted := _COUNTED.fullmatch(part):
        n = int(counted["n"])
        return rows[:n] if counted["end"] == "first" else rows[-n:]
    return {"": rows, "first-half": rows[: len(rows) - len(late)], "second-half": late}[part]


def _is_part(part: str) -> bool:
    return part in PARTS[:2] or _COUNTED.fullmatch(part) is not None


def _name(quantity: str, part: str, per: str) -> str:
    return f"{quantity}{f'@{part}' if part else ''}{f'/{per}' if per else ''}"


def _sum(rows: Sequence[Row], measured: Callable[[Row], float | None]) -> float | None:
    """None where it is not known of a row."""
    values = [value for row in rows if (value := measured(row)) is not None]
    return sum(values) if len(values) == len(rows) else None


STANDARD: Final = tuple(
    map(
        Metric.parse,
        (
            "accuracy",
            "accuracy@second-half",
            "score",
            "tokens/question",
            "cached_share",
            "model_calls/question",
            "cost_usd/question",
            "seconds/question",
            "tokens/gained-point",
            "cost_usd/gained-point",
        ),
    )
)
"""What every machine-readable report tells."""
