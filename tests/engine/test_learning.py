"""Learning in batches, in rounds, from trajectories, and answering without learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.feedback import compare
from cheatsheet.engine.lived import Answered
from cheatsheet.engine.options import Judge
from cheatsheet.errors import ModelUnavailableError, OperationError
from cheatsheet.llm.model import Request
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Query
from cheatsheet.memory.operations import Add
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, Recalled
from cheatsheet.roles.role import Attempt

REFLECTION = (
    '{"reasoning": "r", "error_identification": "e", "root_cause_analysis": "c", "correct_approach": "a", '
    '"key_insight": "Parcels go to crimson.", "bullet_tags": []}'
)
CURATION = '{"reasoning": "r", "operations": [{"type": "ADD", "section": "others", "content": "Parcels: crimson."}]}'
TRAJECTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "How many rows has the file?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "shell", "arguments": '{"run": "wc"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "wc: missing file"},
    {"role": "assistant", "content": "It has 12 rows."},
]


def open_memory(script: Any = None, path: str | Path = ":memory:", **settings: Any) -> Engine:
    model = None if script is None else script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    values: dict[str, Any] = {"embedder": "hashing", "reflector": "rules", "curator": "rules"} | settings
    return cheatsheet.open(path, model=model, **values)


def expecting(*answers: str) -> list[Judge]:
    return [lambda given, right=right: compare(given, right) for right in answers]  # type: ignore[misc]  # one argument


def test_a_batch_is_answered_with_the_same_memory_and_learnt_in_one_transaction() -> None:
    with open_memory(["amber", "teal", "crimson"]) as memory:
        turns = memory.solve_batch(
            ["parcels", "invoices", "refunds"],
            judges=expecting("crimson", "teal", "violet"),
            turn_ids=["a", "b", "c"],
            records=[lambda turn: {"answer": turn.answer}] * 3,
        )
        assert [turn.correct for turn in turns] == [False, True, False]
        assert {turn.recall.version for turn in turns} == {0}
        entries = memory.history()
        assert [entry.turn_id for entry in entries] == ["c", "b", "a"]
        assert entries[0].experience_ids == ("exp-00001", "exp-00002", "exp-00003")
        assert not entries[1].operations
        assert [turn.lesson.experience_id for turn in turns] == ["exp-00001", "exp-00002", "exp-00003"]
        assert [memory.recorded(name) for name in "abc"] == [{"answer": turn.answer} for turn in turns]
        for bullet in memory.memory.bullets():
            assert set(bullet.sources) <= {"exp-00001", "exp-00002", "exp-00003"}


def test_a_batch_is_one_curation_by_the_model() -> None:
    model = ScriptedModel(["amber", "amber", REFLECTION, REFLECTION, CURATION])
    with open_memory(model, mode="cumulative", reflector="model", curator="model", reflection_depth=1) as memory:
        turns = memory.solve_batch(["parcels", "my parcel"], judges=expecting("crimson", "crimson"))
        assert len(model.requests) == 5
        assert sum(turn.usage.calls for turn in turns) == 5
        assert memory.stats().bullets == 1
        assert memory.measures()["ace_reflections_adopted_share"] == 1


def test_a_batch_of_which_one_answer_fails_is_not_learnt() -> None:
    with open_memory(["amber", ModelUnavailableError("no connection")]) as memory:
        with pytest.raises(ModelUnavailableError):
            memory.solve_batch(["a", "b"], judges=expecting("x", "y"), turn_ids=["1", "2"])
        assert memory.stats().version == 0


def test_a_mode_that_learns_single_turns_refuses_a_batch() -> None:
    class Single:
        name = "single"

        def recall(self, query: Query, memory: MemoryView) -> Recalled:
            return Recalled()

        def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
            return Learned(remember=True)

    with cheatsheet.open(":memory:", mode=Single(), embedder="hashing") as memory:
        assert len(memory.learn_batch([Answered(recall="q", answer="a")])) == 1
        with pytest.raises(OperationError, match="learns one turn at a time"):
            memory.learn_batch([Answered(recall="q", answer="a")] * 2)
        assert memory.learn_batch([]) == []


def test_a_wrong_answer_is_given_again_for_learning_and_the_first_one_counts() -> None:
    model = ScriptedModel(["amber", REFLECTION, "crimson", REFLECTION, CURATION])
    with open_memory(model, mode="cumulative", reflector="model", curator="model") as memory:
        turn = memory.solve("Where do parcels go?", expected="crimson")
    assert (turn.answer, turn.correct) == ("amber", False)
    assert turn.lesson.reflection is not None
    assert (turn.lesson.reflection.rounds, turn.lesson.reflection.became_right) == (2, True)
    assert turn.usage.calls == 5
    second = "\n".join(message["content"] for message in model.requests[2].messages)
    assert "amber" in second
    assert "Parcels go to crimson." in second


def test_rules_ask_nobody_again() -> None:
    with open_memory(["amber"]) as memory:
        turn = memory.solve("Where do parcels go?", expected="crimson")
    assert turn.lesson.reflection is not None
    assert turn.lesson.reflection.rounds == 1


def test_answer_rounds_show_the_earlier_answers() -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        return f"answer {len(asked)}"

    with open_memory(ScriptedModel(script), answer_rounds=3) as memory:
        turn = memory.solve("q", expected="answer 3")
    assert (turn.answer, turn.correct, turn.usage.calls) == ("answer 3", True, 3)
    assert "answer 1" not in str(asked[0].messages)
    assert "answer 1" in str(asked[2].messages)
    assert "answer 2" in str(asked[2].messages)


def test_a_round_without_an_answer_leaves_the_one_before_it() -> None:
    with open_memory(["first", "", "never asked"], answer_rounds=3) as memory:
        turn = memory.solve("q", expected="first")
    assert turn.correct
    assert "A further round gave no answer; the one before it stands." in turn.notes


def test_answer_learns_and_writes_nothing() -> None:
    with open_memory(["amber", "amber"]) as memory:
        memory.learn("parcels", "amber", expected="crimson")
        before = memory.stats()
        turn = memory.answer("my parcels", expected="crimson")
        assert turn.correct is False
        assert turn.recall.experiences
        assert memory.stats() == before


def test_a_trajectory_is_a_turn() -> None:
    with open_memory() as memory:
        lesson = memory.learn(trajectory=TRAJECTORY, feedback="wrong: the tool had failed")
        (experience,) = memory.memory.experiences()
        assert lesson.experience_id == experience.id
        assert experience.query == "How many rows has the file?"
        assert experience.answer == "It has 12 rows."
        assert "wc: missing file" in experience.reasoning
        assert [message["role"] for message in experience.trajectory] == ["user", "assistant", "tool", "assistant"]
        assert any(isinstance(operation, Add) for operation in lesson.operations)


def test_question_and_answer_stand_before_those_of_the_trajectory() -> None:
    with open_memory() as memory:
        memory.learn("rows of the file", "12", trajectory=TRAJECTORY, feedback=True)
        (experience,) = memory.memory.experiences()
        assert (experience.query, experience.answer) == ("rows of the file", "12")


def test_a_turn_without_question_or_answer_is_refused() -> None:
    with open_memory() as memory:
        with pytest.raises(OperationError, match="no answer to learn from"):
            memory.learn("q")
        with pytest.raises(OperationError, match="no question to learn about"):
            memory.learn(answer="a")
        with pytest.raises(OperationError, match="no answer"):
            memory.learn(trajectory=TRAJECTORY[:2])
        assert memory.stats().version == 0
