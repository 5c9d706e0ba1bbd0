"""What it takes to write: one durable turn, a bulk import, and the upkeep of the file.

    python -m benchmarks.perf.writing [--sizes 100,10000,100000] [--bulk 100000] [--json]

Of one turn, four sides are timed in turn, on one memory of each size; each waits for the disk (`synchronous` full):

    insert   the floor: one row of so many bytes as a bullet has, into a table without an index, by SQLite alone
    commit   `MemoryStore.commit` of one new bullet
    learn    `Engine.learn` of a question that becomes one new bullet and one experience, without embedding and search
    whole    the same with the search, by the index that the memory chooses

Without embedding: vectors are ready, and fetching them from a dictionary and storing them in the file is all that is
timed of them. Without search: who is asked for neighbours answers at once that there are none. The memory holds random
unit vectors of the dimension of the default model and texts of random words, so that no lesson is like another.

In bulk: a playbook of so many bullets with ready vectors is imported as `cheatsheet import` does it, through cleaning,
quarantine, the search for duplicates and the guard. The memory is then closed and opened, up to its first search; every
tenth bullet is used in one turn, and in another, and every hundredth is archived; and it is backed up, verified and
vacuumed.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.perf import figures
from benchmarks.perf.figures import Times, notice, rounded, timed
from benchmarks.perf.overhead import FILL_AT_ONCE, RandomEmbedder, random_text
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.kept import utc_now
from cheatsheet.engine.playbooks import Imported
from cheatsheet.interfaces import parts
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Remove, Tag
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.settings import Settings, load_settings
from indexes.cached import CachedEmbedder
from indexes.embedder import TextKind
from indexes.index import Hits
from indexes.vectors import Matrix, Vector

SIZES = (100, 10_000, 100_000)
BULK = 100_000
REPEAT = 300
FLOOR_BYTES = 600  # of a bullet of 26 words with its entry in the journal
SIDES = ("insert", "commit", "learn", "whole")


@dataclass(frozen=True, slots=True)
class Turns:
    """Milliseconds of one durable change in a memory of so many bullets."""

    bullets: int
    insert_ms: Times
    commit_ms: Times
    learn_ms: Times
    whole_ms: Times


@dataclass(frozen=True, slots=True)
class Bulk:
    """Seconds of what is done with a whole memory of so many bullets."""

    bullets: int
    import_s: float
    bullets_a_second: float
    transactions: int
    open_s: float
    backup_s: float
    verify_s: float
    vacuum_s: float


class ReadyEmbedder(RandomEmbedder):
    """Random rows that are at hand once they were asked for."""

    def __init__(self) -> None:
        self._rows: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        missing = [text for text in texts if text not in self._rows]
        self._rows.update(zip(missing, super().embed(missing, kind), strict=True))
        return np.stack([self._rows[text] for text in texts]) if texts else super().embed(texts, kind)


class NoNeighbours:
    """Answers at once that nothing is near."""

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        return Hits(np.empty(0, np.int64), np.empty(0, np.float32))

    def experiences(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        return self.bullets(query, k)

    def close(self) -> None:
        """Nothing is held."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=figures.sizes, default=SIZES, help="numbers of bullets, separated by commas")
    parser.add_argument("--repeat", type=int, default=REPEAT, help="turns of each side at each size")
    parser.add_argument("--bulk", type=int, default=BULK, help="bullets of the playbook; 0 leaves it out")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    found: list[Turns | Bulk] = [measure_turns(size, options.repeat) for size in options.sizes]
    found += [measure_bulk(options.bulk)] if options.bulk else []
    figures.show(found, as_tables, as_json=options.json)


def measure_turns(bullets: int, repeat: int) -> Turns:
    """Fill a memory with so many bullets, then time the four sides in turn."""
    notice(f"one turn at {bullets:,} bullets …")
    rng = np.random.default_rng(bullets)
    texts = [random_text(rng) for _ in range(len(SIDES) * (repeat + figures.UNCOUNTED))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        embedder = ReadyEmbedder()
        _fill(path, embedder, [random_text(rng) for _ in range(bullets)])
        _ask_once(embedder, texts)
        with _floor(Path(folder) / "floor.db") as insert, _engine(path, embedder) as engine:
            engine.recall("so that the index is there before anything is timed")
            sides = _sides(insert, engine, _without_search(engine, embedder), texts)
            times = figures.in_turn(sides, repeat)
            grown = engine.stats().bullets - bullets
    if grown < 3 * repeat:
        raise AssertionError(f"Only {grown} of {3 * repeat} changes made a bullet: this would measure something else.")
    return Turns(bullets, *(figures.summary(times[side]) for side in SIDES))


def measure_bulk(bullets: int) -> Bulk:
    """Import so many bullets, then open, back up, verify and vacuum what came of it."""
    notice(f"bulk import of {bullets:,} bullets …")
    rng = np.random.default_rng(bullets)
    embedder = ReadyEmbedder()
    texts = [random_text(rng) for _ in range(bullets)]
    embedder.embed(texts)
    playbook = json.dumps({"format": "cheatsheet", "version": 1, "bullets": [{"content": text} for text in texts]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        import_s, imported = _imported(path, embedder, playbook)
        if len(imported.added) != bullets:
            raise AssertionError(
                f"Only {len(imported.added)} of {bullets} became bullets: this measures something else."
            )
        open_s = rounded(timed(lambda: _opened_and_asked(path, embedder)) / 1_000)
        _use(path, imported.added)
        return Bulk(
            bullets,
            import_s=import_s,
            bullets_a_second=rounded(bullets / import_s),
            transactions=imported.batches,
            open_s=open_s,
            **_upkeep(path, Path(folder) / "copy.db"),
        )


def as_tables(found: Sequence[Turns | Bulk]) -> str:
    """Markdown tables of what there is of each."""
    turns = [each for each in found if isinstance(each, Turns)]
    bulks = [each for each in found if isinstance(each, Bulk)]
    tables = []
    if turns:
        titles = ("bullets", *(f"{side}, ms p50 / p99" for side in SIDES))
        rows = [(f"{each.bullets:,}", *(_pair(getattr(each, f"{side}_ms")) for side in SIDES)) for each in turns]
        tables.append(figures.table(titles, rows))
    if bulks:
        names = ("import", "open", "backup", "verify", "vacuum")
        titles = ("bullets", "bullets a second", *(f"{name}, s" for name in names))
        rows = [
            (f"{each.bullets:,}", figures.number(each.bullets_a_second), *(_seconds(each, name) for name in names))
            for each in bulks
        ]
        tables.append(figures.table(titles, rows))
    return "\n\n".join(tables)


# One turn


def _sides(
    insert: Callable[[], object], engine: Engine, without: Engine, texts: Sequence[str]
) -> dict[str, Callable[[int], object]]:
    """What is done in each round; every side has texts of its own, so that none meets a lesson of another one."""
    share = len(texts) // len(SIDES)
    commits, learns, wholes = (texts[number * share : (number + 1) * share] for number in range(1, len(SIDES)))

    def learn(memory: Engine, text: str) -> object:
        return memory.learn(text, "an answer", feedback=f"wrong: {text}")

    return {
        "insert": lambda place: insert(),
        "commit": lambda place: _commit(engine, commits[place]),
        "learn": lambda place: learn(without, learns[place]),
        "whole": lambda place: learn(engine, wholes[place]),
    }


def _commit(engine: Engine, text: str) -> object:
    change = Change(at=utc_now(), cause="user", operations=(Add(draft=Draft(content=text)),))
    return engine._store.commit(engine.namespace, change)


def _ask_once(embedder: ReadyEmbedder, texts: Sequence[str]) -> None:
    """Let each turn be lived once elsewhere, so that the rows of all that it embeds are at hand."""
    with build_engine(_settings(Path(":memory:")), Given(embedder=embedder)) as elsewhere:
        without = _without_search(elsewhere, embedder)
        for text in texts:
            without.learn(text, "an answer", feedback=f"wrong: {text}")


def _without_search(engine: Engine, embedder: ReadyEmbedder) -> Engine:
    """An engine on the same memory for which nothing is near."""
    store, settings = engine._store, _settings(Path(":memory:"))
    cached = CachedEmbedder(embedder, store)
    return Engine(
        store=store,
        retriever=Retriever(store, cached, namespace=engine.namespace, neighbours=NoNeighbours()),
        embedder=cached,
        mode=parts.build_mode(settings, None),
        counter=parts.build_counter(settings),
        options=parts.build_options(settings, None),
        namespace=engine.namespace,
    )


@contextmanager
def _floor(path: Path) -> Iterator[Callable[[], object]]:
    """One durable insertion by SQLite alone."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = full")
        db.execute("CREATE TABLE floor (number INTEGER PRIMARY KEY, row BLOB NOT NULL)")
        row = bytes(FLOOR_BYTES)
        yield lambda: db.execute("INSERT INTO floor (row) VALUES (?)", (row,))


# A whole memory


def _imported(path: Path, embedder: ReadyEmbedder, playbook: str) -> tuple[float, Imported]:
    found: list[Imported] = []
    with _engine(path, embedder) as engine:
        ms = timed(lambda: found.append(engine.import_playbook(playbook, progress=_told)))
    return rounded(ms / 1_000), found[0]


def _told(done: int, total: int) -> None:
    if done * 10 // total > (done - 1_000) * 10 // total:
        notice(f"imported {done:,} of {total:,}")


def _opened_and_asked(path: Path, embedder: ReadyEmbedder) -> None:
    with _engine(path, embedder) as engine:
        engine.recall("is the memory open?")


def _use(path: Path, ids: Sequence[str]) -> None:
    with closing(SqliteStore(path)) as store:
        for _ in range(2):
            uses = tuple(Tag(id=id, uses=1) for id in ids[::10])
            store.commit("default", Change(at=utc_now(), cause="turn", operations=uses))
        gone = tuple(Remove(id=id, reason="old") for id in ids[::100])
        store.commit("default", Change(at=utc_now(), cause="user", operations=gone))


def _upkeep(path: Path, copy: Path) -> dict[str, float]:
    with _engine(path, ReadyEmbedder()) as engine:
        done = {
            "backup_s": lambda: engine.backup(copy),
            "verify_s": lambda: engine.verify(),
            "vacuum_s": lambda: engine.vacuum(keep_days=0),
        }
        seconds = {}
        for name, call in done.items():
            notice(f"{name.removesuffix('_s')} …")
            seconds[name] = rounded(timed(call) / 1_000)
        if flaws := engine.verify():
            raise AssertionError(f"After the vacuum the memory is not sound: {flaws}")
    return seconds


# Both


def _fill(path: Path, embedder: ReadyEmbedder, texts: Sequence[str]) -> None:
    with closing(SqliteStore(path)) as store:
        cached = CachedEmbedder(embedder, store)
        for start in range(0, len(texts), FILL_AT_ONCE):
            some = texts[start : start + FILL_AT_ONCE]
            cached.embed(some, "document")
            adds = tuple(Add(draft=Draft(content=text)) for text in some)
            store.commit("default", Change(at=utc_now(), cause="import", operations=adds))


def _engine(path: Path, embedder: ReadyEmbedder) -> Engine:
    return build_engine(_settings(path), Given(embedder=embedder))


def _settings(path: Path) -> Settings:
    return load_settings(path=str(path), mode="retrieval", counter="chars")


def _pair(times: Times) -> str:
    return f"{figures.number(times.p50)} / {figures.number(times.p99)}"


def _seconds(bulk: Bulk, name: str) -> str:
    seconds: float = getattr(bulk, f"{name}_s")
    return figures.number(seconds)


if __name__ == "__main__":
    main()
