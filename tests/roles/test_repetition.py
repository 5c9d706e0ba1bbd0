"""Bullets that were in the prompt are not learnt again from their own echo."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.repetition import repeats
from cheatsheet.roles.role import Attempt, Curation, Curator, Reflected, Reflection
from cheatsheet.roles.rule_curator import RuleCurator
from tests.roles.fakes import FakeMemory, bullet, says

KNOWN = "Round money to 2 decimal places. Name the currency, and do not use thousands separators."

ECHOES = {
    "the same": KNOWN,
    "in another case, with other blanks": KNOWN.upper().replace(" ", "  "),
    "its first sentence": "Round money to 2 decimal places",
    "a part of a sentence": "Round money to 2 decimal places!",
    "its last part": "Do not use thousands separators.",
    "its sentences turned round": (
        "Name the currency, and do not use thousands separators. Round money to 2 decimal places."
    ),
    "one word less": "Round money to 2 decimal places. Name the currency, and do not use separators.",
}
NEW = {
    "more than it": f"{KNOWN} Round half up.",
    "without its negation": "Use thousands separators.",
    "another number": KNOWN.replace("2", "3"),
    "another thing": KNOWN.replace("money", "weights"),
    "something else": "Read the question twice.",
    "the opposite": KNOWN.replace("do not use", "use"),
    "nothing that can be read": "!!",
}


@pytest.mark.parametrize("lesson", ECHOES.values(), ids=ECHOES)
def test_what_a_bullet_says_already_is_an_echo(lesson: str) -> None:
    assert repeats(lesson, KNOWN)


@pytest.mark.parametrize("lesson", NEW.values(), ids=NEW)
def test_what_it_does_not_say_is_new(lesson: str) -> None:
    assert not repeats(lesson, KNOWN)


@pytest.mark.parametrize(
    ("lesson", "known"),
    [
        ("Use X.", "Never use X."),
        ("Use X.", "Use X only if Y fails."),
        ("Send tickets from amber to crimson.", "Send tickets from crimson to amber."),
        ("Ana owns billing.", "Ben owns billing."),
    ],
)
def test_a_part_that_the_rest_turns_round_is_new(lesson: str, known: str) -> None:
    assert not repeats(lesson, known)


@given(st.text(), st.text())
def test_a_text_repeats_itself_and_what_holds_it(lesson: str, more: str) -> None:
    assert repeats(lesson, lesson)
    repeats(lesson, f"{lesson}\n{more}")


SHOWN = bullet("sai-00001", KNOWN)
ECHO = "Round money to 2 decimal places."


def reflected(*, correct: bool | None, **properties: object) -> Reflected:
    attempt = Attempt(query=Query(text="q"), answer="a", feedback=Feedback(correct=correct), bullets=(SHOWN,))
    reflection = Reflection(correct=correct, **{"key_insight": ECHO, **properties})  # type: ignore[arg-type]  # by name
    return Reflected(attempt=attempt, reflection=reflection)


CURATORS = [RuleCurator(), ModelCurator(says(json.dumps([{"type": "ADD", "section": "s", "content": ECHO}] * 2)))]


def curate(curator: Curator, *batch: Reflected) -> Curation:
    """A fresh copy of the model's script for each call."""
    reply = json.dumps([{"type": "ADD", "section": "s", "content": ECHO}] * 2)
    fresh = ModelCurator(says(reply)) if isinstance(curator, ModelCurator) else curator
    return fresh.curate(batch, FakeMemory([SHOWN]))


@pytest.mark.parametrize("curator", CURATORS, ids=["rules", "model"])
class TestCurators:
    @pytest.mark.parametrize("correct", [False, None])
    def test_an_echo_is_told_and_not_learnt(self, curator: Curator, correct: bool | None) -> None:
        curation = curate(curator, reflected(correct=correct))
        assert curation.operations == ()
        assert "only repeats 'sai-00001', which stood in the prompt." in curation.skipped[0]

    def test_after_a_right_answer_it_counts_as_helpful_once(self, curator: Curator) -> None:
        assert curate(curator, reflected(correct=True)).operations == (Tag(id="sai-00001", helpful=1),)

    @pytest.mark.parametrize("verdict", ["harmful", "helpful", "neutral"])
    def test_unless_the_reflection_has_a_verdict(self, curator: Curator, verdict: str) -> None:
        operations = curate(curator, reflected(correct=True, tags={"sai-00001": verdict})).operations
        expected = [] if verdict == "neutral" else [Tag(id="sai-00001", **{verdict: 1})]
        assert list(operations) == expected

    def test_what_stood_in_no_prompt_is_no_echo(self, curator: Curator) -> None:
        """Whether it is known otherwise is decided where bullets are grown."""
        each = reflected(correct=True)
        unseen = Reflected(
            attempt=Attempt(query=Query(text="q"), answer="a", feedback=Feedback()), reflection=each.reflection
        )
        assert any(isinstance(operation, Add) for operation in curate(curator, unseen).operations)


def test_a_bullet_that_is_gone_by_now_is_not_brought_back_by_its_echo() -> None:
    archived = FakeMemory([bullet("sai-00001", KNOWN, status="archived")])
    curation = RuleCurator().curate([reflected(correct=True)], archived)
    assert curation.operations == ()
    assert len(curation.skipped) == 2


def test_an_echo_of_another_attempt_s_prompt_is_one_too_for_the_model() -> None:
    unseen = Reflected(
        attempt=Attempt(query=Query(text="q"), answer="a", feedback=Feedback(correct=False)),
        reflection=Reflection(correct=False, key_insight="New."),
    )
    reply = json.dumps([{"type": "ADD", "section": "s", "content": text} for text in (ECHO, "New.")])
    curation = ModelCurator(says(reply)).curate([unseen, reflected(correct=False)], FakeMemory([SHOWN]))
    assert curation.operations == (Add(draft=Draft(section="s", content="New.")),)
