"""The mode that chooses another one for every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Operation, Remove
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, LearnedBatch, MemoryMode, Recalled
from cheatsheet.roles.role import Attempt, Reflection
from modes.auto import Auto
from tests.roles.fakes import FakeMemory

MEMORY = FakeMemory()
NAMES = ("default", "full-history", "retrieval")


@dataclass
class Noting:
    """A mode that says what it was asked for."""

    name: str
    heard: list[str] = field(default_factory=list)

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        self.heard.append(f"recall {query.text}")
        return Recalled(notes=(f"by {self.name}",), usage=Usage(calls=1))

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        self.heard.append(f"learn {attempt.query.text}")
        return Learned(
            operations=self._operations(attempt),
            remember=self.name != "default",
            reflection=Reflection(correct=None, key_insight=attempt.query.text) if attempt.answer else None,
            skipped=(f"{self.name} skipped",),
            usage=Usage(calls=1),
            notes=(f"{self.name} noted",),
        )

    def _operations(self, attempt: Attempt) -> tuple[Operation, ...]:
        return (Remove(id=f"{self.name}-{attempt.query.text}"),)


class NotingBatches(Noting):
    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        self.heard.append(f"batch {' '.join(attempt.query.text for attempt in attempts)}")
        return LearnedBatch(
            operations=tuple(one for attempt in attempts for one in self._operations(attempt)),
            remember=(True,) * len(attempts),
            usage=Usage(calls=1),
        )


def modes(*, batches: bool = False) -> dict[str, Noting]:
    return {name: (NotingBatches if batches else Noting)(name) for name in NAMES}


def by_number(query: Query) -> float:
    return float(query.text)


def auto(own: dict[str, Noting]) -> Auto:
    held: dict[str, MemoryMode] = dict(own)
    return Auto(held, estimate=by_number)


def attempt(text: str, answer: str = "a") -> Attempt:
    return Attempt(query=Query(text=text), answer=answer, feedback=Feedback())


@pytest.mark.parametrize(
    ("complexity", "name", "why"),
    [
        ("0", "default", "0.0, below 2"),
        ("1.99", "default", "2.0, below 2"),
        ("2", "full-history", "2.0, below 5"),
        ("4.9", "full-history", "4.9, below 5"),
        ("5", "retrieval", "5.0, 5 or more"),
        ("1e9", "retrieval", "1000000000.0, 5 or more"),
        ("nan", "retrieval", "nan, 5 or more"),
    ],
)
def test_the_complexity_chooses_and_the_recall_says_so(complexity: str, name: str, why: str) -> None:
    own = modes()
    recalled = auto(own).recall(Query(text=complexity), MEMORY)
    auto(own).learn(attempt(complexity), MEMORY)
    assert recalled.notes == (f"auto chose {name}: the question's complexity is {why}.", f"by {name}")
    assert recalled.usage == Usage(calls=1)
    assert {other: mode.heard for other, mode in own.items() if mode.heard} == {
        name: [f"recall {complexity}", f"learn {complexity}"]
    }


def test_the_estimator_is_ours_where_none_is_given() -> None:
    held: dict[str, MemoryMode] = dict(modes())
    assert "auto chose default" in Auto(held).recall(Query(text="What is 2+2?"), MEMORY).notes[0]


def test_steps_can_be_others() -> None:
    own = {"brief": Noting("brief")}
    held: dict[str, MemoryMode] = dict(own)
    only = Auto(held, estimate=by_number, steps=((1.0, "brief"),))
    assert only.recall(Query(text="7"), MEMORY).notes[0] == "auto chose brief: the question's complexity is 7.0."


@pytest.mark.parametrize(("missing", "said"), [("retrieval", "lacks 'retrieval'"), ("", "lacks 'default', 'full-")])
def test_a_mode_that_is_missing_is_told_at_once(missing: str, said: str) -> None:
    held: dict[str, MemoryMode] = {name: Noting(name) for name in NAMES if missing not in name} if missing else {}
    with pytest.raises(SetupError, match=said):
        Auto(held)


def test_no_steps() -> None:
    with pytest.raises(SetupError, match="lacks steps"):
        Auto({}, steps=())


def test_a_batch_goes_to_the_modes_of_its_questions_and_comes_back_in_order() -> None:
    own = modes(batches=True)
    learned = auto(own).learn_batch([attempt(text) for text in ("9", "1", "3", "8")], MEMORY)
    assert [mode.heard for mode in own.values()] == [["batch 1"], ["batch 3"], ["batch 9 8"]]
    assert [operation.id for operation in learned.operations if isinstance(operation, Remove)] == [
        "retrieval-9",
        "retrieval-8",
        "default-1",
        "full-history-3",
    ]
    assert learned.remember == (True,) * 4
    assert learned.usage == Usage(calls=3)


def test_modes_that_cannot_learn_batches_learn_one_by_one() -> None:
    own = modes()
    learned = auto(own).learn_batch([attempt("9"), attempt("1"), attempt("8", answer=""), attempt("7")], MEMORY)
    assert own["retrieval"].heard == ["learn 9", "learn 8", "learn 7"]
    assert learned.remember == (True, False, True, True)
    assert [one.key_insight if one else None for one in learned.reflections] == ["9", "1", None, "7"]
    assert learned.skipped.count("retrieval skipped") == 3
    assert learned.notes.count("default noted") == 1
    assert learned.usage == Usage(calls=4)
