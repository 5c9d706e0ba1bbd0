"""The engine is the memory that an adaptation needs (promises R5 to R7), also when its process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.engine.engine import Engine
from cheatsheet.evaluation.adaptation.adapt import adapt
from cheatsheet.evaluation.adaptation.course import Adaptation
from cheatsheet.evaluation.metrics import ArmSummary
from cheatsheet.evaluation.runs.protocol import Learner
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.interfaces.wiring import open_memory
from cheatsheet.llm.model import Capabilities, Outcome, Reply, Request, Usage
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.evaluation.fakes import NOON
from tests.evaluation.runs.test_killed_engine import timeless

MODES = ("full-history", "cumulative", "retrieval", "auto")
TEAMS = ("amber", "crimson")


def _task(name: str, *texts: tuple[str, str]) -> Task:
    samples = tuple(
        Sample(id=str(n), input=text, target=team, choices=TEAMS) for n, (text, team) in enumerate(texts, start=1)
    )
    return Task(name=name, samples=samples, sha256=name * 8)


TRAIN = _task(
    "train",
    ("My card was charged twice", "crimson"),
    ("My parcel is lost", "amber"),
    ("A refund to my card, please", "crimson"),
)
VALIDATION = _task("validation", ("The card was charged again", "crimson"), ("The parcel got lost", "crimson"))


class Router:
    """Names the team that the prompt names most often, and `amber` where it names none; may kill its own process."""

    name = "router"
    capabilities = Capabilities()

    def __init__(self, *, fatal_call: int = 0) -> None:
        self.calls = 0
        self._fatal = fatal_call

    def complete(self, request: Request) -> Reply:
        self.calls += 1
        if self.calls == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        text = " ".join(message["content"] for message in request.messages) + (request.prompt or "")
        team = max(TEAMS, key=text.count)
        return Reply(text=team, outcome=Outcome.OK, model=self.name, usage=Usage(prompt_tokens=len(text), calls=1))


def fits(engine: Engine) -> Learner:
    """Held by mypy: an engine is all that an adaptation asks of a memory."""
    return engine


def live(
    home: Path, mode: str, *, batch_size: int = 1, call: int = 0, commit: int = 0, resume: bool = False
) -> tuple[Adaptation, int]:
    """The adaptation and how often the model was asked; the process is killed at that call or after that commit."""
    home.mkdir(parents=True, exist_ok=True)
    model = Router(fatal_call=call)
    commits = 0

    def listener(event: object) -> None:
        nonlocal commits
        commits += type(event).__name__ == "CommitEvent"
        if commits and commits == commit:
            os.kill(os.getpid(), signal.SIGKILL)

    engine = open_memory(
        home / "memory.db", mode=mode, model=model, embedder="hashing", reflector="rules", curator="rules"
    )
    engine.events.listeners.append(listener)
    with closing(engine):
        result = adapt(
            fits(engine),
            TRAIN,
            VALIDATION,
            folder=home / "run",
            epochs=2,
            batch_size=batch_size,
            resume=resume,
            now=lambda: NOON,
        )
    return result, model.calls


def told(result: Adaptation) -> Any:
    """All but the time it took."""
    epochs = [
        replace(epoch, train=_timeless(epoch.train), validation=_timeless(epoch.validation)) for epoch in result.epochs
    ]
    return epochs, result.best, result.kept, result.bullets, result.version


def _timeless(part: ArmSummary | None) -> ArmSummary | None:
    return part and replace(part, seconds=0.0)


def memory_of(home: Path) -> Any:
    with closing(SqliteStore(home / "memory.db")) as store:
        values: list[Any] = [*store.bullets("default", status=None), *store.experiences("default", status=None)]
        values += store.journal("default")
        return [timeless(value.model_dump(mode="json")) for value in values]


@pytest.mark.parametrize("batch_size", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_the_kept_memory_answers_as_its_epoch_did(tmp_path: Path, mode: str, batch_size: int) -> None:
    result, _ = live(tmp_path, mode, batch_size=batch_size)
    best = result.epochs[result.kept].validation
    assert best is not None
    with closing(open_memory(tmp_path / "memory.db", mode=mode, model=Router(), embedder="hashing")) as engine:
        version = engine.stats().version
        answers = [engine.answer(sample.input) for sample in VALIDATION.samples]
        assert engine.stats().version == version == result.version
    right = sum(turn.answer == sample.target for turn, sample in zip(answers, VALIDATION.samples, strict=True))
    assert right == best.correct == max(e.validation.correct for e in result.epochs if e.validation)


def test_learning_helps_where_it_can(tmp_path: Path) -> None:
    result, _ = live(tmp_path, "retrieval")
    before = result.epochs[0].validation
    assert before is not None
    assert before.correct == 0
    assert result.kept > 0


def _killed(home: Path, mode: str, **death: int) -> None:
    arguments = ", ".join(f"{name}={value}" for name, value in death.items())
    code = (
        f"from tests.evaluation.adaptation.test_adapt_engine import *\nlive(Path({str(home)!r}), {mode!r}, {arguments})"
    )
    child = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert child.returncode == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize(
    ("mode", "death", "batch_size"),
    [
        ("retrieval", {"call": 7}, 1),  # while it validates
        ("full-history", {"commit": 2}, 2),  # before the rows of a batch
    ],
)
def test_killed_and_resumed_is_never_killed(tmp_path: Path, mode: str, death: dict[str, int], batch_size: int) -> None:
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    expected, calls = live(clean, mode, batch_size=batch_size)
    _killed(killed, mode, batch_size=batch_size, **death)
    resumed, further = live(killed, mode, batch_size=batch_size, resume=True)
    assert told(resumed) == told(expected)
    assert memory_of(killed) == memory_of(clean)
    if "commit" in death:
        paid_for = len(VALIDATION.samples) + min(len(TRAIN.samples), death["commit"] * batch_size)
        assert further == calls - paid_for


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_after_the_rollback_it_is_not_rolled_back_again(tmp_path: Path) -> None:
    """In `default` nothing is ever learnt, so that the memory as it was is kept: the last commit is the rollback."""
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    expected, _ = live(clean, "default")
    assert expected.kept == 0
    _killed(killed, "default", commit=2 * len(TRAIN.samples) + 1)
    resumed, calls = live(killed, "default", resume=True)
    assert calls == 0
    assert told(resumed) == told(expected)
    assert memory_of(killed) == memory_of(clean)
