"""Many processes that learn into one memory at once, and one that recalls from it all the while.

    python -m benchmarks.perf.contention [--processes 8] [--learns 500] [--path PATH|postgresql://…] [--json]
    python -m benchmarks.perf.postgres_server -- python -m benchmarks.perf.contention --path {url}

Every process opens the memory by itself and learns one turn after the other, as fast as it can; some lessons are the
same in all of them, and come at about the same time. Afterwards the memory is read once more, and this fails unless
every turn that was acknowledged is there, no id was given twice, each lesson is one bullet, and `verify` finds nothing.
Texts are embedded by hashing, so that next to nothing but the memory is measured.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import queue
import random
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol

from benchmarks.perf import figures
from benchmarks.perf.figures import notice, rounded
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import StoreBusyError
from cheatsheet.events import CommitEvent, Event
from cheatsheet.interfaces.stores import open_store
from cheatsheet.interfaces.wiring import open_memory
from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Add, Merge
from cheatsheet.memory.upkeep.verify import verify_namespace
from cheatsheet.settings import load_settings

PROCESSES = 8
LEARNS = 500
SHARED_EVERY = 10  # one lesson in so many is the same in all processes
LIMIT_S = 600.0
_WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "el", "im", "on", "ur", "est", "ing")]
_WORDS_A_LESSON = 16


@dataclass(frozen=True, slots=True)
class Contention:
    """What came of it.

    Attributes:
        seconds: from the first learn to the last.
        learn_ms: of a whole learn.
        commit_ms: of its transaction, with the wait for others.
        slowest_process_s, fastest_process_s: until a process had learnt all: how fair the wait was.
        merged: lessons that joined a bullet which another process, or the same one, had learnt.
        busy: learns that were given up because others were writing.
        recall_ms: of a recall while the others learn.
    """

    processes: int
    turns: int
    bullets: int
    merged: int
    busy: int
    seconds: float
    learns_per_s: float
    learn_ms: figures.Times
    commit_ms: figures.Times
    fastest_process_s: float
    slowest_process_s: float
    recall_ms: figures.Times


@dataclass(slots=True)
class Learnt:
    """What one process did."""

    turn_ids: list[str] = field(default_factory=list)
    learn_ms: list[float] = field(default_factory=list)
    commit_ms: list[float] = field(default_factory=list)
    busy: int = 0
    seconds: float = 0.0


class Signal(Protocol):
    """An event that processes share."""

    def is_set(self) -> bool: ...
    def set(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes have in common: the memory, the moment at which they begin, when to end, and their results."""

    address: str
    namespace: str
    start: Any
    done: Signal
    results: Any
    limit_s: float

    def open(self) -> Engine:
        return open_memory(
            self.address, namespace=self.namespace, mode="retrieval", embedder="hashing", counter="chars"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=PROCESSES, help="that learn")
    parser.add_argument("--learns", type=int, default=LEARNS, help="of each process")
    parser.add_argument("--path", help="a file or an address; by default a file that is deleted again")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds after which it counts as stuck")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    with _address(options.path) as address:
        notice(f"{options.processes} processes learn {options.learns} turns each …")
        found = measure(address, processes=options.processes, learns=options.learns, limit_s=options.limit)
    figures.show([found], as_table, as_json=options.json)


def measure(address: str, *, processes: int, learns: int, limit_s: float = LIMIT_S) -> Contention:
    """Let the processes learn into a new namespace of the memory, and check what they leave.

    Raises:
        AssertionError: something is missing, twice there or wrong.
        TimeoutError: they were not done in time.
        RuntimeError: one of them failed.
    """
    context = multiprocessing.get_context("spawn")
    shared = Shared(
        address=address,
        namespace=f"contention-{token_hex(4)}",
        start=context.Barrier(processes + 1),
        done=context.Event(),
        results=context.Queue(),
        limit_s=limit_s,
    )
    learners = [context.Process(target=learn, args=(shared, number, learns)) for number in range(processes)]
    reader = context.Process(target=recall, args=(shared,))
    with _running(*learners, reader):
        learnt = [one for _, one in _results(shared, learners, limit_s)]
        shared.done.set()
        ((_, recalls),) = _results(shared, [reader], limit_s)
    bullets, merged = _checked(shared, learnt, learns)
    return _summed(learnt, recalls, bullets, merged)


def learn(shared: Shared, number: int, learns: int) -> None:
    """What one process does: learn, and tell what was acknowledged."""
    with _telling(shared, number) as tell, shared.open() as memory:
        found = Learnt()

        def listen(event: Event) -> None:
            if isinstance(event, CommitEvent):
                found.commit_ms.append(1_000 * event.seconds)

        memory.events.listeners.append(listen)
        shared.start.wait(shared.limit_s)
        started = time.perf_counter()
        for place in range(learns):
            _learn_one(memory, number, place, found)
        found.seconds = time.perf_counter() - started
        tell(found)


def recall(shared: Shared) -> None:
    """What the reader does until the others are done: recall, each time the newest memory."""
    with _telling(shared, -1) as tell, shared.open() as memory:
        shared.start.wait(shared.limit_s)
        times: list[float] = []
        version = -1
        while not shared.done.is_set():
            question, _ = lesson(0, len(times) * SHARED_EVERY)
            times.append(figures.timed(partial(memory.recall, question)))
            seen = memory.memory.version
            if seen < version:
                raise AssertionError(f"The memory went back from version {version} to {seen}.")
            version = seen
        tell(times)


def lesson(number: int, place: int) -> tuple[str, str]:
    """The question of a turn and what it teaches; some are the same in all processes but for a word."""
    shared = place % SHARED_EVERY == 0
    rng = random.Random(f"{place}" if shared else f"{number} {place}")
    words = rng.choices(_WORDS, k=_WORDS_A_LESSON)
    polite = "Please s" if shared and number % 2 else "S"
    return f"Where to with {' '.join(words[:8])}?", f"{polite}end {' '.join(words[8:])} to dock {place} at once."


def as_table(found: Sequence[Contention]) -> str:
    """A Markdown table."""
    rows = [
        (
            one.processes,
            f"{one.turns:,}",
            f"{one.bullets:,}",
            f"{one.merged:,}",
            one.busy,
            f"{one.seconds:.1f}",
            f"{one.learns_per_s:,.0f}",
            _times(one.learn_ms),
            _times(one.commit_ms),
            f"{one.fastest_process_s:.1f} / {one.slowest_process_s:.1f}",
            _times(one.recall_ms),
        )
        for one in found
    ]
    titles = (
        "processes",
        "turns",
        "bullets",
        "merged",
        "given up",
        "seconds",
        "learns/s",
        "learn ms p50 / p99",
        "its transaction",
        "first / last process done, s",
        "recall meanwhile",
    )
    return figures.table(titles, rows, "Every acknowledged turn is there once, no id twice; verify finds nothing.")


def _times(times: figures.Times) -> str:
    return f"{figures.number(times.p50)} / {figures.number(times.p99)}"


@contextmanager
def _address(path: str | None) -> Iterator[str]:
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "memory.db")


def _learn_one(memory: Engine, number: int, place: int, found: Learnt) -> None:
    question, insight = lesson(number, place)
    turn_id = f"{number}-{place}"
    started = time.perf_counter()
    try:
        memory.learn(question, "done", feedback=Feedback(correct=True, comment=insight), turn_id=turn_id)
    except StoreBusyError:
        found.busy += 1
    else:
        found.turn_ids.append(turn_id)
    found.learn_ms.append(1_000 * (time.perf_counter() - started))


@contextmanager
def _running(*processes: BaseProcess) -> Iterator[None]:
    """Start processes that are gone at the end."""
    started: list[BaseProcess] = []
    try:
        for process in processes:
            process.start()
            started.append(process)
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


@contextmanager
def _telling(shared: Shared, number: int) -> Iterator[Any]:
    """Gives what tells the result of a process; a failure is told as well, and where it is stuck is printed."""
    faulthandler.dump_traceback_later(shared.limit_s, exit=True)
    try:
        yield lambda value: shared.results.put((number, value, ""))
    except BaseException:
        shared.results.put((number, None, traceback.format_exc()))
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()


def _results(shared: Shared, processes: Sequence[BaseProcess], limit_s: float) -> Iterator[tuple[int, Any]]:
    """What each of the processes tells."""
    deadline, missing = time.monotonic() + limit_s, len(processes)
    while missing:
        try:
            number, value, failure = shared.results.get(timeout=1)
        except queue.Empty:
            _check_alive(processes, deadline)
            continue
        if failure:
            raise RuntimeError(f"Process {number} failed:\n{failure}")
        missing -= 1
        yield number, value


def _check_alive(processes: Sequence[BaseProcess], deadline: float) -> None:
    dead = [process.exitcode for process in processes if process.exitcode]
    if dead:
        raise RuntimeError(f"A process ended with {dead[0]} and told nothing.")
    if time.monotonic() > deadline:
        raise TimeoutError("The processes are not done in time: do they wait for each other?")


def _checked(shared: Shared, learnt: Sequence[Learnt], learns: int) -> tuple[int, int]:
    """How many bullets there are, and how many lessons were merged, once nothing is missing, twice there or wrong."""
    settings = load_settings(path=shared.address, namespace=shared.namespace)
    with closing(open_store(settings)) as store:
        journal = store.journal(shared.namespace)
        bullets = store.count_bullets(shared.namespace)
        faults = [flaw.text for flaw in verify_namespace(store, shared.namespace)]
    lessons = len({insight for _, insight in _lessons(len(learnt), learns)})
    if bullets != lessons:
        faults.append(f"{lessons} different lessons became {bullets} bullets.")
    faults += _unlike_told(learnt, journal)
    if faults:
        raise AssertionError("\n".join(faults))
    merges = [operation for entry in journal for operation in entry.operations if isinstance(operation, Merge)]
    return bullets, len(merges)


def _lessons(processes: int, learns: int) -> Iterator[tuple[str, str]]:
    """All that is learnt; a polite lesson is the same as the other one."""
    for place in range(learns):
        for number in range(1 if place % SHARED_EVERY == 0 else processes):
            yield lesson(number, place)


def _unlike_told(learnt: Sequence[Learnt], journal: Sequence[JournalEntry]) -> Iterator[str]:
    """What the journal says otherwise than the processes were told."""
    acknowledged = Counter(turn for one in learnt for turn in one.turn_ids)
    kept = Counter(entry.turn_id for entry in journal)
    if lost := (acknowledged - kept).total():
        yield f"{lost} acknowledged turns are lost."
    if more := (kept - acknowledged).total():
        yield f"{more} turns are there that nobody was told of."
    operations = (operation for entry in journal for operation in entry.operations)
    bullets = Counter(number_of(operation.id) for operation in operations if isinstance(operation, Add))
    experiences = Counter(id for entry in journal for id in entry.experience_ids)
    twice = [id for ids in (bullets, experiences) for id, count in ids.items() if count > 1]
    if twice:
        yield f"{len(twice)} ids were given twice, among them {twice[0]}."


def _summed(learnt: Sequence[Learnt], recalls: Sequence[float], bullets: int, merged: int) -> Contention:
    seconds = [one.seconds for one in learnt]
    turns = sum(len(one.turn_ids) for one in learnt)
    return Contention(
        processes=len(learnt),
        turns=turns,
        bullets=bullets,
        merged=merged,
        busy=sum(one.busy for one in learnt),
        seconds=rounded(max(seconds)),
        learns_per_s=rounded(turns / max(seconds)),
        learn_ms=figures.summary([ms for one in learnt for ms in one.learn_ms]),
        commit_ms=figures.summary([ms for one in learnt for ms in one.commit_ms]),
        fastest_process_s=rounded(min(seconds)),
        slowest_process_s=rounded(max(seconds)),
        recall_ms=figures.summary(recalls),
    )


if __name__ == "__main__":
    main()
