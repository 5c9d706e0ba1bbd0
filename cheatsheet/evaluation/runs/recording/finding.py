"""Finding the recording that a replay needs: in the recorded run, or in the folder of all recorded runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cheatsheet.errors import SetupError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.spec import RunSpec

_SHOWN_NAMES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run that was recorded, to be replayed."""

    folder: RunFolder
    spec: RunSpec

    @classmethod
    def found(cls, root: Path, name: str) -> RecordedRun:
        """The run in the folder itself, or the one of that name in it.

        Raises:
            SetupError: there is neither; tells which runs there are.
            TaskError: the run cannot be read.
        """
        for place in (RunFolder(path=root), RunFolder(path=root / name)):
            if place.begun:
                return cls(folder=place, spec=place.spec())
        raise _no_run(root, name)

    def calls(self, arm: str) -> Path:
        """The recording of an arm.

        Raises:
            SetupError: the run has no such arm, or no recording of it.
        """
        known = {each.name: self.folder.arm(each).calls for each in self.spec.arms}
        if arm not in known:
            arms = _listed(sorted(known))
            raise SetupError(f"The run in {self.folder.path} has no arm {arm!r} to replay; its arms are {arms}.")
        if not known[arm].is_file():
            recorded = sorted(name for name, calls in known.items() if calls.is_file())
            what = f"recorded are {_listed(recorded)}" if recorded else "it was made without --record"
            raise SetupError(
                f"The run in {self.folder.path} has no calls of arm {arm!r} on record ({known[arm]}): {what}."
            )
        return known[arm]

    def must_fit(self, spec: RunSpec) -> None:
        """Make sure that the run that is to be made asks the same questions, and only arms that are on record.

        Raises:
            SetupError: it does not.
        """
        was, now = self.spec.task, spec.task
        if was.sha256 != now.sha256:
            raise SetupError(
                f"The run in {self.folder.path} has other questions ({was.name}, {was.sha256[:12]}…) than this one "
                f"({now.name}, {now.sha256[:12]}…), and cannot be replayed for it."
            )
        for arm in spec.arms:
            self.calls(arm.name)

    def difference(self, spec: RunSpec, arm: str) -> str:
        """How a run differs in what changes the results of an arm, as a sentence; empty where it does not."""
        others = {each.name for each in (*self.spec.arms, *spec.arms)} - {arm}
        told = [
            clause
            for clause in self.spec.differences(spec)
            if not any(clause.startswith(f"arms.{other}.") for other in others)
        ]
        return f"Since it was recorded, these changed: {'; '.join(told)}." if told else ""


def _no_run(root: Path, name: str) -> SetupError:
    if not root.is_dir():
        return SetupError(f"There is no folder {root} to replay. Give the folder of a run that was made with --record.")
    runs = sorted(
        entry.name for entry in root.iterdir() if RunFolder(path=entry).begun and not RunFolder(path=entry).adapts
    )
    found = f"the runs in it are {_listed(runs)}" if runs else "there is no run.json in it or one level below"
    return SetupError(f"{root} does not hold the run {name!r} to replay: {found}. Give the folder of a recorded run.")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    return f"{shown} and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else shown
