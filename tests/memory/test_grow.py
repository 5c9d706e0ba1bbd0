"""Grow: what is known is merged, what only looks alike stays."""

from __future__ import annotations

import pytest

from cheatsheet.memory.operations import Add, Draft, Merge, Remove, Tag, Update
from tests.memory.worlds import Memory, add


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
