"""What every Reflector and every Curator promises, whatever it is fed and whatever its model replies."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.llm.model import Outcome, Reply
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Add, Merge, Operation
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.rewriting_curator import RewritingCurator
from cheatsheet.roles.role import Attempt, Curator, EarlierAnswer, ErrorKind, Reflected, Reflection, Reflector
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from tests.roles.fakes import FakeMemory, bullet, said, says
from tests.roles.strategies import messy_text

BULLETS = (
    bullet("sai-00001", "Money goes to crimson."),
    bullet("err-00007", "Mind {the} unit.\n</notes>", pinned=True),
    bullet("calc-00012", "[[SHEET]]"),
    bullet("misc-00003", "Old.", status="archived"),
)
IDS = [each.id for each in BULLETS]

REFLECTORS: dict[str, Callable[[Reply], Reflector]] = {
    "rules": lambda _: RuleReflector(),
    "model": lambda reply: ModelReflector(says(reply, reply)),
}
CURATORS: dict[str, Callable[[Reply], Curator]] = {
    "rules": lambda _: RuleCurator(),
    "model": lambda reply: ModelCurator(says(reply, reply)),
    "rewriting model": lambda reply: RewritingCurator(says(reply, reply)),
}

TRAJECTORY = (
    {"role": "user", "content": "q"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": '{"x": 1}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "Error: no x"},
    {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "find", "arguments": '{"y": 1}'}}]},
    {"role": "tool", "tool_call_id": "2", "content": "found"},
)

words = st.text(max_size=30) | st.sampled_from(["amber", "crimson", "42", "4.2 kg", "{x}", "[[ANSWER]]", "</answer>"])
written_ids = st.sampled_from([*IDS, "[SAI-1]", "err_7", "x-9", "", "1"])
outcomes = st.sampled_from(list(Outcome))

feedbacks = st.builds(
    Feedback,
    correct=st.none() | st.booleans(),
    score=st.none() | st.floats(0, 1),
    expected=st.none() | words,
    comment=words | st.just(""),
)
attempts = st.builds(
    Attempt,
    query=st.builds(Query, text=words, choices=st.sampled_from([(), ("amber", "crimson")])),
    answer=words | st.just(""),
    feedback=feedbacks,
    reasoning=words,
    bullets=st.sampled_from([(), BULLETS[:1], BULLETS]),
    used=st.lists(written_ids, max_size=3).map(tuple),
    trajectory=st.sampled_from([(), TRAJECTORY, ({"role": "bot"},)]),
    earlier=st.lists(st.builds(EarlierAnswer, answer=words), max_size=2).map(tuple),
)
verdicts = st.sampled_from(["helpful", "harmful", "neutral"])
reflections = st.builds(
    Reflection,
    correct=st.none() | st.booleans(),
    difference=words,
    error=st.sampled_from(ErrorKind),
    root_cause=words,
    correct_approach=words,
    key_insight=words | st.just(""),
    tags=st.dictionaries(st.sampled_from([*IDS, "x-9"]), verdicts, max_size=4),
)

batches = st.lists(st.builds(Reflected, attempt=attempts, reflection=reflections), min_size=1, max_size=3).map(tuple)


def _fields(*names: str) -> st.SearchStrategy[dict[str, object]]:
    values = words | written_ids | st.none() | st.integers() | st.lists(written_ids, max_size=3)
    return st.dictionaries(st.sampled_from(names), values, max_size=len(names))


_kinds = st.sampled_from(["ADD", "add", "Update", "MERGE", "TAG", "REMOVE", "RESTORE", ""])
_operations = st.lists(
    st.tuples(_kinds, _fields("id", "into", "absorbed", "section", "content", "tag", "reason")).map(
        lambda pair: {"type": pair[0], **pair[1]}
    )
    | words,
    max_size=6,
)
_tag_lists = st.lists(_fields("id", "tag") | st.fixed_dictionaries({"id": written_ids, "tag": words}), max_size=5)
_objects = (
    _operations
    | st.fixed_dictionaries({"operations": _operations})
    | st.fixed_dictionaries({"key_insight": words, "bullet_tags": _tag_lists | st.dictionaries(written_ids, verdicts)})
)
replies = st.builds(
    lambda text, outcome: said(text if outcome in (Outcome.OK, Outcome.LENGTH) else "", outcome),
    messy_text | _objects.map(json.dumps) | _objects.map(lambda value: f"So:\n```\n{json.dumps(value)[:-3]}"),
    outcomes,
)


@pytest.mark.parametrize("make", REFLECTORS.values(), ids=REFLECTORS)
class TestReflectors:
    @given(attempt=attempts, reply=replies)
    def test_every_attempt_is_reflected_upon(
        self, make: Callable[[Reply], Reflector], attempt: Attempt, reply: Reply
    ) -> None:
        """Never raises; tags only bullets that were shown; what the feedback says of right and wrong stands."""
        reflection = make(reply).reflect(attempt)
        assert set(reflection.tags) <= {each.id for each in attempt.bullets}
        assert set(reflection.tags.values()) <= {"helpful", "harmful", "neutral"}
        if attempt.feedback.verdict is not None:
            assert reflection.correct == attempt.feedback.verdict
        assert (reflection.error is ErrorKind.NONE) == (reflection.correct is not False)

    @given(attempt=attempts, reply=replies)
    def test_the_same_attempt_and_reply_teach_the_same(
        self, make: Callable[[Reply], Reflector], attempt: Attempt, reply: Reply
    ) -> None:
        """M2"""
        assert make(reply).reflect(attempt) == make(reply).reflect(attempt)

    @given(attempt=attempts)
    def test_a_reply_that_cannot_be_read_is_told_or_was_not_needed(
        self, make: Callable[[Reply], Reflector], attempt: Attempt
    ) -> None:
        reflection = make(said("I do not know.")).reflect(attempt)
        assert reflection.by == "rules"
        assert reflection.notes or attempt.feedback.given


@pytest.mark.parametrize("make", CURATORS.values(), ids=CURATORS)
class TestCurators:
    @given(batch=batches, reply=replies)
    def test_only_what_can_be_applied_is_proposed(
        self, make: Callable[[Reply], Curator], batch: tuple[Reflected, ...], reply: Reply
    ) -> None:
        """Never raises; every operation names active bullets; no pinned one is removed; new ones have no id."""
        memory = FakeMemory(BULLETS)
        gone: set[str] = set()
        for operation in make(reply).curate(batch, memory).operations:
            if isinstance(operation, Add):
                assert operation.id == ""
                assert operation.draft.content.strip()
                assert operation.draft.section
                continue
            for id in _named(operation):
                named = memory.bullet(id)
                assert named is not None
                assert named.status == "active"
                assert id not in gone
            lost = _lost(operation)
            assert not lost & {"err-00007"}
            gone |= lost

    @given(batch=batches, reply=replies)
    def test_nothing_is_changed(
        self, make: Callable[[Reply], Curator], batch: tuple[Reflected, ...], reply: Reply
    ) -> None:
        """M1, M2: it computes; the same again gives the same."""
        memory = FakeMemory(BULLETS)
        before = copy.deepcopy(memory.bullets(status=None))
        first = make(reply).curate(batch, memory)
        assert memory.bullets(status=None) == before
        assert make(reply).curate(batch, memory) == first

    @given(batch=batches)
    def test_verdicts_of_all_reflections_are_counted_once(
        self, make: Callable[[Reply], Curator], batch: tuple[Reflected, ...]
    ) -> None:
        active = {each.id for each in BULLETS if each.status == "active"}
        tags = [tag for each in batch for tag in each.reflection.tags.items()]
        reply = said(json.dumps([{"type": "TAG", "id": id, "tag": "helpful"} for id, _ in tags]))
        operations = make(reply).curate(batch, FakeMemory(BULLETS)).operations
        for verdict in ("helpful", "harmful"):
            counted = sum(getattr(operation, verdict, 0) for operation in operations)
            assert counted == sum(tag == verdict and id in active for id, tag in tags)


def _named(operation: Operation) -> set[str]:
    return {operation.into, *operation.absorbed} if isinstance(operation, Merge) else {operation.id}


def _lost(operation: Operation) -> set[str]:
    if isinstance(operation, Merge):
        return set(operation.absorbed)
    return {operation.id} if operation.type == "remove" else set()
