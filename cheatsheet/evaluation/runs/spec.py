"""The complete description of a run: whatever changes its results stands here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task import Task


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSpec(_Spec):
    """Which questions, in which order; the attributes are those of `Task`."""

    name: str
    path: str = ""
    sha256: str
    seed: int | None = None
    limit: int | None = None
    fields: dict[str, str] = Field(default_factory=dict)
    split: str = ""
    instruction: str = ""
    version: str = ""

    @classmethod
    def of(cls, task: Task) -> TaskSpec:
        """The description of a task that was read."""
        return cls(
            name=task.name,
            path=task.path,
            sha256=task.sha256,
            seed=task.seed,
            limit=task.limit,
            fields=dict(task.fields),
            split=task.split,
            instruction=task.instruction,
            version=task.version,
        )

    @model_serializer(mode="wrap")
    def _with_what_is_told(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the newer fields where they are empty, so that a run begun before there were any can be resumed."""
        values: dict[str, Any] = write(self)
        return {name: value for name, value in values.items() if value or name not in _NEWER}


_NEWER = frozenset({"fields", "split", "instruction", "version"})

# Where a file lies does not change what is in it.
_PLACE = {"name": True, "path": True}


class ArmSpec(_Spec):
    """One memory that takes part in a comparison.

    Attributes:
        name: of its folder and its row in the report; the mode's name where it is left out.
        settings: what differs for this arm from the run's settings.
    """

    mode: str
    name: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")
    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _named_by_mode(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and not values.get("name"):
            return {**values, "name": values.get("mode")}
        return values


class Joinable(_Spec):
    """What is begun in a folder, and can be joined again by one that is described alike.

    Attributes:
        created_at: when it was begun.
    """

    created_at: datetime

    def fingerprint(self) -> str:
        """SHA-256 over everything that changes results; equal for two runs that may be joined."""
        text = json.dumps(sorted(self._that_counts().items()))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def differences(self, other: Joinable) -> tuple[str, ...]:
        """What differs in `other` of everything that changes results, as "limit was 50, is now 100"."""
        was, now = self._that_counts(), other._that_counts()
        return tuple(
            f"{name} was {was.get(name, 'not set')}, is now {now.get(name, 'not set')}"
            for name in sorted(was.keys() | now.keys())
            if was.get(name) != now.get(name)
        )

    def _that_counts(self) -> dict[str, str]:
        return dict(_leaves(self.model_dump(mode="json", exclude={"created_at"})))


class RunSpec(Joinable):
    """One run.

    Attributes:
        arms: asked one after the other, each with a memory of its own.
        settings: the engine's settings as they were resolved. They are written to `run.json`: no keys in here.
        version: of cheatsheet.
        prompts: a fingerprint of the prompts in use.
    """

    task: TaskSpec
    arms: tuple[ArmSpec, ...] = Field(min_length=1)
    model: str
    embedder: str
    scorer: str = "exact"
    settings: dict[str, Any] = Field(default_factory=dict)
    version: str
    prompts: str = ""

    @field_validator("arms")
    @classmethod
    def _told_apart(cls, arms: tuple[ArmSpec, ...]) -> tuple[ArmSpec, ...]:
        names = [arm.name.casefold() for arm in arms]
        twin = next((name for name in names if names.count(name) > 1), None)
        if twin is not None:
            raise ValueError(f"two arms are named {twin!r}; give one of them another name")
        return arms

    def must_fit(self, task: Task) -> None:
        """Make sure that the run is about these questions.

        Raises:
            TaskError: the task is another one, or in another order.
        """
        given = self.model_copy(update={"task": TaskSpec.of(task)})
        if differences := self.differences(given):
            raise TaskError(f"The run and the task given to it do not fit: {'; '.join(differences)}.")

    def _that_counts(self) -> dict[str, str]:
        counts = self.model_dump(mode="json", exclude={"created_at": True, "task": _PLACE})
        # By name: the arms have memories of their own, so that their order changes nothing.
        counts["arms"] = {arm.pop("name"): arm for arm in counts["arms"]}
        return dict(_leaves(counts))


class AdaptSpec(Joinable):
    """One adaptation of a memory to a training file.

    Attributes:
        test: what the memory is measured with before and after; nothing is chosen by it.
        epochs: how often the training file is gone through.
        batch_size: so many questions are answered, then learnt together.
        setup: whatever else changes its results: the model, the mode, the settings. No keys in here.
    """

    train: TaskSpec
    validation: TaskSpec | None
    test: TaskSpec | None = None
    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=1)
    scorer: str
    setup: dict[str, Any] = Field(default_factory=dict)

    def turns(self, epoch: int) -> str:
        """What the turn ids of an epoch begin with; those of two adaptations of one memory differ."""
        return f"{self.own_turns}{epoch}"

    @property
    def own_turns(self) -> str:
        """What all turn ids of this adaptation begin with, and those of no other turn."""
        key = f"{self.created_at.isoformat()} {self.fingerprint()}"
        return f"adapt:{hashlib.sha256(key.encode('ascii')).hexdigest()[:8]}:"

    def _that_counts(self) -> dict[str, str]:
        places = dict.fromkeys(("train", "validation", "test"), _PLACE)
        counts = self.model_dump(mode="json", exclude={"created_at": True, **places})
        if self.test is None:  # so that an adaptation begun before there was one can be resumed
            del counts["test"]
        return dict(_leaves(counts))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every value that is not an object, as JSON, with its dotted name."""
    if not isinstance(value, dict):
        yield name, json.dumps(value)
        return
    for key, part in value.items():
        yield from _leaves(part, f"{name}.{key}" if name else key)
