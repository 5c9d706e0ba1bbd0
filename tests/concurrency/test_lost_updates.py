"""S02: a model is asked, others write meanwhile, and nobody's words are lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.llm.model import Request
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.gate.guard_policy import PROPOSED_FOR
from cheatsheet.memory.operations import Add, Merge, Operation, Remove, Tag, Update
from tests.concurrency.worlds import add

FIRST = "Parcels with a red mark go to the crimson desk before noon."
SECOND = "Refunds above 500 euros need the signature of a second person."
THIRD = "Invoices without an order number go back to whoever sent them."
MINE = "Parcels with a red mark go to the crimson desk before noon, on weekdays only."
THEIRS = "Parcels with a red mark go to the crimson desk before noon, unless they are refused."

Meanwhile = Callable[[], object]


class Two:
    """Two engines on one file; what the second one does while the model of the first is asked is set by the test."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.meanwhile: Meanwhile = lambda: None
        self.proposals: list[dict[str, Any]] = []
        self.reply: str | None = None
        values: dict[str, Any] = {"embedder": "hashing", "mode": "cumulative", "reflector": "rules"}
        self.one = cheatsheet.open(path, model=ScriptedModel(self._answer), **{"curator": "model"} | values | settings)
        self.other = cheatsheet.open(path, curator="rules", **values)
        self.one.apply([add(FIRST), add(SECOND), add(THIRD)])

    def _answer(self, request: Request) -> str:
        self.meanwhile()
        return self.reply or json.dumps({"reasoning": "r", "operations": self.proposals})

    def learn(self, *proposals: dict[str, Any], meanwhile: Meanwhile) -> cheatsheet.Lesson:
        self.proposals, self.meanwhile = list(proposals), meanwhile
        return self.one.learn("Where to?", "amber", feedback="wrong: look at the mark", turn_id="t")

    def words(self) -> list[str]:
        return [bullet.content for bullet in self.other.memory.bullets()]

    def archived(self) -> list[tuple[str, Any]]:
        found = self.other.memory.bullets(status="archived")
        return [(bullet.content, bullet.metadata.get(PROPOSED_FOR)) for bullet in found]


@pytest.fixture
def two(memory_file: Path) -> Iterator[Two]:
    both = Two(memory_file)
    yield both
    both.one.close()
    both.other.close()


def update(words: str) -> dict[str, Any]:
    return {"type": "UPDATE", "id": "misc-00001", "content": words}


def test_what_others_write_during_the_call_is_there_and_their_words_stay(two: Two) -> None:
    def meanwhile() -> None:
        two.other.apply([Update(id="misc-00001", content=THEIRS), add("Never ship without a seal.")])

    lesson = two.learn(
        update(MINE), {"type": "ADD", "section": "others", "content": "Weigh it first."}, meanwhile=meanwhile
    )
    assert two.words() == [THEIRS, SECOND, THIRD, "Never ship without a seal.", "Weigh it first."]
    assert two.archived() == [(MINE, "misc-00001")]
    told = "misc-00001 keeps its words: it was changed since it was read. Those proposed for it are archived."
    assert lesson.skipped == (told,)
    assert told in two.one.history()[0].notes


def test_nothing_is_left_out_where_nobody_was_there(two: Two) -> None:
    lesson = two.learn(update(MINE), meanwhile=lambda: None)
    assert lesson.skipped == ()
    assert two.words() == [MINE, SECOND, THIRD]


def test_words_are_new_also_where_others_only_voted_or_changed_something_else(two: Two) -> None:
    def meanwhile() -> None:
        two.other.apply([Tag(id="misc-00001", harmful=1), Update(id="misc-00002", content=f"{SECOND} Always.")])

    assert two.learn(update(MINE), meanwhile=meanwhile).skipped == ()
    assert two.words()[0] == MINE


def test_the_same_words_are_no_conflict(two: Two) -> None:
    lesson = two.learn(update(MINE), meanwhile=lambda: two.other.apply([Update(id="misc-00001", content=MINE)]))
    assert lesson.skipped == ("UPDATE 'misc-00001' was left out: it changes nothing.",)
    assert (two.words()[0], two.archived()) == (MINE, [])


@pytest.mark.parametrize(
    ("meanwhile", "reason"),
    [
        (Update(id="misc-00002", content=f"{SECOND} Always."), "it was changed"),
        (Tag(id="misc-00002", helpful=1), "it was found helpful"),
        (Merge(into="misc-00002", draft=add("Two people sign refunds.").draft), "it was found helpful"),
    ],
)
def test_what_others_have_just_confirmed_is_not_removed(two: Two, meanwhile: Operation, reason: str) -> None:
    removal = {"type": "REMOVE", "id": "misc-00002", "reason": "nobody needs it"}
    lesson = two.learn(removal, meanwhile=lambda: two.other.apply([meanwhile], grow_adds=False))
    assert lesson.skipped == (f"misc-00002 stays active: {reason} since it was read.",)
    assert two.other.stats().archived == 0


def test_a_removal_of_what_others_only_saw_is_done(two: Two) -> None:
    removal = {"type": "REMOVE", "id": "misc-00002", "reason": "nobody needs it"}
    two.learn(removal, meanwhile=lambda: two.other.apply([Tag(id="misc-00002", uses=1, harmful=1)]))
    assert two.words() == [FIRST, THIRD]


def test_bullets_of_which_one_changed_are_not_merged(two: Two) -> None:
    both = f"{FIRST} {SECOND}"
    merge = {"type": "MERGE", "into": "misc-00001", "absorbed": ["misc-00002"], "content": both}
    lesson = two.learn(merge, meanwhile=lambda: two.other.apply([Update(id="misc-00002", content=f"{SECOND} Always.")]))
    assert lesson.skipped == (
        "misc-00002 was not merged into misc-00001: misc-00002 was changed since it was read.",
        "The words that were found for a merge into misc-00001 are archived: misc-00002 was changed since it was read.",
    )
    assert two.words() == [FIRST, f"{SECOND} Always.", THIRD]
    assert two.archived() == [(both, "misc-00001")]


def test_votes_count_for_what_a_bullet_became(two: Two) -> None:
    recall = two.one.recall("Where to?")
    two.other.apply([Merge(into="misc-00002", absorbed=("misc-00001",))])
    two.one.learn(recall, "crimson", feedback=True, used=["misc-00001"])
    survivor = two.other.memory.bullet("misc-00002")
    assert survivor is not None
    assert (survivor.helpful, survivor.uses) == (1, 2)


def test_a_person_s_change_is_made_and_told(two: Two) -> None:
    seen = two.one.memory.version
    two.other.apply([Update(id="misc-00001", content=THEIRS), Update(id="misc-00003", content=f"{THIRD} Soon.")])
    operations: list[Operation] = [Update(id="misc-00001", content=MINE), Remove(id="misc-00003", reason="by hand")]
    committed = two.one.apply(operations, seen=seen, grow_adds=False)
    assert committed.skipped == ()
    assert committed.notes == (
        "misc-00001 had been changed since it was read; its words were replaced all the same.",
        "misc-00003 was removed, although it was changed since it was read.",
    )
    assert two.words() == [MINE, SECOND]
    assert set(committed.notes) <= set(committed.entry.notes)


def test_an_agent_s_change_is_left_out_and_told(two: Two) -> None:
    seen = two.one.memory.version
    two.other.apply([Update(id="misc-00001", content=THEIRS)])
    committed = two.one.apply([Update(id="misc-00001", content=MINE)], cause="agent", seen=seen)
    assert committed.entry.notes == (
        "misc-00001 keeps its words: it was changed since it was read. Those proposed for it are archived.",
    )
    assert (two.words()[0], two.archived()) == (THEIRS, [(MINE, "misc-00001")])


def test_a_draft_that_was_to_join_a_bullet_that_is_gone_is_kept(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the search for what is known and the transaction, the bullet is archived."""
    between(two, monkeypatch, lambda: two.other.apply([Remove(id="misc-00001", reason="by hand")]))
    committed = two.one.apply([add(FIRST, helpful=2)])
    assert committed.skipped == ()
    (new,) = [operation for operation in committed.entry.operations if isinstance(operation, Add)]
    assert (new.draft.content, new.draft.helpful) == (FIRST, 2)


def test_a_draft_joins_the_bullet_that_took_in_the_one_that_it_was_to_join(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    two.one.apply([add(f"{FIRST[:-1]}!")], grow_adds=False)
    between(two, monkeypatch, lambda: two.other.apply([Merge(into="misc-00004", absorbed=("misc-00001",))]))
    two.one.apply([add(FIRST, helpful=2)])
    assert two.words() == [SECOND, THIRD, f"{FIRST[:-1]}!"]
    survivor = two.other.memory.bullet("misc-00004")
    assert survivor is not None
    assert survivor.helpful == 2


def test_a_draft_does_not_join_a_bullet_that_says_something_else_by_now(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    between(two, monkeypatch, lambda: two.other.apply([Update(id="misc-00001", content=THEIRS)]))
    two.one.apply([add(FIRST)])
    assert two.words() == [THEIRS, SECOND, THIRD, FIRST]


def test_the_limits_of_the_guard_hold_for_the_memory_as_it_is_by_then(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at once are within a fifth of ten bullets, but not of the five that are left."""
    more = two.one.apply([add(f"Crate {number} stands in hall {number * 7}.") for number in range(7)])
    ids = [operation.id for operation in more.entry.operations if isinstance(operation, Add)]

    def meanwhile() -> None:
        two.other.apply([Remove(id=id, reason="by hand") for id in ids[:5]])

    between(two, monkeypatch, meanwhile)
    removals = [Remove(id="misc-00001", reason="r"), Remove(id="misc-00002", reason="r")]
    committed = two.one.apply(removals, cause="agent")
    assert committed.skipped == ("misc-00001, misc-00002 stay active: 2 of 5 at once are more than 20%.",)
    assert two.other.stats().bullets == 5


def test_a_whole_new_cheatsheet_overwrites_nobody_s_words(memory_file: Path) -> None:
    two = Two(memory_file, curation="rewrite", curator="auto")
    titled = "Red parcels: they go to the crimson desk before noon."
    mine, theirs = f"{titled} The desk closes at one.", f"{titled} Refused ones go back to the sender."
    two.one.apply([add(titled)])
    new = "Parcels that are wet are dried before they are weighed."
    items = (f"<memory_item>\n<description>\n{text}\n</description>\n</memory_item>" for text in (FIRST, mine, new))
    two.reply = "<cheatsheet>\n{}\n</cheatsheet>".format("\n".join(items))
    lesson = two.learn(meanwhile=lambda: two.other.apply([Update(id="misc-00004", content=theirs), add("Seal it.")]))
    assert two.words() == [FIRST, SECOND, THIRD, theirs, "Seal it.", new]
    assert two.archived() == [(mine, "misc-00004")]
    assert any("misc-00004 keeps its words" in sentence for sentence in lesson.skipped)
    two.one.close()
    two.other.close()


def between(two: Two, monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> None:
    """Let something happen after a change of the first engine was prepared, and before its transaction."""
    commit = two.one._store.commit

    def late(*args: Any, **more: Any) -> Any:
        monkeypatch.undo()
        call()
        return commit(*args, **more)

    monkeypatch.setattr(two.one._store, "commit", late)
