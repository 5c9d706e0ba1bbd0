"""What of a change still fits a memory that others changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.gate.meanwhile import Meanwhile, fit
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.operations import Add, Merge, Operation, Remove, Tag, Update
from tests.memory.strategies import operations
from tests.memory.worlds import NOW, add

LATER = datetime(2027, 1, 1, tzinfo=UTC)
ONE = "Check the seal before the crate is loaded."
SHEET = Sheet().apply([add(ONE), add("Weigh every parcel twice."), add("Sign the list.")], at=NOW)
UNTOUCHED = Meanwhile(1, frozenset(), list)


def changed(*numbers: int) -> Meanwhile:
    """These bullets have other words, or another status, since they were seen."""
    return Meanwhile(2, frozenset(numbers), list)


def written(*found: Operation) -> Meanwhile:
    """Others wrote this."""
    entry = JournalEntry(version=2, at=NOW, cause="turn", operations=found)
    return Meanwhile(2, frozenset(), lambda: [entry])


def test_a_change_fits_where_nothing_changed() -> None:
    some = (Update(id="misc-00001", content="x"), Remove(id="misc-00002"), Merge(into="misc-00001", absorbed=("b-2",)))
    assert fit(some, UNTOUCHED, SHEET.bullets.get, by_hand=False).operations == some


def test_an_update_loses_its_words_and_nothing_else() -> None:
    update = Update(id="misc-00001", content="x y z", section="meta strategies", pinned=True)
    fitted = fit([update], changed(1), SHEET.bullets.get, by_hand=False)
    proposal, rest = fitted.operations
    assert rest == Update(id="misc-00001", section="meta strategies", pinned=True)
    assert isinstance(proposal, Add)
    assert (proposal.draft.status, proposal.draft.content) == ("archived", "x y z")
    assert proposal.draft.metadata["archived_because"] == "misc-00001 was changed since it was read"


def test_an_earlier_wording_is_not_archived_where_the_wording_stays() -> None:
    """What the guard archives beside a new wording goes with it."""
    earlier = add(ONE, status="archived", metadata={"earlier_wording_of": "misc-00001"})
    fitted = fit([earlier, Update(id="misc-00001", content="Check.")], changed(1), SHEET.bullets.get, by_hand=False)
    assert [operation.draft.content for operation in fitted.operations if isinstance(operation, Add)] == ["Check."]


def test_a_draft_is_a_new_bullet_again_and_takes_its_end_along() -> None:
    draft = add("Check the seal.", expires_at=LATER, helpful=1).draft
    merge = Merge(into="misc-00001", draft=draft, content="Check the seal.")
    ends = (Update(id="misc-00001", expires_at=LATER), Update(id="misc-00002", expires_at=LATER))
    fitted = fit([merge, *ends], changed(1), SHEET.bullets.get, by_hand=False)
    assert fitted.operations == (Add(draft=draft), ends[1])
    assert fitted.skipped == ()


def test_words_that_a_model_found_for_a_merge_are_archived() -> None:
    merge = Merge(into="misc-00001", draft=add("Check the seal.").draft, content="Check seals, always.")
    fitted = fit([merge], changed(1), SHEET.bullets.get, by_hand=True)
    assert [op.draft.content for op in fitted.operations if isinstance(op, Add)] == [
        "Check the seal.",
        "Check seals, always.",
    ]


def test_a_removal_stands_where_others_only_counted_or_removed_it_too() -> None:
    removal = Remove(id="misc-00001", reason="r")
    seen = written(Tag(id="misc-00001", uses=3, harmful=1), Tag(id="misc-00002", helpful=1))
    assert fit([removal], seen, SHEET.bullets.get, by_hand=False).operations == (removal,)
    gone = SHEET.apply([removal], at=NOW)
    assert fit([removal], changed(1), gone.bullets.get, by_hand=False).operations == (removal,)


def test_an_experience_is_archived_whatever_bullets_became_of() -> None:
    removal = Remove(id="exp-00001", reason="over the limit")
    assert fit([removal], changed(1), SHEET.bullets.get, by_hand=False).operations == (removal,)


FIRST = [add(f"Advice {number}", section="formulas and calculations") for number in range(3)]
sheets = st.lists(operations(6), max_size=6).map(lambda found: Sheet().apply([*FIRST, *found], at=NOW))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Operation], Meanwhile, Sheet]:
    sheet = draw(sheets)
    numbers = draw(st.sets(st.sampled_from([number_of(id) or 0 for id in sheet.bullets])))
    journal = draw(st.lists(operations(6), max_size=3))
    entry = JournalEntry(version=2, at=NOW, cause="turn", operations=tuple(journal))
    since = Meanwhile(2, frozenset(numbers), lambda: [entry])
    return draw(st.lists(operations(6), max_size=6)), since, sheet


def drafted(found: Iterable[Operation]) -> list[str]:
    """All drafts, whether they become bullets or join some."""
    return sorted(op.draft.model_dump_json() for op in found if isinstance(op, Add | Merge) and op.draft)


def words_in(found: Iterable[Operation]) -> set[str]:
    """All words that operations give to bullets."""
    given_words = {op.content for op in found if isinstance(op, Update | Merge) and op.content is not None}
    return given_words | {op.draft.content for op in found if isinstance(op, Add | Merge) and op.draft}


@settings(max_examples=60)
@given(case=cases())
def test_fitting_twice_is_fitting_once(case: tuple[list[Operation], Meanwhile, Sheet]) -> None:
    pending, since, sheet = case
    once = fit(pending, since, sheet.bullets.get, by_hand=False)
    twice = fit(once.operations, since, sheet.bullets.get, by_hand=False)
    assert (twice.operations, twice.skipped) == (once.operations, ())


@settings(max_examples=60)
@given(case=cases(), by_hand=st.booleans())
def test_votes_and_new_bullets_are_never_lost(case: tuple[list[Operation], Meanwhile, Sheet], by_hand: bool) -> None:
    pending, since, sheet = case
    fitted = fit(pending, since, sheet.bullets.get, by_hand=by_hand)
    tags = [[op for op in found if isinstance(op, Tag)] for found in (pending, fitted.operations)]
    assert tags[0] == tags[1]
    assert set(drafted(pending)) <= set(drafted(fitted.operations))


@settings(max_examples=60)
@given(case=cases())
def test_what_is_left_out_is_told_and_its_words_are_kept(case: tuple[list[Operation], Meanwhile, Sheet]) -> None:
    pending, since, sheet = case
    fitted = fit(pending, since, sheet.bullets.get, by_hand=False)
    for operation in pending:
        if operation in fitted.operations:
            continue
        if isinstance(operation, Remove) or (isinstance(operation, Update) and operation.content is not None):
            assert any(sentence.startswith(f"{operation.id} ") for sentence in fitted.skipped)
        if isinstance(operation, Merge) and operation.absorbed:
            assert any(f"not merged into {operation.into}:" in sentence for sentence in fitted.skipped)
    assert words_in(pending) <= words_in(fitted.operations) | {bullet.content for bullet in sheet}


@settings(max_examples=60)
@given(case=cases())
def test_a_person_is_told_but_asked_for_nothing(case: tuple[list[Operation], Meanwhile, Sheet]) -> None:
    pending, since, sheet = case
    fitted = fit(pending, since, sheet.bullets.get, by_hand=True)
    absorbing = [op for op in pending if not isinstance(op, Merge) or op.absorbed]
    assert [op for op in fitted.operations if op in absorbing] == absorbing
