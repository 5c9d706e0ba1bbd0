"""Processes that learn are killed at random moments; after each it is looked at what is left of their memory.

    python -m benchmarks.faults [--kills 500] [--seed N] [--postgres] [--json]

Each life is a process that learns, alone and in batches, recalls, archives, refines, imports, backs up, vacuums and
opens the memory anew, one after another as a seeded generator draws them, until it is killed with SIGKILL. It says over
a pipe what it is about to do, and what it has done once the memory has acknowledged it. Then the memory is opened
again: whatever was acknowledged must be there, of what was in flight all or nothing, and `verify` must find nothing in
it, in its saved indexes and in its backups. The next life goes on with the same memory.

What is counted as inside a transaction is what the locks on the file say at the moment of death (of a server's clients
that is not known; they make no backups). A kill leaves to the operating system what was written; what a loss of power
leaves is another matter (`tests/memory/test_crashes.py`).

Exit code 1 where anything was lost or unsound.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.faults.killing import Plan, Toll, kill_many
from benchmarks.perf.figures import notice, print_json, table
from benchmarks.perf.postgres_server import PostgresServer

NOTICE_EVERY = 50


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of what is done, and of the moments of death")
    parser.add_argument("--a-memory", type=int, default=25, help="lives that go on with one memory")
    parser.add_argument("--longest-s", type=float, default=0.3, help="a life ends within so many seconds")
    parser.add_argument("--postgres", action="store_true", help="kill clients of a PostgreSQL server that this starts")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args(arguments)
    with ExitStack() as until_end:
        plan = Plan(
            kills=options.kills,
            seed=options.seed,
            a_memory=options.a_memory,
            longest_s=options.longest_s,
            address=until_end.enter_context(PostgresServer()).url if options.postgres else "",
        )
        folder = until_end.enter_context(tempfile.TemporaryDirectory())
        toll = kill_many(plan, Path(folder), _tell)
    if options.json:
        print_json(toll)
    else:
        print(as_text(toll))
    if toll.lost or toll.unsound:
        sys.exit(1)


def as_text(toll: Toll) -> str:
    """The toll as a table, and all that was wrong."""
    rows = [
        ("kills", toll.kills),
        ("… inside a transaction", toll.inside.get("transaction", 0)),
        ("… inside a checkpoint", toll.inside.get("checkpoint", 0)),
        ("… with something in flight", sum(toll.in_flight.values())),
        *((f"… … {name}", count) for name, count in sorted(toll.in_flight.items())),
        ("… … found whole afterwards, the rest undone", toll.landed),
        ("memories", toll.memories),
        ("actions acknowledged", toll.actions),
        ("turns acknowledged", toll.turns),
        ("lost", len(toll.lost)),
        ("unsound", len(toll.unsound)),
    ]
    return "\n".join([table(("", "count"), rows), *toll.lost, *toll.unsound])


def _tell(toll: Toll) -> None:
    if toll.kills % NOTICE_EVERY == 0:
        notice(f"{toll.kills} kills, {len(toll.lost)} lost, {len(toll.unsound)} unsound")


if __name__ == "__main__":
    main()
