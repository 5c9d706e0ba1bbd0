"""Auto: another mode for every question, chosen by how complex the question is.

A simple question needs no memory, one of middling complexity what was said before, a complex one what is known about
questions like it. What is learnt from a turn, and whether anything is, is the chosen mode's affair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cheatsheet.errors import SetupError
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import BatchMode, Learned, LearnedBatch, MemoryMode, Recalled
from cheatsheet.roles.role import Attempt, Reflection
from modes.complexity import complexity

STEPS = ((2.0, "default"), (5.0, "full-history"), (math.inf, "retrieval"))
"""Below 2 `default`, from 2 to below 5 `full-history`, from 5 on `retrieval`."""


@dataclass(frozen=True, slots=True)
class Auto:
    """Recalls with, and learns by, the mode that a question's complexity chooses.

    Attributes:
        modes: by name; it needs those that `steps` names.
        estimate: the complexity of a question, 0 or more; must give the same for the same question (promise M2).
        steps: pairs of a limit and a mode, limits rising; the first whose limit is above the complexity is chosen, else
            the last.
    """

    modes: Mapping[str, MemoryMode]
    estimate: Callable[[Query], float] = complexity
    name: str = "auto"
    steps: tuple[tuple[float, str], ...] = STEPS

    def __post_init__(self) -> None:
        missing = [repr(mode) for _, mode in self.steps if mode not in self.modes]
        if missing or not self.steps:
            lacks = ", ".join(missing) or "steps"
            raise SetupError(f"The mode 'auto' lacks {lacks}. Give it at least one step, and every mode of its steps.")

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        name, why = self._choice(query)
        recalled = self.modes[name].recall(query, memory)
        return replace(recalled, notes=(f"auto chose {name}: {why}.", *recalled.notes))

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.learn_batch([attempt], memory).single()

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        """Each mode learns its own attempts together."""
        places: dict[str, list[int]] = {}
        for place, attempt in enumerate(attempts):
            places.setdefault(self._choice(attempt.query)[0], []).append(place)
        return _joined(
            [
                (_learned(self.modes[name], [attempts[place] for place in own], memory), own)
                for name, own in places.items()
            ]
        )

    def _choice(self, query: Query) -> tuple[str, str]:
        """The mode's name, and the reason."""
        value = self.estimate(query)
        said = f"the question's complexity is {value:.1f}"
        for limit, name in self.steps[:-1]:
            if value < limit:
                return name, f"{said}, below {limit:g}"
        lower = f", {self.steps[-2][0]:g} or more" if len(self.steps) > 1 else ""
        return self.steps[-1][1], said + lower


def _learned(mode: MemoryMode, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
    """What a mode learns of several attempts: together, or one by one where it cannot do that."""
    if isinstance(mode, BatchMode):
        return mode.learn_batch(attempts, memory)
    singles = [LearnedBatch.of(mode.learn(attempt, memory)) for attempt in attempts]
    return _joined([(one, [place]) for place, one in enumerate(singles)])


def _joined(learned: Sequence[tuple[LearnedBatch, Sequence[int]]]) -> LearnedBatch:
    """Several batches as one.

    Args:
        learned: each batch with the places of its attempts among all.
    """
    batches = [batch for batch, _ in learned]
    remember = {place: kept for batch, own in learned for place, kept in zip(own, batch.remember, strict=True)}
    reflections: dict[int, Reflection | None] = dict.fromkeys(remember)
    for batch, own in learned:
        reflections.update(zip(own, batch.reflections or [None] * len(own), strict=True))
    return LearnedBatch(
        operations=tuple(operation for batch in batches for operation in batch.operations),
        remember=tuple(remember[place] for place in sorted(remember)),
        reflections=tuple(reflections[place] for place in sorted(reflections)),
        skipped=tuple(sentence for batch in batches for sentence in batch.skipped),
        usage=sum((batch.usage for batch in batches), Usage()),
        notes=tuple(note for batch in batches for note in batch.notes),
    )
