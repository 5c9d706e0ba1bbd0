"""A memory that is open: caches, the guard, its past, measures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.outside import Outside
from cheatsheet.errors import OperationError, SetupError
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Query
from cheatsheet.memory.operations import Add, Draft, Remove, Tag, Update

START = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def add(content: str, **more: Any) -> Add:
    return Add(draft=Draft(content=content, **more))


def open_memory(path: str | Path = ":memory:", **settings: Any) -> Engine:
    engine = cheatsheet.open(path, **{"embedder": "hashing"} | settings)
    ticks = iter(range(10_000))
    engine._clock = lambda: START + timedelta(minutes=next(ticks))
    return engine


@pytest.fixture
def memory() -> Iterator[Engine]:
    with open_memory() as engine:
        yield engine


def test_the_same_question_is_not_compiled_again_until_the_memory_changes(memory: Engine) -> None:
    memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
    first, second = memory.recall("parcels"), memory.recall("parcels")
    assert (first.cached, second.cached) == (False, True)
    assert second.context is first.context
    assert not memory.recall("invoices").cached
    assert not memory.recall("parcels", token_budget=50).cached
    assert not memory.recall(Query(text="parcels", choices=("amber",))).cached
    memory.learn("invoices", "amber", feedback="wrong: invoices go to teal")
    assert not memory.recall("parcels").cached
    assert memory.metrics.as_dict()["ace_recalls_cached_total"] == 1


def test_another_process_s_change_ends_the_cache(memory_file: Path) -> None:
    with open_memory(memory_file) as one, open_memory(memory_file) as two:
        one.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
        one.recall("parcels")
        two.learn("parcels", "teal", feedback="wrong: parcels never go to teal")
        again = one.recall("parcels")
        assert not again.cached
        assert "teal" in again.text


def test_the_cache_keeps_only_so_many() -> None:
    with open_memory(recall_cache=2) as memory:
        memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
        for question in ("a", "b", "c"):
            memory.recall(question)
        assert memory.recall("c").cached
        assert not memory.recall("a").cached
    with open_memory(recall_cache=0) as memory:
        memory.recall("a")
        assert not memory.recall("a").cached


def test_texts_are_embedded_once(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from indexes.hashing import HashingEmbedder

    seen: list[tuple[str, str]] = []
    original = HashingEmbedder.embed

    def counting(self: HashingEmbedder, texts: Any, kind: Any = "document") -> Any:
        seen.extend((kind, text) for text in texts)
        return original(self, texts, kind)

    monkeypatch.setattr(HashingEmbedder, "embed", counting)
    for _ in range(2):
        recall = memory.recall("parcels")
        memory.learn(recall, "amber", feedback="wrong: parcels go to crimson")
        memory.recall("parcels")
    assert len(seen) == len(set(seen))


def test_what_a_person_removes_is_removed_and_what_a_model_removes_is_judged(memory: Engine) -> None:
    memory.apply([add(f"Fact number {number} about topic {number * 7}") for number in range(10)])
    ids = [bullet.id for bullet in memory.memory.bullets()]
    judged = memory.apply([Remove(id=id) for id in ids[:9]], cause="import")
    assert memory.stats().bullets == 10
    assert judged.entry.notes
    memory.apply([Remove(id=id) for id in ids[:9]])
    assert memory.stats().bullets == 1
    assert memory.stats().archived == 9


def test_a_placeholder_never_takes_the_place_of_a_bullet(memory: Engine) -> None:
    memory.apply([add("Refunds take five working days, counted from the day of approval.")])
    (bullet,) = memory.memory.bullets()
    memory.apply([Update(id=bullet.id, content="[Previous content preserved]")], cause="import")
    (after,) = memory.memory.bullets()
    assert after.content == bullet.content


def test_hooks_see_every_new_bullet() -> None:
    def dated(draft: Draft) -> Draft:
        return draft.model_copy(update={"expires_at": START + timedelta(days=1)})

    with open_memory(hooks=[dated]) as memory:
        memory.apply([add("The dividend is 2.10")])
        memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
        assert {bullet.expires_at for bullet in memory.memory.bullets()} == {START + timedelta(days=1)}


def test_knowledge_from_outside_comes_at_its_time_and_a_failing_source_stops_no_turn(memory_file: Path) -> None:
    asked: list[str] = []

    def source() -> list[Draft]:
        asked.append("asked")
        if len(asked) == 2:
            raise ConnectionError("no route")
        return [Draft(content=f"News number {len(asked)} from outside")]

    outside = Outside(refresh=source, refresh_after=timedelta(minutes=6), name="wire")
    with open_memory(memory_file, outside=outside) as memory:
        first = memory.learn("one", "a", feedback=True)
        assert "The source 'wire' brought 1 new pieces of advice." in first.notes
        memory.learn("two", "b", feedback=True)
        assert len(asked) == 1
    with open_memory(memory_file, outside=outside) as memory:
        memory.learn("three", "c", feedback=True)  # the clock of this engine begins anew: it is not due again
        assert len(asked) == 1
        memory._clock = lambda: START + timedelta(hours=1)
        failed = memory.learn("four", "d", feedback=True)
        assert "The source 'wire' failed and brought nothing: no route" in failed.notes
        assert failed.experience_id == "exp-00004"
        memory._clock = lambda: START + timedelta(hours=2)
        memory.learn("five", "e", feedback=True)
        assert len(asked) == 3
        assert [bullet.content for bullet in memory.memory.bullets()] == [
            "News number 1 from outside",
            "News number 3 from outside",
        ]


def test_new_bullets_are_compressed_on_request() -> None:
    wordy = "Please note that it is really very important to basically always check the units."
    with open_memory() as plain, open_memory(compress=True) as brief:
        for memory in (plain, brief):
            memory.apply([add(wordy)])
        (whole,), (short,) = plain.memory.bullets(), brief.memory.bullets()
    assert whole.content == wordy
    assert len(short.content) < len(wordy)
    assert "units" in short.content


def test_diff_blame_and_rollback(memory: Engine) -> None:
    memory.apply([add("Refunds take five days")])
    before = memory.memory.version
    memory.learn("How long is a refund?", "9 days", feedback="wrong: it is five days", turn_id="turn-7")
    memory.apply([Update(id="misc-00001", content="Refunds take seven days"), Tag(id="misc-00001", helpful=2)])
    changed = memory.diff(before)
    assert [bullet.id for bullet in changed.added] != []
    touches = memory.blame("misc-00001")
    assert touches[0].cause == "user"
    assert "Refunds take seven days" in str(touches[-1])
    present = memory.as_of(memory.memory.version)
    memory.rollback(before)
    assert [bullet.content for bullet in memory.memory.bullets()] == ["Refunds take five days"]
    assert memory.memory.experiences() == []
    assert "Refunds take five days" in memory.recall("refunds").text
    assert "seven" not in memory.recall("refunds").text
    memory.rollback("turn-7")
    memory.rollback(present_version := before + 2)
    assert [b.content for b in memory.as_of(present_version)] == [b.content for b in present]
    assert {b.id: b for b in memory.as_of(memory.memory.version)} == {b.id: b for b in present}


def test_recall_as_of_a_place_in_the_past(memory: Engine) -> None:
    memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson", turn_id="first")
    memory.learn("parcels", "teal", feedback="wrong: parcels never go to teal")
    assert "never go to teal" in memory.recall("parcels").text
    then = memory.recall("parcels", as_of="first")
    assert "parcels go to crimson" in then.text
    assert "never go to teal" not in then.text
    assert memory.recall("parcels", as_of=0).text == ""
    assert memory.stats().version == 2


def test_a_place_in_the_past_that_is_not_there(memory: Engine) -> None:
    memory.apply([add("one")])
    for wrong in (7, "turn-without-a-trace"):
        with pytest.raises(OperationError):
            memory.rollback(wrong)
    with pytest.raises(OperationError, match="misc-00009"):
        memory.blame("misc-00009")


def test_too_many_experiences_are_archived_least_recently_used_first() -> None:
    with open_memory(max_experiences=2, top_k=1, similarity_threshold=0.5) as memory:
        memory.learn("alpha alpha alpha", "1", feedback=True)
        memory.learn("beta beta beta", "2", feedback=True)
        memory.learn(memory.recall("alpha alpha alpha"), "1", feedback=True)
        assert [experience.query for experience in memory.memory.experiences()] == [
            "alpha alpha alpha",
            "alpha alpha alpha",
        ]
        assert memory.recall("beta beta beta").experiences == ()


def test_a_full_refinement_merges_what_says_the_same() -> None:
    with open_memory() as memory:
        memory.apply([add("Check the units"), add("check  the units!")], grow_adds=False)
        assert memory.stats().bullets == 2
        assert memory.refine() is None
        assert memory.refine(full=True) is not None
        assert (memory.stats().bullets, memory.stats().merged) == (1, 1)
        assert memory.refine(full=True) is None


def test_measures_tell_what_the_memory_holds(memory: Engine) -> None:
    memory.apply([add("one thing", helpful=4), add("quite another matter", harmful=2)])
    measures = memory.measures()
    assert measures["ace_bullets_total"] == 2
    assert measures['ace_bullet_utility{quantile="0"}'] == -2
    assert measures['ace_bullet_utility{quantile="1"}'] == 4


def test_the_name_of_a_file_is_not_taken_for_a_playbook(
    memory: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("- Ask for the receipt.\n", encoding="utf-8")
    with pytest.raises(SetupError, match=r"Give Path\('notes.md'\)"):
        memory.import_playbook("notes.md")
    assert len(memory.import_playbook(Path("notes.md")).added) == 1


def test_an_empty_memory_has_no_quantiles(memory: Engine) -> None:
    assert not any("quantile" in name for name in memory.measures())


def test_a_synthesis_changes_the_memory_while_it_recalls() -> None:
    sheet = (
        "<cheatsheet>\n<memory_item>\n<description>Parcels go to crimson.</description>\n</memory_item>\n</cheatsheet>"
    )
    model = ScriptedModel(lambda request: sheet)
    with cheatsheet.open(":memory:", model=model, embedder="hashing", mode="DC-RS", reflector="rules") as memory:
        memory.learn("parcels", "amber", feedback=False)
        recall = memory.recall("parcels")
        assert "Parcels go to crimson." in recall.text
        assert memory.history()[0].cause == "recall"
        assert any("crimson" in bullet.content for bullet in memory.memory.bullets())
