"""`eval`: the same questions under several memory modes."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet import __version__
from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note
from cheatsheet.settings import Settings, load_settings
from modes.names import MODES

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine
    from cheatsheet.evaluation.runner import RunResult
    from cheatsheet.evaluation.spec import ArmSpec, RunSpec
    from cheatsheet.evaluation.task import Task
    from cheatsheet.llm.model import Model
    from indexes.embedder import Embedder

EXIT_NO_SCORE = 3

FOUR = ("default", "full-history", "cumulative", "retrieval")

# Where a run lies, how long it waits and how it is paid for do not change its results.
NOT_IN_SPEC = {
    "home", "config", "path", "mode", "model", "embedder", "api_key", "synchronous", "busy_timeout_s", "timeout_s",
    "retries", "model_cache", "recall_cache",
}  # fmt: skip


@with_settings(without=frozenset({"mode", "path"}))
def evaluate(
    task: Annotated[
        Path, typer.Argument(help="Questions as JSONL: input, target, and optionally id, choices, metadata.")
    ],
    modes: Annotated[
        str, typer.Option(help="Modes to compare, separated by commas; settings of one: retrieval+top_k=3.")
    ] = ",".join(FOUR),
    scorer: Annotated[
        str, typer.Option(help="exact, choice, number, contains, or package.module:function; auto suits the task.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows and memories. Default: runs/TASK-TIME.", show_default=False)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="With --resume: ask again what failed.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Shuffle the questions; without it they come as in the file.")
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Run a stream of questions under several memory modes and compare them.

    Each mode has a memory of its own, which starts empty and learns from every answer. Rows are kept one by one, so
    that a run that was stopped goes on with --resume.
    """
    from cheatsheet.evaluation.progress import progress_on
    from cheatsheet.evaluation.runner import run
    from cheatsheet.evaluation.task import load_task
    from cheatsheet.interfaces.parts import build_embedder

    find_scorers_here()
    questions = load_task(task, limit=limit, seed=seed)
    model = needed_model(settings, "eval")
    embedder = build_embedder(settings.embedder)
    spec = _spec(questions, settings, modes, scorer)
    folder = _folder(out, resume, questions)
    result = run(
        spec,
        questions,
        lambda arm, path: _open_arm(arm, path, settings, model, embedder),
        folder=folder,
        resume=resume,
        retry_failed=retry_failed,
        progress=progress_on(sys.stderr),
        check=getattr(model, "check", None),
    )
    _tell(result, as_json)
    if result.scored == 0:
        print_note("No score: every question failed. The reasons stand in the rows.")
        raise typer.Exit(EXIT_NO_SCORE)


def find_scorers_here() -> None:
    """Let `--scorer module:function` name a module in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def _spec(task: Task, settings: Settings, modes: str, scorer: str) -> RunSpec:
    from cheatsheet.evaluation.spec import RunSpec, TaskSpec
    from cheatsheet.roles.prompts import fingerprint

    arms = {arm.name: arm for arm in map(_arm, filter(str.strip, modes.split(",")))}
    if not arms:
        raise SetupError(f"--modes names no mode. Choose some of {', '.join(MODES)}, separated by commas.")
    return RunSpec(
        task=TaskSpec.of(task),
        arms=tuple(arms.values()),
        model=settings.model or "",
        embedder=settings.embedder,
        scorer=suiting(task) if scorer == "auto" else scorer,
        settings=settings.model_dump(mode="json", exclude=NOT_IN_SPEC),
        version=__version__,
        prompts=fingerprint(),
        created_at=datetime.now(UTC),
    )


def _arm(text: str) -> ArmSpec:
    """A memory by its mode and what is set for it alone: `retrieval`, `DC-RS`, `retrieval+top_k=3`."""
    from cheatsheet.evaluation.spec import ArmSpec
    from modes.names import variant

    name, *pairs = (part.strip() for part in text.split("+"))
    meant = variant(name)
    own = dict(_pair(pair, text) for pair in pairs)
    settings = load_settings(**{"mode": meant.mode, **meant.settings, **own})
    told = {setting: getattr(settings, setting) for setting in (*meant.settings, *own)}
    shown = name if meant.settings else meant.mode
    label = "+".join([shown, *(f"{setting}-{value}" for setting, value in own.items())])
    return ArmSpec(mode=meant.mode, name=re.sub(r"[^A-Za-z0-9._+-]", "_", label), settings=told)


def _pair(text: str, arm: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SetupError(f"{arm!r} in --modes: after each + comes a setting, such as retrieval+top_k=3.")
    return name.strip().replace("-", "_"), value.strip()


def suiting(task: Task) -> str:
    """The scorer that suits a task."""
    return "choice" if all(sample.choices for sample in task.samples) else "exact"


def needed_model(settings: Settings, command: str) -> Model:
    """The model of the settings.

    Raises:
        SetupError: there is none, and the command needs one.
    """
    from cheatsheet.interfaces.parts import build_model

    model = build_model(settings, settings.model, settings.api_base)
    if model is None:
        raise SetupError(
            f"{command} needs a model: --model openai/gpt-4o-mini, --model local/smollm2-135m, or the setting model."
        )
    return model


def _folder(out: Path | None, resume: bool, task: Task) -> Path:
    if out is not None:
        return out
    if resume:
        raise SetupError("--resume needs --out FOLDER, the folder of the run to go on with.")
    return Path("runs") / f"{task.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def _open_arm(arm: ArmSpec, path: Path, settings: Settings, model: Model, embedder: Embedder) -> Engine:
    from cheatsheet.interfaces.wiring import Given, build_engine

    # The values were checked when the arm was named.
    own = settings.model_copy(update={"mode": arm.mode, "path": str(path), **arm.settings})
    return build_engine(own, Given(model=model, embedder=embedder))


def _tell(result: RunResult, as_json: bool) -> None:
    from cheatsheet.evaluation.metrics import summarise
    from cheatsheet.evaluation.report import show as show_report

    summaries = [summarise(arm) for arm in result.arms]
    for arm in result.arms:
        for note in arm.notes:
            print_note(f"note: {arm.arm.name}: {note}")
    if as_json:
        print_json([summary.as_dict() for summary in summaries])
    else:
        show_report(summaries, sys.stdout)
    print_note(f"Rows and memories: {result.folder}")
