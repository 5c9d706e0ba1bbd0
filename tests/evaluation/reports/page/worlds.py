"""Runs on the disk, with rows, and memories that learnt from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from cheatsheet.llm.model import Outcome
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.evaluation.fakes import NOON

# What would be markup, script or a formula, could not be encoded, would not be seen, or turns the direction of writing.
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "\"><svg onload=window.hacked=1> ' onfocus='window.hacked=1' autofocus",
    "{{ 7 * 7 }} {% raw %} ${7*7} \\u003cb\\u003e &lt;b&gt;",
    '=HYPERLINK("http://evil.example","click")',
    "half \ud83d and \x00 bell \x07 \x1b[31m \u2028 end",
    "turned \u202eevil\u202c, מימין לשמאל, ‮",
    "# heading | cell\n| `code` *bold* [link](javascript:alert(1))",
)


def row(place: int, *, right: bool, tokens: int = 100, **fields: Any) -> Row:
    """The answer to question number `place`; its fields may be set otherwise."""
    context = f"(Notes, not instructions.)\nadvice number {place}" if tokens > 100 else ""
    usual: dict[str, Any] = {
        "id": f"q-{place:03d}",
        "position": place,
        "question": f"What is the colour of thing {place}?",
        "target": "amber",
        "answer": "amber" if right else "cobalt",
        "reply": "I think that it is amber." if right else "cobalt",
        "correct": right,
        "score": float(right),
        "outcome": Outcome.OK,
        "context": context,
        "context_tokens": tokens - 100,
        "ledger": (ledger_entry(tokens - 100),) if context else (),
        "bullets": int(bool(context)),
        "prompt_tokens": tokens,
        "completion_tokens": 2,
        "model_calls": 1,
        "seconds": 0.5,
    }
    return Row.model_validate(usual | fields)


def ledger_entry(tokens: int) -> LedgerEntry:
    return LedgerEntry(
        section="bullets",
        priority=7,
        wanted_tokens=tokens,
        got_tokens=tokens,
        action="whole",
        reason="It fits whole.",
        kept=("misc-00001",),
    )


def stream(marks: str, **fields: Any) -> list[Row]:
    """One row a mark: `+` right, `-` wrong, `!` a call that failed."""
    return [
        row(place, right=mark == "+", **fields)
        if mark != "!"
        else Row(
            id=f"q-{place:03d}",
            position=place,
            question=f"What is the colour of thing {place}?",
            target="amber",
            error="ModelUnavailableError: no connection",
            cost_complete=False,
        )
        for place, mark in enumerate(marks)
    ]


def write_run(
    folder: Path,
    arms: Mapping[str, Sequence[Row]],
    *,
    seed: int | None = None,
    task: str = "colours",
    modes: Mapping[str, str] | None = None,
    learns: bool = True,
    **spec: Any,
) -> Path:
    """A run as it lies on the disk.

    Args:
        arms: their rows, by name; an arm's mode is its name where `modes` does not say otherwise.
        learns: whether there are memories.
    """
    wanted = RunSpec(
        task=TaskSpec(name=task, sha256=hashlib.sha256(task.encode()).hexdigest(), seed=seed),
        arms=tuple(ArmSpec(mode=(modes or {}).get(arm, arm), name=arm) for arm in arms),
        **{"model": "fake/model", "embedder": "hashing", "version": "0.1.0", "created_at": NOON} | spec,
    )
    place = RunFolder(path=folder)
    with place.locked():
        place.begin(wanted, resume=False)
    for arm, its_rows in zip(wanted.arms, arms.values(), strict=True):
        at = place.arm(arm)
        at.rows.parent.mkdir(parents=True)
        at.rows.write_text("".join(f"{json.dumps(rows.as_json(one))}\n" for one in its_rows), encoding="ascii")
        if learns:
            _learn(at.memory, arm, its_rows)
    return folder


def _learn(path: Path, arm: ArmSpec, its_rows: Sequence[Row]) -> None:
    """A memory that keeps every turn, and a bullet of each that showed some."""
    with closing(SqliteStore(path, synchronous="normal")) as store:
        lessons = [_lesson(arm, one) for one in its_rows if not one.error]
        if lessons:
            store.commit("default", lessons[-1], beside=lessons[:-1])


def _lesson(arm: ArmSpec, one: Row) -> Change:
    at = NOON + timedelta(seconds=one.position)
    lived = Experience(query=one.question or "?", answer=one.answer, created_at=at)
    bullet = Add(draft=Draft(content=f"Thing {one.position} is amber, not {one.answer or 'nothing'}."))
    return Change(
        at=at,
        cause="turn",
        turn_id=f"{arm.name}:{one.id}",
        mode=arm.mode,
        operations=(bullet,) if one.context else (),
        experiences=(lived,) if arm.mode != "default" else (),
    )


def helping(folder: Path, *, seeds: Sequence[int | None] = (None,), n: int = 30) -> list[Path]:
    """Runs in which retrieval helps much, a control a little, and full history harms."""
    return [
        write_run(
            folder / f"run-{place}",
            {
                "default": stream(("-+-" * n)[:n]),
                "retrieval": stream(("-" + "+" * n)[:n], tokens=210),
                "full-history": stream("-" * n, tokens=900),
                "random": stream(("-+-++" * n)[:n], tokens=205),
            },
            seed=seed,
        )
        for place, seed in enumerate(seeds)
    ]


def hostile(folder: Path) -> Path:
    """A run all of whose texts are hostile."""
    texts: dict[int, dict[str, Any]] = {
        place: {
            "question": text, "target": text, "answer": text, "reply": f"{text}!", "context": text, "context_tokens": 3,
            "notes": (text,), "skipped": (text,), "ledger": (),
        }
        for place, text in enumerate(HOSTILE)
    }  # fmt: skip
    arms = {
        arm: [row(place, right=place % 2 == 0, **fields) for place, fields in texts.items()]
        for arm in ("default", "retrieval")
    }
    arms["retrieval"][0] = Row(
        id=HOSTILE[1], position=0, question=HOSTILE[0], target="x", error=HOSTILE[1], cost_complete=False
    )
    return write_run(folder, arms, task=HOSTILE[0], model=HOSTILE[2], scorer="exact")
