"""The answer of the most similar experience, without a model: does the model add anything to looking it up?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cheatsheet.context.render import experience_sections
from cheatsheet.context.section import ChatTurn
from cheatsheet.evaluation.controls.base import Control, OverRetrieval
from cheatsheet.llm.model import Outcome, Usage
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Recalled
from cheatsheet.roles.role import EarlierAnswer, Generation

NEAREST: Final = "nearest"
NOTHING_NEAR: Final = "There is no answer: nothing in the memory could be copied."

# No part of this arm may ask a model, or its price would not be 0.
_WITHOUT_A_MODEL: Final[Mapping[str, Any]] = {
    "synthesis": False,
    "reflector": "rules",
    "curator": "rules",
    "merger": "rules",
    "answer_rounds": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest(OverRetrieval):
    """Shows the one experience that is most similar to the question, among those that have an answer worth copying.

    That is the right answer where it became known, else the one that was given, unless it is known to be wrong. It is
    looked for among the `top_k` that retrieval finds, within its threshold. What is learnt comes from rules.
    """

    name: str = NEAREST

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        hits = reversed(self._found(query, memory).experiences)  # retrieval shows the most similar last
        nearest = next((hit for hit in hits if hit.value.known_answer is not None), None)
        if nearest is None:
            return Recalled(searched=True)
        return Recalled(sections=experience_sections([nearest.value]), experiences=(nearest,), searched=True)


class CopyingGenerator:
    """Gives the answer of the last example shown, and asks nobody: 0 calls, 0 tokens, for nothing."""

    def overhead(self, query: Query) -> str:
        return ""

    def generate(
        self,
        query: Query,
        *,
        context: str,
        examples: tuple[ChatTurn, ...] = (),
        earlier: tuple[EarlierAnswer, ...] = (),
    ) -> Generation:
        copied = examples[-1].assistant if examples else ""
        return Generation(
            answer=copied,
            text=copied,
            outcome=Outcome.OK if copied else Outcome.EMPTY,
            usage=Usage(cost_usd=0.0),
            notes=() if copied else (NOTHING_NEAR,),
        )


CONTROL: Final = Control(
    name=NEAREST,
    tests="The model does more than look up: it beats copying the answer of the most similar question.",
    make=lambda ground: Nearest(ground=ground),
    settings=_WITHOUT_A_MODEL,
    generator=CopyingGenerator,
)
