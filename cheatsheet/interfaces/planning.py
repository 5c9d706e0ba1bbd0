"""The runs that `eval` is asked for: every task with every model in every order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cheatsheet import __version__
from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.grid import Planned
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from cheatsheet.evaluation.task import Task, load_task, read_fields
from cheatsheet.interfaces.arms import ARM_NAMES, ArmOpener, arm_of, asks_a_model
from cheatsheet.interfaces.calls import CallPlan
from cheatsheet.roles.prompts import fingerprint
from cheatsheet.settings import Settings

# Where a run lies, how long it waits, how it is computed and how it is paid for do not change its results.
_NOT_IN_SPEC: Final = frozenset({
    "home", "config", "path", "mode", "model", "embedder", "api_key", "synchronous", "busy_timeout_s", "timeout_s",
    "retries", "model_cache", "recall_cache", "embedder_threads", "max_connections", "keep_index",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be compared.

    Attributes:
        sources: of tasks, as `load_task` takes them.
        arms: every task is asked under each.
        models: names; empty means that of the settings.
        orders: seeds; None is a task's own order.
        scorer: `auto` is the one that suits the task.
        fields: columns of other names, as `read_fields` takes them.
        calls: whether calls of models are recorded or replayed.
    """

    sources: tuple[str, ...]
    arms: tuple[ArmSpec, ...]
    models: tuple[str, ...]
    orders: tuple[int | None, ...]
    scorer: str
    limit: int | None
    fields: str
    split: str | None
    calls: CallPlan

    @property
    def several(self) -> bool:
        """Whether this is more than one run."""
        return len(self.sources) * max(1, len(self.models)) * len(self.orders) > 1


def read_arms(modes: str) -> tuple[ArmSpec, ...]:
    """The arms that `--modes` names, each once.

    Raises:
        SetupError: it names none, what `arm_of` does not know, or two that would share a folder.
    """
    arms: dict[str, ArmSpec] = {}
    for arm in map(arm_of, names_in(modes)):
        twin = arms.setdefault(arm.name.casefold(), arm)
        if (twin.mode, twin.settings) != (arm.mode, arm.settings):
            raise SetupError(
                f"Two of --modes would share the folder {arm.name!r}, since what cannot be in a folder's name becomes "
                f"'_'. Compare them in two commands."
            )
    if not arms:
        raise SetupError(f"--modes names no mode. Choose some of {', '.join(ARM_NAMES)}, separated by commas.")
    return tuple(arms.values())


def names_in(text: str) -> tuple[str, ...]:
    """Names that are separated by commas, each once."""
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def orders(seed: int | None, repetitions: int | None) -> tuple[int | None, ...]:
    """The seeds of so many orders, from `seed` on or else from 1; without repetitions the one order of `seed`."""
    if repetitions is None:
        return (seed,)
    first = 1 if seed is None else seed
    return tuple(range(first, first + repetitions))


def arm_named(text: str, arms: Sequence[ArmSpec]) -> ArmSpec:
    """The arm of that name, or the one that `--modes` was told of in these words.

    Raises:
        UnknownNameError: there is none among `arms`.
    """
    names = {text.casefold()}
    with suppress(SetupError):
        names.add(arm_of(text).name.casefold())
    for arm in arms:
        if arm.name.casefold() in names:
            return arm
    raise UnknownNameError("arm", text, [arm.name for arm in arms])


def plan(wanted: Wanted, settings: Settings, *, out: Path, now: datetime) -> list[Planned]:
    """The runs, task by task, model by model, order by order.

    One run lies in `out` itself; several lie in it side by side, as `TASK--MODEL--seed-N`.

    Raises:
        TaskError: a source cannot be read.
        SetupError: two runs would lie in one folder, or `out` holds a single run.
    """
    if wanted.several and RunFolder(path=out).begun:
        raise SetupError(f"{out} holds one run, and these are several. Choose another folder with --out.")
    runs = [_planned(wanted, task, own, out, now) for task, own in _pairs(wanted, settings)]
    _refuse_twins(runs)
    return runs


def settings_in_spec(settings: Settings) -> dict[str, Any]:
    """The settings that change results.

    Without instructions where they are empty, so that a run begun before there was this setting can be resumed.
    """
    unset = set() if settings.instructions else {"instructions"}
    return settings.model_dump(mode="json", exclude={*_NOT_IN_SPEC, *unset})


def check_all(runs: Sequence[Planned]) -> None:
    """Make sure, without a call, that all that the runs will ask can be asked; raises as `ArmOpener.check`."""
    for run in runs:
        if isinstance(run.open_memory, ArmOpener):
            run.open_memory.calls.check(run.folder, run.spec)
            run.open_memory.check(run.spec.arms)


def check_prices(runs: Sequence[Planned]) -> None:
    """Make sure that the prices of all models that the runs may pay for are known.

    Raises:
        SetupError: one is not, so that a budget in dollars would not hold.
    """
    from cheatsheet.llm.litellm_model import has_price

    paid = dict.fromkeys(name for run in runs for name in _paid(run))
    if unknown := [name for name in paid if not has_price(name)]:
        raise SetupError(
            f"--max-cost cannot be kept: the price of {' and '.join(unknown)} is not known. Use --max-total-tokens."
        )


def suiting(task: Task) -> str:
    """The scorer that suits a task: the one that its source names, or else by its choices."""
    if task.scorer:
        return task.scorer
    return "choice" if all(sample.choices for sample in task.samples) else "exact"


def _pairs(wanted: Wanted, settings: Settings) -> Iterator[tuple[Task, Settings]]:
    for source in wanted.sources:
        tasks = [_load(wanted, source, seed) for seed in wanted.orders]
        for model in wanted.models or (settings.model,):
            for task in tasks:
                update = {"model": model, "instructions": settings.instructions or task.instruction}
                yield task, settings.model_copy(update=update)


def _load(wanted: Wanted, source: str, seed: int | None) -> Task:
    return load_task(source, limit=wanted.limit, seed=seed, fields=read_fields(wanted.fields), split=wanted.split)


def _planned(wanted: Wanted, task: Task, settings: Settings, out: Path, now: datetime) -> Planned:
    spec = RunSpec(
        task=TaskSpec.of(task),
        arms=wanted.arms,
        model=settings.model or "",
        embedder=settings.embedder,
        scorer=suiting(task) if wanted.scorer == "auto" else wanted.scorer,
        settings=settings_in_spec(settings),
        version=__version__,
        prompts=fingerprint(),
        created_at=now,
    )
    name = _name(task, settings.model or "") if wanted.several else ""
    opener = ArmOpener(settings=settings, seed=task.seed or 0, calls=wanted.calls)
    return Planned(spec=spec, task=task, folder=out / name, open_memory=opener, name=name)


def _name(task: Task, model: str) -> str:
    order = "file-order" if task.seed is None else f"seed-{task.seed}"
    return "--".join([_safe(task.name), _safe(model or "no-model"), order])


def _safe(name: str) -> str:
    """The name as a part of a folder's name on any system."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "task"


def _refuse_twins(runs: Sequence[Planned]) -> None:
    seen: dict[str, Planned] = {}
    for run in runs:
        if (other := seen.setdefault(run.name.casefold(), run)) is not run:
            raise SetupError(
                f"{other.task.path} with {other.spec.model} and {run.task.path} with {run.spec.model} would both lie "
                f"in {run.folder}. Give each task another name, or compare them in two commands."
            )


def _paid(run: Planned) -> Iterator[str]:
    """The models that a run may ask."""
    for arm in filter(asks_a_model, run.spec.arms):
        told = {"model": run.spec.model, **run.spec.settings, **arm.settings}
        names = (told["model"], told.get("reflector_model"), told.get("curator_model"), *(told.get("fallbacks") or ()))
        yield from (name for name in names if name)
