"""Whether the model calls of a run are made, recorded or replayed, and what follows for the parts of an arm's engine.

A recording lies beside the arm's memory, as `arms/<arm>/calls.jsonl`. A replay looks for it in the recorded run; where
that is one of several, the folder of them all is given, and runs are told apart by the names of their folders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cheatsheet.errors import SetupError
from cheatsheet.evaluation.runs.folder import ArmFolder, RunFolder
from cheatsheet.evaluation.runs.recording.finding import RecordedRun
from cheatsheet.interfaces import parts
from cheatsheet.interfaces.counter import build_counter, counts_by_model_file
from cheatsheet.settings import Settings

# What is recorded with is imported when something is recorded.
if TYPE_CHECKING:
    from collections.abc import Callable

    from cheatsheet.evaluation.runs.protocol import Memory
    from cheatsheet.evaluation.runs.recording.recording import Recording
    from cheatsheet.evaluation.runs.spec import RunSpec
    from cheatsheet.interfaces.role_models import ModelMaker
    from cheatsheet.interfaces.wiring import Given
    from cheatsheet.llm.model import Model
    from indexes.embedder import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """What becomes of the calls of a run. It can be sent to another process.

    Attributes:
        record: keep every call.
        replay: the folder of a recorded run, or of several, whose calls answer in place of the models.
    """

    record: bool = False
    replay: Path | None = None

    def __post_init__(self) -> None:
        if self.record and self.replay is not None:
            raise SetupError("--record and --replay exclude each other: a replay asks nobody. Choose one of them.")
        if self.replay is not None:  # a worker may stand in another folder
            object.__setattr__(self, "replay", self.replay.absolute())

    @property
    def asks(self) -> bool:
        """Whether models may be asked, so that their keys, packages and files have to be there."""
        return self.replay is None

    def check(self, run: Path, spec: RunSpec) -> None:
        """Make sure that a run can be recorded from its first call, or that all is there to replay it.

        Args:
            run: its folder, which need not exist.

        Raises:
            SetupError: an arm was begun without a recording; or there is no such recorded run, or it has other
                questions, or not all arms of this one.
        """
        if self.record:
            for arm in spec.arms:
                _must_be_recorded(RunFolder(path=run).arm(arm))
        if self.replay is not None:
            RecordedRun.found(self.replay, run.absolute().name).must_fit(spec)

    def recording(self, memory: Path) -> Recording | None:
        """The recording of the arm whose memory is in this file; None where calls are neither recorded nor replayed.

        A run that was begun with a recording goes on with it, whether `record` is given again or not.

        Raises:
            SetupError: there is no such recording to replay, or the arm was begun without one.
        """
        from cheatsheet.evaluation.runs.recording.recording import Recording

        here = ArmFolder(path=memory.parent)
        if self.replay is not None:
            return _replayed(self.replay, here)
        if self.record:
            _must_be_recorded(here)
        return Recording(here.calls, replays=False) if self.record or here.calls.exists() else None


def on_record(
    recording: Recording, settings: Settings, *, model: Callable[[], Model] | None, embedder: Callable[[], Embedder]
) -> Given:
    """The parts of an engine that depend on models, with the recording before them.

    What is the same on every machine and needs no files, such as the embedder `hashing`, stands for itself.

    Args:
        model: makes the one that answers; None where none is asked. Nothing is made before it is asked for something
            that is not on record.
        embedder: makes the embedder.
    """
    from cheatsheet.evaluation.runs.recording.on_record import CounterOnRecord, EmbedderOnRecord, ModelOnRecord
    from cheatsheet.interfaces.wiring import Given

    name, window = settings.model, settings.context_window
    counted = counts_by_model_file(settings)
    return Given(
        model=None if model is None else ModelOnRecord(name or model().name, model, recording, window=window),
        make_model=_maker_on_record(recording),
        counter=CounterOnRecord(lambda: build_counter(settings), recording) if counted else None,
        embedder=embedder() if settings.embedder == "hashing" else EmbedderOnRecord(embedder, recording),
        clock=recording.now,
        timer=recording.seconds,
    )


def memory_on_record(memory: Memory, recording: Recording, path: Path) -> Memory:
    """The memory of an arm, whose file is `path`, telling the recording which question is asked."""
    from cheatsheet.evaluation.runs.recording.memory import MemoryOnRecord, failures

    arm = ArmFolder(path=path.parent)
    return MemoryOnRecord(memory, recording, failed=failures(arm.rows, arm.path.name))


def _maker_on_record(recording: Recording) -> ModelMaker:
    """Makes models as `parts.build_model` does, with the recording before them."""
    from cheatsheet.evaluation.runs.recording.on_record import ModelOnRecord
    from cheatsheet.llm.registry import make_model

    def make(settings: Settings, name: str | None, api_base: str | None) -> Model | None:
        if name is None:
            return None
        made = partial(parts.build_model, settings, name, api_base)
        return ModelOnRecord(name, lambda: make_model(made()), recording, window=settings.context_window)

    return make


def _must_be_recorded(arm: ArmFolder) -> None:
    if arm.memory.exists() and not arm.calls.exists():
        raise SetupError(
            f"{arm.path} was begun without a recording, so that a replay would lack its first calls. Go on without "
            f"--record, or choose another folder."
        )


def _replayed(root: Path, arm: ArmFolder) -> Recording:
    from cheatsheet.evaluation.runs.recording.recording import Recording

    run = RunFolder(path=arm.path.parent.parent)
    recorded = RecordedRun.found(root, run.path.absolute().name)
    hint = recorded.difference(run.spec(), arm.path.name) if run.begun else ""
    return Recording(recorded.calls(arm.path.name), replays=True, hint=hint)
