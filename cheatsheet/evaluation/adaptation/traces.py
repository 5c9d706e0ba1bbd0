"""Traces: turns that were lived and recorded elsewhere, read from a file with one JSON value a line.

A line is one of

    {"question": …, "answer": …}      and, where they are known, the further `FIELDS`
    {"messages": […]}                 with the same; chat messages in OpenAI's form, with tool calls and their results
    […]                               the messages alone
    a row of a run or an adaptation   its question is looked up in the task of the run; where the task is gone or has
                                      been changed, the row's own words are taken, as far as it has any

`id` names the turn, and a turn is learnt once. A line without one is named by its content, so that a file that is
learnt twice changes nothing.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cheatsheet.engine.feedback import as_feedback
from cheatsheet.engine.lived import Answered
from cheatsheet.errors import SetupError, TaskError
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import AdaptSpec, TaskSpec
from cheatsheet.evaluation.runs.stream import query_of
from cheatsheet.evaluation.task import Sample, load_task
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.roles.trajectory import read_trajectory

FIELDS = {
    "question": ("question", "query", "input"),
    "answer": ("answer", "output", "final_answer"),
    "messages": ("messages", "trajectory"),
    "expected": ("expected", "target"),
    "feedback": ("feedback",),
    "correct": ("correct",),
    "score": ("score",),
    "choices": ("choices",),
    "reasoning": ("reasoning",),
    "used": ("used",),
    "metadata": ("metadata",),
    "id": ("id", "turn_id"),
}
"""What a line may say, and the names under which it may say it; the first that is there counts."""

_OF_ROWS_ALONE = frozenset(("context_tokens", "model_calls"))
_NAMES = frozenset(name for names in FIELDS.values() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A turn that can be learnt.

    Attributes:
        line: of the file, from 1.
        turn: it always has a question, an answer and a turn id.
    """

    line: int
    turn: Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line that cannot be learnt, with the reason, which has no full stop."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What a file holds.

    Attributes:
        ignored: names of fields that mean nothing here, with how many lines have them.
    """

    traces: tuple[Trace, ...] = ()
    unread: tuple[Unread, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)


class _UnreadableError(ValueError):
    """Why a line cannot be learnt."""


def load_traces(path: str | Path) -> Traces:
    """Read the traces of a file; lines that cannot be read are told, not raised.

    Raises:
        TaskError: the file cannot be read.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TaskError(f"The file of traces {path} cannot be read: {error.strerror}.") from error
    return read_traces(data, task=_task_of(path))


def read_traces(data: bytes, *, task: Mapping[str, Sample] | str = "it does not lie in the folder of a run") -> Traces:
    r"""Read lines that hold one trace each; lines end at "\n" alone, blank ones are skipped.

    Args:
        task: the questions by their ids, for rows of a run; or why they are not known.
    """
    traces: list[Trace] = []
    unread: list[Unread] = []
    ignored: Counter[str] = Counter()
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = _value(line)
            traces.append(Trace(line=number, turn=_turn(value, task)))
        except _UnreadableError as error:
            unread.append(Unread(line=number, reason=str(error).removesuffix(".")))
        else:
            ignored.update(() if _is_row(value) else value.keys() - _NAMES)
    return Traces(traces=tuple(traces), unread=tuple(unread), ignored=dict(sorted(ignored.items())))


# One line


def _value(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_such_number)
    except RecursionError:
        raise _UnreadableError("the JSON is nested too deeply to be read") from None
    except ValueError as error:
        raise _UnreadableError(f"it is not JSON in UTF-8 ({error})") from error
    if isinstance(value, list):
        return {"messages": value}
    if not isinstance(value, dict):
        raise _UnreadableError(
            f"its value is of type {type(value).__name__}, but must be an object or a list of messages"
        )
    return value


def _no_such_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _turn(value: dict[str, Any], task: Mapping[str, Sample] | str) -> Answered:
    if _is_row(value):
        return replace(_of_row(value, task), turn_id=_named_by_content(value))
    id = _text(value, "id", required=False)
    return replace(_of_record(value), turn_id=id or _named_by_content(value))


def _named_by_content(value: dict[str, Any]) -> str:
    """Equal for two lines that say the same, whatever the order of their fields."""
    text = json.dumps(value, sort_keys=True)
    return f"trace:{hashlib.sha256(text.encode('ascii')).hexdigest()[:32]}"


def _of_record(value: dict[str, Any]) -> Answered:
    messages = _given(value, "messages")
    question, answer = _text(value, "question", required=not messages), _text(value, "answer", required=not messages)
    if messages:
        question, answer = _of_messages(messages, question, answer)
    expected = _text(value, "expected", required=False)
    metadata = _given(value, "metadata") or {}
    if not isinstance(metadata, dict):
        raise _UnreadableError(f"'metadata' is a {type(metadata).__name__}, but must be an object")
    return Answered(
        recall=Query(text=question or "", choices=_texts(value, "choices"), metadata=metadata),
        answer=answer,
        feedback=_feedback(value, expected),
        expected=expected,
        used=_texts(value, "used"),
        reasoning=_text(value, "reasoning", required=False) or "",
        trajectory=tuple(messages or ()),
    )


def _of_messages(messages: Any, question: str | None, answer: str | None) -> tuple[str, str]:
    """Question and answer, from the messages where they are not given."""
    try:
        told = read_trajectory(messages)
    except SetupError as error:
        raise _UnreadableError(str(error)) from error
    if not (answer or told.answer):
        raise _UnreadableError("the messages end without an answer, and there is no 'answer'")
    return question or told.question, answer or told.answer


def _feedback(value: dict[str, Any], expected: str | None) -> Feedback:
    """All that is known about the answer; what stands beside `feedback` counts more than what is in it."""
    given = _given(value, "feedback")
    beside = {name: value[name] for name in ("correct", "score") if value.get(name) is not None}
    try:
        inside = given if isinstance(given, dict) else as_feedback(given, expected).model_dump()
        told = {} if expected is None else {"expected": expected}
        return Feedback.model_validate(inside | beside | told)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise _UnreadableError(f"the feedback cannot be used: {where}: {first['msg']}") from error
    except (ValueError, TypeError) as error:
        raise _UnreadableError(f"the feedback cannot be used: {error}") from error


def _given(value: dict[str, Any], what: str) -> Any:
    """What is said under the first of its names."""
    return next((value[name] for name in FIELDS[what] if value.get(name) is not None), None)


def _text(value: dict[str, Any], what: str, *, required: bool) -> str | None:
    given = _given(value, what)
    if isinstance(given, int | float) and not isinstance(given, bool) and what != "question":
        return str(given)
    if given is None or (isinstance(given, str) and not given.strip()):
        if required:
            raise _UnreadableError(f"it has no {what!r}, and no 'messages' that tell it")
        return None
    if not isinstance(given, str):
        raise _UnreadableError(f"{what!r} is a {type(given).__name__}, but must be a text")
    return given


def _texts(value: dict[str, Any], what: str) -> tuple[str, ...]:
    given = _given(value, what) or ()
    if isinstance(given, str) or not all(isinstance(text, str) for text in given):
        raise _UnreadableError(f"{what!r} must be a list of texts")
    return tuple(given)


# Rows of our own runs


def _is_row(value: dict[str, Any]) -> bool:
    alike = {"position", "target", "answer"} <= value.keys()
    return alike and (_given(value, "question") is None or value.keys() >= _OF_ROWS_ALONE)


def _of_row(value: dict[str, Any], task: Mapping[str, Sample] | str) -> Answered:
    try:
        row = rows.from_json(value, where="the row")
    except TaskError as error:
        raise _UnreadableError(str(error)) from error
    if row.error:
        raise _UnreadableError(f"the call failed, so that there is no answer to learn from ({row.error})")
    return Answered(
        recall=_asked(row, task),
        answer=row.answer,
        feedback=Feedback(correct=row.correct, score=row.score, expected=row.target),
        expected=row.target,
        reasoning=row.reply if row.reply != row.answer else "",
    )


def _asked(row: Row, task: Mapping[str, Sample] | str) -> Query:
    """What was asked, with its choices where the task is known."""
    sample = None if isinstance(task, str) else task.get(row.id)
    if sample is not None:
        return query_of(sample)
    if row.question.strip():
        return Query(text=row.question)
    if isinstance(task, str):
        raise _UnreadableError(f"it is a row of a run, which holds no question, and {task}")
    raise _UnreadableError(f"the task of the run has no question {row.id!r}")


def _task_of(path: Path) -> Mapping[str, Sample] | str:
    """The questions of the run in whose folder the file lies, or why there are none."""
    folders = path.resolve().parents
    place = RunFolder(path=folders[min(2, len(folders) - 1)])  # RUN/arms/NAME/rows.jsonl, RUN/epochs/1/training.jsonl
    if not place.begun:
        return "it does not lie in the folder of a run"
    try:
        spec = _spec_of(place, path)
        task = load_task(spec.path, limit=spec.limit, seed=spec.seed)
    except TaskError as error:
        return f"its task cannot be read ({str(error).removesuffix('.')})"
    if task.sha256 != spec.sha256:
        return f"its task {spec.path} has been changed since"
    return {sample.id: sample for sample in task.samples}


def _spec_of(place: RunFolder, path: Path) -> TaskSpec:
    try:
        return place.spec().task
    except TaskError:
        spec = place.read(AdaptSpec)
    return spec.validation if spec.validation and path.stem == "validation" else spec.train
