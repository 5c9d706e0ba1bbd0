"""Arithmetic in a text, read without `eval` and computed exactly.

    sum     := product (("+" | "-") product)*
    product := atom (("*" | "/") atom)*
    atom    := whole number | "(" sum ")"

Signs before a number are left out on purpose: in both puzzles an operator stands between two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

MAX_CHARACTERS: Final = 200
"""Longest text that is read; it also bounds the size of every number that can come out."""

MAX_DEPTH: Final = 20
"""Deepest nesting of parentheses, far below the interpreter's recursion limit."""

OPERATORS: Final = "+-*/"

# The signs that people and models write, and LaTeX's names for them.
_SPELLINGS: Final = {
    "*": ("×", "✕", "✖", "·", "⋅", "∗", "＊", "x", "X"),
    "/": ("÷", "∕", "⁄", "／"),
    "-": ("−", "–", "—", "﹣", "－"),
    "+": ("＋",),
    "=": ("＝",),
    "(": ("（",),
    ")": ("）",),
}
_SIGNS: Final = str.maketrans({sign: plain for plain, signs in _SPELLINGS.items() for sign in signs})
_LATEX: Final = ((r"\times", "*"), (r"\cdot", "*"), (r"\div", "/"), (r"\left", ""), (r"\right", ""))
_TOKEN: Final = re.compile(r"[0-9]+|[-+*/()]")


class ExpressionError(ValueError):
    """A text that is no expression, or has no value; the message is the reason, as a sentence."""


class Verdict(NamedTuple):
    """Whether an answer is right, and when it is not, why, as a sentence (empty when right)."""

    right: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Expression:
    """The exact value of an expression, and its numbers from left to right."""

    value: Fraction
    numbers: tuple[int, ...]


def tidy(text: str) -> str:
    """`text` with ordinary operator signs, without the white space, quotes, `$` or full stop around it.

    Raises:
        ExpressionError: the text is longer than `MAX_CHARACTERS`.
    """
    stripped = text.strip().strip("`$\"' ").removesuffix(".").strip("`$\"' ")
    if len(stripped) > MAX_CHARACTERS:
        raise ExpressionError(f"It has {len(stripped)} characters; at most {MAX_CHARACTERS} are read.")
    for name, plain in _LATEX:
        stripped = stripped.replace(name, plain)
    return stripped.translate(_SIGNS)


def read(text: str) -> Expression:
    """Read and compute `text`, which `tidy` has cleaned.

    Raises:
        ExpressionError: the text is too long, breaks the grammar above, nests too deeply, or divides by zero.
    """
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"It has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    reader = _Reader(_tokens(text))
    value = reader.sum(depth=0)
    reader.end()
    return Expression(value, tuple(reader.numbers))


def divide(left: Fraction, right: Fraction) -> Fraction:
    """`left / right`, or `ExpressionError` where `right` is zero."""
    if right == 0:
        raise ExpressionError("It divides by zero.")
    return left / right


APPLY: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divide,
}


def _tokens(text: str) -> list[str]:
    foreign = _TOKEN.sub("", text).split()
    if foreign:
        raise ExpressionError(
            f"{foreign[0][:20]!r} cannot be read; only whole numbers, + - * / and parentheses are allowed."
        )
    return _TOKEN.findall(text)


class _Reader:
    """Walks over the tokens once; one method for each line of the grammar."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = [*tokens, ""]  # the empty token marks the end
        self._at = 0
        self.numbers: list[int] = []

    def sum(self, *, depth: int) -> Fraction:
        value = self._product(depth)
        while (sign := self._tokens[self._at]) in ("+", "-"):
            self._at += 1
            value = APPLY[sign](value, self._product(depth))
        return value

    def end(self) -> None:
        token = self._tokens[self._at]
        if token == ")":
            raise ExpressionError("A ')' closes nothing.")
        if token:
            raise ExpressionError(f"An operator is missing before {token!r}.")

    def _product(self, depth: int) -> Fraction:
        value = self._atom(depth)
        while (sign := self._tokens[self._at]) in ("*", "/"):
            self._at += 1
            value = APPLY[sign](value, self._atom(depth))
        return value

    def _atom(self, depth: int) -> Fraction:
        token = self._tokens[self._at]
        if token.isdigit():
            self._at += 1
            self.numbers.append(int(token))
            return Fraction(self.numbers[-1])
        if token != "(":
            raise ExpressionError(f"A number is missing {f'before {token!r}' if token else 'at the end'}.")
        return self._group(depth + 1)

    def _group(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"It nests more than {MAX_DEPTH} parentheses.")
        self._at += 1
        value = self.sum(depth=depth)
        if self._tokens[self._at] == ")":
            self._at += 1
            return value
        if not self._tokens[self._at]:
            raise ExpressionError("A '(' is not closed.")
        raise ExpressionError(f"An operator is missing before {self._tokens[self._at]!r}.")
