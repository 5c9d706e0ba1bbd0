"""The rule of thumb: so many characters a token."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CharCounter:
    """Counts one token for every `chars_per_token` characters begun.

    Four is OpenAI's rule of thumb for English. Chinese, Japanese and Korean have about one token a character:
    use 1 for them, or a counter with a real tokenizer.
    """

    chars_per_token: int = 4

    def __post_init__(self) -> None:
        if self.chars_per_token < 1:
            raise ValueError(f"chars_per_token is {self.chars_per_token}; it must be 1 or more.")

    @property
    def name(self) -> str:
        """For example `chars/4`."""
        return f"chars/{self.chars_per_token}"

    def count(self, text: str) -> int:
        """Code points, divided by `chars_per_token` and rounded up."""
        return -(-len(text) // self.chars_per_token)
