"""Finding and parsing JSON in text that holds other things as well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# Commands of LaTeX that begin like an escape of JSON. `\frac` and `\beta` need no list: a form feed or a backspace
# is never meant. A tab or a line break often is, so that these are told by the whole word that follows.
_LATEX = (
    "tau|text(?:bf|it|rm|tt)?|tfrac|therefore|theta|tilde|times|triangle"
    "|nabla|neg|neq|ngeq|nleq|nmid|not|notin|nsubseteq|nsupseteq"
    "|rangle|rbrace|rbrack|rceil|rfloor|rho|right|rightarrow|rightharpoonup"
)
_ESCAPE = re.compile(
    rf"""
      \\\\                                                              # an escaped backslash stays as it is
    | \\u[dD][89abAB][0-9a-fA-F]{{2}}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}    # so does a surrogate pair
    | (?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{{2}})
    | (?P<bare>\\(?: (?=[bf]) | (?=(?:{_LATEX})(?![A-Za-z])) | (?=u(?![0-9a-fA-F]{{4}})) | (?!["\\/bfnrtu]) ))
    """,
    re.VERBOSE,
)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]+|\\.)*+"?|,(?=\s*[}\]])', re.DOTALL)
_MARK = re.compile(r'\\.|["{}\[\]\n]', re.DOTALL)
_OPENER = {"}": "{", "]": "["}
_DECODER = json.JSONDecoder(strict=False)  # models write raw line breaks inside strings

Span = tuple[int, int]


def parse(text: str) -> Any:
    """The JSON value that `text` spells; trailing commas are mended only after the strict parser failed.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    escaped = keep_backslashes(text)
    try:
        return _decode(escaped)
    except ValueError:
        return _decode(_without_trailing_commas(escaped))


def embedded(text: str) -> Iterator[tuple[Span, Any]]:
    """Objects and arrays that stand in the text, in order and not inside one another, each with its place.

    Where an outer bracket is not JSON, what it holds is tried. The characters tried are limited to a multiple of the
    text, so that deep nesting costs no square of its length.
    """
    allowance = 8 * len(text)
    read_to = 0
    for start, end in _balanced(text):
        if start < read_to:
            continue
        allowance -= end - start
        if allowance < 0:
            return
        try:
            value = parse(text[start:end])
        except ValueError:
            continue
        read_to = end
        yield (start, end), value


def keep_backslashes(text: str) -> str:
    """Doubles each backslash that was meant as one, as in LaTeX; replaces escapes of lone surrogates."""
    if "\\" not in text:
        return text

    def mend(escape: re.Match[str]) -> str:
        if escape["lone"]:
            return r"\ufffd"
        return r"\\" if escape["bare"] else escape[0]

    return _ESCAPE.sub(mend, text)


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply.") from error


def _without_trailing_commas(text: str) -> str:
    return _STRING_OR_COMMA.sub(lambda token: "" if token[0] == "," else token[0], text)


def _balanced(text: str) -> list[Span]:
    """Places of balanced brackets, outer before inner. A quote in prose can hide some from one way of reading strings
    (over line breaks or not), so that both are taken.
    """
    spans = {*_spans(text, strings_end_with_line=False), *_spans(text, strings_end_with_line=True)}
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _spans(text: str, *, strings_end_with_line: bool) -> Iterator[Span]:
    opened: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    in_string = False
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = bool(opened) and not in_string
        elif mark == "\n":
            in_string = in_string and not strings_end_with_line
        elif in_string or mark[0] == "\\":
            continue
        elif mark in waiting:
            opened.append((mark, match.start()))
            waiting[mark] += 1
        elif waiting[_OPENER[mark]]:
            yield _close(mark, opened, waiting), match.end()


def _close(mark: str, opened: list[tuple[str, int]], waiting: dict[str, int]) -> int:
    """Takes brackets from the stack up to the one that `mark` closes, and returns its place."""
    while True:
        opener, start = opened.pop()
        waiting[opener] -= 1
        if opener == _OPENER[mark]:
            return start
