"""Many deaths of processes that learn, each followed by a look at what is left of their memory."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.faults.dying import AfterSeconds
from benchmarks.faults.ledger import Ledger, flaws_of, flaws_of_indexes, unsound_backups
from benchmarks.faults.nursery import Nursery
from cheatsheet.errors import CheatsheetError
from cheatsheet.interfaces.stores import open_store
from cheatsheet.settings import load_settings

DEED = "benchmarks.faults.learner:learn_until_killed"
WARM = "benchmarks.faults.learner:warm"
SETTLED_S = 0.05
"""In which a server ends what a client had it do and did not live to hear of."""
CLIENT = ("cheatsheet.memory.postgres.postgres_store", "psycopg", "psycopg_pool")


@dataclass(slots=True, kw_only=True)
class Toll:
    """What so many kills came to.

    Attributes:
        kills: of them, by what the child was doing when it was stopped: `in_flight`, something that it had announced
            and not yet acknowledged; `inside`, what it had locked of its file (`locks`).
        landed: actions in flight that were found whole after the kill; all others were found undone.
        memories: how many memories these lives had, one after another.
        actions, turns: acknowledged, over all lives.
        lost: acknowledged turns, bullets, versions or backups that were not there after a kill.
        unsound: what `verify` found, in memories, their indexes and their backups, or an error on opening.
    """

    kills: int = 0
    in_flight: dict[str, int] = field(default_factory=dict)
    inside: dict[str, int] = field(default_factory=dict)
    landed: int = 0
    memories: int = 0
    actions: int = 0
    turns: int = 0
    lost: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to kill.

    Attributes:
        a_memory: so many lives go on with one memory; then a new one is begun.
        longest_s: a life ends at a random moment up to so many seconds after its beginning.
        address: of a PostgreSQL server, where the memories are kept there.
    """

    kills: int
    seed: int
    a_memory: int
    longest_s: float
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one memory is kept.

    Attributes:
        path: of its file, or the address of its server.
        folder: of its file and its backups, and of the copies that are looked at.
    """

    path: str
    namespace: str
    folder: Path

    @property
    def in_file(self) -> bool:
        """Whether it is a file, which has locks to look at and can be copied."""
        return "://" not in self.path


def kill_many(plan: Plan, folder: Path, told: Callable[[Toll], None] = lambda toll: None) -> Toll:
    """Let so many children live and die, and add up what was found."""
    toll, random = Toll(), Random(plan.seed)
    with Nursery([WARM, *(CLIENT if plan.address else ())]) as nursery:
        for first in range(0, plan.kills, plan.a_memory):
            place = _new_place(plan, folder, first)
            ledger = Ledger(namespace=place.namespace)
            for number in range(first, min(first + plan.a_memory, plan.kills)):
                _die_once(nursery, place, ledger, toll, random, number, plan.longest_s)
                told(toll)
            toll.memories += 1
            toll.actions += ledger.actions
            toll.turns += len(ledger.turns)
            shutil.rmtree(place.folder)
    return toll


def _new_place(plan: Plan, folder: Path, first: int) -> Place:
    own = folder / f"memory-{first}"
    own.mkdir()
    if plan.address:
        return Place(path=plan.address, namespace=f"kills-{plan.seed}-{first}", folder=own)
    return Place(path=str(own / "memory.db"), namespace="default", folder=own)


def _die_once(
    nursery: Nursery, place: Place, ledger: Ledger, toll: Toll, random: Random, number: int, longest_s: float
) -> None:
    life = nursery.live(
        DEED,
        death=AfterSeconds(seconds=random.uniform(0, longest_s), path=place.path if place.in_file else ""),
        path=place.path,
        namespace=place.namespace,
        seed=random.randrange(2**32),
        name=f"life-{number}",
    )
    ledger.hear(life.said)
    toll.kills += life.signal == signal.SIGKILL
    _add(toll.in_flight, [ledger.flying["doing"]] if ledger.flying else [])
    _add(toll.inside, life.facts.get("inside", ()))
    seen = _look(place, ledger)
    if life.signal != signal.SIGKILL:
        seen.unsound.append(f"the child ended before it was killed: {life.error or life.signal}")
    toll.landed += seen.landed
    toll.lost += [f"after kill {number}: {text}" for text in seen.lost]
    toll.unsound += [f"after kill {number}: {text}" for text in seen.unsound]


def _add(counted: dict[str, int], names: Iterable[str]) -> None:
    for name in names:
        counted[name] = counted.get(name, 0) + 1


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What one look at a memory finds; see `Toll`."""

    lost: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)
    landed: bool = False


def _look(place: Place, ledger: Ledger) -> _Seen:
    """Look at a memory and its backups; at a copy where there is a file, so that the next child finds it as it died."""
    seen = _Seen(unsound=list(unsound_backups(ledger, place.folder)))
    path = _copied(place) if place.in_file else place.path
    if path is None:
        return seen
    if not place.in_file:
        time.sleep(SETTLED_S)
    try:
        with closing(open_store(load_settings(path=path))) as store:
            seen.lost += ledger.missing(store)
            seen.unsound += flaws_of(store)
            seen.unsound += flaws_of_indexes(store, place.namespace, place.path)
            seen.landed = ledger.landed(store)
    except CheatsheetError as error:
        seen.unsound.append(str(error))
    return seen


def _copied(place: Place) -> str | None:
    """A copy of a memory's file and its log; None where the child died before there was one."""
    copies = place.folder / "copy"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    for path in place.folder.glob("memory.db*"):
        if path.is_file() and not path.name.endswith("-shm"):  # it is made anew from the log, as after a loss of power
            shutil.copy(path, copies)
    copy = copies / "memory.db"
    return str(copy) if copy.exists() else None
