"""Tasks of published work for `cheatsheet eval`, each with its scorer, and with an instruction where it needs one.

Dynamic Cheatsheet (arXiv 2504.07952): AIME, Game of 24, Math Equation Balancer. ACE (arXiv 2510.04618): FinLoRA's
Formula, whose training, validation and test questions are files of their own, and a part of the test of FiNER. Their
data is no part of this project; it is looked for in `../shared/data`, or in the folder that is named:

    cheatsheet eval benchmarks.tasks.published:aime_2024 --model openai/gpt-4o-mini
    cheatsheet adapt benchmarks.tasks.published:formula+split=train --model openai/gpt-4o-mini \\
        --validation benchmarks.tasks.published:formula+split=validation --test benchmarks.tasks.published:formula
    cheatsheet eval benchmarks.tasks.published:finer+folder=/data/published --model openai/gpt-4o-mini
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.tasks import equation_balancer as balancer
from benchmarks.tasks import game_of_24 as games
from benchmarks.tasks.rows import Questions
from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.judging.game_of_24 import numbers_of
from cheatsheet.evaluation.task import Sample, load_task

DATA: Final = Path(__file__).parents[3] / "shared" / "data"
"""Beside the project's folder."""

AIME: Final = "The answer is an integer from 0 to 999. Give it in digits, without any other text."

FORMULA_FILES: Final[Mapping[str, str]] = {
    "train": "formula_train_subset_500.jsonl",
    "validation": "formula_val_subset_300.jsonl",
    "test": "formula_test.jsonl",
}


def aime_2024(folder: Path = DATA) -> Questions:
    """The 30 questions of 2024; raises TaskError where they are not in `folder`, as all of these do."""
    return _dynamic_cheatsheet("AIME_2024", folder, instruction=AIME, scorer="integer")


def aime_2025(folder: Path = DATA) -> Questions:
    """The 30 questions of 2025."""
    return _dynamic_cheatsheet("AIME_2025", folder, instruction=AIME, scorer="integer")


def aime_2020_2024(folder: Path = DATA) -> Questions:
    """133 questions of five years."""
    return _dynamic_cheatsheet("AIME_2020_2024", folder, instruction=AIME, scorer="integer")


def math_equation_balancer(folder: Path = DATA) -> Questions:
    """250 equations; any right one counts."""
    return _dynamic_cheatsheet("MathEquationBalancer", folder, instruction=balancer.INSTRUCTION, scorer="equation")


def game_of_24(folder: Path = DATA) -> Questions:
    """100 hands. Their file has no targets: each target is one solution, found here."""
    path = folder / "dc_tasks" / "GameOf24.jsonl"
    # The question stands in for its target until that is found.
    hands = load_task(path, fields={"input": "input", "target": "input"}).samples
    rows = [replace(hand, target=_solution(hand)) for hand in hands]
    return Questions(rows=rows, name="GameOf24", instruction=games.INSTRUCTION, scorer="game-of-24")


def formula(split: str = "test", folder: Path = DATA) -> Questions:
    """500 questions to train with, 300 to validate, 200 to test; each brings its instruction.

    Raises:
        UnknownNameError: there is no such split.
    """
    if split not in FORMULA_FILES:
        raise UnknownNameError("split", split, FORMULA_FILES)
    return _finance(FORMULA_FILES[split], "formula", folder, scorer="quantity")


def finer(folder: Path = DATA) -> Questions:
    """441 questions of four tags each; each brings its instruction."""
    return _finance("finer_test_subset.jsonl.gz", "finer", folder, scorer="tags")


def _dynamic_cheatsheet(name: str, folder: Path, *, instruction: str, scorer: str) -> Questions:
    rows = load_task(folder / "dc_tasks" / f"{name}.jsonl.gz").samples
    return Questions(rows=rows, name=name, instruction=instruction, scorer=scorer)


def _finance(file: str, name: str, folder: Path, *, scorer: str) -> Questions:
    return Questions(rows=load_task(folder / "ace_finance" / file).samples, name=name, scorer=scorer)


def _solution(hand: Sample) -> str:
    found = games.solve(numbers_of(hand.input))
    if found is None:
        raise TaskError(f"The hand {hand.input!r} of Game of 24 has no solution.")
    return found
