"""What a reading returns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

T_co = TypeVar("T_co", covariant=True)

Json: TypeAlias = dict[str, Any] | list[Any]

How = Literal[
    "whole",  # the reply is JSON and nothing else
    "fenced",  # JSON in a code fence
    "embedded",  # JSON in the middle of other text
    "cut",  # the finished part of JSON that breaks off
    "repaired",  # broken JSON, completed or mended by guessing
    "refused",  # JSON that is not what was wanted, though it looks like it
    "unreadable",  # no JSON
    "tag",  # an answer between <answer> and </answer>
    "open-tag",  # an answer after an <answer> that is never closed
    "marker",  # an answer after FINAL ANSWER:
    "envelope",  # an answer inside a JSON object
    "box",  # an answer in \boxed{}
    "choice",  # one of the allowed answers, found in the text
    "text",  # the whole text is the answer
]


@dataclass(frozen=True, slots=True)
class Reading(Generic[T_co]):
    """What was read, and how it was found."""

    value: T_co
    how: How


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced: half a pair can be neither stored nor sent."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
