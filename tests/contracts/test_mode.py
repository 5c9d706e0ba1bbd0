"""M1 to M6: what every mode promises, and every control of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.evaluation.controls.base import Ground
from cheatsheet.evaluation.controls.registry import CONTROLS
from cheatsheet.llm.model import Outcome, Reply
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Experience, Feedback, Query
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store_view import StoreView
from cheatsheet.mode import BatchMode, MemoryMode
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.rewriting_curator import RewritingCurator
from cheatsheet.roles.role import Attempt, Curator, Reflection, Reflector
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.roles.synthesiser import Synthesiser
from cheatsheet.tokens import CharCounter
from indexes.cached import CachedEmbedder
from indexes.hashing import HashingEmbedder
from modes.auto import Auto
from modes.cumulative import Cumulative
from modes.default import Default
from modes.full_history import FullHistory
from modes.names import MODES, mode_name, variant
from modes.reflective import Learning
from modes.retrieval import Retrieval

NOW = datetime(2026, 1, 5, tzinfo=UTC)
REFLECTION = '{"reasoning": "r", "error_identification": "e", "root_cause_analysis": "c", "correct_approach": "a", '
REFLECTION += '"key_insight": "Add before you multiply.", "bullet_tags": [{"id": "misc-00001", "tag": "helpful"}]}'
CURATION = '{"reasoning": "r", "operations": [{"type": "ADD", "section": "others", "content": "Add before."}]}'
GARBAGE = ["", "no JSON here", "{", "null", '{"operations": 7}', '{"operations": [{"type": "DANCE"}]}', "<think>"]

Replies = list[str | Reply]


@dataclass(frozen=True)
class Kind:
    """A mode, made anew with a model that gives these replies."""

    name: str
    make: Callable[[Replies], MemoryMode]


def taught_by(reflector: Reflector, curator: Curator, *, remember: bool = False) -> Learning:
    return Learning(reflector=reflector, curator=curator, remember=remember)


def by_model(replies: Replies, *, remember: bool = False) -> Learning:
    model = ScriptedModel(replies)
    return taught_by(ModelReflector(model), ModelCurator(model), remember=remember)


def cumulative(replies: Replies) -> MemoryMode:
    return Cumulative(learning=by_model(replies), limit=100)


def retrieval(replies: Replies) -> Retrieval:
    return Retrieval(learning=by_model(replies, remember=True), top_k=3, min_score=-1.0)


def rewritten(replies: Replies) -> MemoryMode:
    """The published way: question and answer go to a curator that writes the whole cheatsheet anew."""
    curator = RewritingCurator(ScriptedModel(replies))
    return Cumulative(learning=taught_by(RuleReflector(), curator), limit=100)


def synthesised(replies: Replies) -> MemoryMode:
    said = replies or ["<cheatsheet>\n<memory_item>\n<description>Add.</description>\n</memory_item>\n</cheatsheet>"]
    return Retrieval(
        learning=taught_by(RuleReflector(), RuleCurator(), remember=True),
        top_k=3,
        min_score=-1.0,
        synthesiser=Synthesiser(ScriptedModel(lambda request: said[0])),
    )


def rules(*, remember: bool = False) -> Learning:
    return taught_by(RuleReflector(), RuleCurator(), remember=remember)


def auto(replies: Replies) -> MemoryMode:
    """Complexity is the length of the question, so that the questions of these tests reach every mode."""
    chosen: dict[str, MemoryMode] = {
        "default": Default(),
        "full-history": FullHistory(limit=100),
        "retrieval": retrieval(replies),
    }
    return Auto(chosen, estimate=lambda query: len(query.text) / 3)


def control(name: str) -> Kind:
    """A control over retrieval; it is an arm of an evaluation and holds what modes promise."""
    made = CONTROLS[name].make
    return Kind(name, lambda replies: made(Ground(retrieval=retrieval(replies), counter=CharCounter())))


KINDS = [
    Kind("default", lambda _: Default()),
    Kind("full-history", lambda _: FullHistory(limit=100)),
    Kind("cumulative", cumulative),
    Kind("retrieval", retrieval),
    Kind("cumulative, rules", lambda _: Cumulative(learning=rules(), limit=100)),
    Kind("retrieval, rules", lambda _: Retrieval(learning=rules(remember=True), top_k=3, min_score=-1.0)),
    Kind("cumulative, rewritten", rewritten),
    Kind("retrieval, synthesised", synthesised),
    Kind("auto", auto),
    *map(control, CONTROLS),
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def make_view(lines: int) -> tuple[SqliteStore, StoreView]:
    store = SqliteStore(":memory:")
    embedder = CachedEmbedder(HashingEmbedder(), store)
    retriever = exact_retriever(store, embedder, namespace="default")
    for number in range(lines):
        store.commit(
            "default",
            Change(
                at=NOW,
                cause="turn",
                operations=(Add(draft=Draft(content=f"Lesson {number} about adding", helpful=number)),),
                experiences=(
                    Experience(
                        query=f"What is {number} plus {number}?",
                        answer=str(2 * number),
                        feedback=Feedback(correct=number % 2 == 0),
                        created_at=NOW,
                    ),
                ),
            ),
        )
    return store, StoreView(store, retriever, namespace="default")


@pytest.fixture
def view() -> Iterator[StoreView]:
    store, view = make_view(6)
    yield view
    store.close()


def attempt(view: StoreView, answer: str = "5", correct: bool = False) -> Attempt:
    return Attempt(
        query=Query(text="What is 3 plus 4?"),
        answer=answer,
        feedback=Feedback(correct=correct, expected="7"),
        bullets=tuple(view.bullets(limit=2)),
        used=("misc-00001",),
    )


def contents(view: StoreView) -> object:
    return (view.version, view.bullets(status=None), view.experiences())


def test_m1_recall_and_learn_change_nothing(kind: Kind, view: StoreView) -> None:
    before = contents(view)
    mode = kind.make([REFLECTION, CURATION])
    mode.recall(Query(text="What is 3 plus 4?"), view)
    mode.learn(attempt(view), view)
    assert contents(view) == before


def test_m2_the_same_gives_the_same(kind: Kind, view: StoreView) -> None:
    one, two = (kind.make([REFLECTION, CURATION]) for _ in range(2))
    query = Query(text="What is 3 plus 4?")
    assert one.recall(query, view) == two.recall(query, view)
    assert one.learn(attempt(view), view) == two.learn(attempt(view), view)


@given(text=st.text(max_size=40), lines=st.integers(0, 4))
def test_m3_recall_names_only_what_is_in_the_memory(text: str, lines: int) -> None:
    store, view = make_view(lines)
    known = {bullet.id for bullet in view.bullets()} | {experience.id for experience in view.experiences()}
    for kind in KINDS:
        recalled = kind.make([]).recall(Query(text=text), view)
        shown = [item.id for section in recalled.sections for item in section.items]
        shown += [turn.id for section in recalled.sections for turn in section.turns]
        shown += [id for section in recalled.sections for id in section.ids]
        named = [hit.value.id for hit in recalled.bullets] + [hit.value.id for hit in recalled.experiences]
        shown = [id for id in shown if id]  # what is not of the memory has none
        assert set(shown) == set(named) <= known
        assert len(set(shown)) == len(shown)
    store.close()


def test_a_synthesis_is_shown_alone_and_proposes_what_it_wrote(view: StoreView) -> None:
    recalled = synthesised([]).recall(Query(text="What is 3 plus 4?"), view)
    assert [section.name for section in recalled.sections] == ["synthesis"]
    assert "Add." in recalled.sections[0].text
    assert any(isinstance(operation, Add) for operation in recalled.operations)
    assert recalled.usage.calls == 1


def test_where_nothing_is_synthesised_what_was_found_is_shown(view: StoreView) -> None:
    broken = ScriptedModel([ModelUnavailableError("no connection")])
    for model in (broken, ScriptedModel(["no cheatsheet in here"])):
        mode = Retrieval(learning=rules(remember=True), top_k=3, min_score=-1.0, synthesiser=Synthesiser(model))
        recalled = mode.recall(Query(text="What is 3 plus 4?"), view)
        assert len(recalled.experiences) == 3
        assert "experiences" in [section.name for section in recalled.sections]
        assert recalled.notes
        assert not recalled.operations


@pytest.mark.parametrize("expected", [None, "7"])
def test_m4_an_empty_answer_teaches_no_bullet_and_says_so(kind: Kind, view: StoreView, expected: str | None) -> None:
    empty = Attempt(query=Query(text="q"), answer="", feedback=Feedback(correct=False, expected=expected))
    learned = kind.make([]).learn(empty, view)
    assert learned.operations == ()
    assert learned.skipped or learned.remember
    assert learned.remember in (False, expected is not None)


@pytest.mark.parametrize("reply", GARBAGE)
def test_m5_an_unreadable_reply_is_no_exception(kind: Kind, view: StoreView, reply: str) -> None:
    learned = kind.make([reply, reply]).learn(attempt(view), view)
    if kind.name in ("cumulative", "retrieval"):
        assert learned.notes


def test_m5_a_filtered_reply_is_no_exception(kind: Kind, view: StoreView) -> None:
    filtered = Reply(text="", outcome=Outcome.FILTERED, model="m")
    kind.make([filtered, filtered]).learn(attempt(view), view)


def test_m6_a_batch_of_one_is_learnt_like_one_turn(kind: Kind, view: StoreView) -> None:
    one, batch = (kind.make([REFLECTION, CURATION]) for _ in range(2))
    assert isinstance(batch, BatchMode)
    assert batch.learn_batch([attempt(view)], view).single() == one.learn(attempt(view), view)


def test_a_batch_is_reflected_one_by_one_and_curated_once(view: StoreView) -> None:
    model = ScriptedModel([REFLECTION, REFLECTION, REFLECTION, CURATION])
    mode = Cumulative(learning=taught_by(ModelReflector(model), ModelCurator(model)), limit=100)
    empty = Attempt(query=Query(text="q"), answer="", feedback=Feedback(correct=False))
    learned = mode.learn_batch([attempt(view), empty, attempt(view, "6"), attempt(view, "8")], view)
    assert len(model.requests) == 4
    assert [reflection is None for reflection in learned.reflections] == [False, True, False, False]
    assert learned.usage.calls == 4
    assert sum(isinstance(operation, Add) for operation in learned.operations) == 1


def test_a_wrong_answer_is_given_again_up_to_the_depth_with_the_reflection_shown(view: StoreView) -> None:
    shown: list[str] = []

    def again(reflection: Reflection) -> Attempt:
        shown.append(reflection.key_insight)
        return replace(attempt(view, "7", correct=len(shown) == 2), again=again)

    model = ScriptedModel([REFLECTION, REFLECTION, REFLECTION, CURATION])
    reflector, curator = ModelReflector(model), ModelCurator(model)
    mode = Cumulative(learning=Learning(reflector=reflector, curator=curator, depth=5, remember=False), limit=100)
    learned = mode.learn(replace(attempt(view), again=again), view)
    assert shown == ["Add before you multiply."] * 2
    assert learned.reflection is not None
    assert (learned.reflection.rounds, learned.reflection.correct) == (3, False)


@pytest.mark.parametrize("fails", ["reflector", "curator"])
def test_an_answer_is_not_lost_when_the_model_of_a_role_fails(view: StoreView, fails: str) -> None:
    broken = ScriptedModel([ModelUnavailableError("no connection")])
    reflector = ModelReflector(broken if fails == "reflector" else ScriptedModel([REFLECTION]))
    curator = ModelCurator(broken if fails == "curator" else ScriptedModel([CURATION]))
    learned = Cumulative(learning=taught_by(reflector, curator), limit=100).learn(attempt(view), view)
    assert any(isinstance(operation, Add) for operation in learned.operations)
    assert any("because the model failed: no connection" in note for note in learned.notes)


def test_a_fault_of_the_program_is_not_taken_for_a_failed_call(view: StoreView) -> None:
    """L11: a TypeError surfaces, and the model is asked once."""
    model = ScriptedModel([TypeError("a bug")])
    mode = Cumulative(learning=taught_by(ModelReflector(model), RuleCurator()), limit=100)
    with pytest.raises(TypeError, match="a bug"):
        mode.learn(attempt(view), view)
    assert len(model.requests) == 1


def test_the_four_modes_show_what_their_table_says(view: StoreView) -> None:
    query = Query(text="What is 3 plus 3?")
    shown = {}
    for kind in KINDS[:4]:
        recalled = kind.make([]).recall(query, view)
        shown[kind.name] = (
            [hit.value.id for hit in recalled.bullets],
            [hit.value.id for hit in recalled.experiences],
        )
    assert shown["default"] == ([], [])
    assert shown["full-history"] == ([], [f"exp-{number:05d}" for number in range(1, 7)])
    best_first = [f"misc-{number:05d}" for number in range(6, 0, -1)]
    assert shown["cumulative"] == (best_first, [])
    bullets, experiences = shown["retrieval"]
    assert len(bullets) == 3
    assert len(experiences) == 3
    assert experiences[-1] == "exp-00004"  # "What is 3 plus 3?" itself: the most similar stands last


def test_known_wrong_answers_are_never_shown_as_examples(view: StoreView) -> None:
    recalled = FullHistory(limit=100).recall(Query(text="q"), view)
    mistakes, examples = recalled.sections
    assert [turn.id for turn in examples.turns] == ["exp-00001", "exp-00003", "exp-00005"]
    assert [item.id for item in mistakes.items] == ["exp-00002", "exp-00004", "exp-00006"]
    assert "was wrongly answered: 2" in mistakes.items[0].text


@pytest.mark.parametrize(
    ("published", "ours"),
    [
        ("default", "default"),
        ("FullHistoryAppending", "full-history"),
        ("full_history", "full-history"),
        ("DynamicCheatsheet_Cumulative", "cumulative"),
        ("Dynamic_Retrieval", "retrieval"),
        ("RETRIEVAL", "retrieval"),
    ],
)
def test_published_names_are_accepted(published: str, ours: str) -> None:
    assert mode_name(published) == ours
    assert ours in MODES


@pytest.mark.parametrize(
    ("published", "mode", "settings"),
    [
        ("DynamicCheatsheet_Cumulative", "cumulative", {"curation": "rewrite"}),
        ("DynamicCheatsheet_RetrievalSynthesis", "retrieval", {"synthesis": True}),
        ("EmptyCheatsheet", "default", {"scaffold": True}),
        ("DC-∅", "default", {"scaffold": True}),
        ("ACE", "cumulative", {"curation": "delta"}),
        ("Dynamic_Retrieval", "retrieval", {}),
        ("retrieval", "retrieval", {}),
    ],
)
def test_a_published_name_brings_its_settings(published: str, mode: str, settings: dict[str, object]) -> None:
    assert (variant(published).mode, dict(variant(published).settings)) == (mode, settings)


def test_an_unknown_mode_is_told_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"Unknown mode 'retreival'\. Did you mean 'retrieval'\?.*'full-history'"):
        mode_name("retreival")
