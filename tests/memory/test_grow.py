"""Grow: what is known is merged, what only looks alike stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.memory.bullet import RESTATEMENT, Bullet
from cheatsheet.memory.likeness import grow as growing
from cheatsheet.memory.likeness.grow import CANDIDATES, grow
from cheatsheet.memory.likeness.merger import lost_facts
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Draft, Merge, Remove, Tag, Update
from cheatsheet.memory.view import Scored
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import drafts
from tests.memory.worlds import NOW, AllAlike, Memory, add


def test_a_paraphrase_is_merged_with_its_counters_and_sources(alike: Memory) -> None:
    alike.commit(add("Always check the units of both sides before you answer.", helpful=2))
    draft = Draft(content="Before you answer, check the units of both sides.", helpful=1, sources=("exp-00002",))
    grown = alike.grow(Add(draft=draft))
    assert grown.operations == [Merge(into="misc-00001", draft=draft)]
    assert "was merged into misc-00001" in grown.notes[0]


def test_below_the_threshold_nothing_is_merged(memory: Memory) -> None:
    memory.commit(add("Always check the units."))
    new = add("Deploy on Mondays only.")
    assert memory.grow(new).operations == [new]


def test_a_threshold_of_zero_is_a_threshold(memory: Memory) -> None:
    """D10: 0.0 must not be read as "use the default"."""
    memory.commit(add("Check the units of every quantity before answering"))
    draft = Draft(content="Before answering check the units")
    assert memory.view.nearest_bullets(draft.content, 1)[0].score < 0.85
    assert memory.grow(Add(draft=draft), threshold=0.0).operations == [Merge(into="misc-00001", draft=draft)]
    assert memory.grow(Add(draft=draft), threshold=0.85).operations == [Add(draft=draft)]


def test_equal_texts_are_merged_whatever_the_threshold(memory: Memory) -> None:
    """F11: exact duplicates are found by their words, not by a cosine of exactly 1."""
    memory.commit(add("Check  the units"))
    assert isinstance(memory.grow(add("check the units."), threshold=1.0).operations[0], Merge)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Use the batch endpoint", "Do not use the batch endpoint", "negates"),
        # D01
        ("Call the batch endpoint for exports", "Do not call the batch endpoint for exports", "negates"),
        # D02: a hint that adds to another is no contradiction; both stay as they are
        ("Warm the lookup table at start", "Never skip a health probe when you warm the lookup table at start", "neg"),
        # D04
        ("Deploy target is region north", "Deploy target is region south", "opposite"),
        ("Ana owns billing", "Ben owns search", "words"),
        ("Write with write_rows", "Write with write_table", "name"),
        ("Retrieve with k=5", "Retrieve with k=7", "numbers"),
        ("Keep the timeout at 30%", "Keep the timeout at 3.0%", "numbers"),
        ("Read the file with utf_8 first", "Read the file with latin_1 first", "numbers"),
        ("Send the form to Berlin for approval", "Send the form to Madrid for approval", "name"),
        # D18: a model of English sees only unknown characters in both
        ("数据库连接要关闭", "周五不要发布", "negates|few words"),
        ("数据库连接要关闭", "周五可以发布新版本", "few words"),
        ("周五要发布", "周五不要发布", "negates"),
    ],
)
def test_what_only_looks_alike_stays(alike: Memory, old: str, new: str, why: str) -> None:
    alike.commit(add(old, helpful=3))
    before = alike.view.bullet("misc-00001")
    grown = alike.grow(add(new))
    assert grown.operations == [add(new)]
    assert "both stay" in grown.notes[0]
    assert any(part in grown.notes[0] for part in why.split("|"))
    assert alike.view.bullet("misc-00001") == before


def test_long_texts_with_the_same_beginning_stay_apart(alike: Memory) -> None:
    """D14: the embedding does not read that far, so the words must decide."""
    beginning = " ".join(f"word{chr(97 + n % 26)}" for n in range(600))
    alike.commit(add(f"{beginning} and then trust the certificate of the server"))
    new = add(f"{beginning} and then write the result to plain text files on disk")
    assert alike.grow(new).operations == [new]
    same = add(f"{beginning} and then trust the certificate of the  server.")
    assert isinstance(alike.grow(same).operations[0], Merge)


def test_a_changed_text_is_compared_by_its_new_words(memory: Memory) -> None:
    """D12: an update must not leave the old embedding behind."""
    memory.commit(add("Check the units of every quantity"))
    memory.commit(Update(id="misc-00001", content="Deploy on Mondays only"))
    assert memory.view.nearest_bullets("Deploy on Mondays only", 1)[0].score == pytest.approx(1.0, abs=1e-5)
    assert memory.view.nearest_bullets("Check the units of every quantity", 1)[0].score < 0.6
    assert isinstance(memory.grow(add("Check the units of every quantity")).operations[0], Add)


def test_a_batch_is_compared_with_itself(memory: Memory) -> None:
    grown = memory.grow(add("Check the units", helpful=1), Tag(id="x-00001"), add("check the units.", sources=("s",)))
    assert grown.operations == [
        Add(draft=Draft(content="Check the units", helpful=1, sources=("s",))),
        Tag(id="x-00001"),
    ]
    assert "proposed twice" in grown.notes[0]


def test_archived_bullets_and_other_kinds_take_nothing_in(memory: Memory) -> None:
    memory.commit(add("Check the units"), add("Close the file", kind="legal"))
    memory.commit(Remove(id="misc-00001"))
    assert isinstance(memory.grow(add("Check the units")).operations[0], Add)
    assert isinstance(memory.grow(add("Close the file")).operations[0], Add)
    assert isinstance(memory.grow(add("Close the file", kind="legal")).operations[0], Merge)


def test_numbers_and_ids_in_a_text_are_only_text(alike: Memory) -> None:
    """D09: counters come from the memory, never from what a model wrote."""
    alike.commit(add("merged text", helpful=5, harmful=1))
    draft = Draft(content="[zz-9] helpful=50 harmful=0 :: merged text\nsecond line")
    alike.commit(*alike.grow(Add(draft=draft)).operations)
    old = alike.view.bullet("misc-00001")
    assert old is not None
    assert (old.helpful, old.harmful) == (5, 1)
    assert [bullet.helpful for bullet in alike.view.bullets()] == [5, 0]


def test_sections_do_not_keep_the_same_lesson_apart(memory: Memory) -> None:
    """A near bullet of another section is found, and keeps its section."""
    memory.commit(add("Check the units", section="formulas_and_calculations", helpful=1))
    grown = memory.grow(add("check the units.", section="common_mistakes_to_avoid"))
    memory.commit(*grown.operations)
    (bullet,) = memory.view.bullets()
    assert (bullet.section, bullet.id, bullet.helpful) == ("formulas_and_calculations", "calc-00001", 1)


def test_the_words_that_say_more_stay(alike: Memory) -> None:
    alike.commit(add("Check the units before answering", helpful=3), add("Close each file after writing it"))
    longer = "Check the units of both sides before you answer"
    grown = alike.grow(add(longer), add("Close the file"), add("Close files after writing"))
    assert isinstance(grown.operations[0], Merge)
    assert grown.operations[0].content == longer
    assert [op.content for op in grown.operations[1:] if isinstance(op, Merge)] == [None, None]
    alike.commit(*grown.operations)
    assert [(bullet.content, bullet.helpful) for bullet in alike.view.bullets()][:2] == [
        (longer, 3),
        ("Close each file after writing it", 0),
    ]


def test_the_words_of_a_pinned_bullet_stay_and_more_than_them_is_added(alike: Memory) -> None:
    alike.commit(add("Check the units before answering", pinned=True))
    same = alike.grow(add("Before you answer, check the units"))
    assert same.operations == [Merge(into="misc-00001", draft=Draft(content="Before you answer, check the units"))]
    more = alike.grow(add("Check the units of both sides before answering"))
    assert isinstance(more.operations[0], Add)
    assert "more than the pinned words" in more.notes[0]


def test_what_is_said_again_with_a_later_end_holds_longer(memory: Memory) -> None:
    soon, late = NOW + timedelta(days=1), NOW + timedelta(days=90)
    memory.commit(add("Revenue grew", expires_at=soon), add("Check the units"))
    grown = memory.grow(add("Revenue grew.", expires_at=late), add("Check the units.", expires_at=soon))
    memory.commit(*grown.operations)
    assert [bullet.expires_at for bullet in memory.view.bullets()] == [late, None]
    memory.commit(*memory.grow(add("Revenue grew", expires_at=soon)).operations)
    assert memory.view.bullets()[0].expires_at == late


def test_what_a_draft_knows_beside_its_words_is_not_lost(memory: Memory) -> None:
    memory.commit(add("Check the units", metadata={"from": "me", "merged_into": "x"}))
    draft = add("check the units.", metadata={"from": "you", "evidence": "a table", "archived_because": "old"})
    memory.commit(*memory.grow(draft).operations)
    metadata = memory.view.bullets()[0].metadata
    assert metadata == {"from": "me", "merged_into": "x", "evidence": "a table"}


def test_a_restatement_does_not_make_a_lesson_one(memory: Memory) -> None:
    memory.commit(add("The answer is blue"))
    memory.commit(*memory.grow(add("the answer is blue", tags=(RESTATEMENT, "seen"))).operations)
    assert memory.view.bullets()[0].tags == ("seen",)
    both = memory.grow(add("It is red", tags=(RESTATEMENT, "a")), add("it is red.", tags=("b",)))
    assert [op.draft.tags for op in both.operations if isinstance(op, Add)] == [("a", "b")]


def test_archived_drafts_pass_as_they_are(memory: Memory) -> None:
    memory.commit(add("Check the units"))
    old = add("Check the units", status="archived", helpful=4)
    assert memory.grow(old).operations == [old]


def test_the_same_is_found_behind_many_that_look_alike(alike: Memory) -> None:
    """Long texts with one beginning lie as near as can be; the one that says the same may be the last of them."""
    alike.commit(*(add(f"Use table {number} for the letter") for number in range(3 * CANDIDATES)))
    grown = alike.grow(add(f"use table {3 * CANDIDATES - 1} for the letter"))
    assert isinstance(grown.operations[0], Merge)
    assert grown.operations[0].into == f"misc-{3 * CANDIDATES:05d}"
    other = alike.grow(add("Use table 99 for the letter"))
    assert isinstance(other.operations[0], Add)
    assert len(other.notes) == CANDIDATES + 1
    assert "10 more bullets" in other.notes[-1]


def test_the_longer_draft_of_a_batch_gives_the_words(alike: Memory) -> None:
    longer = "Check the units of both sides before you answer"
    grown = alike.grow(add("Check the units before answering", uses=1), add(longer, uses=2), add(longer + "."))
    assert grown.operations == [Add(draft=Draft(content=longer, uses=3))]


class Words:
    """A merger that says what it was told to say."""

    def __init__(self, words: str | Exception | None) -> None:
        self.words = words
        self.asked: list[tuple[str, ...]] = []

    def merge_words(self, texts: Sequence[str]) -> str | None:
        self.asked.append(tuple(texts))
        if isinstance(self.words, Exception):
            raise self.words
        return self.words


def merged(memory: Memory, old: str, new: str, words: str | Exception | None) -> tuple[str, str]:
    """The bullet's words after a merge, and what was told before it."""
    memory.commit(add(old, helpful=5, harmful=1))
    grown = grow([add(new)], memory.view, memory.embedder, threshold=0.9, merger=Words(words))
    memory.commit(*grown.operations)
    (bullet,) = memory.view.bullets()
    assert (bullet.id, bullet.helpful, bullet.harmful) == ("misc-00001", 5, 1)
    return bullet.content, " ".join(grown.notes[:-1])


OLD, NEW = "Check all 3 units of Berlin before answering", "Before you answer, check the 3 units of Berlin"


def test_the_words_of_a_merger_count(alike: Memory) -> None:
    assert merged(alike, OLD, NEW, "Before answering: check Berlin's 3 units") == (
        "Before answering: check Berlin's 3 units",
        "",
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (None, "gave none"),
        ("  \n", "gave none"),
        ("Check the units", "lose '3', 'berlin'"),
        ("Check the 4 units of Berlin", "lose '3'"),
        (ModelUnavailableError("no connection"), "no connection"),
    ],
)
def test_words_that_lose_something_do_not_count(alike: Memory, words: str | Exception | None, why: str) -> None:
    content, told = merged(alike, OLD, NEW, words)
    assert content == OLD
    assert why in told


def test_a_merger_is_not_asked_for_equal_words(memory: Memory) -> None:
    memory.commit(add("Check the units"))
    words = Words("anything")
    grown = grow([add("check the units.")], memory.view, memory.embedder, threshold=0.9, merger=words)
    assert isinstance(grown.operations[0], Merge)
    assert not words.asked


def test_lost_facts_are_named() -> None:
    lost = lost_facts(["Never use `Foo` for more than 5 s", "Only if it is red"], "Use it")
    assert lost == ["'5s'", "'>'", "'Foo'", "a negation", "a condition"]
    assert lost_facts(["Wait thirty seconds"], "Wait 30 s") == []


@settings(max_examples=30)
@given(batch=st.lists(drafts, max_size=5), known=st.lists(drafts, max_size=3))
def test_growing_loses_no_vote_and_adds_nothing_twice(batch: list[Draft], known: list[Draft]) -> None:
    memory = Memory(AllAlike(dim=4))
    memory.commit(*(Add(draft=draft) for draft in known))
    adds = [Add(draft=draft) for draft in batch if draft.content.strip()]
    wanted = votes(memory) + sum(add.draft.helpful for add in adds)
    memory.commit(*memory.grow(*adds).operations)
    assert votes(memory) == wanted
    there = {fold(bullet.content) for bullet in memory.view.bullets()}
    active = [add for add in adds if add.draft.status == "active" and fold(add.draft.content) in there]
    assert all(isinstance(operation, Merge | Update) for operation in memory.grow(*active).operations)
    memory.store.close()


def votes(memory: Memory) -> int:
    return sum(bullet.helpful for bullet in memory.view.bullets(status=None))


def test_a_failed_merge_changes_nothing(memory: Memory) -> None:
    memory.commit(add("Check the units", helpful=2), add("Close the file"))
    before = memory.view.bullets()
    memory.commit(
        Merge(into="misc-00001", absorbed=("misc-00002", "misc-00009")),
        Merge(into="misc-00001", absorbed=("misc-00001",)),
        Merge(into="misc-00007", draft=Draft(content="x")),
        Merge(into="misc-00001", absorbed=("misc-00002",), content="x" * 9_000),
    )
    assert memory.view.bullets() == before
    assert len(memory.store.journal("default")[-1].notes) == 4


words = st.lists(
    st.sampled_from("check units file close round end never always the of".split()), min_size=1, max_size=5
)
texts = st.lists(words.map(" ".join), max_size=14)


@settings(max_examples=40)
@given(batch=texts, known=texts, threshold=st.sampled_from([0.0, 0.5, 0.8, 0.9, 1.0]))
def test_looking_up_a_batch_at_once_gives_what_one_by_one_gives(
    batch: list[str], known: list[str], threshold: float
) -> None:
    memory = Memory(HashingEmbedder())
    memory.commit(*map(add, known))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "LOOKED_UP_TOGETHER", 1_000)
        patch.setattr(growing, "ROWS_AT_ONCE", 1)
        one_by_one = memory.grow(*map(add, batch), threshold=threshold)
        patch.setattr(growing, "LOOKED_UP_TOGETHER", 1)
        patch.setattr(growing, "ROWS_AT_ONCE", 5)
        together = memory.grow(*map(add, batch), threshold=threshold)
    assert together == one_by_one
    memory.store.close()


def test_what_is_like_nothing_is_not_looked_up(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.commit(add("Check the units"))
    asked: list[str] = []
    nearest = memory.view.nearest_bullets

    def counted(text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        asked.append(text)
        return nearest(text, k, min_score=min_score)

    monkeypatch.setattr(memory.view, "nearest_bullets", counted)
    monkeypatch.setattr(growing, "LOOKED_UP_TOGETHER", 2)
    grown = memory.grow(add("Deploy on Mondays only"), add("check the units."))
    assert [type(operation) for operation in grown.operations] == [Add, Merge]
    assert asked == ["check the units."]
