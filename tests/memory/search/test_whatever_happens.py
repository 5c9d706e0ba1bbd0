"""Whatever happens to the memory, its file and the files of its indexes: what is found is what an exact index finds."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from cheatsheet.memory.experience import experience_id
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.vacuum import vacuum
from tests.memory.search.worlds import DIM, NOW, OtherModel, World, add

NAMESPACES = ("default", "../default")
TEXTS = st.sampled_from([f"{first} {second}" for first in ("check", "round", "look") for second in ("units", "twice")])
Spoil = Literal["damage", "remove", "swap parts", "swap namespaces", "bring back", "of another model"]


class Happening(RuleBasedStateMachine):
    """Two namespaces of one memory, each searched by one process, and another process that writes."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.path = self.home / "memory.db"
        self.folder = self.home / "memory.db.index"
        self.other = SqliteStore(self.path)
        self.worlds: dict[str, World] = {}
        self.now = NOW
        self.open()

    def open(self) -> None:
        self.worlds = {namespace: World(self.path, namespace=namespace, keep=True) for namespace in NAMESPACES}

    def close(self) -> None:
        for world in self.worlds.values():
            world.close()

    def teardown(self) -> None:
        self.close()
        self.other.close()
        shutil.rmtree(self.home)

    def commit(self, namespace: str, *operations: Operation, outside: bool, queries: tuple[str, ...] = ()) -> None:
        self.now += timedelta(seconds=1)  # also where time goes back for the memory, it does not for the world
        lived = tuple({"query": query, "answer": "yes", "created_at": self.now} for query in queries)
        change = Change.model_validate(
            {"at": self.now, "cause": "user", "operations": operations, "experiences": lived}
        )
        (self.other if outside else self.worlds[namespace].store).commit(namespace, change)

    @rule(namespace=st.sampled_from(NAMESPACES), texts=st.lists(TEXTS, min_size=1, max_size=4), outside=st.booleans())
    def learn(self, namespace: str, texts: list[str], outside: bool) -> None:
        self.commit(namespace, *map(add, texts), outside=outside, queries=tuple(texts[:2]))

    @rule(
        namespace=st.sampled_from(NAMESPACES),
        number=st.integers(1, 6),
        kind=st.sampled_from(["update", "remove", "restore", "tag", "forget", "recall"]),
        text=TEXTS,
        outside=st.booleans(),
    )
    def change(self, namespace: str, number: int, kind: str, text: str, outside: bool) -> None:
        id = f"misc-{number:05}"
        operations: dict[str, Operation] = {
            "update": Update(id=id, content=text),
            "remove": Remove(id=id),
            "restore": Restore(id=id),
            "tag": Tag(id=id, helpful=1),
            "forget": Remove(id=experience_id(number)),
            "recall": Restore(id=experience_id(number)),
        }
        self.commit(namespace, operations[kind], outside=outside)

    @rule(text=TEXTS)
    def search(self, text: str) -> None:
        for world in self.worlds.values():
            world.check(text)

    @rule(text=TEXTS)
    def reopen(self, text: str) -> None:
        self.close()
        self.open()
        self.search(text)

    @rule(text=TEXTS)
    def keep_a_copy(self, text: str) -> None:
        """Of the memory and of its indexes, as a backup does."""
        self.search(text)
        self.close()
        self.other.close()
        for name in ("memory.db", "memory.db.index"):
            source, copy = self.home / name, self.home / f"copy of {name}"
            if source.is_dir():
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(source, copy)
            elif source.exists():
                shutil.copyfile(source, copy)
        self.other = SqliteStore(self.path)
        self.open()

    @rule()
    def restore_the_memory(self) -> None:
        """The file alone: its indexes are those of what is lost now."""
        copy = self.home / "copy of memory.db"
        if copy.exists():
            self.close()
            self.other.close()
            shutil.copyfile(copy, self.path)
            self.other = SqliteStore(self.path)
            self.open()

    @rule(namespace=st.sampled_from(NAMESPACES))
    def vacuum(self, namespace: str) -> None:
        vacuum(self.other, namespace, self.other.version(namespace))

    @rule(how=st.sampled_from(Spoil.__args__), text=TEXTS)  # type: ignore[attr-defined]  # of a Literal
    def spoil(self, how: Spoil, text: str) -> None:
        self.search(text)
        self.close()
        files = sorted(self.folder.iterdir()) if self.folder.exists() else []
        if how == "bring back" and (self.home / "copy of memory.db.index").exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.copytree(self.home / "copy of memory.db.index", self.folder)
        elif how == "of another model":
            for namespace in NAMESPACES:
                world = World(self.path, namespace=namespace, keep=True, embedder=OtherModel(DIM))
                world.check(text)
                world.close()
        elif files and how == "damage":
            content = bytearray(files[0].read_bytes())
            content[len(content) // 2] ^= 4
            files[0].write_bytes(content)
        elif files and how == "remove":
            files[-1].unlink()
        elif len(files) > 1:
            # Sorted by name, neighbours are the two parts of a namespace, and every other one is of another namespace.
            other = files[1] if how == "swap parts" else files[-1]
            held = files[0].read_bytes()
            files[0].write_bytes(other.read_bytes())
            other.write_bytes(held)
        self.open()


@pytest.mark.usefixtures("kept_when_small")
def test_whatever_happens_the_right_ones_are_found() -> None:
    """F12 to F15, and every order of them."""
    run_state_machine_as_test(Happening, settings=settings(max_examples=40, stateful_step_count=20, deadline=None))
