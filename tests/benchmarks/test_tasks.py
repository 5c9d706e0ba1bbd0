"""The benchmark tasks: what they promise to whoever measures with them."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tasks import equation_balancer, game_of_24, neighbours, ticket_routing
from benchmarks.tasks.rows import TaskRow, dump, read_rows, write_rows
from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging import equation
from cheatsheet.evaluation.judging.arithmetic import ExpressionError, read
from cheatsheet.evaluation.judging.game_of_24 import judge, numbers_of
from indexes.vectors import normalise

PROJECT = Path(__file__).parents[2]
PUBLISHED = PROJECT.parent / "shared" / "data" / "dc_tasks"

hands = st.lists(st.integers(1, 13), min_size=4, max_size=4)


# --- Game of 24 -------------------------------------------------------------------------------------------------------


def values_by_brute_force(numbers: list[int]) -> set[Fraction]:
    """All values of four numbers: every order, every three operators, each of the five ways to put parentheses."""
    shapes = (
        "(({} {} {}) {} {}) {} {}",
        "({} {} ({} {} {})) {} {}",
        "({} {} {}) {} ({} {} {})",
        "{} {} (({} {} {}) {} {})",
        "{} {} ({} {} ({} {} {}))",
    )
    found = set()
    for a, b, c, d in set(permutations(numbers)):
        for p, q, r in product("+-*/", repeat=3):
            found |= {value for shape in shapes for value in value_or_nothing(shape.format(a, p, b, q, c, r, d))}
    return found


def value_or_nothing(text: str) -> list[Fraction]:
    try:
        return [read(text).value]
    except ExpressionError:
        return []


@pytest.mark.parametrize("numbers", [[1, 1, 1, 1], [3, 3, 8, 8], [1, 5, 5, 5], [2, 2, 13, 13]])
def test_the_solver_agrees_with_brute_force(numbers: list[int]) -> None:
    reachable = values_by_brute_force(numbers)
    solutions = {goal: game_of_24.solve(numbers, goal) for goal in (0, 1, 5, 24, 25, 26, 63, 170)}
    assert {goal for goal, solution in solutions.items() if solution} == reachable & set(solutions)
    for goal, solution in solutions.items():
        if solution:
            assert read(solution).value == goal
            assert sorted(read(solution).numbers) == numbers


@given(hands)
def test_what_the_solver_finds_is_judged_right(numbers: list[int]) -> None:
    solution = game_of_24.solve(numbers)
    assert solution is None or judge(numbers, f"{solution} = 24") == (True, "")


def test_every_generated_game_has_a_solution_that_is_judged_right() -> None:
    rows = game_of_24.generate(50, seed=0)
    assert len(rows) == len({row["id"] for row in rows}) == len({row["input"] for row in rows}) == 50
    assert all(judge(numbers_of(row["input"]), row["target"]).right for row in rows)
    assert rows[:10] == game_of_24.generate(10, seed=0)
    assert rows[:10] != game_of_24.generate(10, seed=1)


def test_published_games_are_understood() -> None:
    path = PUBLISHED / "GameOf24.jsonl"
    if not path.exists():
        pytest.skip("the published tasks (../shared/data/dc_tasks) are not here")
    questions = [json.loads(line)["input"] for line in path.read_text(encoding="utf-8").splitlines()]
    solved = [(numbers_of(question), game_of_24.solve(numbers_of(question))) for question in questions]
    assert len(solved) == 100
    assert all(solution and judge(numbers, solution).right for numbers, solution in solved)


@given(st.data())
def test_a_number_missing_or_used_twice_is_wrong(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(GAMES))
    numbers = list(numbers_of(row["input"]))
    number = data.draw(st.sampled_from(numbers))
    used_twice = f"{row['target']} + {number} - {number}"
    verdict = judge(numbers, used_twice)
    assert read(used_twice).value == 24
    assert not verdict.right
    assert "must be used once" in verdict.reason
    assert not judge([*numbers, 1], row["target"]).right


GAMES = game_of_24.generate(8, seed=3)


def test_more_games_than_there_are_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_of_24, "CARDS", range(1, 4))
    with pytest.raises(TaskError, match=r"Only \d+ hands have a solution; 99 were asked for"):
        game_of_24.generate(99, seed=0)


# --- equation balancer ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 29), min_size=2, max_size=4), st.integers(-50, 50))
def test_the_balancer_agrees_with_brute_force(numbers: list[int], right: int) -> None:
    question = f"{' ? '.join(map(str, numbers))} = {right}"
    fillings = [
        " ".join(part for pair in zip(map(str, numbers), (*signs, ""), strict=True) for part in pair if part)
        for signs in product("+-*/", repeat=len(numbers) - 1)
    ]
    possible = {f"{left} = {right}" for left in fillings if right in value_or_nothing(left)}
    answer = equation_balancer.solve(question)
    assert answer in possible if possible else answer is None
    assert all(
        equation.judge(question, f"{left} = {right}").right == (f"{left} = {right}" in possible) for left in fillings
    )


def test_every_generated_equation_is_judged_right() -> None:
    rows = equation_balancer.generate(200, seed=0)
    assert len({row["input"] for row in rows}) == len({row["id"] for row in rows}) == 200
    assert all(equation.judge(row["input"], row["target"]).right for row in rows)
    assert all(row["metadata"]["answers"] >= 1 for row in rows)
    assert rows[:20] == equation_balancer.generate(20, seed=0)
    assert rows[:20] != equation_balancer.generate(20, seed=1)


def test_published_equations_are_judged_right_on_their_own_target() -> None:
    path = PUBLISHED / "MathEquationBalancer.jsonl.gz"
    if not path.exists():
        pytest.skip("the published tasks (../shared/data/dc_tasks) are not here")
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert len(rows) == 250
    assert [row for row in rows if not equation.judge(row["input"], row["target"]).right] == []
    assert [row for row in rows if equation_balancer.solve(row["input"]) is None] == []


# --- ticket routing ---------------------------------------------------------------------------------------------------

TICKETS = ticket_routing.load()


def test_the_stream_has_24_problems_in_five_wordings_four_problems_to_a_team() -> None:
    assert len(TICKETS) == len({row["id"] for row in TICKETS}) == 120
    assert set(Counter(ticket_routing.problem(row) for row in TICKETS).values()) == {5}
    assert Counter(row["target"] for row in TICKETS) == dict.fromkeys(ticket_routing.TEAMS, 20)
    assert len({(ticket_routing.problem(row), row["target"]) for row in TICKETS}) == 24


def test_no_ticket_repeats_another_or_begins_like_one() -> None:
    assert len({row["input"].casefold() for row in TICKETS}) == 120
    assert len({tuple(row["input"].casefold().split()[:5]) for row in TICKETS}) == 120


def test_no_ticket_names_a_team() -> None:
    assert [row["id"] for row in TICKETS for team in ticket_routing.TEAMS if team in row["input"].casefold()] == []


@pytest.mark.parametrize("row", TICKETS, ids=lambda row: row["id"])
def test_a_ticket_is_the_customers_words_in_one_to_four_sentences(row: TaskRow) -> None:
    sentences = [part for part in re.split(r"[.!?]+(?:[\s\"]|$)", row["input"]) if part.strip()]
    assert 1 <= len(sentences) <= 4, sentences
    assert row["input"] == row["input"].strip()


def test_the_file_stands_in_the_order_of_its_seed() -> None:
    assert [row["id"] for row in TICKETS] == [f"ticket-{number:03}" for number in range(1, 121)]
    assert ticket_routing.load(ticket_routing.FILE_SEED) == TICKETS
    assert dump(TICKETS) == ticket_routing.SOURCE.read_bytes()


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_every_order_shows_each_problem_in_its_first_half(seed: int, rng: Any) -> None:
    order = ticket_routing.arrange(TICKETS, seed)
    given_otherwise = list(TICKETS)
    rng.shuffle(given_otherwise)
    assert order == ticket_routing.arrange(given_otherwise, seed)
    assert sorted(row["id"] for row in order) == [row["id"] for row in TICKETS]
    assert len({ticket_routing.problem(row) for row in order[:60]}) == 24


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        ({"target": "olive"}, "one team for all wordings"),
        ({"id": "ticket-002"}, "ids of their own"),
        ({"choices": ["amber", "olive"]}, "the six teams as choices"),
        ({"metadata": {"problem": "double-charge", "wording": 9}}, "wordings 1 to 5"),
    ],
)
def test_a_damaged_stream_is_refused(change: dict[str, Any], promise: str) -> None:
    place = next(at for at, row in enumerate(TICKETS) if row["id"] != "ticket-002" and row["target"] != "olive")
    damaged: list[Any] = [{**row, **change} if at == place else row for at, row in enumerate(TICKETS)]
    with pytest.raises(TaskError, match=promise):
        ticket_routing.check(damaged)
    with pytest.raises(TaskError, match="120 tickets"):
        ticket_routing.check(TICKETS[1:])


# --- neighbours -------------------------------------------------------------------------------------------------------

LABELS = ("a", "b", "b", "a")
GROUPS = ("p", "q", "q", "p")
CORNERS = normalise([[1.0, 0.0], [0.0, 1.0], [0.1, 1.0], [0.9, 1.0]])


def test_streaming_asks_the_past_only() -> None:
    assert neighbours.streaming_hits(CORNERS, LABELS, k=1).tolist() == [False, True, False]
    assert neighbours.streaming_hits(CORNERS[::-1], LABELS[::-1], k=1).tolist() == [False, True, True]


def test_leaving_the_group_out_asks_other_groups_only() -> None:
    assert neighbours.leave_group_out_hits(CORNERS, LABELS, GROUPS, k=1).tolist() == [False] * 4
    hits = neighbours.leave_group_out_hits(CORNERS, LABELS, ("1", "2", "3", "4"), k=1)
    assert hits.tolist() == [True, True, True, False]


def test_votes_are_weighed_by_similarity() -> None:
    similarities = np.array([0.9, 0.4, 0.4, 0.3], dtype=np.float32)
    assert neighbours.vote(similarities, ("a", "b", "b", "b"), k=3) == "a"
    assert neighbours.vote(similarities, ("a", "b", "b", "b"), k=4) == "b"
    assert neighbours.vote(np.ones(2, dtype=np.float32), ("a", "b"), k=2) == "a"


def test_the_report_names_every_measure() -> None:
    problems = sorted({ticket_routing.problem(row) for row in TICKETS})
    vectors = np.eye(24, dtype=np.float32)[[problems.index(ticket_routing.problem(row)) for row in TICKETS]]
    first, second = neighbours.report(TICKETS, vectors, orders=2).split("\n")
    assert first.startswith("k=1: second half 1.00 in the file's order; mean 1.00 (1.00 to 1.00) in 2 other orders;")
    assert second.startswith("k=5: second half 1.00")


# --- files and command line -------------------------------------------------------------------------------------------

MODULES = (ticket_routing, game_of_24, equation_balancer)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_the_command_writes_rows_that_read_back(
    module: Any, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    size = [] if module is ticket_routing else ["--n", "5"]
    out = tmp_path / "task.jsonl"
    assert module.main([*size, "--seed", "7", "--out", str(out)]) == 0
    assert module.main([*size, "--seed", "7"]) == 0
    assert out.read_bytes() == capsysbinary.readouterr().out
    assert read_rows(out) == (module.generate(5, 7) if size else module.load(7))
    assert list(tmp_path.iterdir()) == [out]


def test_a_module_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "benchmarks.tasks.equation_balancer", "--n", "1"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True)
    assert json.loads(done.stdout) == equation_balancer.generate(1, 0)[0]


def test_a_mistake_of_the_caller_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert game_of_24.main(["--n", "-1"]) == 2
    assert capsys.readouterr().err == "Cannot make -1 rows. Ask for 0 or more.\n"
    assert game_of_24.main(["--n", "1", "--out", str(tmp_path / "nowhere" / "x.jsonl")]) == 2
    assert "Name a file in a folder that exists." in capsys.readouterr().err


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "task.jsonl"
    out.write_text("old")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(TaskError, match="No space left on device"):
        write_rows(equation_balancer.generate(1, 0), out)
    assert out.read_text() == "old"


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "task.jsonl"
    path.write_bytes(dump(TICKETS[:2]) + b'{"input": "lost"}\n')
    with pytest.raises(TaskError, match="line 3"):
        read_rows(path)
