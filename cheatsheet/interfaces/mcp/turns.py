"""Turns of agents, between the recall, the answer and the verdict."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from cheatsheet.engine.results import Recall
from cheatsheet.errors import OperationError
from cheatsheet.memory.experience import Query

NewId = Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """A question of an agent's, and what became of it.

    Attributes:
        id: by which the agent names the turn.
        asked: what was recalled for the question, or the question itself.
        answer: None until it is known.
        used: ids of the bullets that the agent says it used.
        experience_id: of the experience that was made of it, if any.
        lessons: how often it was learnt from: once, and again with every later verdict.
    """

    id: str
    asked: Recall | Query
    answer: str | None = None
    used: tuple[str, ...] = ()
    reasoning: str = ""
    experience_id: str = ""
    lessons: int = 0

    @property
    def name(self) -> str:
        """The name under which it is learnt next; the memory takes each name once."""
        return self.id if self.lessons == 0 else f"{self.id}+{self.lessons}"


class TurnBook:
    """The latest turns; the least recently used goes first. For several threads at once.

    Args:
        size: how many are kept.
        new_id: gives an id that was never given before, in this process or another.
    """

    def __init__(self, size: int, new_id: NewId) -> None:
        self._size = size
        self._new_id = new_id
        self._turns: OrderedDict[str, AgentTurn] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, asked: Recall | Query) -> AgentTurn:
        """A new turn."""
        return self.keep(AgentTurn(id=self._new_id(), asked=asked))

    def keep(self, turn: AgentTurn) -> AgentTurn:
        """Remember a turn in its new state."""
        with self._lock:
            self._turns[turn.id] = turn
            self._turns.move_to_end(turn.id)
            while len(self._turns) > self._size:
                self._turns.popitem(last=False)
        return turn

    def find(self, id: str) -> AgentTurn:
        """The turn of that id.

        Raises:
            OperationError: there is none, or none any more.
        """
        with self._lock:
            turn = self._turns.get(id)
            if turn is not None:
                self._turns.move_to_end(id)
                return turn
        raise OperationError(
            f"There is no turn {id!r} here: the last {self._size} are kept, while the server runs. Give the turn_id "
            f"that recall, get_context or learn returned; without one, call learn with the question itself."
        )

    def learnt(self, turn: AgentTurn, experience_id: str) -> AgentTurn:
        """Note that the turn was learnt from once more."""
        return self.keep(replace(turn, lessons=turn.lessons + 1, experience_id=experience_id or turn.experience_id))
