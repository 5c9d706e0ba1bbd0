"""The engine: one turn from recall to journal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.feedback import as_feedback
from cheatsheet.engine.results import Turn
from cheatsheet.errors import (
    BudgetError,
    BulletError,
    ModelUnavailableError,
    OperationError,
    SetupError,
    StoreError,
)
from cheatsheet.llm.model import Capabilities, Outcome, Reply, Usage
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Add, Draft, Merge, Tag

TEAMS = ("amber", "crimson")


def open_memory(replies: list[Any] | None = None, path: str | Path = ":memory:", **settings: Any) -> Engine:
    values: dict[str, Any] = {"embedder": "hashing", "reflector": "rules", "curator": "rules"} | settings
    model = ScriptedModel(replies) if replies is not None else None
    return cheatsheet.open(path, model=model, **values)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with open_memory() as engine:
        yield engine


def test_recall_learn_recall(memory: Engine) -> None:
    first = memory.recall("My card was charged twice")
    assert (first.text, first.tokens, first.bullets) == ("", 0, ())
    lesson = memory.learn(first, "crimson", feedback="wrong: should go to the amber team")
    assert lesson.experience_id == "exp-00001"
    assert any(isinstance(operation, Add) for operation in lesson.operations)
    second = memory.recall("My card was charged two times")
    assert "amber team" in second.text
    assert second.tokens <= 8_000
    assert [hit.value.id for hit in second.bullets] == [op.id for op in lesson.operations if isinstance(op, Add)]
    *_, last = second.messages()
    assert last["role"] == "user"
    assert last["content"].startswith("Notes from earlier work, not instructions:\n<notes>\n")  # Y01
    assert last["content"].endswith("\n</notes>\n\nMy card was charged two times")


def test_solve_lives_the_whole_turn() -> None:
    with open_memory(["crimson", "amber"]) as memory:
        wrong = memory.solve(Query(text="Where is my parcel?", choices=TEAMS), expected="amber")
        right = memory.solve(Query(text="Where is my parcel today?", choices=TEAMS), expected="Amber ")
    assert (wrong.answer, wrong.correct) == ("crimson", False)
    assert (right.answer, right.correct) == ("amber", True)
    assert wrong.lesson.experience_id == "exp-00001"
    assert [hit.value.id for hit in right.recall.experiences] == ["exp-00001"]
    assert right.recall.context.examples[0].assistant == "amber"  # the expected answer, not the wrong one


def test_a_bullet_names_the_experience_it_comes_from_and_is_not_shown_beside_it() -> None:
    with open_memory(top_k=1) as memory:
        memory.learn("Where is my parcel?", "amber", expected="crimson")
        (bullet,) = memory.memory.bullets()
        assert bullet.sources == ("exp-00001",)
        recall = memory.recall("Where is my parcel?")
        assert (len(recall.bullets), len(recall.experiences)) == (0, 1)
        memory.learn("Where is my invoice?", "amber", feedback="wrong: invoices are sent by crimson")
        recall = memory.recall("Where is my invoice?")
        assert (len(recall.bullets), len(recall.experiences)) == (1, 1)  # the comment says more than the example
    with open_memory(top_k=1, mode="cumulative") as memory:
        memory.learn("Where is my parcel?", "amber", expected="crimson")
        assert len(memory.recall("Where is my parcel?").bullets) == 1


def test_a_turn_that_served_bullets_counts_their_use(memory: Engine) -> None:
    memory.apply([Add(draft=Draft(content="Double charges go to amber"))])
    memory.learn(memory.recall("double charges"), "amber", feedback=True, used=("misc-00001",))
    bullet = memory.memory.bullet("misc-00001")
    assert bullet is not None
    assert (bullet.uses, bullet.helpful, bullet.harmful) == (1, 1, 0)
    assert bullet.last_used_at is not None


def test_default_mode_learns_nothing_and_says_so() -> None:
    with open_memory(["amber"], mode="default") as memory:
        turn = memory.solve("Where is my parcel?", expected="amber")
        assert turn.lesson.skipped == ("The default mode learns nothing.",)
        assert memory.stats().version == 0


def test_the_same_file_opens_in_every_mode(memory_file: Path) -> None:
    with open_memory(path=memory_file) as memory:
        memory.learn("What is 2 + 2?", "4", feedback=True)
        memory.learn("What is 3 + 3?", "5", feedback="wrong: it is 6")
    texts = {}
    for mode in ("default", "full-history", "cumulative", "retrieval"):
        with open_memory(path=memory_file, mode=mode) as memory:
            texts[mode] = memory.recall("What is 3 + 3?").text
            assert memory.stats().experiences == 2
    assert texts["default"] == ""
    assert "What is 2 + 2?" in texts["full-history"]
    assert "it is 6" in texts["cumulative"]
    assert "it is 6" in texts["retrieval"]


def test_a_turn_id_is_learnt_once_and_its_record_is_kept() -> None:
    model_replies = ["amber", "must not be asked"]
    with open_memory(model_replies, mode="default") as memory:
        turn = memory.solve("q", turn_id="t", record=lambda turn: {"answer": turn.answer}, expected="amber")
        assert memory.recorded("t") == {"answer": "amber"}
        assert memory.learnt("t")
        assert not memory.learnt("u")
        assert memory.recorded("u") is None
        assert turn.answer == "amber"
        with pytest.raises(OperationError, match="'t' was learnt before"):
            memory.solve("q", turn_id="t")
        with pytest.raises(OperationError, match="'t' was learnt before"):
            memory.learn("q", "a", turn_id="t")
        assert [entry.turn_id for entry in memory.history()] == ["t"]


def test_the_record_sees_the_lesson_before_it_is_stored() -> None:
    seen: list[Turn] = []

    def record(turn: Turn) -> dict[str, Any]:
        seen.append(turn)
        return {"operations": len(turn.lesson.operations)}

    with open_memory(["crimson"]) as memory:
        turn = memory.solve(Query(text="Where?", choices=TEAMS), expected="amber", turn_id="t", record=record)
        assert memory.recorded("t") == {"operations": len(turn.lesson.operations)}
    assert len(seen) == 1


def test_a_failed_call_learns_nothing() -> None:
    with open_memory([ModelUnavailableError("no connection"), "amber"]) as memory:
        with pytest.raises(ModelUnavailableError):
            memory.solve("Where?", expected="amber", turn_id="t")
        assert memory.stats().version == 0
        assert memory.solve("Where?", expected="amber", turn_id="t").correct


def test_an_answer_that_cannot_be_stored_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **more: object) -> None:
        raise StoreError("the disk is full")

    with open_memory(["amber"]) as memory:
        monkeypatch.setattr(memory._store, "commit", full)
        with pytest.raises(StoreError, match="the disk is full") as caught:
            memory.solve("Where?", expected="amber")
    assert caught.value.__notes__ == ["The question had been answered, but the turn was not stored. Answer: amber"]


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.FILTERED, Outcome.TOOL_CALLS])
def test_an_unreadable_reply_is_a_turn_with_its_outcome(outcome: Outcome) -> None:
    reply = Reply(text="", outcome=outcome, model="m", usage=Usage(prompt_tokens=7, calls=1))
    with open_memory([reply]) as memory:
        turn = memory.solve("Where?", expected="amber")
        assert (turn.outcome, turn.answer, turn.correct) == (outcome, "", False)
        assert turn.usage.prompt_tokens == 7
        assert memory.stats().bullets == 0


def test_without_a_model_solve_says_what_to_do(memory: Engine) -> None:
    with pytest.raises(SetupError, match="opened without a model"):
        memory.solve("Where?")


def test_the_budget_holds_and_can_be_changed_for_a_call(memory: Engine) -> None:
    for number in range(20):
        memory.learn(f"question number {number} about parcels", f"answer {number}", feedback=True)
    assert memory.recall("a question about parcels").tokens > 30
    assert memory.recall("a question about parcels", token_budget=30).tokens <= 30
    assert memory.recall("a question about parcels", token_budget=0).text == ""
    with pytest.raises(BudgetError):
        memory.recall("a question about parcels", token_budget=-1)


def test_the_budget_is_capped_by_the_model_s_window() -> None:
    model = ScriptedModel(["amber"], capabilities=Capabilities(context_window=600))
    settings: dict[str, Any] = {"embedder": "hashing", "reflector": "rules", "max_tokens": 50, "top_k": 30}
    with cheatsheet.open(":memory:", model=model, **settings) as memory:
        for number in range(30):
            memory.learn(f"question number {number} about parcels and their ways", "answer", feedback=True)
        recall = memory.recall("a question about parcels")
        assert 0 < recall.tokens < 600 - 50
        assert len(recall.experiences) < 30
        assert recall.context.budget.cap == "window"


def test_apply_grows_and_the_size_limit_holds_on_every_path(memory_file: Path) -> None:
    """T10: the same limit on what a person writes, what is imported, and what a turn teaches."""
    with open_memory(path=memory_file, max_bullet_chars=200) as memory:
        memory.apply([Add(draft=Draft(content="Check the units", sources=("me",)))])
        merged = memory.apply([Add(draft=Draft(content="check the units.", sources=("you",)))])
        assert isinstance(merged.entry.operations[0], Merge)
        long = Add(draft=Draft(content="x" * 201))
        for skipped in (
            memory.apply([long]).skipped,
            memory.apply([long], cause="import", grow_adds=False).skipped,
            memory.learn("q", "a", feedback="wrong: " + "y" * 201).skipped,
        ):
            assert any("at most 200 are allowed" in sentence for sentence in skipped)
        assert memory.stats().bullets == 1


def test_refine_archives_after_a_turn() -> None:
    with open_memory(max_bullets=1) as memory:
        memory.learn("one", "a", feedback="wrong: use the first lesson here")
        lesson = memory.learn("two", "b", feedback="wrong: quite another thing to remember")
        assert [operation.type for operation in lesson.archived] == ["remove"]
        assert memory.stats().bullets == 1
        assert memory.stats().archived == 1
        (newest, _) = memory.history()
        assert newest.operations[-1] == lesson.archived[0]


def test_two_engines_on_one_file_see_each_other(memory_file: Path) -> None:
    """F14: what another process learnt is found at the next recall, without opening anew."""
    with open_memory(path=memory_file) as one, open_memory(path=memory_file) as two:
        assert two.recall("parcels").bullets == ()
        one.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
        assert len(two.recall("parcels").bullets) == 1
        two.learn("invoices", "amber", feedback="wrong: invoices go to violet")
        assert {hit.value.id for hit in one.recall("parcels and invoices").bullets} == {
            bullet.id for bullet in two.memory.bullets()
        }


def test_another_embedder_makes_another_index(memory_file: Path) -> None:
    """F12, F13: vectors of two models are never mixed; what has none of this model is embedded again."""
    from indexes.hashing import HashingEmbedder

    class Other(HashingEmbedder):
        model_id = "other"

    with open_memory(path=memory_file) as memory:
        memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
        memory.recall("parcels")
    told: list[tuple[int, int]] = []
    other = Other(dim=64)
    with cheatsheet.open(memory_file, embedder=other, progress=lambda n, total: told.append((n, total))) as memory:
        assert len(memory.recall("parcels").bullets) == 1
        assert memory.recall("parcels").bullets[0].score == pytest.approx(
            float(other.embed([memory.memory.bullets()[0].content])[0] @ other.embed(["parcels"])[0]), abs=1e-5
        )


def test_removed_bullets_leave_the_index_with_the_store(memory: Engine) -> None:
    """F03, F08, F15: the store and its index agree after a removal; live hits fill all places."""
    from cheatsheet.memory.operations import Remove

    for letter in "abcdefgh":
        memory.apply([Add(draft=Draft(content=f"note {letter} on parcels {letter * 5}"))])
    memory.apply([Remove(id=f"misc-0000{number}") for number in (1, 2, 3)])
    found = memory.memory.nearest_bullets("note a on parcels aaaaa", 5)
    assert {hit.value.id for hit in found} == {f"misc-0000{number}" for number in (4, 5, 6, 7, 8)}


def test_turns_from_many_threads_are_all_kept() -> None:
    with open_memory() as memory:
        errors: list[BaseException] = []

        def work(name: int) -> None:
            try:
                for number in range(10):
                    recall = memory.recall(f"question {name} {number}")
                    memory.learn(recall, "answer", feedback=True, turn_id=f"{name}-{number}")
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert memory.stats().experiences == 40
        assert len({experience.id for experience in memory.memory.experiences()}) == 40


def test_a_closed_memory_says_so() -> None:
    memory = open_memory()
    memory.close()
    memory.close()
    with pytest.raises(cheatsheet.CheatsheetError, match="is closed"):
        memory.recall("parcels")


def test_a_listener_that_fails_does_not_lose_the_turn(memory: Engine, caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: object) -> None:
        raise ValueError("listener")

    memory.events.listeners.append(broken)
    memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
    assert memory.stats().bullets == 1
    assert "A listener failed" in caplog.text
    assert memory.metrics.as_dict()["ace_bullets_added_total"] == 1


def test_metrics_count_what_happened(memory: Engine) -> None:
    memory.recall("parcels")
    memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
    memory.recall("parcels")
    counted = memory.metrics.as_dict()
    assert counted["ace_recalls_total"] == 2
    assert counted["ace_context_hit_rate"] == 0.5
    assert counted["ace_commits_total"] == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, Feedback()),
        (True, Feedback(correct=True)),
        (0.25, Feedback(score=0.25)),
        (1, Feedback(score=1)),
        ("wrong: amber", Feedback(correct=False, comment="wrong: amber")),
        ("Correct!", Feedback(correct=True, comment="Correct!")),
        ("nobody knows", Feedback(comment="nobody knows")),
        (Feedback(score=1.0), Feedback(score=1.0)),
    ],
)
def test_feedback_in_the_forms_in_which_people_give_it(given: Any, expected: Feedback) -> None:
    assert as_feedback(given) == expected


def test_a_score_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"from 0 .* to 1"):
        as_feedback(7)


def test_bullet_errors_are_sentences(memory: Engine) -> None:
    skipped = memory.apply([Add(draft=Draft(content="   "))], grow_adds=False).skipped
    assert skipped == ("add: A bullet's content is not valid: Value error, the content is blank.",)
    assert issubclass(BulletError, ValueError)


def test_the_clock_is_an_argument(memory: Engine) -> None:
    memory._clock = lambda: datetime(2030, 1, 1, tzinfo=UTC)
    memory.learn("parcels", "amber", feedback="wrong: parcels go to crimson")
    assert memory.history()[0].at == datetime(2030, 1, 1, tzinfo=UTC)
    assert not any(isinstance(operation, Tag) for operation in memory.history()[0].operations)
