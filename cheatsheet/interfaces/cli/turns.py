"""`ask`, `recall`, `learn`: one turn from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note, print_text
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine
    from cheatsheet.engine.results import Lesson, Recall, Turn
    from cheatsheet.memory.experience import Query
    from cheatsheet.memory.operations import Operation

Question = Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")]
Choices = Annotated[str | None, typer.Option(help="The only answers allowed, separated by commas.")]
Expected = Annotated[str | None, typer.Option(help="The right answer.")]
FeedbackText = Annotated[
    str | None, typer.Option("--feedback", help='What is known about the answer, such as "wrong: ask the amber team".')
]


@with_settings()
def ask(
    question: Question,
    expected: Expected = None,
    choices: Choices = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Answer a question with what is remembered, and learn where the right answer is told."""
    with _open(settings) as engine:
        turn = engine.solve(_query(question, choices), expected=expected)
    if as_json:
        print_json(_turn(turn))
        return
    print_text(turn.answer)
    if turn.correct is not None:
        print_note("right" if turn.correct else f"wrong: expected {expected}")
    _print_notes([*turn.notes, *turn.lesson.skipped])


@with_settings()
def recall(
    question: Question,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what each section wanted and got, and why.")
    ] = False,
    as_of: Annotated[
        str | None, typer.Option(help="What would have been recalled then: a version, a time, or a turn.")
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Print the context for a question, within the token budget."""
    with _open(settings) as engine:
        recalled = engine.recall(_query(question, None), as_of=as_of)
    if as_json:
        print_json(_recall(recalled))
        return
    if recalled.text:
        print_text(recalled.text)
    else:
        print_note("The memory has nothing for this question.")
    if explain:
        from cheatsheet.context.compiler import render_ledger

        print_note(render_ledger(recalled.ledger, recalled.context.budget))
    _print_notes(recalled.notes)


@with_settings()
def learn(
    question: Annotated[
        str | None, typer.Argument(help="The question; `-` reads it from standard input.", show_default=False)
    ] = None,
    answer: Annotated[str | None, typer.Argument(help="The answer that was given.", show_default=False)] = None,
    feedback: FeedbackText = None,
    expected: Expected = None,
    traces: Annotated[
        Path | None,
        typer.Option(help="Learn from the recorded turns of this file (JSONL) instead.", show_default=False),
    ] = None,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, help="With --traces: so many turns are learnt together.")
    ] = 1,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Learn from an answer that was given elsewhere.

    With --traces: from all the turns of a file, without running anything again. A turn is learnt once.
    """
    if traces is not None:
        if any(part is not None for part in (question, answer, feedback, expected)):
            raise typer.BadParameter("--traces brings its own questions and answers. Give either it or them.")
        from cheatsheet.interfaces.cli.traces import learn_traces

        learn_traces(traces, settings, as_json, batch_size)
        return
    if question is None or answer is None:
        raise typer.BadParameter("Give a question and an answer, or --traces FILE with recorded turns.")
    with _open(settings) as engine:
        lesson = engine.learn(_query(question, None), answer, feedback=feedback, expected=expected)
    if as_json:
        print_json(_lesson(lesson))
        return
    lines = [describe(operation) for operation in (*lesson.operations, *lesson.archived)]
    lines += [f"remembered as {lesson.experience_id}"] if lesson.experience_id else []
    print_text("\n".join(lines) or "Nothing was learnt.")
    _print_notes([*lesson.skipped, *lesson.notes])


def describe(operation: Operation) -> str:
    """An operation in a line."""
    values = operation.model_dump(exclude={"type"}, exclude_defaults=True)
    if draft := values.pop("draft", None):
        values["content"] = draft["content"]
    target = values.pop("id", None) or values.pop("into", "")
    details = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{operation.type} {target}{': ' if details else ''}{details}"


def _open(settings: Settings) -> Engine:
    from cheatsheet.interfaces.wiring import Given, build_engine

    return build_engine(settings, Given(progress=print_embedding))


def _query(question: str, choices: str | None) -> Query:
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise typer.BadParameter("The question is empty.")
    from cheatsheet.memory.experience import Query

    allowed = tuple(choice.strip() for choice in choices.split(",") if choice.strip()) if choices else ()
    return Query(text=text.strip(), choices=allowed)


def _print_notes(notes: Any) -> None:
    for note in notes:
        print_note(f"note: {note}")


def _recall(recall: Recall) -> dict[str, Any]:
    return {
        "text": recall.text,
        "messages": recall.messages(),
        "tokens": recall.tokens,
        "mode": recall.mode,
        "version": recall.version,
        "bullets": [{"id": hit.value.id, "score": hit.score} for hit in recall.bullets],
        "experiences": [{"id": hit.value.id, "score": hit.score} for hit in recall.experiences],
        "notes": recall.notes,
    }


def _lesson(lesson: Lesson) -> dict[str, Any]:
    return {
        "operations": [operation.model_dump(mode="json") for operation in lesson.operations],
        "archived": [operation.model_dump(mode="json") for operation in lesson.archived],
        "experience_id": lesson.experience_id,
        "skipped": lesson.skipped,
        "notes": lesson.notes,
        "version": lesson.version,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    return {
        "answer": turn.answer,
        "correct": turn.correct,
        "outcome": turn.outcome,
        "reply": turn.reply_text,
        "recall": _recall(turn.recall),
        "lesson": _lesson(turn.lesson),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "model_calls": usage.calls,
        "cost_usd": usage.cost_usd,
        "seconds": turn.seconds,
        "notes": turn.notes,
    }
