"""Parts of one source: to learn from, to choose by, to measure with.

A question's part follows from its own text, so that it stays where it is when others are added, and a question that
comes twice cannot be learnt in one part and measured in another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.task.sample import Sample

PARTS = ("train", "validation", "test")

_SHARES = re.compile(r"([0-9]{1,6})/([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How much of a source goes into each part, in relation to the others; as text `60/20/20`.

    Raises:
        TaskError: a share is negative, or all are 0.
    """

    train: int = 60
    validation: int = 20
    test: int = 20

    def __post_init__(self) -> None:
        if min(self.each) < 0 or self.total == 0:
            raise TaskError(f"The shares {self} make no parts. Give whole numbers from 0 on, not all of them 0.")

    @classmethod
    def parse(cls, text: str) -> Shares:
        """The shares of a text such as `60/20/20`.

        Raises:
            TaskError: it is no such text.
        """
        match = _SHARES.fullmatch(text.strip())
        if match is None:
            raise TaskError(f"{text!r} are no shares. Write train/validation/test as whole numbers, such as 60/20/20.")
        return cls(train=int(match[1]), validation=int(match[2]), test=int(match[3]))

    @property
    def each(self) -> tuple[int, int, int]:
        """In the order of `PARTS`."""
        return (self.train, self.validation, self.test)

    @property
    def total(self) -> int:
        return sum(self.each)

    def part_of(self, text: str) -> str:
        """The part in which a question of this text falls; white space makes no difference."""
        digest = hashlib.sha256(" ".join(text.split()).encode(errors="surrogatepass")).digest()
        point = int.from_bytes(digest[:8], "big") * self.total >> 64  # 0 <= point < total
        if point < self.train:
            return "train"
        return "validation" if point < self.train + self.validation else "test"

    def part(self, name: str, samples: Sequence[Sample], *, source: str) -> list[Sample]:
        """The samples of one part, in their order.

        Args:
            source: named in messages.

        Raises:
            TaskError: there is none.
            UnknownNameError: the name is none of `PARTS`.
        """
        if name not in PARTS:
            raise UnknownNameError("split", name, PARTS)
        found = [sample for sample in samples if self.part_of(sample.input) == name]
        if not found:
            raise TaskError(
                f"The split {name!r} of {source} is empty: none of its {len(samples)} questions falls into it by the "
                f"shares {self} (train/validation/test). Give it a larger share."
            )
        return found

    def __str__(self) -> str:
        return "/".join(map(str, self.each))


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One part of a source; as text `test` or `test:60/20/20`.

    Attributes:
        name: of the part.
        shares: by which the source is cut. None is the source's own part of that name; a source without parts of its
            own is then cut by the default shares.

    Raises:
        UnknownNameError: the source is to be cut, and the name is none of `PARTS`.
    """

    name: str
    shares: Shares | None = None

    def __post_init__(self) -> None:
        if self.shares is not None and self.name not in PARTS:
            raise UnknownNameError("split", self.name, PARTS)

    @classmethod
    def parse(cls, text: str) -> Split:
        """The split of a text such as `test` or `test:60/20/20`.

        Raises:
            TaskError: it names nothing, or its shares cannot be read.
            UnknownNameError: shares are given, and the name is none of `PARTS`.
        """
        name, colon, shares = text.strip().partition(":")
        if not name:
            raise TaskError(f"The split {text!r} names nothing. Write one of {', '.join(PARTS)}, or test:60/20/20.")
        return cls(name=name, shares=Shares.parse(shares) if colon else None)

    def __str__(self) -> str:
        return self.name if self.shares is None else f"{self.name}:{self.shares}"
