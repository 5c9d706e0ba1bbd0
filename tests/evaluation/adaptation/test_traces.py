"""Traces: every form in which a turn may be recorded, and what cannot be learnt from."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.engine.lived import Answered
from cheatsheet.engine.results import Lesson, MemoryStats
from cheatsheet.errors import OperationError, TaskError
from cheatsheet.evaluation.adaptation.teach import teach
from cheatsheet.evaluation.adaptation.traces import FIELDS, Traces, load_traces, read_traces
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.task import load_task
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Remove, Tag
from tests.evaluation.fakes import World, spec_for
from tests.evaluation.learners import School, questions, study

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You route tickets."},
    {"role": "user", "content": "My card was charged twice."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "card"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "cards belong to amber"},
    {"role": "assistant", "content": "amber"},
]


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def only(value: Any) -> Answered:
    read = read_traces(lines(value))
    assert read.unread == ()
    return read.traces[0].turn


def asked(turn: Answered) -> Query:
    assert isinstance(turn.recall, Query)
    return turn.recall


def told(turn: Answered) -> Feedback:
    assert isinstance(turn.feedback, Feedback)
    return turn.feedback


@pytest.mark.parametrize(
    "value",
    [
        {"question": "q", "answer": "a"},
        {"query": "q", "output": "a"},
        {"input": "q", "final_answer": "a"},
        {"question": "q", "answer": "a", "input": "a longer prompt"},
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
        {"trajectory": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
        [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
        {"messages": [{"role": "user", "content": "x"}], "question": "q", "answer": "a"},
    ],
)
def test_question_and_answer_are_found(value: Any) -> None:
    turn = only(value)
    assert (asked(turn).text, turn.answer) == ("q", "a")


def test_a_trajectory_is_kept_whole() -> None:
    turn = only({"messages": MESSAGES, "expected": "amber"})
    assert (asked(turn).text, turn.answer, turn.expected) == ("My card was charged twice.", "amber", "amber")
    assert list(turn.trajectory) == MESSAGES


@pytest.mark.parametrize(
    ("fields", "feedback"),
    [
        ({}, Feedback()),
        ({"feedback": "wrong: ask amber"}, Feedback(correct=False, comment="wrong: ask amber")),
        ({"feedback": "no idea"}, Feedback(correct=False, comment="no idea")),
        ({"feedback": True}, Feedback(correct=True)),
        ({"feedback": 0.25}, Feedback(score=0.25)),
        ({"score": 1}, Feedback(score=1.0)),
        ({"correct": False, "score": 0.5}, Feedback(correct=False, score=0.5)),
        ({"feedback": {"correct": False, "comment": "unit"}, "expected": 7}, None),
        ({"target": "b", "feedback": "hm"}, Feedback(expected="b", comment="hm")),
        ({"feedback": "right", "correct": False}, Feedback(correct=False, comment="right")),
    ],
)
def test_what_is_known_about_the_answer(fields: dict[str, Any], feedback: Feedback | None) -> None:
    wanted = feedback or Feedback(correct=False, comment="unit", expected="7")
    assert told(only({"question": "q", "answer": "a"} | fields)) == wanted


def test_choices_reasoning_used_and_metadata() -> None:
    turn = only(
        {"question": "q", "answer": "a", "choices": ["a", "b"], "reasoning": "r", "used": ["x-1"], "metadata": {"k": 1}}
    )
    assert asked(turn) == Query(text="q", choices=("a", "b"), metadata={"k": 1})
    assert (turn.reasoning, turn.used) == ("r", ("x-1",))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "it is not JSON in UTF-8"),
        (b'{"question": "q", "answer": NaN}', "NaN is not JSON"),
        (b"\xff", "it is not JSON in UTF-8"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b"7", "its value is of type int, but must be an object or a list of messages"),
        (b"{}", "it has no 'question'"),
        (b"[]", "it has no 'question'"),
        (b'{"question": "q"}', "it has no 'answer', and no 'messages' that tell it"),
        (b'{"question": " ", "answer": "a"}', "it has no 'question'"),
        (b'{"question": ["q"], "answer": "a"}', "'question' is a list, but must be a text"),
        (b'{"question": "q", "answer": "a", "score": 7}', "the feedback cannot be used: score: "),
        (b'{"question": "q", "answer": "a", "feedback": 7}', "a number from 0 .* not 7"),
        (b'{"question": "q", "answer": "a", "feedback": {"mood": 1}}', "the feedback cannot be used: mood"),
        (b'{"question": "q", "answer": "a", "feedback": ["bad"]}', "the feedback cannot be used"),
        (b'{"question": "q", "answer": "a", "choices": "ab"}', "'choices' must be a list of texts"),
        (b'{"question": "q", "answer": "a", "metadata": 1}', "'metadata' is a int"),
        (b'[{"role": "user", "content": "q"}]', "the messages end without an answer"),
        (b'[{"role": "assistant", "content": "a"}]', "holds no question"),
        (b'[{"role": "king", "content": "q"}]', "Message 1 has the role 'king'"),
        (b'{"messages": "hello"}', "A trajectory is a list of messages, not str"),
        (b'{"position": 0, "target": "A", "answer": "A", "id": "1"}', "holds no question, and it does not lie in the"),
        (b'{"position": "x", "target": "A", "answer": "A", "id": "1"}', "is not a row of this version"),
        (b'{"position": 0, "target": "A", "answer": "", "id": "1", "error": "E: no"}', r"the call failed.*\(E: no\)"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_read(line: bytes, reason: str) -> None:
    good = lines({"question": "q", "answer": "a"})
    read = read_traces(good + line + b"\n\n" + lines({"question": "r", "answer": "a"}))
    assert [trace.line for trace in read.traces] == [1, 4]
    assert [one.line for one in read.unread] == [2]
    assert not read.unread[0].reason.endswith(".")
    assert re.search(reason, read.unread[0].reason)


def test_the_last_line_may_be_torn_and_the_first_may_have_a_mark() -> None:
    read = read_traces(b"\xef\xbb\xbf" + lines({"question": "q", "answer": "a"}) + b'{"question": "r", "ans')
    assert (len(read.traces), [one.line for one in read.unread]) == (1, [2])


def test_fields_that_mean_nothing_are_counted() -> None:
    read = read_traces(
        lines({"question": "q", "answer": "a", "mood": 1}, {"question": "r", "answer": "a", "mood": 2, "x": 0})
    )
    assert read.ignored == {"mood": 2, "x": 1}


def test_a_turn_is_named_by_its_id_or_by_its_content() -> None:
    assert only({"question": "q", "answer": "a", "id": "t7"}).turn_id == "t7"
    assert only({"question": "q", "answer": "a", "id": 7}).turn_id == "7"
    plain, turned = only({"question": "q", "answer": "a"}), only({"answer": "a", "question": "q"})
    assert plain.turn_id == turned.turn_id
    assert plain.turn_id.startswith("trace:")
    assert only({"question": "q", "answer": "a", "feedback": "wrong"}).turn_id != plain.turn_id
    assert only({"question": "\ud83d", "answer": "a"}).turn_id  # half a character


PARTS = st.sampled_from([None, True, 0, 2, 0.5, "", "q", [], ["a"], {}, {"score": 3}, MESSAGES, MESSAGES[1:2]])
FORGED = st.dictionaries(st.sampled_from(sorted({*sum(FIELDS.values(), ()), "position", "x"})), PARTS, max_size=5)


@settings(max_examples=60)
@given(st.binary(max_size=40) | FORGED.map(lambda value: json.dumps(value).encode()))
def test_no_line_is_an_exception(data: bytes) -> None:
    read = read_traces(data)
    assert len(read.traces) + len(read.unread) == sum(bool(line.strip()) for line in data.split(b"\n"))


# Rows of our own runs


def _run(folder: Path) -> Path:
    """A run of the fake memory over a task in a file."""
    task = folder / "task.jsonl"
    rows = [{"input": "a", "target": "A"}, {"input": "b", "target": "?"}, {"input": "c", "target": "C"}]
    task.write_bytes(lines(*rows))
    loaded = load_task(task, limit=2, seed=1)
    run(spec_for(loaded), loaded, World().open, folder=folder / "run")
    return folder / "run" / "arms" / "retrieval" / "rows.jsonl"


def test_rows_of_a_run_find_their_questions_in_its_task(tmp_path: Path) -> None:
    read = load_traces(_run(tmp_path))
    assert read.unread == ()
    assert read.ignored == {}
    turns = [trace.turn for trace in read.traces]
    assert len(turns) == 2
    for turn in turns:
        assert turn.answer == asked(turn).text.upper()
        assert told(turn).correct == (turn.expected != "?")
        assert turn.reasoning == f"I say: {turn.answer}"
        assert turn.turn_id.startswith("trace:")  # the id is the question's, and other runs have it too


@pytest.mark.parametrize("spoil", ["changed", "gone"])
def test_rows_whose_task_is_gone_have_their_questions_themselves(tmp_path: Path, spoil: str) -> None:
    path = _run(tmp_path)
    asked_before = [asked(trace.turn).text for trace in load_traces(path).traces]
    _spoil(tmp_path / "task.jsonl", spoil)
    read = load_traces(path)
    assert [asked(trace.turn).text for trace in read.traces] == asked_before
    assert (read.unread, read.ignored) == ((), {})


@pytest.mark.parametrize("spoil", ["changed", "gone"])
def test_rows_without_a_question_whose_task_is_gone_say_so(tmp_path: Path, spoil: str) -> None:
    path = _run(tmp_path)
    older = [json.loads(line) | {"question": ""} for line in path.read_bytes().splitlines()]
    path.write_bytes(lines(*older))
    assert len(load_traces(path).traces) == len(older)
    _spoil(tmp_path / "task.jsonl", spoil)
    read = load_traces(path)
    assert read.traces == ()
    assert ("cannot be read" if spoil == "gone" else "has been changed since") in read.unread[0].reason


def _spoil(task: Path, how: str) -> None:
    """Change the file of a task, or take it away."""
    task.unlink() if how == "gone" else task.write_bytes(task.read_bytes() + b"\n")


def test_rows_of_an_adaptation_are_rows_too(tmp_path: Path) -> None:
    for name in ("t", "v"):
        task = tmp_path / f"{name}.jsonl"
        task.write_bytes(lines(*({"input": s.input, "target": s.target} for s in questions(name, 2).samples)))
    study(tmp_path, School(), load_task(tmp_path / "t.jsonl"), load_task(tmp_path / "v.jsonl"), epochs=1)
    for name, first in (("training", "t1"), ("validation", "v1")):
        read = load_traces(tmp_path / "run" / "epochs" / "1" / f"{name}.jsonl")
        assert asked(read.traces[0].turn).text == first


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read: No such file"):
        load_traces(tmp_path / "none.jsonl")


# Learning from them


@dataclass
class FakePupil:
    """Refuses the questions it is told to, as an engine refuses what it cannot learn."""

    refused: frozenset[str] = frozenset()
    batches: list[list[str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    def learn_batch(self, turns: Sequence[Answered]) -> list[Lesson]:
        texts = [asked(turn).text for turn in turns]
        if self.refused & set(texts):
            raise OperationError("There is nothing to learn.")
        self.batches.append(texts)
        self.ids.update(turn.turn_id for turn in turns)
        lesson = Lesson(
            operations=(Tag(id="a-1", helpful=1),), archived=(Remove(id="b-1"),), experience_id="e", notes=("a note",)
        )
        return [lesson for _ in turns]

    def learnt(self, turn_id: str) -> bool:
        return turn_id in self.ids

    def stats(self) -> MemoryStats:
        return MemoryStats(bullets=0, archived=0, merged=0, experiences=0, version=len(self.ids))


def some(*texts: str) -> Traces:
    return read_traces(lines(*({"question": text, "answer": "a"} for text in texts)))


@pytest.mark.parametrize(
    ("size", "batches"), [(1, [["a"], ["b"], ["c"]]), (2, [["a", "b"], ["c"]]), (5, [["a", "b", "c"]])]
)
def test_turns_are_learnt_in_batches_and_counted(size: int, batches: list[list[str]]) -> None:
    pupil, heard = FakePupil(), list[tuple[int, int]]()
    taught = teach(pupil, some("a", "b", "c"), batch_size=size, tell=lambda done, total: heard.append((done, total)))
    assert pupil.batches == batches
    assert (taught.turns, taught.learnt, taught.known, taught.experiences, taught.version) == (3, 3, 0, 3, 3)
    assert taught.changes == {"tag": 3, "remove": 3}
    assert taught.said == {"a note": 3}
    assert heard[-1] == (3, 3)


def test_what_is_known_is_not_learnt_again() -> None:
    pupil = FakePupil()
    teach(pupil, some("a", "b"))
    again = teach(pupil, some("a", "c", "b", "c"), batch_size=4)
    assert pupil.batches == [["a"], ["b"], ["c"]]
    assert (again.turns, again.learnt, again.known) == (4, 1, 3)


def test_a_turn_that_is_refused_does_not_sink_its_batch() -> None:
    pupil = FakePupil(refused=frozenset("b"))
    taught = teach(pupil, some("a", "b", "c"), batch_size=3)
    assert pupil.batches == [["a"], ["c"]]
    assert (taught.learnt, [(one.line, one.reason) for one in taught.unread]) == (
        2,
        [(2, "There is nothing to learn")],
    )


def test_a_result_is_plain_values_and_adds_up() -> None:
    traces = read_traces(lines({"question": "q", "answer": "a", "mood": 1}, 7, {"question": "q", "answer": "a"}))
    taught = teach(FakePupil(), traces).as_dict()
    assert json.loads(json.dumps(taught)) == taught
    assert taught["turns"] == taught["learnt"] + taught["known"] + len(taught["unread"]) == 3
    assert taught["notes"][0]["text"] == "The field 'mood' means nothing here and was left out (1 line)."
