"""The folder of a run: `run.json`, and for each arm its rows, its memory and perhaps its calls in `arms/<name>`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.runs.spec import AdaptSpec, ArmSpec, Joinable, RunSpec
from cheatsheet.safety.private import make_private_folder

SpecT = TypeVar("SpecT", bound=Joinable)

_LOCK = "run.lock"
_SPEC = "run.json"
_UNFINISHED_SPEC = "run.json.new"
_BOTH = ("the adaptation of a memory", "a comparison of memories")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFolder:
    """Where one arm keeps its rows and its memory."""

    path: Path

    @property
    def rows(self) -> Path:
        """One row a line, in the order in which they came in."""
        return self.path / "rows.jsonl"

    @property
    def memory(self) -> Path:
        """The arm's memory."""
        return self.path / "memory.db"

    @property
    def calls(self) -> Path:
        """What its models said, where that is recorded."""
        return self.path / "calls.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A folder that holds one run, or is to hold one."""

    path: Path

    def arm(self, arm: ArmSpec) -> ArmFolder:
        """The folder of an arm, whether it exists or not."""
        return ArmFolder(path=self.path / "arms" / arm.name)

    @property
    def begun(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / _SPEC).exists()

    @property
    def adapts(self) -> bool:
        """Whether what was begun here is the adaptation of a memory, which is no comparison."""
        try:
            return _adapts(self._stored())
        except TaskError:
            return False

    def spec(self) -> RunSpec:
        """What the comparison in this folder is; raises as `read` does."""
        return self.read(RunSpec)

    def read(self, kind: type[SpecT]) -> SpecT:
        """What the run in this folder is.

        Raises:
            TaskError: there is none, or it cannot be read.
        """
        stored = self._stored()
        if _adapts(stored) is not issubclass(kind, AdaptSpec):
            found, wanted = _BOTH if _adapts(stored) else _BOTH[::-1]
            raise TaskError(f"{self.path} holds {found}, not {wanted}. Choose another folder.")
        try:
            return kind.model_validate(stored)
        except ValidationError as error:
            raise self._unreadable(error) from error

    def begin(self, spec: SpecT, *, resume: bool) -> SpecT:
        """Start a run here, or join the one that was begun; returns its description as it is stored.

        Raises:
            TaskError: the folder holds a run and `resume` is false, it holds something else, or its run is another one.
        """
        if not self.begun:
            self._refuse_foreign_files()
            self._write(spec)
            return spec
        stored = self.read(type(spec))
        if not resume:
            raise TaskError(f"{self.path} holds a run already. Resume it with --resume, or choose another folder.")
        if stored.fingerprint() != spec.fingerprint():
            raise TaskError(
                f"The run in {self.path} was begun otherwise and cannot be resumed: "
                f"{'; '.join(stored.differences(spec))}. Resume it as it was begun, or choose another folder."
            )
        return stored

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, which is made if need be, so that no other run writes into it.

        The lock is the operating system's, so that it goes when its process goes, however that ends.

        Raises:
            TaskError: another process holds it, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        try:
            make_private_folder(self.path)  # what was asked and answered is the user's matter
            lock = FileLock(self.path / _LOCK, timeout=0)
            lock.acquire()
        except Timeout as error:
            raise TaskError(
                f"Another process is running in {self.path}. Wait for it, or choose another folder."
            ) from error
        except OSError as error:
            raise TaskError(f"The folder {self.path} cannot be used for a run: {error.strerror}.") from error
        try:
            yield
        finally:
            lock.release()

    def _stored(self) -> Mapping[str, Any]:
        """The description as it stands in the file; raises TaskError where there is none."""
        try:
            stored = json.loads((self.path / _SPEC).read_text(encoding="utf-8"))["spec"]
        except FileNotFoundError as error:
            raise TaskError(f"{self.path} holds no run: {_SPEC} is missing.") from error
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise self._unreadable(error) from error
        if not isinstance(stored, dict):
            raise self._unreadable(f"its spec is a {type(stored).__name__}, not an object")
        return stored

    def _unreadable(self, why: object) -> TaskError:
        return TaskError(f"{self.path / _SPEC} cannot be read as a run of this version of cheatsheet: {why}")

    def _refuse_foreign_files(self) -> None:
        foreign = sorted({entry.name for entry in self.path.iterdir()} - {_LOCK, _UNFINISHED_SPEC})
        if foreign:
            raise TaskError(
                f"{self.path} is not empty and holds no run (there is {foreign[0]!r}). Choose another folder."
            )

    def _write(self, spec: Joinable) -> None:
        """All of it or nothing: a torn `run.json` would make the folder useless."""
        content = {"fingerprint": spec.fingerprint(), "spec": spec.model_dump(mode="json")}
        unfinished = self.path / _UNFINISHED_SPEC
        text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        try:
            with unfinished.open("wb") as file:
                file.write(text.encode("utf-8", errors="backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path / _SPEC)
        except OSError as error:
            raise TaskError(
                f"The run cannot be described in {self.path / _SPEC}: {error.strerror}. Free some space, or choose "
                f"another folder."
            ) from error


def _adapts(stored: Mapping[str, Any]) -> bool:
    """Whether a description is that of an adaptation: only such a one has a training file."""
    return "train" in stored
