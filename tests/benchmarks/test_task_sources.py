"""The tasks as `cheatsheet eval` takes them from Python, and the files of published work as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.tasks import published, ticket_routing
from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Task, load_task

needs_data = pytest.mark.skipif(not published.DATA.exists(), reason="the published tasks (../shared/data) are not here")

OWN = {
    "own:ticket_routing": ("ticket_routing", 120, "choice"),
    "own:game_of_24+n=5": ("game_of_24", 5, "game-of-24"),
    "own:equation_balancer+n=6+seed=2": ("equation_balancer", 6, "equation"),
}
PUBLISHED = {
    "published:aime_2024": ("AIME_2024", 30, "integer"),
    "published:aime_2025": ("AIME_2025", 30, "integer"),
    "published:aime_2020_2024": ("AIME_2020_2024", 133, "integer"),
    "published:math_equation_balancer": ("MathEquationBalancer", 250, "equation"),
    "published:game_of_24": ("GameOf24", 100, "game-of-24"),
    "published:formula": ("formula", 200, "quantity"),
    "published:finer": ("finer", 441, "tags"),
}
FILES = {
    "dc_tasks/AIME_2024.jsonl.gz": 30,
    "dc_tasks/AIME_2025.jsonl.gz": 30,
    "dc_tasks/AIME_2020_2024.jsonl.gz": 133,
    "dc_tasks/MathEquationBalancer.jsonl.gz": 250,
    "ace_finance/formula_train_subset_500.jsonl": 500,
    "ace_finance/formula_val_subset_300.jsonl": 300,
    "ace_finance/formula_test.jsonl": 200,
    "ace_finance/finer_test_subset.jsonl.gz": 441,
}


def is_as_told(task: Task, told: tuple[str, int, str]) -> None:
    """Its scorer reads every target and finds it right."""
    assert (task.name, len(task.samples), task.scorer) == told
    scorer_for(task.scorer).check(task.samples)


@pytest.mark.parametrize("source", OWN)
def test_our_tasks_bring_instruction_and_scorer(source: str) -> None:
    task = load_task(f"benchmarks.tasks.{source}")
    is_as_told(task, OWN[source])
    assert task.instruction.endswith(".")
    assert load_task(f"benchmarks.tasks.{source}").sha256 == task.sha256


def test_the_order_of_the_tickets_can_be_one_that_shows_each_problem_early() -> None:
    task = load_task("benchmarks.tasks.own:ticket_routing+seed=3")
    assert [sample.id for sample in task.samples] == [row["id"] for row in ticket_routing.load(3)]


@needs_data
@pytest.mark.parametrize("source", PUBLISHED)
def test_published_tasks_bring_their_scorer(source: str) -> None:
    task = load_task(f"benchmarks.tasks.{source}")
    is_as_told(task, PUBLISHED[source])
    assert bool(task.instruction) == (task.name not in ("formula", "finer"))


@needs_data
def test_formula_has_splits_of_its_own() -> None:
    parts = {name: load_task("benchmarks.tasks.published:formula", split=name) for name in published.FORMULA_FILES}
    assert {name: len(part.samples) for name, part in parts.items()} == {"train": 500, "validation": 300, "test": 200}
    assert {part.split for part in parts.values()} == set(parts)
    with pytest.raises(UnknownNameError, match="Unknown split 'dev'"):
        load_task("benchmarks.tasks.published:formula", split="dev")


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_published_files_are_read_as_they_are(name: str) -> None:
    task = load_task(published.DATA / name)
    assert len(task.samples) == FILES[name]
    assert task.name == Path(name).name.partition(".")[0]


@needs_data
def test_a_file_without_targets_says_so() -> None:
    with pytest.raises(TaskError, match=r"GameOf24\.jsonl, line 1: the field 'target' is missing"):
        load_task(published.DATA / "dc_tasks" / "GameOf24.jsonl")


def test_data_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"AIME_2024\.jsonl\.gz cannot be read: No such file"):
        load_task(f"benchmarks.tasks.published:aime_2024+folder={tmp_path}")
