"""`eval`: the same questions under several memory modes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.evaluation.metrics.metric import Metric
    from cheatsheet.evaluation.runs.engines.base import CellEngine
    from cheatsheet.evaluation.runs.grid import GridResult
    from cheatsheet.interfaces.planning import Wanted

EXIT_NO_SCORE = 3
EXIT_BUDGET = 4

FOUR = ("default", "full-history", "cumulative", "retrieval")


class EngineName(StrEnum):
    """Where workers run."""

    PROCESSES = "processes"
    RAY = "ray"


@with_settings(without=frozenset({"mode", "path"}))
def evaluate(
    tasks: Annotated[
        list[str],
        typer.Argument(
            metavar="TASK",
            help="Questions: a .jsonl, .csv, .tsv or .parquet file, hf:NAME of the Hugging Face Hub, or module:name.",
        ),
    ],
    modes: Annotated[
        str,
        typer.Option(
            help="Modes and controls to compare, separated by commas; settings of one: retrieval+top_k=3. Controls: "
            "placebo, random, nearest, shuffled, DC-∅."
        ),
    ] = ",".join(FOUR),
    models: Annotated[
        str, typer.Option(help="Models to compare, separated by commas, in place of --model.", show_default=False)
    ] = "",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Repeat with so many orders, from --seed on.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Shuffle the questions; without it they come as in the source.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions.", show_default=False)
    ] = None,
    fields: Annotated[
        str, typer.Option(help="Columns of other names: input=question,target=answer.", show_default=False)
    ] = "",
    split: Annotated[
        str | None, typer.Option(help="A part of each task: test, or test:60/20/20.", show_default=False)
    ] = None,
    scorer: Annotated[
        str, typer.Option(help="A scorer by its name, or package.module:function; auto suits the task.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows and memories. Default: runs/TASK-TIME.", show_default=False)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="With --resume: ask again what failed.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Modes, models and orders that run side by side.")] = 1,
    engine: Annotated[
        EngineName, typer.Option(help="Where workers run: processes of this machine, or Ray.")
    ] = EngineName.PROCESSES,
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster. Default: this machine.", show_default=False)
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop when so many US dollars are spent.", show_default=False)
    ] = None,
    max_total_tokens: Annotated[
        int | None, typer.Option(help="Stop when so many tokens are used, over all questions.", show_default=False)
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Keep every call of a model, for --replay.")] = False,
    replay: Annotated[
        Path | None, typer.Option(help="Answer from the calls of a recorded run; no model needed.", show_default=False)
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Mode that others are compared with. Default: default, else the first.", show_default=False),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help="Also tell this number of each mode; may be repeated.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Run a stream of questions under several memory modes and compare them.

    Each mode has a memory of its own, which starts empty and learns from every answer. Rows are kept one by one, so
    that a run that was stopped, by Ctrl-C, a budget or a crash, goes on with --resume. Several tasks, models or orders
    are runs side by side in the folder --out.
    """
    from cheatsheet.evaluation.metrics.metric import Metric
    from cheatsheet.evaluation.runs.grid import run_grid
    from cheatsheet.evaluation.runs.progress import progress_on
    from cheatsheet.evaluation.runs.spending import Budget
    from cheatsheet.interfaces.calls import CallPlan
    from cheatsheet.interfaces.planning import (
        Wanted,
        arm_named,
        check_all,
        check_prices,
        names_in,
        orders,
        plan,
        read_arms,
    )

    find_scorers_here()
    wanted = Wanted(
        sources=tuple(tasks),
        arms=read_arms(modes),
        models=names_in(models),
        orders=orders(seed, seeds),
        scorer=scorer,
        limit=limit,
        fields=fields,
        split=split,
        calls=CallPlan(record=record, replay=replay),
    )
    budget = Budget(max_cost_usd=max_cost, max_tokens=max_total_tokens)
    told = tuple(map(Metric.parse, metrics or ()))
    against = None if baseline is None else arm_named(baseline, wanted.arms).name
    place = _folder(out, resume, wanted)
    runs = plan(wanted, settings, out=place, now=datetime.now(UTC))
    if max_cost is not None and wanted.calls.asks:
        check_prices(runs)
    result = run_grid(
        runs,
        engine=_engine(engine, workers, address),
        budget=budget,
        resume=resume,
        retry_failed=retry_failed,
        progress=progress_on(sys.stderr),
        check=lambda: check_all(runs),
    )
    _tell(result, against, told, place, as_json=as_json)
    _end(result, place)


def find_scorers_here() -> None:
    """Let `--scorer module:function` name a module in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def _folder(out: Path | None, resume: bool, wanted: Wanted) -> Path:
    if out is not None:
        return out
    if resume:
        raise SetupError("--resume needs --out FOLDER, the folder of the run to go on with.")
    source = wanted.sources[0]
    name = "grid" if wanted.several else Path(source.rpartition(":")[2].split("+")[0]).name.split(".")[0]
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def _engine(name: EngineName, workers: int, address: str | None) -> CellEngine:
    if name is EngineName.RAY:
        from cheatsheet.evaluation.runs.engines.ray import Ray

        cluster = Ray(workers=workers, address=address)
        cluster.check()  # before anything is written
        return cluster
    if address is not None:
        raise SetupError("--address is that of a Ray cluster: give --engine ray too, or leave it out.")
    if workers > 1:
        from cheatsheet.evaluation.runs.engines.processes import Processes

        return Processes(workers=workers)
    from cheatsheet.evaluation.runs.engines.sequential import Sequential

    return Sequential()


def _tell(result: GridResult, baseline: str | None, metrics: Sequence[Metric], place: Path, *, as_json: bool) -> None:
    from cheatsheet.evaluation.reports.plain import show_results
    from cheatsheet.evaluation.reports.values import as_json as values_of

    for run in result.runs:
        for arm in run.arms:
            for note in arm.notes:
                name = arm.arm.name if len(result.runs) == 1 else f"{run.folder.name}/{arm.arm.name}"
                print_note(f"note: {name}: {note}")
    if as_json:
        print_json(values_of(result.runs, baseline=baseline))
    else:
        show_results(result.runs, sys.stdout, baseline=baseline, metrics=metrics)
    print_note(f"Rows and memories: {place}")


def _end(result: GridResult, place: Path) -> None:
    """The exit code, with its reason, where it is not 0."""
    if not result.over:
        print_note(
            f"The budget is spent: {result.budget.told(result.spent)}. Done are {result.done:,} of {result.total:,} "
            f"questions. Nothing is lost: to go on, repeat the command with --resume --out {place} and a higher budget."
        )
        raise typer.Exit(EXIT_BUDGET)
    if result.scored == 0:
        print_note("No score: every question failed. The reasons stand in the rows.")
        raise typer.Exit(EXIT_NO_SCORE)
