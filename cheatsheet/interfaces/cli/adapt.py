"""`adapt`: a memory learns from a training file, epoch after epoch, and the best one is kept."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cheatsheet import __version__
from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli.evaluate import EXIT_NO_SCORE, find_scorers_here
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.evaluation.adaptation.course import Adaptation
    from cheatsheet.evaluation.task import Task


@with_settings()
def adapt(
    train: Annotated[
        str,
        typer.Argument(help="Questions to learn from: a .jsonl, .csv, .tsv or .parquet file, hf:NAME or module:name."),
    ],
    validation: Annotated[
        str | None, typer.Option(help="Questions that judge every epoch, from any such source.", show_default=False)
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="Questions that measure the memory before it learns and as it is kept.", show_default=False),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Cut TRAIN into training, validation and test by these shares: 60/20/20.", show_default=False
        ),
    ] = None,
    fields: Annotated[
        str, typer.Option(help="Columns of other names: input=question,target=answer.", show_default=False)
    ] = "",
    epochs: Annotated[int, typer.Option(min=1, help="How often to go through the training file.")] = 3,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, help="So many questions are answered, then learnt together.")
    ] = 1,
    scorer: Annotated[
        str, typer.Option(help="exact, choice, number, contains, or package.module:function; auto suits the task.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows and steps. Default: runs/adapt-TRAIN-TIME.", show_default=False)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the adaptation in --out.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions of each part.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Let a memory learn from a training file in several epochs, and keep what it knew after its best one.

    The memory at --path learns. After each epoch, and before the first, it answers the validation questions without
    learning. What was learnt after the best epoch is archived, not lost. Test questions are answered before it learns
    and by the memory that is kept. Rows and steps are kept one by one, so that an adaptation that was stopped goes on
    with --resume.
    """
    from cheatsheet.evaluation.adaptation.adapt import adapt as run_adaptation
    from cheatsheet.evaluation.runs.progress import progress_on
    from cheatsheet.interfaces.arms import needed_model
    from cheatsheet.interfaces.planning import suiting
    from cheatsheet.interfaces.wiring import Given, build_engine

    find_scorers_here()
    questions, judges, exam = _tasks((train, validation, test), split=split, fields=fields, limit=limit)
    settings = settings.model_copy(update={"instructions": settings.instructions or questions.instruction})
    model = needed_model(settings, "adapt")
    with build_engine(settings, Given(model=model, progress=print_embedding)) as engine:
        result = run_adaptation(
            engine,
            questions,
            judges,
            exam,
            folder=_folder(out, resume, questions),
            epochs=epochs,
            scorer=suiting(questions) if scorer == "auto" else scorer,
            batch_size=batch_size,
            setup=_setup(settings),
            resume=resume,
            memory_shown=settings.memory_shown,
            progress=progress_on(sys.stderr),
            check=getattr(model, "check", None),
        )
    _tell(result, as_json)
    if result.answered == 0:
        print_note("No score: every question failed. The reasons stand in the rows.")
        raise typer.Exit(EXIT_NO_SCORE)


def _tasks(
    sources: tuple[str, str | None, str | None], *, split: str | None, fields: str, limit: int | None
) -> tuple[Task, Task | None, Task | None]:
    """What to learn from, to judge by and to measure with: sources of their own, or parts of the first."""
    from cheatsheet.evaluation.task import Shares, Split, load_task, read_fields

    columns = read_fields(fields)
    train, *others = sources
    if split is None:
        judges, exam = (load_task(other, limit=limit, fields=columns) if other else None for other in others)
        return load_task(train, limit=limit, fields=columns), judges, exam
    if any(others):
        raise SetupError("--split takes all parts from TRAIN. Leave it out, or --validation and --test.")
    shares = Shares.parse(split)

    def part(name: str) -> Task:
        return load_task(train, limit=limit, fields=columns, split=Split(name=name, shares=shares))

    return part("train"), part("validation") if shares.validation else None, part("test") if shares.test else None


def _setup(settings: Settings) -> dict[str, Any]:
    """What changes the results, beside the questions; the same on a resume."""
    from cheatsheet.interfaces.planning import settings_in_spec
    from cheatsheet.roles.prompts import fingerprint

    return {
        "mode": settings.mode,
        "model": settings.model or "",
        "embedder": settings.embedder,
        "settings": settings_in_spec(settings),
        "version": __version__,
        "prompts": fingerprint(),
    }


def _folder(out: Path | None, resume: bool, task: Task) -> Path:
    if out is not None:
        return out
    if resume:
        raise SetupError("--resume needs --out FOLDER, the folder of the adaptation to go on with.")
    return Path("runs") / f"adapt-{task.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def _tell(result: Adaptation, as_json: bool) -> None:
    from cheatsheet.evaluation.adaptation.report import show

    if as_json:
        print_json(result.as_dict())
    else:
        show(result, sys.stdout)
    for note in result.notes:
        print_note(f"note: {note}")
    kept = "as it was before it learnt" if result.kept == 0 else f"of epoch {result.kept}"
    print_note(f"Kept: the memory {kept}, with {result.bullets:,} bullets. Rows and steps: {result.folder}")
