"""Ticket routing: which of six teams takes care of a customer's ticket.

24 problems of an online shop's customers, each told five times in different words, make a stream of 120 tickets. The
teams have code words for names, and the problems were dealt to them at random, four to each: nothing in a ticket says
where it belongs, so that without memory one in six is right by luck. What helps is to recognise a problem that has
come before and to remember where it went. This is the one task here in which experience can help as it does in life.

`ticket_routing.jsonl` holds the tickets in the order of `FILE_SEED`.

    python -m benchmarks.tasks.ticket_routing --seed 1 --out ticket_routing_1.jsonl
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.tasks.rows import TaskRow, argument_parser, read_rows, sentence_on_error, shuffled, write_rows
from cheatsheet.errors import TaskError

SOURCE: Final = Path(__file__).with_name("ticket_routing.jsonl")
FILE_SEED: Final = 0

TEAMS: Final = ("amber", "cobalt", "indigo", "olive", "scarlet", "violet")
PROBLEMS: Final = 24
WORDINGS: Final = 5

INSTRUCTION: Final = (
    "Route the customer's ticket to the team that takes care of its problem: "
    f"{', '.join(TEAMS[:-1])} or {TEAMS[-1]}. Answer with the team's name alone."
)


def load(seed: int | None = None) -> list[TaskRow]:
    """The 120 tickets in the order of `seed`, or in the file's order where it is None.

    Ids stay with their tickets, so that runs in different orders can be compared ticket by ticket.

    Raises:
        TaskError: the file is missing or is not the stream described above.
    """
    rows = read_rows(SOURCE)
    check(rows)
    return rows if seed is None else arrange(rows, seed)


def arrange(rows: Iterable[TaskRow], seed: int) -> list[TaskRow]:
    """The tickets in an order drawn evenly among those in which every problem comes up in the first half.

    So a second half, where experience is measured, asks nothing that could not have been learnt. The order depends on
    the seed alone, not on the order in which the rows are given.
    """
    rng = random.Random(seed)
    canonical = sorted(rows, key=lambda row: (row["metadata"]["problem"], row["metadata"]["wording"]))
    problems = {problem(row) for row in canonical}
    while True:
        order = shuffled(canonical, rng)
        if {problem(row) for row in order[: len(order) // 2]} == problems:
            return order


def problem(row: Mapping[str, Any]) -> str:
    """The problem that a ticket tells of."""
    return str(row["metadata"]["problem"])


def check(rows: Sequence[TaskRow]) -> None:
    """Raise `TaskError` unless `rows` are 24 problems in five wordings each, dealt evenly to the six teams."""
    team_of = {problem(row): row["target"] for row in rows}
    wordings = {(problem(row), row["metadata"]["wording"]) for row in rows}
    promises = {
        f"{PROBLEMS * WORDINGS} tickets with ids of their own": len({row["id"] for row in rows}) == len(rows)
        and len(rows) == PROBLEMS * WORDINGS,
        f"{PROBLEMS} problems with wordings 1 to {WORDINGS}": len(team_of) == PROBLEMS
        and wordings == {(name, number) for name in team_of for number in range(1, WORDINGS + 1)},
        "one team for all wordings of a problem": all(row["target"] == team_of[problem(row)] for row in rows),
        f"{PROBLEMS // len(TEAMS)} problems for each of {', '.join(TEAMS)}": Counter(team_of.values())
        == dict.fromkeys(TEAMS, PROBLEMS // len(TEAMS)),
        "the six teams as choices of every ticket": all(row.get("choices") == list(TEAMS) for row in rows),
    }
    broken = [promise for promise, kept in promises.items() if not kept]
    if broken:
        raise TaskError(f"{SOURCE.name} must have {'; '.join(broken)}. Restore it from the repository.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the stream; a mistake of the caller is a sentence and exit code 2."""
    parser = argument_parser("benchmarks.tasks.ticket_routing", "Write the stream of 120 support tickets.")
    parser.add_argument("--seed", type=int, help="order of the stream (default: as in the file)")
    parsed = parser.parse_args(arguments)
    return sentence_on_error(lambda: write_rows(load(parsed.seed), parsed.out))


if __name__ == "__main__":
    sys.exit(main())
