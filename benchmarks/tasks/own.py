"""The tasks of this folder for `cheatsheet eval`, each with its instruction and its scorer.

cheatsheet eval benchmarks.tasks.own:ticket_routing --model local/smollm2-135m
cheatsheet eval benchmarks.tasks.own:game_of_24+n=50+seed=1 --model openai/gpt-4o-mini
"""

from __future__ import annotations

from benchmarks.tasks import equation_balancer as balancer
from benchmarks.tasks import game_of_24 as games
from benchmarks.tasks import ticket_routing as tickets
from benchmarks.tasks.rows import Questions


def ticket_routing(seed: int | None = None) -> Questions:
    """The 120 tickets in the file's order, or in the order of `seed`, which shows each problem in its first half.

    Raises:
        TaskError: the file is missing or damaged.
    """
    return Questions(rows=tickets.load(seed), name="ticket_routing", instruction=tickets.INSTRUCTION, scorer="choice")


def game_of_24(n: int = 100, seed: int = 0) -> Questions:
    """`n` hands that have a solution, drawn with `seed`.

    Raises:
        TaskError: `n` is negative or larger than the number of such hands.
    """
    rows = games.generate(n, seed)
    return Questions(rows=rows, name="game_of_24", instruction=games.INSTRUCTION, scorer="game-of-24")


def equation_balancer(n: int = 100, seed: int = 0) -> Questions:
    """`n` equations that can be balanced, drawn with `seed`.

    Raises:
        TaskError: `n` is negative.
    """
    rows = balancer.generate(n, seed)
    return Questions(rows=rows, name="equation_balancer", instruction=balancer.INSTRUCTION, scorer="equation")
