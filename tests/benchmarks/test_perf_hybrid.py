"""The benchmark of hybrid search counts what it says; its figures are not judged here."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmarks.perf import hybrid
from benchmarks.perf.hybrid import SET, Question, first_rank, measured, quality, read_set
from cheatsheet.memory.search.telling import telling_words


def test_the_set_is_large_and_well_formed() -> None:
    contents, questions = read_set(SET)
    assert len(contents) == len(set(contents)) >= 120
    assert len(questions) == len({question.text for question in questions}) >= 60
    halves = Counter(question.half for question in questions)
    assert set(halves) == {"names", "words"}
    assert min(halves.values()) >= 30
    assert all(question.answers <= set(range(1, len(contents) + 1)) and question.answers for question in questions)


def test_questions_by_name_hold_what_their_half_says() -> None:
    """Otherwise the halves would measure something else."""
    _, questions = read_set(SET)
    assert [
        question.text for question in questions if question.half == "names" and not telling_words(question.text)
    ] == []


def test_ranks_become_measures() -> None:
    """One answer first, one fourth, one sixth, one not found."""
    ranks = [first_rank(found, frozenset({7})) for found in ([7, 1], [1, 2, 3, 7], [1, 2, 3, 4, 5, 7], [1])]
    assert ranks == [1, 4, 6, None]
    found = quality("any", "all", ranks)
    assert (found.recall_at_1.mean, found.recall_at_5.mean) == (0.25, 0.5)
    assert found.reciprocal_rank.mean == pytest.approx((1 + 1 / 4 + 1 / 6) / 4, abs=1e-4)
    assert found.recall_at_1.low is not None
    assert found.recall_at_1.low < 0.25 < (found.recall_at_1.high or 0)
    assert str(quality("any", "all", [1, 1]).recall_at_1) == "1.00"


def test_every_way_is_measured_on_every_choice_of_questions() -> None:
    questions = [
        Question("a", "names", False, frozenset({1})),
        Question("b", "words", False, frozenset({2})),
        Question("c", "names", True, frozenset({3})),
        Question("d", "words", True, frozenset({3})),
    ]
    results = list(measured({"fixed": lambda text: [1, 2], "nothing": lambda text: []}, questions))
    shown = {(result.way, result.questions): (result.n, result.recall_at_5.mean) for result in results}
    assert shown[("fixed", "all")] == (4, 0.5)
    assert shown[("fixed", "names")] == (2, 0.5)
    assert shown[("fixed", "words, held out")] == (1, 0.0)
    assert shown[("nothing", "all")] == (4, 0.0)


def test_it_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    hybrid.main(["--embedder", "hashing", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert [result["way"] for result in results[::5]] == ["vectors", "BM25", "vectors + BM25", "hybrid"]
    by_name = {result["way"]: result for result in results if result["questions"] == "names"}
    assert by_name["hybrid"]["n"] == by_name["vectors"]["n"] > 30


def test_the_table_has_a_row_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines = hybrid.as_table([quality("one", "all", [1, 2]), quality("one", "names", [1]), quality("two", "all", [3])])
    assert [line.split("|")[1].strip() for line in lines.splitlines()] == [
        "questions",
        "---------",
        "all",
        "all",
        "names",
    ]
