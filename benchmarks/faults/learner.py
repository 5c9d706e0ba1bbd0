"""What the children of the benchmark do until they are killed: they learn, and all else that one does with a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.faults.nursery import Say
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.lived import Answered
from cheatsheet.interfaces.wiring import open_memory
from cheatsheet.memory.operations import Add, Operation, Remove
from cheatsheet.memory.search import index_file

MOST_BULLETS = 30  # active, so that every few turns something is archived
_WORDS = "order invoice carrier refund parcel label tariff pallet depot courier customs voucher return stock".split()

Told = dict[str, Any]
"""What an action has come to, by the memory's own word: ids that must be there for ever."""


def opened(path: str, namespace: str) -> Engine:
    """A memory as these lives use it: rules learn, so that nothing but the memory itself is waited for."""
    return open_memory(
        path,
        namespace=namespace,
        embedder="hashing",
        reflector="rules",
        curator="rules",
        counter="chars",
        max_bullets=MOST_BULLETS,
        search="hybrid",
    )


def warm() -> None:
    """Import all that a life needs, use it once, and keep the indexes of memories as small as these in files, too."""
    index_file.LEAST_ROWS = 1
    life = _Life(say=lambda value: None, path=":memory:", namespace="default", random=Random(0), name="warm")
    with opened(":memory:", "default") as engine:
        life.engine = engine
        for act in (_learn, _recall, _import_playbook, _refine):
            act(life)


def learn_until_killed(say: Say, path: str, namespace: str, seed: int, name: str) -> None:
    """Open the memory and do one thing after another, each announced before and acknowledged after."""
    say.begin()
    life = _Life(say=say, path=path, namespace=namespace, random=Random(seed), name=name)
    life.engine = opened(path, namespace)
    while True:
        life.act()


@dataclass(slots=True, kw_only=True)
class _Life:
    """One child: its memory, and what it draws its actions from.

    Attributes:
        name: begins the names of its turns and files, so that they are those of no other life.
    """

    say: Callable[[Any], None]
    path: str
    namespace: str
    random: Random
    name: str
    count: int = 0
    engine: Engine = field(init=False)

    def act(self) -> None:
        (what,) = self.random.choices(list(_ACTIONS), weights=[weight for weight, _ in _ACTIONS.values()])
        _, act = _ACTIONS[what]
        told = act(self)
        self.say({"did": what, **told, "version": self.engine.memory.version})

    def turn(self) -> Answered:
        self.count += 1
        a, b, c = (self.random.choice(_WORDS) for _ in range(3))
        return Answered(
            recall=f"What about the {a} {self.count} of {self.name}?",
            answer="7",
            feedback=f"Check the {b} of each {c} before the {a}; {self.random.randrange(1000)} were missed",
            turn_id=f"{self.name}-{self.count}",
        )

    def bullet(self) -> str:
        return self.random.choice(self.engine.memory.bullets()).id


def _learn(life: _Life, turns: int = 1) -> Told:
    asked = [life.turn() for _ in range(turns)]
    life.say({"doing": "learn", "turns": [turn.turn_id for turn in asked]})
    lessons = life.engine.learn_batch(asked)
    added = [operation.id for operation in lessons[-1].operations if isinstance(operation, Add)]
    experiences = {
        turn.turn_id: [lesson.experience_id, turn.recall] for turn, lesson in zip(asked, lessons, strict=True)
    }
    return {"turns": experiences, "bullets": added}


def _recall(life: _Life) -> Told:
    life.say({"doing": "recall"})
    life.engine.recall(str(life.turn().recall))
    return {}


def _change(life: _Life) -> Told:
    if life.engine.stats().bullets < 2:
        return _recall(life)
    life.say({"doing": "change"})
    operations: list[Operation] = [Remove(id=life.bullet())]
    life.engine.apply(operations)
    return {}


def _import_playbook(life: _Life) -> Told:
    lines = [f"- Ask for the {word} first ({life.random.randrange(10_000)})." for word in _WORDS[:4]]
    life.say({"doing": "import"})
    imported = life.engine.import_playbook("# Advice\n\n" + "\n".join(lines), format="markdown", name=life.name)
    return {"bullets": list(imported.added)}


def _refine(life: _Life) -> Told:
    life.say({"doing": "refine"})
    life.engine.refine(full=True)
    return {}


def _back_up(life: _Life) -> Told:
    if "://" in life.path:
        return _recall(life)
    life.count += 1
    path = Path(life.path).with_suffix(f".{life.name}-{life.count}.backup")
    life.say({"doing": "backup", "backup": str(path)})
    life.engine.backup(path)
    return {"backup": str(path)}


def _vacuum(life: _Life) -> Told:
    life.say({"doing": "vacuum"})
    life.engine.vacuum(before=life.engine.memory.version)
    return {}


def _reopen(life: _Life) -> Told:
    life.say({"doing": "reopen"})
    life.engine.close()
    life.engine = opened(life.path, life.namespace)
    return {}


_ACTIONS: Mapping[str, tuple[int, Callable[[_Life], Told]]] = {
    "learn": (50, _learn),
    "learn a batch": (10, lambda life: _learn(life, turns=3)),
    "recall": (10, _recall),
    "change": (6, _change),
    "import": (6, _import_playbook),
    "refine": (4, _refine),
    "backup": (4, _back_up),
    "vacuum": (4, _vacuum),
    "reopen": (6, _reopen),
}
