"""Every named error, as one tree.

CheatsheetError
├── SetupError                    the caller can mend it: shown as a sentence, exit code 2
│   ├── UnknownNameError          a mode, embedder, scorer … that does not exist; suggests the nearest
│   ├── SettingsError             a setting that is unknown or out of range
│   ├── MissingExtraError         an optional package is not installed
│   └── TaskError                 a task file that cannot be read, a run that cannot be resumed
├── RunStoppedError               Ctrl-C during a run; it can be resumed
├── WorkerLostError               the worker of a run was lost again and again at the same place
├── BudgetError                   a negative budget
├── BulletError                   a bullet that breaks a rule: empty, too long, negative counters
├── OperationError                an operation that names what is not there
├── NotLearntError                a turn that was to be learnt in the background was not
├── StoreError                    where the memory is kept
│   ├── StoreReadOnlyError        it cannot be written
│   ├── StoreCorruptError         it is damaged; it is left as it is
│   ├── StoreVersionError         it was written by a newer version
│   ├── StoreBusyError            another process holds it for too long
│   └── StoreUnavailableError     its server cannot be reached
├── ModelError                    a call of a language model failed
│   ├── ModelAuthError            no key, or a wrong one
│   ├── ModelRequestError         the provider refuses the request; asking again cannot help
│   │   └── ContextOverflowError  the prompt is larger than the model's window
│   ├── ModelRateError            too many requests
│   └── ModelUnavailableError     no connection, time-out, the provider's own fault
├── EmbedderUnavailableError      an embedding model cannot be loaded or reached
├── IndexFileError                a saved index cannot be used; delete it, it is rebuilt
└── VectorError                   vectors that cannot be used
    ├── DimensionMismatchError
    └── NonFiniteVectorError
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from indexes.errors import (
    CheatsheetError,
    DimensionMismatchError,
    EmbedderUnavailableError,
    IndexFileError,
    NonFiniteVectorError,
    VectorError,
)

__all__ = [
    "BudgetError",
    "BulletError",
    "CheatsheetError",
    "ContextOverflowError",
    "DimensionMismatchError",
    "EmbedderUnavailableError",
    "IndexFileError",
    "MissingExtraError",
    "ModelAuthError",
    "ModelError",
    "ModelRateError",
    "ModelRequestError",
    "ModelUnavailableError",
    "NonFiniteVectorError",
    "NotLearntError",
    "OperationError",
    "RunStoppedError",
    "SettingsError",
    "SetupError",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "StoreVersionError",
    "TaskError",
    "UnknownNameError",
    "VectorError",
    "WorkerLostError",
    "nearest_name",
]


class SetupError(CheatsheetError):
    """Something that the caller can mend; interfaces print it as a sentence."""


class UnknownNameError(SetupError, ValueError):
    """A name that is none of the allowed ones; the message lists them and suggests the nearest."""

    def __init__(self, what: str, name: str, allowed: Iterable[str]) -> None:
        self.name = name
        self.allowed = tuple(allowed)
        close = nearest_name(name, self.allowed)
        hint = f" Did you mean {close!r}?" if close else ""
        choices = ", ".join(repr(choice) for choice in self.allowed)
        super().__init__(f"Unknown {what} {name!r}.{hint} Choose one of {choices}.")


class SettingsError(SetupError, ValueError):
    """A setting that is unknown, of the wrong type or out of its range."""


class MissingExtraError(SetupError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class TaskError(SetupError, ValueError):
    """A task file that cannot be read, or a run that cannot be started or resumed."""


class RunStoppedError(CheatsheetError):
    """The user stopped the run (Ctrl-C); it can be resumed.

    Attributes:
        folder: of the run.
        done, total: questions answered, and questions there are, over all arms.
    """

    def __init__(self, folder: Path, *, done: int, total: int) -> None:
        self.folder = folder
        self.done = done
        self.total = total
        super().__init__(
            f"Stopped after {done} of {total} questions. Nothing is lost: give the same command with "
            f"--resume --out {folder} to go on."
        )


class WorkerLostError(CheatsheetError):
    """The worker of a run's arm was lost again and again without a new row; what it had done is kept."""


class BudgetError(CheatsheetError, ValueError):
    """A token budget that makes no sense."""


class BulletError(CheatsheetError, ValueError):
    """A bullet that breaks a rule."""


class OperationError(CheatsheetError, ValueError):
    """An operation that cannot be applied to the memory as it is."""


class NotLearntError(CheatsheetError):
    """A turn that was to be learnt in the background was not: the queue is full, or the learner is closed."""


class StoreError(CheatsheetError):
    """Where the memory is kept cannot be used."""


class StoreReadOnlyError(StoreError):
    """The memory, or the folder of its file, cannot be written."""


class StoreCorruptError(StoreError):
    """The memory is damaged or is none; it is left as it is."""


class StoreVersionError(StoreError):
    """The memory was written by a newer version."""


class StoreBusyError(StoreError):
    """Others kept the memory locked for longer than the time limit."""


class StoreUnavailableError(StoreError):
    """The server that keeps the memory cannot be reached, or went away and did not come back in time."""


class ModelError(CheatsheetError):
    """A call of a language model failed.

    Attributes:
        seconds: what the calls of the turn took, where they are on record; None elsewhere.
    """

    seconds: float | None = None


class ModelAuthError(ModelError):
    """The provider needs a key, or refuses the one it was given."""


class ModelRequestError(ModelError):
    """The provider refuses this request; the same one cannot succeed."""


class ContextOverflowError(ModelRequestError):
    """The prompt and the room for the answer are larger than the model's context window."""


class ModelRateError(ModelError):
    """The provider asks to slow down, also after all retries."""


class ModelUnavailableError(ModelError):
    """No connection, a time-out, or a fault on the provider's side, also after all retries."""


def nearest_name(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that `name` was probably meant to be, or None."""
    by_folded = {choice.casefold(): choice for choice in allowed}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None
