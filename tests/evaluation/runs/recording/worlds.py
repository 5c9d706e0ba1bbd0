"""Models that never say the same twice, and what the tests of recordings do with them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.evaluation.runs.grid import Planned, run_grid
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.spec import RunSpec
from cheatsheet.evaluation.runs.spending import Budget
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.interfaces.arms import ArmOpener, arm_of
from cheatsheet.interfaces.calls import CallPlan
from cheatsheet.llm.model import Capabilities, Outcome, Reply, Request, Usage
from cheatsheet.settings import Settings, load_settings
from cheatsheet.tokens import CharCounter, TokenCounter
from indexes.embedder import Embedder
from indexes.hashing import HashingEmbedder
from tests.evaluation.fakes import spec_for

MODEL = "local/fake"
UNLIMITED = Budget()


def task_of(*questions: str) -> Task:
    """A task of these questions, of which some may be equal."""
    samples = tuple(
        Sample(id=f"q{place}", input=text, target=f"{MODEL} says 1") for place, text in enumerate(questions, start=1)
    )
    return Task(name="questions", samples=samples, sha256="0" * 64)


@dataclass(kw_only=True)
class Provider:
    """Where all models come from: each reply is another one, and every call is counted.

    Attributes:
        failing: the errors of calls, by their numbers from 1.
    """

    failing: dict[int, BaseException] = field(default_factory=dict)
    calls: int = 0
    made: list[str] = field(default_factory=list)
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(context_window=2_000))

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Let the settings' model, counter and embedder be those of this provider."""
        patch.setattr("cheatsheet.interfaces.parts.build_model", self.build_model)
        patch.setattr("cheatsheet.interfaces.embedders.build_embedder", self.build_embedder)
        patch.setattr("cheatsheet.interfaces.calls.build_counter", self.build_counter)

    def build_model(self, settings: Settings, name: str | None, api_base: str | None) -> FakeModel | None:
        self.made.append(f"model {name}")
        return None if name is None else FakeModel(name, self)

    def build_embedder(self, name: str, **options: Any) -> Embedder:
        self.made.append(f"embedder {name}")
        return HashingEmbedder(dim=64)

    def build_counter(self, settings: Settings) -> TokenCounter:
        self.made.append("counter")
        return CharCounter(3)


@dataclass(frozen=True)
class FakeModel:
    """One of a provider's models."""

    name: str
    provider: Provider

    @property
    def capabilities(self) -> Capabilities:
        return self.provider.capabilities

    def complete(self, request: Request) -> Reply:
        self.provider.calls += 1
        number = self.provider.calls
        if number in self.provider.failing:
            raise self.provider.failing[number]
        usage = Usage(prompt_tokens=number, completion_tokens=2, calls=1, cost_usd=number / 7, seconds=number / 3)
        return Reply(text=f"{self.name} says {number}", outcome=Outcome.OK, model=self.name, usage=usage)


def no_model(patch: pytest.MonkeyPatch) -> None:
    """A machine without models: nothing can be made."""

    def refuse(*args: Any, **options: Any) -> Any:
        pytest.fail(f"a model was made of {args}")

    for name in ("parts.build_model", "embedders.build_embedder", "calls.build_counter"):
        patch.setattr(f"cheatsheet.interfaces.{name}", refuse)


def live(
    folder: Path,
    task: Task,
    plan: CallPlan,
    *arms: str,
    resume: bool = False,
    retry: bool = False,
    budget: Budget = UNLIMITED,
    **settings: Any,
) -> RunResult:
    """A run of these arms."""
    chosen = load_settings(**{"model": MODEL, "embedder": "auto", **settings})
    planned = Planned(
        spec=spec_of(task, *arms, **settings),
        task=task,
        folder=folder,
        open_memory=ArmOpener(settings=chosen, calls=plan),
    )
    return run_grid((planned,), budget=budget, resume=resume, retry_failed=retry).runs[0]


def spec_of(task: Task, *arms: str, **settings: Any) -> RunSpec:
    """What such a run is."""
    return spec_for(task, arms=tuple(map(arm_of, arms)), model=MODEL, embedder="auto", settings=settings)


def rows_of(folder: Path, arm: str) -> bytes:
    """The rows of an arm, byte for byte."""
    return (folder / "arms" / arm / "rows.jsonl").read_bytes()


def memory_of(folder: Path, arm: str) -> list[str]:
    """All that is in the memory of an arm, with all times."""
    with closing(sqlite3.connect(folder / "arms" / arm / "memory.db")) as db:
        return list(db.iterdump())
