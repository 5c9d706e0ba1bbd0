"""The course of an adaptation: epoch after epoch, each done once, and in the end the best memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cheatsheet.evaluation.adaptation.lessons import Lessons, Place, Testing, Training, Validation
from cheatsheet.evaluation.adaptation.steps import Step, Steps, What
from cheatsheet.evaluation.metrics import ArmSummary, summarise_rows
from cheatsheet.evaluation.runs.protocol import Learner
from cheatsheet.evaluation.runs.results import in_order
from cheatsheet.evaluation.runs.spec import AdaptSpec
from cheatsheet.evaluation.runs.stream import Job
from cheatsheet.evaluation.task import Task

# Entries that another user of the memory makes. A recall or a refinement may be our own.
_BY_OTHERS = frozenset({"turn", "user", "import", "agent", "rollback"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One time through the training file, and what the memory was worth afterwards.

    Attributes:
        number: from 1; 0 is the memory before anything was learnt.
        train: the training answers, each given before the memory learnt from it; None for epoch 0.
        validation: None where there is no validation file.
        test: of epoch 0 and of the epoch that is kept; None for the others, and where there is no test file.
        bullets, version: of the memory after it.
    """

    number: int
    train: ArmSummary | None
    validation: ArmSummary | None
    bullets: int
    version: int
    test: ArmSummary | None = None

    @property
    def parts(self) -> tuple[ArmSummary, ...]:
        """What was asked in it."""
        return tuple(part for part in (self.train, self.validation, self.test) if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """What came of an adaptation.

    Attributes:
        epochs: in their order, epoch 0 first.
        best: the epoch with the highest mean score in validation, which is the accuracy where no answer is partly
            right, the earliest of several; None where nothing judges.
        kept: the epoch whose memory stands in the end.
        bullets, version: of the memory in the end.
        notes: what the user should know.
    """

    spec: AdaptSpec
    folder: Path
    epochs: tuple[Epoch, ...]
    best: int | None
    kept: int
    bullets: int
    version: int
    notes: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        """How many calls came back; 0 means that the adaptation has failed."""
        return sum(part.n - part.errors for epoch in self.epochs for part in epoch.parts)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "best_epoch": self.best,
            "kept_epoch": self.kept,
            "bullets": self.bullets,
            "version": self.version,
            "folder": str(self.folder),
            "notes": list(self.notes),
        }


@dataclass(slots=True, kw_only=True)
class Course:
    """An adaptation on its way.

    Attributes:
        memory_shown: where the memory is, for messages.
        job: of every stream, but for its questions.
        streams: those that were begun.
    """

    memory: Learner
    memory_shown: str
    spec: AdaptSpec
    folder: Path
    steps: Steps
    train: Task
    validation: Task | None
    test: Task | None
    job: Job
    streams: list[Lessons] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Questions that have a row."""
        return sum(len(stream.rows) for stream in self.streams)

    @property
    def total(self) -> int:
        """Questions of all epochs, of training and validation, and those of the test, which are asked twice."""
        judged = len(self.validation.samples) if self.validation else 0
        measured = 2 * len(self.test.samples) if self.test else 0
        return self.spec.epochs * (len(self.train.samples) + judged) + judged + measured

    def run(self) -> Adaptation:
        """Do what is not done yet."""
        before = self._tested(0)
        epochs = tuple(self._epoch(number) for number in range(self.spec.epochs + 1))
        best = _best(epochs)
        kept = self.steps.find("kept") or self._keep(epochs[-1] if best is None else best, epochs[-1])
        tests = {0: before, kept.epoch: self._tested(kept.epoch) if kept.epoch else before}
        epochs = tuple(replace(epoch, test=tests.get(epoch.number)) for epoch in epochs)
        return Adaptation(
            spec=self.spec,
            folder=self.folder,
            epochs=epochs,
            best=None if best is None else best.number,
            kept=kept.epoch,
            bullets=kept.bullets,
            version=kept.version,
            notes=self._notes(epochs, best, kept),
        )

    # One epoch

    def _epoch(self, number: int) -> Epoch:
        learnt = self.steps.find("learnt", number)
        train = self._lessons(Training, number, self.train, closed=learnt is not None) if number else None
        learnt = learnt or self._step("learnt", number)
        validation = self._validated(number, self.validation) if self.validation else None
        return Epoch(number=number, train=train, validation=validation, bullets=learnt.bullets, version=learnt.version)

    def _validated(self, number: int, task: Task) -> ArmSummary:
        over = self.steps.find("validated", number)
        summary = self._lessons(Validation, number, task, closed=over is not None)
        if over is None:
            self._step("validated", number)
        return summary

    def _tested(self, number: int) -> ArmSummary | None:
        """What the memory that stands is worth, which is that of an epoch."""
        if self.test is None:
            return None
        over = self.steps.find("tested", number)
        summary = self._lessons(Testing, number, self.test, closed=over is not None)
        if over is None:
            self._step("tested", number)
        return summary

    def _lessons(self, kind: type[Lessons], number: int, task: Task, *, closed: bool) -> ArmSummary:
        what = kind.__name__.lower()
        stream = kind.found(
            f"epoch {number}, {what}",
            Place(rows=self.folder / "epochs" / str(number) / f"{what}.jsonl", memory=self.memory_shown),
            replace(self.job, samples=task.samples, closed=closed),
            turns=self.spec.turns(number),
        )
        self.streams.append(stream)
        stream.live(self.memory)
        return summarise_rows(stream.name, in_order(stream.rows))

    def _step(self, what: What, epoch: int) -> Step:
        stats = self.memory.stats()
        return self.steps.take(Step(what=what, epoch=epoch, version=stats.version, bullets=stats.bullets))

    # The end

    def _keep(self, best: Epoch, last: Epoch) -> Step:
        """Let the best memory stand, unless what others wrote would go with the rest."""
        if best.number == last.number or self._fetched() or self._fetch(best):
            return self._step("kept", best.number)
        return self._step("kept", last.number)

    def _fetched(self) -> bool:
        """Whether an earlier process fetched the best memory back, and came no further."""
        begun = self.steps.find("rollback")
        return begun is not None and any(e.cause == "rollback" for e in self.memory.history(after=begun.version))

    def _fetch(self, best: Epoch) -> bool:
        if self._by_others(best):
            return False
        if self.steps.find("rollback") is None:
            self._step("rollback", best.number)
        self.memory.rollback(to=best.version)
        return True

    def _by_others(self, best: Epoch) -> int:
        """How many changes others made since the best epoch."""
        own = self.spec.own_turns
        since = self.memory.history(after=best.version)
        return sum(entry.cause in _BY_OTHERS and not entry.turn_id.startswith(own) for entry in since)

    def _notes(self, epochs: Sequence[Epoch], best: Epoch | None, kept: Step) -> tuple[str, ...]:
        notes = [note for stream in self.streams for note in stream.notes]
        if self.steps.torn:
            notes.append(f"{self.steps.path}: the last line was torn by a crash; it was set aside.")
        if shared := _shared(self.validation, self.train):
            notes.append(f"{shared} of the validation questions are training questions too: they judge too kindly.")
        if shared := _shared(self.test, self.train, self.validation):
            notes.append(f"{shared} of the test questions are training or validation questions too: they flatter.")
        if self.validation is None:
            notes.append("There is no validation file: the memory of the last epoch is kept.")
        elif best is None:
            notes.append("No validation question was answered: the memory of the last epoch is kept.")
        elif kept.epoch != best.number:
            notes.append(
                f"Epoch {best.number} was the best, but others changed the memory since: it was not fetched back. "
                f"`cheatsheet rollback {best.version}` does it, and takes their changes back too."
            )
        return tuple(notes)


def _best(epochs: Sequence[Epoch]) -> Epoch | None:
    """The epoch with the highest mean score in validation; of several the first, whose memory is smaller."""
    judged = [
        (epoch.validation.score, epoch) for epoch in epochs if epoch.validation and epoch.validation.score is not None
    ]
    return max(judged, key=lambda pair: pair[0])[1] if judged else None


def _shared(task: Task | None, *others: Task | None) -> int:
    """How many questions of a task are those of others too."""
    known = {sample.input for other in others if other for sample in other.samples}
    return sum(sample.input in known for sample in task.samples) if task else 0
