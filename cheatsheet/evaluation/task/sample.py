"""The values of a task: questions, their order, and what identifies them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question.

    Attributes:
        id: unique in its task.
        input: the question, as the memory is asked.
        target: the right answer.
        choices: the only answers allowed, `target` among them; empty when the answer is free.
        metadata: whatever else the source says; scorers see it, the memory does not.
    """

    id: str
    input: str
    target: str
    choices: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Questions in the order in which they are asked.

    Attributes:
        name: the file's name without its ending, or the name that the source gives itself.
        sha256: in hexadecimal, of all that the source holds, whatever is asked of it: of the file's bytes as they are
            once unpacked, or of the questions and the instruction as JSON where there is no file.
        path: the source as it was named.
        seed: of the order; None is the source's own order.
        limit: only so many questions, counted in this order; None is all of them.
        fields: the columns that were named as `input`, `target`, `id` or `choices`.
        split: the part of the source that this is: `test` where the source has parts of its own, `test:60/20/20` where
            it was cut; empty for all of it.
        instruction: what to do with a question; it stands first in every prompt.
        scorer: the name of the scorer that suits the task; empty where the source names none.
        version: what the source calls its own version; empty where it tells none.
    """

    name: str
    samples: tuple[Sample, ...]
    sha256: str
    path: str = ""
    seed: int | None = None
    limit: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    instruction: str = ""
    scorer: str = ""
    version: str = ""


def shuffled(samples: Sequence[Sample], *, seed: int) -> list[Sample]:
    """An order that follows from the seed and the ids alone.

    `random.shuffle` may give another order under another version of Python; a hash does not.
    """
    return sorted(
        samples, key=lambda sample: hashlib.sha256(f"{seed}:{sample.id}".encode(errors="surrogatepass")).digest()
    )
