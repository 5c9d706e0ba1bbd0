"""As many tokens of unrelated memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.context.compiler import compile_context
from cheatsheet.context.section import Section
from cheatsheet.evaluation.controls.placebo import Placebo
from cheatsheet.evaluation.controls.unrelated import Supply, unrelated_corpus
from cheatsheet.memory.experience import Query
from cheatsheet.memory.store_view import StoreView
from cheatsheet.tokens import CharCounter, TiktokenCounter, TokenCounter
from tests.evaluation.controls.memories import TEAMS, Memory, ground, lived, tickets

# What the docstring of the placebo gives or takes.
OFF_TOKENS = 2
COUNTERS = [CharCounter(), TiktokenCounter("cl100k_base")]
ASKED = Query(text="Ticket: my card was charged 3 times", choices=TEAMS)
UNRELATED = unrelated_corpus()


def placebo(*, counter: TokenCounter | None = None, seed: int = 0, top_k: int = 3) -> Placebo:
    return Placebo(ground=ground(counter=counter, seed=seed, top_k=top_k), corpus=UNRELATED)


def tokens(sections: tuple[Section, ...], counter: TokenCounter, budget: int = 1_000_000) -> int:
    return compile_context(sections, budget_tokens=budget, counter=counter).tokens


def words(sections: tuple[Section, ...]) -> set[str]:
    text = compile_context(sections, budget_tokens=100_000, counter=CharCounter()).text
    return set(re.findall(r"\w+", text.casefold()))


@pytest.fixture(scope="module")
def view() -> Iterator[StoreView]:
    with tickets() as memory:
        yield memory


texts = st.lists(
    st.sampled_from("refund the café card charged_twice 12.50 团队 route, asks\nagain; Überweisung".split(" "))
)
long_texts = texts.map(lambda many: " ".join(["Every customer who asks about a charge", *many]))


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@settings(max_examples=40)
@given(
    turns=st.lists(st.tuples(long_texts, st.sampled_from([True, False, None])), max_size=5),
    bullets=st.lists(long_texts, max_size=4, unique=True),
    choices=st.sampled_from([(), TEAMS, ("A", "B", "C")]),
)
def test_it_takes_the_tokens_that_retrieval_takes(
    counter: TokenCounter, turns: list[tuple[str, bool | None]], bullets: list[str], choices: tuple[str, ...]
) -> None:
    lessons = [lived(text, choices[0] if choices else "12.50", correct=correct) for text, correct in turns]
    with Memory(lessons, bullets) as memory:
        mode = placebo(counter=counter, top_k=5)
        query = Query(text="What is charged?", choices=choices)
        real = mode.ground.retrieval.recall(query, memory).sections
        shown = mode.recall(query, memory).sections
    assert abs(tokens(shown, counter) - tokens(real, counter)) <= OFF_TOKENS
    assert [(s.name, s.text, len(s.items), len(s.turns)) for s in shown] == [
        (s.name, s.text, len(s.items), len(s.turns)) for s in real
    ]


def test_a_part_of_a_thousand_tokens_is_matched_too() -> None:
    counter = TiktokenCounter("cl100k_base")
    with Memory([lived("Explain the invoice. " * 400, "It is a bill. " * 200, correct=True)]) as memory:
        mode = placebo(counter=counter)
        query = Query(text="Explain the invoice.")
        real = tokens(mode.ground.retrieval.recall(query, memory).sections, counter)
        assert real > 2_000
        assert abs(tokens(mode.recall(query, memory).sections, counter) - real) <= OFF_TOKENS


def test_where_the_budget_is_short_it_is_cut_like_the_real_context(view: StoreView) -> None:
    mode = placebo(top_k=5)
    real, shown = mode.ground.retrieval.recall(ASKED, view).sections, mode.recall(ASKED, view).sections
    whole = tokens(real, CharCounter())
    for budget in (whole // 4, whole // 2, whole - 1):
        contexts = [compile_context(s, budget_tokens=budget, counter=CharCounter()) for s in (real, shown)]
        assert [entry.action for entry in contexts[0].ledger] == [entry.action for entry in contexts[1].ledger]
        assert len(contexts[0].examples) == len(contexts[1].examples)


def test_nothing_that_was_learnt_is_in_it(view: StoreView) -> None:
    recalled = placebo().recall(Query(text="my card was charged"), view)
    learnt = {"ticket", "card", "charged", "charges", "kind", "amber", "crimson", "misc", "exp"}
    assert not learnt & words(recalled.sections)
    assert (recalled.bullets, recalled.experiences, recalled.searched) == ((), (), False)


def test_examples_are_answered_by_choices_of_the_question_and_not_always_by_the_same(view: StoreView) -> None:
    answers = [
        turn.assistant
        for number in range(10)
        for section in placebo().recall(Query(text=f"Ticket {number}", choices=("olive", "violet")), view).sections
        for turn in section.turns
    ]
    assert len(answers) == 30
    assert set(answers) == {"olive", "violet"}


def test_a_free_question_is_answered_by_a_word_or_two_of_the_corpus() -> None:
    with Memory([lived("How many minutes are 2 hours?", "120", correct=True)]) as memory:
        (*_, examples) = placebo().recall(Query(text="How many minutes are 3 hours?"), memory).sections
    (turn,) = examples.turns
    assert turn.assistant in {pair.answer for pair in UNRELATED.pairs}


def test_a_mistake_stands_for_a_mistake() -> None:
    with Memory([lived("Which team takes refunds of last year?", "olive", correct=False)]) as memory:
        (_, mistakes, _) = placebo().recall(ASKED, memory).sections
    (item,) = mistakes.items
    assert re.fullmatch(r"- .+\n    was wrongly answered: (amber|crimson)", item.text)


def test_an_empty_memory_shows_nothing() -> None:
    with Memory() as memory:
        recalled = placebo().recall(ASKED, memory)
    assert tokens(recalled.sections, CharCounter()) == 0


def test_another_question_and_another_seed_show_other_matter(view: StoreView) -> None:
    shown = [placebo(seed=seed).recall(Query(text=text), view) for seed, text in ((0, "a"), (0, "b"), (1, "a"))]
    assert len({str(recalled.sections) for recalled in shown}) == 3


def test_the_corpus_is_large_and_nothing_stands_in_it_twice() -> None:
    sentences = [*UNRELATED.statements, *(pair.question for pair in UNRELATED.pairs)]
    assert len(sentences) == len(set(sentences)) >= 150
    assert all(sentence.endswith(".") for sentence in UNRELATED.statements)
    assert all(pair.question.endswith("?") and 1 <= len(pair.answer.split()) <= 2 for pair in UNRELATED.pairs)


@given(tokens=st.integers(1, 300), start=st.integers(0))
def test_a_text_has_the_tokens_that_are_asked_for(tokens: int, start: int) -> None:
    counter = TiktokenCounter("cl100k_base")
    text = Supply(UNRELATED, start).text(tokens, counter.count)
    assert 0 <= tokens - counter.count(text) <= OFF_TOKENS or len(text.split()) == 1
