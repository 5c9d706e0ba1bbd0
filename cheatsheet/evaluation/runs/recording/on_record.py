"""The model, the token counter and the embedder of an arm, with a recording before them.

Each is made when the recording first asks it for something, and so never in a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from cheatsheet.evaluation.runs.recording.recording import Recording
from cheatsheet.llm.model import Capabilities, Model, Reply, Request
from cheatsheet.tokens import TokenCounter
from indexes.embedder import Embedder, TextKind
from indexes.vectors import Matrix


class ModelOnRecord:
    """A model whose answers come from a recording, or go into it. Promises: see `Model`.

    Args:
        name: of the model.
        make: makes it.
        window: the context window that the settings give it, in tokens. Two roles may have one model with different
            windows, and what it can do is on record for each.
    """

    def __init__(
        self, name: str, make: Callable[[], Model], recording: Recording, *, window: int | None = None
    ) -> None:
        self._name = name
        self._make = make
        self._recording = recording
        self._fact = f"capabilities of {name}" + (f" with a window of {window}" if window is not None else "")

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """As they were when they were first asked for; prompts are made by them."""
        return Capabilities(**self._recording.fact(self._fact, lambda: asdict(self._inner.capabilities)))

    def complete(self, request: Request) -> Reply:
        """The recorded answer, or the model's.

        Raises:
            ModelError: the call failed, now or when it was recorded.
            SetupError: a replay, and the request is not on record.
        """
        return self._recording.answer(self._name, request, lambda asked: self._inner.complete(asked))

    @cached_property
    def _inner(self) -> Model:
        return self._make()


class CounterOnRecord:
    """A token counter that needs the files of a model, before which stands a recording.

    Promises: see `TokenCounter`, except that in a replay a text that is not on record raises SetupError.
    """

    def __init__(self, make: Callable[[], TokenCounter], recording: Recording) -> None:
        self._make = make
        self._recording = recording

    @property
    def name(self) -> str:
        """The counter's own name."""
        return str(self._recording.fact("name of the counter", lambda: self._inner.name))

    def count(self, text: str) -> int:
        """The recorded count, or the counter's."""
        return self._recording.tokens(text, lambda unknown: self._inner.count(unknown)) if text else 0

    @cached_property
    def _inner(self) -> TokenCounter:
        return self._make()


class EmbedderOnRecord:
    """An embedder whose vectors come from a recording, or go into it. Promises: see `Embedder`.

    A vector that another machine makes differs in its last bits, and with it, now and then, what is found. So the
    vectors of an embedder in this process are kept as well, and a replay needs neither its files nor a network.
    """

    def __init__(self, make: Callable[[], Embedder], recording: Recording) -> None:
        self._make = make
        self._recording = recording

    @property
    def model_id(self) -> str:
        """The embedder's own."""
        return str(self._described["model_id"])

    @property
    def dim(self) -> int:
        """The embedder's own."""
        return int(self._described["dim"])

    @property
    def symmetric(self) -> bool:
        """The embedder's own."""
        return bool(self._described["symmetric"])

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        """float32 `[len(texts), dim]`.

        Raises:
            SetupError: a replay, and a text is not on record.
        """
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        kept_as = "document" if self.symmetric else kind
        return np.stack(self._recording.vectors(texts, kept_as, lambda unknown: self._inner.embed(unknown, kind)))

    @property
    def _described(self) -> Mapping[str, Any]:
        return dict(self._recording.fact("description of the embedder", self._describe))

    def _describe(self) -> dict[str, Any]:
        inner = self._inner
        return {"model_id": inner.model_id, "dim": inner.dim, "symmetric": inner.symmetric}

    @cached_property
    def _inner(self) -> Embedder:
        return self._make()
