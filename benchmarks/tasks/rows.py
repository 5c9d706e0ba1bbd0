"""Task files: one JSON object a line, and the small command line that all tasks share."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

from cheatsheet.errors import SetupError, TaskError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.task import Sample, load_task

T = TypeVar("T")


class TaskRow(TypedDict):
    """One question: `choices` only where the answer is one of a closed set."""

    id: str
    input: str
    target: str
    choices: NotRequired[list[str]]
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """A task as `cheatsheet eval` takes it from Python: its questions, and what to do with them.

    Attributes:
        rows: in their order.
        name, instruction, scorer: as in `cheatsheet.evaluation.task.Task`.
    """

    rows: Sequence[TaskRow | Sample]
    name: str
    instruction: str = ""
    scorer: str

    def __iter__(self) -> Iterator[TaskRow | Sample]:
        return iter(self.rows)


def shuffled(items: Iterable[T], rng: random.Random) -> list[T]:
    """`items` in a random order.

    Only `random()` is promised to give the same sequence in every later Python
    (library reference, "Notes on Reproducibility"), so that `shuffle` is not used.
    """
    return sorted(items, key=lambda _: rng.random())


def pick(options: Sequence[T], rng: random.Random) -> T:
    """One of `options`, each as likely; as reproducible as `shuffled`."""
    return options[int(rng.random() * len(options))]


def check_count(n: int) -> None:
    """Raise `TaskError` unless `n` is 0 or more."""
    if n < 0:
        raise TaskError(f"Cannot make {n} rows. Ask for 0 or more.")


def read_rows(path: Path) -> list[TaskRow]:
    """The rows of a task file, in its order.

    Raises:
        TaskError: the file cannot be read, or a line is not a row; the message names the line.
    """
    return [_row(sample) for sample in load_task(path).samples]


def dump(rows: Iterable[TaskRow]) -> bytes:
    """The rows as JSON Lines, with letters of every script as they are."""
    return b"".join(jsonl.encode(row) for row in rows)


def write_rows(rows: Iterable[TaskRow], out: Path | None) -> None:
    """Write the rows to `out`, which afterwards holds all of them or is as it was; to stdout where it is None.

    Raises:
        TaskError: the file cannot be written.
    """
    data = dump(rows)
    if out is None:
        sys.stdout.buffer.write(data)  # bytes: UTF-8 and "\n" whatever the console prefers
        return
    part = out.with_name(out.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(out)
    except OSError as error:
        raise TaskError(f"Cannot write {out}: {error.strerror}. Name a file in a folder that exists.") from error
    finally:
        part.unlink(missing_ok=True)


def argument_parser(module: str, description: str) -> argparse.ArgumentParser:
    """A parser that knows `--out`."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the task file to write; standard output without it")
    return parser


def run_generator(
    generate: Callable[[int, int], list[TaskRow]],
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None = None,
) -> int:
    """Write the rows that `--n` and `--seed` ask for; a mistake of the caller is a sentence and exit code 2."""
    parser.add_argument("--n", type=int, default=100, help="how many rows (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same rows (default: %(default)s)")
    parsed = parser.parse_args(arguments)
    return sentence_on_error(lambda: write_rows(generate(parsed.n, parsed.seed), parsed.out))


def sentence_on_error(action: Callable[[], None]) -> int:
    """Exit code of `action`: 0, or 2 after printing what the caller can mend."""
    try:
        action()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _row(sample: Sample) -> TaskRow:
    metadata = dict(sample.metadata)
    if not sample.choices:
        return TaskRow(id=sample.id, input=sample.input, target=sample.target, metadata=metadata)
    choices = list(sample.choices)
    return TaskRow(id=sample.id, input=sample.input, target=sample.target, choices=choices, metadata=metadata)
