"""Counting tokens: a protocol, three counters, and the choice among them.

Importing this package is cheap; tokenizers are loaded when the first text is counted.
"""

from cheatsheet.tokens.chars import CharCounter
from cheatsheet.tokens.choose import COUNTER_NAMES, counter_for, make_counter
from cheatsheet.tokens.counter import TokenCounter
from cheatsheet.tokens.gguf_counter import GGUFCounter
from cheatsheet.tokens.tiktoken_counter import TiktokenCounter

__all__ = [
    "COUNTER_NAMES",
    "CharCounter",
    "GGUFCounter",
    "TiktokenCounter",
    "TokenCounter",
    "counter_for",
    "make_counter",
]
