"""What the children of these tests do to a memory."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.faults.nursery import Say
from benchmarks.faults.states import state_in
from cheatsheet.context.providers.state import ContextState, save_state
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.lived import Answered
from cheatsheet.evaluation import jsonl
from cheatsheet.interfaces.cli.writing import write_whole
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.operations import Remove
from cheatsheet.settings import load_settings
from indexes.exact import ExactIndex
from indexes.hashing import HashingEmbedder

START = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
NOBODY = 65_534  # a user without any rights
PLAYBOOK = (
    "# Advice\n\n- Check the units before adding.\n- Ask for the currency of every amount.\n- Round at the end.\n"
)


def opened(path: str | Path, **settings: Any) -> Engine:
    """A memory as `cheatsheet.open` opens it, with a clock that goes by the memory's own version."""
    rules = {"embedder": "hashing", "reflector": "rules", "curator": "rules", "counter": "chars"}
    engine: Engine
    given = Given(clock=lambda: START + timedelta(minutes=engine.memory.version))
    engine = build_engine(load_settings(path=str(path), **{**rules, **settings}), given)
    return engine


def warm() -> None:
    """Import all that a life needs; what the memory logs is not the tests' to show."""
    logging.getLogger("cheatsheet").addHandler(logging.NullHandler())
    with opened(":memory:") as engine:
        engine.learn_batch([turn(0)])
        recall(engine)


def turn(number: int) -> Answered:
    """A turn that was answered wrongly, so that there is something to learn."""
    lesson = f"Item {number} of the list is counted in {('metres', 'litres', 'hours')[number % 3]}, never twice"
    return Answered(recall=f"How much is item {number}?", answer="7", feedback=lesson, turn_id=f"turn-{number}")


def lived(path: str | Path, turns: int) -> None:
    """A memory with so many turns, its file whole in itself."""
    with opened(path, max_bullets=8) as engine:
        for number in range(turns):
            engine.learn_batch([turn(number)])


def recall(engine: Engine) -> object:
    return engine.recall("How much is item 3?")


def look(engine: Engine) -> object:
    return (engine.memory.bullets(), engine.history(), engine.stats())


ACTIONS: dict[str, Callable[[Engine], object]] = {
    "learn": lambda engine: engine.learn_batch([turn(100)]),
    "learn a batch": lambda engine: engine.learn_batch([turn(100 + number) for number in range(5)]),
    "import": lambda engine: engine.import_playbook(PLAYBOOK, format="markdown", name="advice.md"),
    "archive": lambda engine: engine.apply([Remove(id=engine.memory.bullets()[0].id)]),
    "roll back": lambda engine: engine.rollback(5),
    "vacuum": lambda engine: engine.vacuum(before=engine.memory.version),
    "recall": recall,
    "look": look,
}


def nothing(say: Say) -> None:
    say.begin()
    say("done")


def act(say: Say, path: str, action: str, settings: dict[str, Any]) -> None:
    """Open a memory, and do one thing to it; what is said last is the acknowledgement."""
    with opened(path, **settings) as engine:
        say.begin()
        ACTIONS[action](engine)
        say("done")


def back_up(say: Say, path: str, backup: str) -> None:
    with opened(path) as engine:
        say.begin()
        engine.backup(backup)
        say("done")


def replace(say: Say, what: str, path: str) -> None:
    """Write a file that is there anew, with other content."""
    say.begin()
    with _telling(say, what):
        WRITERS[what](Path(path), "new")
        say([what, "done", ""])


def _write_index(path: Path, content: str) -> None:
    index = ExactIndex(8)
    index.add([1, 2], HashingEmbedder(dim=8).embed([content, "other"]))
    index.save(path, watermark=content)


def _append_row(path: Path, content: str) -> None:
    with jsonl.Appender(path) as file:
        file.append({"content": content * 2_000})


WRITERS: dict[str, Callable[[Path, str], None]] = {
    "an index": _write_index,
    "the state of a home": lambda path, content: save_state(path.parent, ContextState(log_bytes=len(content))),
    "an export": lambda path, content: write_whole(path, content.encode() * 2_000),
    "a row": _append_row,
}


def open_and_learn(say: Say, path: str) -> None:
    """The same, where opening is what may be cut short."""
    say.begin()
    with opened(path) as engine:
        engine.learn_batch([turn(100)])
        say("done")


def act_in_trouble(say: Say, path: str, action: str) -> None:
    """Do one thing while the system may fail; say what is told of it, and whether the memory can still be read."""
    with opened(path) as engine:
        say.begin()
        _try(say, engine, action, "recall")


def act_in_little_room(say: Say, path: str, action: str, room: int, *, deadly: bool) -> None:
    """Do one thing where no file may grow beyond a size; a write beyond it is cut, and fails or kills."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if deadly else signal.SIG_IGN)
    with opened(path) as engine:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        _try(say, engine, action, "recall")


def act_without_rights(say: Say, path: str) -> None:
    """Do several things without the rights of root, whom no permission binds."""
    os.environ["CHEATSHEET_HOME"] = str(Path(path).parents[1] / "home")
    if not os.geteuid():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    act_one_by_one(say, path)


def act_one_by_one(say: Say, path: str) -> None:
    """Open a memory and do several things, each of which may fail."""
    with _telling(say, "open"), opened(path) as engine:
        _try(say, engine, "learn", "recall", "look")


def fill(say: Say, path: str) -> None:
    """Learn until there is no more room; say how many turns were acknowledged, and what was told of the next one."""
    with opened(path) as engine:
        number = 1_000
        with _telling(say, "learn"):
            while True:
                engine.learn_batch([turn(number)])
                number += 1
        say(number - 1_000)
        _try(say, engine, "recall")


def tell_state(say: Say, path: str) -> None:
    """Say what a memory holds that only a child can see."""
    state = state_in(Path(path))
    say([state.version, state.turns, state.flaws])


def delete(say: Say, path: str) -> None:
    Path(path).unlink()


def die_learnt(say: Say, path: str, number: int) -> None:
    """Learn a turn and die, so that it lies in the log alone."""
    engine = opened(path)
    engine.learn_batch([turn(number)])
    os.kill(os.getpid(), signal.SIGKILL)


def wait_inside_a_transaction(say: Say, path: str) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    say.begin()
    time.sleep(60)


def _try(say: Say, engine: Engine, *actions: str) -> None:
    for what in actions:
        with _telling(say, what):
            ACTIONS[what](engine)
            say([what, "done", ""])


@contextmanager
def _telling(say: Say, what: str) -> Iterator[None]:
    """Say what is raised; a raw error of SQLite's or of the system's is one that the memory did not expect."""
    try:
        yield
    except Exception as error:
        raw = isinstance(error, sqlite3.Error | OSError)
        say([what, f"raw {type(error).__name__}" if raw else type(error).__name__, str(error)])
