"""What a report tells of: the runs, taken together where they may be compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cheatsheet.evaluation.metrics.pooled import kind_of
from cheatsheet.evaluation.reports.accounts import ArmAccount, accounts_of
from cheatsheet.evaluation.reports.tables import problems_of
from cheatsheet.evaluation.reports.unfinished import unfinished
from cheatsheet.evaluation.runs.results import RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Arms that were asked the same questions by the same model: what may be compared.

    Attributes:
        name: of the task, of the model where there are several, and of a folder where those do not tell it apart.
        anchor: unique in the report and fit for an address.
        runs: each with its key, which is unique in the report and fit for an address.
        accounts: one for each arm.
    """

    name: str
    anchor: str
    runs: tuple[tuple[str, RunResult], ...]
    accounts: tuple[ArmAccount, ...]

    @property
    def task(self) -> str:
        """Its name."""
        return self.runs[0][1].spec.task.name

    @property
    def model(self) -> str:
        """Its name; empty where there was none."""
        return self.runs[0][1].spec.model

    @property
    def scorer(self) -> str:
        """Its name."""
        return self.runs[0][1].spec.scorer

    @property
    def orders(self) -> tuple[str, ...]:
        """Of the questions, in words, one a run."""
        return tuple(order_of(run) for _, run in self.runs)

    @property
    def questions(self) -> int:
        """Different questions that have a row."""
        return len({row.id for _, run in self.runs for arm in run.arms for row in arm.rows})

    @property
    def unfinished(self) -> str:
        """A sentence on the answers that are missing; empty where none is known to be."""
        return unfinished([run for _, run in self.runs])

    @property
    def arms(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(account.pooled.arm for account in self.accounts)

    @property
    def baseline(self) -> ArmAccount | None:
        """The arm that others are compared with; None where nothing is compared."""
        names = [account.comparison.baseline for account in self.accounts if account.comparison is not None]
        return next((account for account in self.accounts if account.pooled.arm in names), None)

    @property
    def baseline_name(self) -> str:
        """Empty where nothing is compared."""
        return self.baseline.pooled.arm if self.baseline is not None else ""

    @property
    def subtitle(self) -> str:
        """What is compared, in a sentence."""
        order = self.orders[0] if len(self.orders) == 1 else f"{len(self.orders)} orders ({', '.join(self.orders)})"
        arms = "1 arm" if len(self.arms) == 1 else f"{len(self.arms)} arms"
        return f"{self.questions:,} questions in {order}, {arms}, {self.model or 'no model'}, scorer {self.scorer}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that a report tells of.

    Attributes:
        runs: one line each: what it was and when.
        notes: what else the reader should know, one sentence each.
    """

    title: str
    groups: tuple[Group, ...]
    runs: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of all arms, in the order in which they first come."""
        return tuple(dict.fromkeys(arm for group in self.groups for arm in group.arms))


def report_of(results: Sequence[RunResult], *, baseline: str | None = None, title: str = "") -> Report:
    """The report of runs; reads their memories.

    Runs make one group where they differ in the order of their questions, and in their arms, alone.

    Args:
        baseline: the arm that others are compared with; None: `default` where a run has it, else its first arm.
        title: made from the names of the tasks where it is left out.

    Raises:
        UnknownNameError: no run has an arm of that name.
    """
    accounts = accounts_of(results, baseline=baseline)
    told = [note for run in results for arm in run.arms for note in arm.notes]
    tasks = dict.fromkeys(run.spec.task.name for run in results)
    return Report(
        title=title or f"Memory on {', '.join(tasks)}",
        groups=tuple(_groups(results, accounts)),
        runs=tuple(map(_described, results)),
        notes=tuple(dict.fromkeys([*told, *problems_of(accounts)])),
    )


def order_of(run: RunResult) -> str:
    """The order of a run's questions, in words."""
    seed = run.spec.task.seed
    return "file order" if seed is None else f"seed {seed}"


def anchored(text: str) -> str:
    """A text as it may stand in an address."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.") or "unnamed"


def _groups(results: Sequence[RunResult], accounts: Sequence[ArmAccount]) -> Iterator[Group]:
    together = _together(results)
    names = _names([runs[0][1] for runs in together.values()])
    anchors = _distinct([f"comparison-{anchored(name)}" for name in names])
    for name, anchor, (kind, runs) in zip(names, anchors, together.items(), strict=True):
        own = tuple(account for account in accounts if kind_of(account.streams[0][0]) == kind)
        yield Group(name=name, anchor=anchor, runs=tuple(runs), accounts=own)


def _together(results: Sequence[RunResult]) -> dict[str, list[tuple[str, RunResult]]]:
    """The runs with their keys, by what they have in common."""
    keys = _distinct([anchored(f"{run.spec.task.name}--{run.spec.model}--{order_of(run)}") for run in results])
    alike: dict[str, list[tuple[str, RunResult]]] = defaultdict(list)
    for key, run in zip(keys, results, strict=True):
        alike[kind_of(run)].append((key, run))
    return dict(alike)


def _names(firsts: Sequence[RunResult]) -> list[str]:
    """The names of groups, from the first run of each."""
    several = len({run.spec.model for run in firsts}) > 1
    models = [f", {run.spec.model or 'no model'}" if several else "" for run in firsts]
    short = [f"{run.spec.task.name}{model}" for run, model in zip(firsts, models, strict=True)]
    return _distinct(
        [
            name if short.count(name) == 1 else f"{name} ({run.folder.name})"
            for name, run in zip(short, firsts, strict=True)
        ]
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number behind each that was there before."""
    return [
        f"{name}-{names[: place + 1].count(name)}" if name in names[:place] else name
        for place, name in enumerate(names)
    ]


def _described(run: RunResult) -> str:
    spec = run.spec
    task = f"{spec.task.name} ({spec.task.sha256[:12]}), {order_of(run)}"
    made = f"begun {spec.created_at:%Y-%m-%d %H:%M} UTC with cheatsheet {spec.version}"
    return f"{run.folder.name}: {task}; model {spec.model or 'none'}; scorer {spec.scorer}; {made}."
