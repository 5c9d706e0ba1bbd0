"""What was finished of JSON that breaks off in the middle."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cheatsheet.roles.replies.reading import Json
from cheatsheet.roles.replies.scan import parse

_TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[{}\[\],:]', re.DOTALL)
_CLOSER = {"{": "}", "[": "]"}
_MAX_STARTS = 4  # brackets that are tried as the beginning; a brace in prose can stand before the right one


@dataclass(slots=True)
class _Scan:
    """One pass over JSON from its first bracket.

    Members of objects and items of one list are kept; what is inside an item stands or falls with it.

    Attributes:
        opened: brackets that are open, each with its place.
        lists: how many of them are square.
        finished: end of what is finished so far, and what closes the brackets that are open there.
    """

    opened: list[tuple[str, int]] = field(default_factory=list)
    lists: int = 0
    finished: tuple[int, str, int] = (0, "", 0)

    def open(self, bracket: str, place: int) -> None:
        self.opened.append((bracket, place))
        if bracket == "[":
            self.lists += 1
            self.finish(place + 1)

    def close(self, mark: str, end: int) -> None:
        if self.opened and _CLOSER[self.opened[-1][0]] == mark:
            bracket, _ = self.opened.pop()
            self.lists -= bracket == "["
            self.finish(end)

    def finish(self, place: int) -> None:
        if not self.lists:
            self.finished = place, "", len(self.opened)
        elif self.lists == 1 and self.opened[-1][0] == "[":
            self.finished = place, "]", len(self.opened) - 1


def finished_part(text: str) -> list[Json]:
    """The objects and arrays that are open at the end of the text, each with its finished members and items only.

    Outer before inner; empty when nothing is open.

    >>> finished_part('So: {"why": "x", "operations": [{"a": 1}, {"a": 2')
    [{'why': 'x', 'operations': [{'a': 1}]}, [{'a': 1}]]
    """
    parts: list[Json] = []
    for _, start in _scan(text, _first_bracket(text)).opened[:_MAX_STARTS]:
        end, bracket, braces = _scan(text, start).finished
        if end <= start:
            continue
        try:
            value = parse(text[start:end] + bracket + "}" * braces)
        except ValueError:
            continue
        parts.append(value)
    return parts


def _first_bracket(text: str) -> int:
    found = re.search(r"[{\[]", text)
    return found.start() if found else len(text)


def _scan(text: str, start: int) -> _Scan:
    scan, before = _Scan(), ""
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSER:
            scan.open(mark, token.start())
        elif mark in "}]":
            scan.close(mark, token.end())
        elif mark == "," or (len(mark) > 1 and mark.endswith('"') and _is_value(scan, before)):
            scan.finish(token.start() if mark == "," else token.end())
        before = mark[0]
    return scan


def _is_value(scan: _Scan, before: str) -> bool:
    """A string behind a colon, or in a list; the others are keys."""
    return before == ":" or (bool(scan.opened) and scan.opened[-1][0] == "[")
