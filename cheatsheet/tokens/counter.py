"""What a token counter promises."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class TokenCounter(Protocol):
    """Says how many tokens a model sees in a text.

    `count("")` is 0, any other count is 0 or more; the same text always has the same count. No text
    makes it raise, not even one that spells a special token.
    """

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...
