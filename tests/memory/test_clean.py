"""What is stored holds no secret and nothing that cannot be seen."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.incoming.clean import cleaned_experience, cleaned_operations, cleaned_texts
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from tests.memory.strategies import operations
from tests.memory.worlds import NOW, add

KEY = "sk-proj-Abcd1234Efgh5678"
HIDDEN = "\U000e0049\u202e"


def experience(text: str) -> Experience:
    """A turn with the text wherever a text can be."""
    return Experience(
        query=f"q {text}",
        answer=f"a {text}",
        choices=(f"a {text}",),
        reasoning=f"r {text}",
        trajectory=({"role": "tool", "content": [{"type": "text", "text": f"t {text}"}]},),
        feedback=Feedback(correct=True, expected=f"e {text}", comment=f"c {text}"),
        metadata={"m": {"deep": [f"m {text}"]}},
        created_at=NOW,
    )


EVERYWHERE: tuple[Operation, ...] = (
    Add(draft=Draft(content=KEY, section=KEY, tags=(KEY,), sources=(KEY,), metadata={"m": [KEY]})),
    Update(id="misc-00001", content=KEY, section=KEY, tags=(KEY,), metadata={"m": KEY}),
    Merge(into="misc-00001", draft=Draft(content=KEY), content=KEY),
    Remove(id="misc-00001", reason=KEY),
)


@pytest.mark.parametrize("operation", EVERYWHERE, ids=lambda operation: operation.type)
def test_no_operation_stores_a_key(operation: Operation) -> None:
    """Y06, and its whole kind: wherever an operation holds words."""
    assert KEY in operation.model_dump_json()
    (cleaned,), notes = cleaned_operations([operation])
    assert KEY not in cleaned.model_dump_json()
    assert len(notes) == 1
    assert KEY not in notes[0]


def test_no_experience_stores_a_key() -> None:
    """Y06: not in the trajectory and the reasoning either."""
    cleaned, notes = cleaned_experience(experience(KEY))
    assert "Abcd1234" not in cleaned.model_dump_json()
    assert cleaned == experience("[redacted]")
    assert notes == ("Secrets masked before they were stored: key 8.",)


def test_arguments_of_tools_are_read_by_their_names() -> None:
    call = {"function": {"name": "login", "arguments": json.dumps({"user": "ana", "password": "hunter2"})}}
    turn = Experience(query="q", answer="a", trajectory=({"role": "assistant", "tool_calls": [call]},), created_at=NOW)
    stored = cleaned_experience(turn)[0].trajectory[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(stored) == {"user": "ana", "password": "[redacted]"}


def test_what_cannot_be_seen_is_removed_and_counted() -> None:
    """Y03: from bullets and from experiences; emoji and a leading byte order mark are no alarm."""
    (cleaned, kept), notes = cleaned_operations([add(f"Format JSON nicely{HIDDEN}"), add("\ufeff👨‍👩‍👧 مرحبا \u200f")])
    assert isinstance(cleaned, Add)
    assert isinstance(kept, Add)
    assert (cleaned.draft.content, kept.draft.content) == ("Format JSON nicely", "👨‍👩‍👧 مرحبا \u200f")
    assert notes == ("Characters removed that cannot be seen: 2.",)
    assert cleaned_experience(experience(HIDDEN))[0] == experience("")


def test_a_hidden_character_hides_no_key() -> None:
    (cleaned,), _ = cleaned_operations([add("sk-proj-Abcd\u200b1234Efgh5678")])
    assert cleaned == add("[redacted]")


@pytest.mark.parametrize("text", ["No API key is needed for the health check.", "token = os.environ['APP_TOKEN']"])
def test_real_knowledge_stays(text: str) -> None:
    """Y05"""
    assert cleaned_operations([add(text)]) == ((add(text),), ())
    assert cleaned_experience(experience(text)) == (experience(text), ())


def test_masking_can_be_turned_off_and_keys_can_be_named() -> None:
    assert cleaned_operations([add(f"{KEY}{HIDDEN}")], secrets=False)[0] == (add(KEY),)
    assert cleaned_operations([add("the word is xyzzy")], known=("xyzzy",))[0] == (add("the word is [redacted]"),)
    assert cleaned_texts([f"It failed with {KEY}."]) == ("It failed with [redacted].",)


def test_what_a_person_restores_stays_as_it_was() -> None:
    operation = Restore(id="misc-00001", state={"content": KEY})
    assert cleaned_operations([operation, Tag(id="misc-00001", helpful=1)])[0][0] == operation


@given(st.lists(operations(), max_size=5))
def test_cleaning_twice_is_cleaning_once(proposed: list[Operation]) -> None:
    once, _ = cleaned_operations(proposed)
    assert cleaned_operations(once) == (once, ())
    assert [type(operation) for operation in once] == [type(operation) for operation in proposed]
