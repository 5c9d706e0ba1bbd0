"""The guard: what a proposal may not do to the memory, and what becomes of it then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.guard import EARLIER_WORDING_OF, LEFT_OUT, PROPOSED_FOR, Guarded, GuardPolicy, guard
from cheatsheet.memory.gate.holdings import held
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import operations
from tests.memory.worlds import NOW, Memory, add
from tests.roles.fakes import FakeMemory, bullet

LONG = (
    "Geometric Distance Calculations: for problems with distances and coordinates, use the distance formula and keep "
    "squared distances to avoid radicals.\n\nExample:\ndef squared_distance(p1, p2):\n"
    "    return (p2[0] - p1[0])**2 + (p2[1] - p1[1])**2\n# 13, 25 and 169 are squared distances of whole numbers."
)
SHEET = [bullet("misc-00001", LONG), *(bullet(f"misc-{n:05d}", f"Advice number {n} of many.") for n in range(2, 11))]
ARCHIVE = GuardPolicy(left_out="archive")


def judged(*operations: Operation, sheet: Sequence[Bullet] = SHEET, policy: GuardPolicy | None = None) -> Guarded:
    return guard(operations, FakeMemory(sheet), policy)


def archived(guarded: Guarded) -> list[Draft]:
    return [op.draft for op in guarded.operations if isinstance(op, Add) and op.draft.status == "archived"]


def replaced(old: str, new: str) -> Guarded:
    """What becomes of new words."""
    return judged(Update(id="misc-00001", content=new), sheet=[bullet("misc-00001", old)])


class TestWhatPasses:
    @pytest.mark.parametrize(
        "operation",
        [
            add("A new insight."),
            add("Kept for later.", status="archived"),
            Tag(id="misc-00002", helpful=1),
            Update(id="misc-00001", content=LONG + "\nSquare roots come last."),
            Update(id="misc-00002", content="Advice number 2 of a few."),
            Update(id="misc-00002", section="hints", tags=("x",)),
            Merge(into="misc-00002", absorbed=("misc-00003",), content="Advice number 2 and number 3 of many."),
            Merge(into="misc-00002", draft=Draft(content="Advice number 2 of so many.")),
            Merge(into="misc-00001", draft=Draft(content="Keep squares."), content=LONG + "\nKeep squares."),
            Remove(id="misc-00003", reason="it is wrong"),
            Remove(id="exp-00003"),
            Restore(id="misc-00099"),
            Update(id="misc-00099", content="not there"),
            Merge(into="misc-00099", absorbed=("misc-00001",)),
        ],
    )
    def test_small_and_sane_operations_pass_untouched(self, operation: Operation) -> None:
        assert judged(operation) == Guarded((operation,))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("120 minutes are 2 hours.", "180 minutes are 3 hours."),  # a correction
            ("Send refunds to crimson.", "Send refunds to amber, and name the invoice."),
            ("数据库连接要关闭", "数据库连接必须关闭"),
            ("def f(x):\n    ...\n    return x", "def f(x):\n    ...\n    return x + 1"),
        ],
    )
    def test_corrections_pass_untouched(self, old: str, new: str) -> None:
        assert replaced(old, new).refused == ()
        assert replaced(old, new).operations == (Update(id="misc-00001", content=new),)


class TestWords:
    @pytest.mark.parametrize(
        "new",
        [
            "[Previous content preserved...]",
            "Geometric Distance Calculations\n[Previous content preserved]",
            f"[Previous content preserved with addition:]\n{LONG}",
            "same as before",
            "… (unchanged) …",
            "The rest of the cheatsheet remains the same.",
            "see above",
            "...",
            "  ",
            "",
            "Be careful with distances.",
            "Geometric Distance Calculations: use the distance formula.",
            LONG.replace("(p2[0] - p1[0])**2 + (p2[1] - p1[1])**2", "...").partition("def")[0] + "\n...",
        ],
    )
    def test_words_that_drop_what_the_old_ones_held_are_archived(self, new: str) -> None:
        guarded = replaced(LONG, new)
        assert not any(isinstance(operation, Update) for operation in guarded.operations)
        assert [draft.content for draft in archived(guarded)] == ([new] if new.strip() else [])
        assert all(draft.metadata[PROPOSED_FOR] == "misc-00001" for draft in archived(guarded))
        assert all(draft.metadata["archived_because"] for draft in archived(guarded))
        assert guarded.refused[0].text.startswith("misc-00001 keeps its words: ")

    def test_numbers_names_and_code_count_by_themselves(self) -> None:
        words = " ".join(f"{first}{last}ing" for first in "bdfgklm" for last in ("a", "o", "ir", "ess"))
        old = f"{words}: {', '.join(map(str, range(101, 115)))}"
        new = f"{words}: the numbers of all these towers are kept elsewhere"
        assert "numbers, names and pieces of code" in replaced(old, new).refused[0].text

    def test_other_properties_of_a_refused_update_pass(self) -> None:
        update = Update(id="misc-00001", content="x", section="hints")
        assert judged(update).operations[-1] == Update(id="misc-00001", section="hints")

    def test_words_that_shrink_a_little_pass_and_the_old_ones_are_archived(self) -> None:
        new = LONG.partition("\n# 13")[0]
        guarded = replaced(LONG, new)
        assert guarded.refused == ()
        old, update = guarded.operations
        assert update == Update(id="misc-00001", content=new)
        assert isinstance(old, Add)
        assert (old.draft.content, old.draft.status) == (LONG, "archived")
        assert old.draft.metadata[EARLIER_WORDING_OF] == "misc-00001"
        assert "without 7 of 38 words" in old.draft.metadata["archived_because"]

    def test_a_few_words_that_are_replaced_altogether_are_archived(self) -> None:
        guarded = replaced("Money goes to crimson.", "Double charges are for amber.")
        assert [draft.content for draft in archived(guarded)] == ["Money goes to crimson."]
        assert guarded.operations[-1] == Update(id="misc-00001", content="Double charges are for amber.")

    def test_many_small_updates_in_one_batch_are_one_large_one(self) -> None:
        words = " ".join(f"word{n}" for n in range(40))
        steps = [Update(id="misc-00001", content=" ".join(words.split()[:n])) for n in (30, 23, 17)]
        guarded = judged(*steps, sheet=[bullet("misc-00001", words)])
        passed = [operation for operation in guarded.operations if isinstance(operation, Update)]
        assert passed == steps[:2]

    def test_what_was_refused_before_is_archived_once(self) -> None:
        memory = FakeMemory([*SHEET, bullet("misc-00011", "Be careful.", status="archived")])
        assert guard([Update(id="misc-00001", content="be careful")], memory).operations == ()
        twice = judged(Update(id="misc-00001", content="x"), Update(id="misc-00001", content="x"))
        assert len(archived(twice)) == 1

    def test_a_new_bullet_of_such_words_alone_is_archived(self) -> None:
        guarded = judged(add("[Previous content for game theory remains unchanged...]"), add(" "))
        assert [draft.content for draft in archived(guarded)] == [
            "[Previous content for game theory remains unchanged...]"
        ]
        assert len(guarded.operations) == 1
        assert len(guarded.refused) == 2

    def test_a_new_bullet_with_such_words_in_it_is_added_without_them(self) -> None:
        guarded = judged(add("Set theory.\n[Previous content preserved with addition:]\nList all sizes."))
        assert guarded.operations == (add("Set theory.\nList all sizes."),)
        assert len(guarded.refused) == 1


class TestMerges:
    def test_a_merge_that_drops_a_part_changes_nothing(self) -> None:
        merge = Merge(into="misc-00001", absorbed=("misc-00002", "misc-00003"), content="Mind the distances.")
        guarded = judged(merge)
        assert [draft.content for draft in archived(guarded)] == ["Mind the distances."]
        assert len(guarded.operations) == 1
        assert guarded.refused[0].operations == (merge,)

    def test_a_merge_without_words_may_not_swallow_others(self) -> None:
        merge = Merge(into="misc-00002", absorbed=("misc-00001",))
        assert judged(merge).operations == ()
        assert "misc-00001 was not merged into misc-00002: the new words hold" in judged(merge).refused[0].text

    def test_the_new_bullet_of_a_failed_merge_is_added(self) -> None:
        draft = Draft(content="Something else.", helpful=2, sources=("exp-00001",))
        guarded = judged(Merge(into="misc-00001", draft=draft, content="Short."))
        assert guarded.operations[-1] == Add(draft=draft)

    def test_the_words_of_a_merge_hold_the_new_bullet_too(self) -> None:
        draft = Draft(content="Distances of lattice points are roots of sums of two squares, so test their residues.")
        guarded = judged(Merge(into="misc-00001", draft=draft, content=LONG))
        assert guarded.operations == (Add(draft=draft),) or guarded.operations[-1] == Add(draft=draft)
        assert "of the new bullet" in guarded.refused[0].text

    def test_a_merge_goes_to_the_survivor_of_a_merged_bullet(self) -> None:
        """The store retargets it, so that its words are judged by those of the survivor."""
        sheet = [*SHEET, bullet("misc-00020", "Gone.", status="merged", metadata={"merged_into": "misc-00001"})]
        guarded = judged(Merge(into="misc-00020", draft=Draft(content="x y z"), content="x y z"), sheet=sheet)
        assert "was not merged into misc-00001" in guarded.refused[0].text


class TestRemovals:
    def test_too_many_at_once_stay(self) -> None:
        few = [Remove(id=f"misc-{n:05d}", reason="wrong") for n in (2, 3)]
        assert judged(*few) == Guarded(tuple(few))
        many = [*few, Remove(id="misc-00004", reason="wrong")]
        guarded = judged(*many)
        assert guarded.operations == ()
        assert guarded.refused[0].text == (
            "misc-00002, misc-00003, misc-00004 stay active: 3 of 10 at once are more than 20%."
        )

    def test_a_small_sheet_may_lose_one(self) -> None:
        remove = Remove(id="misc-00002", reason="wrong")
        assert judged(remove, sheet=SHEET[:2]).operations == (remove,)
        assert judged(remove, Remove(id="misc-00001", reason="wrong"), sheet=SHEET[:2]).operations == ()

    def test_what_a_rewrite_leaves_out_is_kept_by_default(self) -> None:
        remove = Remove(id="misc-00002", reason=LEFT_OUT)
        assert judged(remove).operations == ()
        assert judged(remove).refused[0].text == "misc-00002 stays active: what a new cheatsheet leaves out is kept."
        assert judged(remove, policy=ARCHIVE).operations == (remove,)

    def test_pinned_bullets_never_go(self) -> None:
        sheet = [*SHEET, bullet("misc-00011", "Pinned.", pinned=True)]
        operations = (
            Remove(id="misc-00011", reason="wrong"),
            Update(id="misc-00011", pinned=False),
            Merge(into="misc-00002", absorbed=("misc-00011",), content="Advice number 2 of many. Pinned."),
        )
        guarded = judged(*operations, sheet=sheet, policy=GuardPolicy(left_out="archive", max_loss=1))
        assert all(isinstance(operation, Add) for operation in guarded.operations)
        assert len(guarded.refused) == 3

    def test_a_removal_without_a_reason_gets_a_name(self) -> None:
        assert judged(Remove(id="misc-00002")).operations == (
            Remove(id="misc-00002", reason="removed without a reason"),
        )

    def test_a_roll_back_is_for_persons(self) -> None:
        state = bullet("misc-00001", "x").model_dump(mode="json")
        assert judged(Restore(id="misc-00001", state=state)).operations == ()

    def test_left_out_ones_are_counted_over_time(self) -> None:
        """Slow erosion: one bullet a step is below every limit of a step, and yet it ends."""
        memory = Memory(HashingEmbedder())
        memory.commit(*(add(f"Advice about topic {chr(97 + n)}{n}") for n in range(20)))
        lost = [_leave_one_out(memory, step) for step in range(20)]
        assert lost == [True] * 6 + [False] * 14
        assert memory.view.count_bullets() == 14
        reasons = [b.metadata["archived_because"] for b in memory.view.bullets(status="archived")]
        assert reasons == [LEFT_OUT] * 6
        memory.store.close()


def _leave_one_out(memory: Memory, step: int) -> bool:
    first = memory.view.bullets()[0]
    guarded = guard([Remove(id=first.id, reason=LEFT_OUT)], memory.view, ARCHIVE)
    at = NOW + timedelta(minutes=step + 1)
    memory.store.commit("default", Change(at=at, cause="turn", operations=guarded.operations))
    return memory.view.count_bullets("archived") == step + 1


def test_a_wording_never_shrinks_below_half_of_what_it_was() -> None:
    """Slow erosion: each rewording drops a tenth, which no single step forbids."""
    memory = Memory(HashingEmbedder())
    words = [f"word{n}" for n in range(100)]
    memory.commit(add(" ".join(words)))
    for step in range(30):
        now = memory.view.bullets()[0].content.split()
        update = Update(id="misc-00001", content=" ".join(now[: len(now) * 9 // 10]))
        guarded = guard([update], memory.view)
        at = NOW + timedelta(minutes=step + 1)
        memory.store.commit("default", Change(at=at, cause="turn", operations=guarded.operations))
    left = memory.view.bullets()[0].content.split()
    assert 50 <= len(left) < 56
    kept = {word for bullet in memory.view.bullets(status=None) for word in bullet.content.split()}
    assert kept == set(words)
    memory.store.close()


# Laws

_words = st.sampled_from(["check", "units", "not", "k=5", "f(x)", "ABC", "数据", "...", "\n", "42", "write_rows", "."])
_contents = st.lists(_words, min_size=1, max_size=30).map(" ".join) | st.sampled_from(
    ["", " ", "[Previous content preserved...]", "same as before", "...", LONG, LONG[:100]]
)
_known = [f"misc-{n:05d}" for n in range(1, 9)]
_ids = st.sampled_from([*_known, "exp-00001", "misc-00099", ""])
_drafts = st.builds(Draft, content=_contents, status=st.sampled_from(["active", "archived"]), pinned=st.booleans())
_proposals = st.one_of(
    st.builds(Add, draft=_drafts),
    st.builds(Update, id=_ids, content=st.none() | _contents, pinned=st.none() | st.booleans()),
    st.builds(
        Merge,
        into=_ids,
        absorbed=st.lists(_ids, max_size=3).map(tuple),
        draft=st.none() | _drafts,
        content=st.none() | _contents,
    ),
    st.builds(Remove, id=_ids, reason=st.sampled_from(["", "wrong", LEFT_OUT])),
    st.builds(Restore, id=_ids, state=st.none() | st.just({}) | st.just(SHEET[0].model_dump(mode="json"))),
    st.builds(Tag, id=_ids, helpful=st.integers(0, 2)),
    operations(),
)
_policies = st.builds(
    GuardPolicy,
    left_out=st.sampled_from(["keep", "archive"]),
    max_loss=st.sampled_from([0.0, 0.2, 1.0]),
    max_erosion=st.sampled_from([0.0, 0.3, 1.0]),
    small_change=st.sampled_from([0, 8]),
)


def _bullet(number: int, content: str, pinned: bool, status: Any) -> Bullet:
    return bullet(f"misc-{number:05d}", content, pinned=pinned, status=status)


@st.composite
def _sheets(draw: st.DrawFn) -> Sheet:
    whole = _contents.filter(lambda text: text.strip() != "")
    statuses = st.sampled_from(["active"] * 4 + ["archived", "merged"])
    bullets = [_bullet(n, draw(whole), draw(st.booleans()), draw(statuses)) for n in range(1, draw(st.integers(1, 9)))]
    return Sheet({each.id: each for each in bullets}, next_number=len(bullets) + 1)


def _view(sheet: Sheet) -> FakeMemory:
    return FakeMemory(sheet)


def _living(sheet: Sheet) -> Iterator[Bullet]:
    return (each for each in sheet if each.status == "active")


@given(_sheets(), st.lists(_proposals, max_size=8), _policies)
@settings(max_examples=150)
def test_laws(sheet: Sheet, proposed: list[Operation], policy: GuardPolicy) -> None:
    guarded = guard(proposed, _view(sheet), policy)  # never raises
    after = sheet.apply(guarded.operations, at=NOW)
    everywhere = {fold(each.content) for each in after}
    for before in _living(sheet):
        now = after.bullets[before.id]
        if before.pinned:
            assert now.status == "active"
            assert now.pinned
        assert now.status in ("active", "archived", "merged")
        assert now.content.strip()
        if now.status != "merged":
            # Its words are there as they were, or the new ones hold nearly all of them.
            loss = held(before.content, now.content)
            little = not loss.shrinks and loss.lost_words <= policy.small_change and loss.word_share >= 0.5
            assert fold(before.content) in everywhere or little
            assert loss.word_share >= policy.min_kept or loss.lost_words <= max(policy.small_change, 2)
    for item in guarded.refused:  # what is refused is not lost
        for words in _proposed_words(item.operations):
            assert fold(words) in everywhere or not words.strip() or "in the place of others" in item.text


@given(_sheets(), st.lists(_proposals, max_size=8), _policies)
@settings(max_examples=60)
def test_guarding_twice_is_guarding_once(sheet: Sheet, proposed: list[Operation], policy: GuardPolicy) -> None:
    once = guard(proposed, _view(sheet), policy)
    twice = guard(once.operations, _view(sheet), policy)
    assert twice.operations == once.operations


@given(_sheets(), st.lists(_proposals, max_size=8))
@settings(max_examples=60)
def test_no_step_takes_more_than_its_share(sheet: Sheet, proposed: list[Operation]) -> None:
    guarded = guard(proposed, _view(sheet), ARCHIVE)
    after = sheet.apply(guarded.operations, at=NOW)
    gone = [each.id for each in _living(sheet) if after.bullets[each.id].status == "archived"]
    assert len(gone) <= max(1, int(0.2 * len(list(_living(sheet)))))
    assert all(after.bullets[id].metadata.get("archived_because") for id in gone)


def _proposed_words(operations: Sequence[Operation]) -> Iterator[str]:
    for operation in operations:
        if isinstance(operation, Update | Merge) and operation.content is not None:
            yield operation.content
        if isinstance(operation, Merge) and operation.draft is not None:
            yield operation.draft.content
        if isinstance(operation, Add):
            yield operation.draft.content


def test_words_are_counted_with_repetitions() -> None:
    loss = held("x = 1\nx = 1\nx = 2", "x = 1")
    assert (loss.words, loss.lost_words) == (6, 4)
    assert Counter({"a": 1}) == Counter("a")
