"""JSON of files: objects know their line, repeated keys are kept, and what is whole in a damaged file is read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cheatsheet.memory.formats.format import Damage
from cheatsheet.memory.formats.text import clean

# Strings that may run over line breaks, as JSON's own cannot but careless writers' do, and strings that end with the
# line: a lost quote turns everything behind it inside out, but only one way of reading.
_ANY_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_LINE_STRING = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"?'
_BRACES = {pattern: re.compile(rf"{pattern}|[{{}}]|\n", re.DOTALL) for pattern in (_ANY_STRING, _LINE_STRING)}
_TOKEN = re.compile(rf"{_ANY_STRING}|[\[\]{{}}:,]|[^\s\[\]{{}}:,\"]++", re.DOTALL)
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_MAX_DIGITS = 4_000  # Python refuses to read longer integers
_ALLOWANCE = 8  # how often, at most, the characters of a damaged file are tried


class Located(dict[str, Any]):
    """An object of a JSON text. A key that is repeated has its last value here, and all of them in `pairs`."""

    def __init__(self, pairs: Sequence[tuple[str, Any]], line: int) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a JSON text holds.

    Attributes:
        value: the whole; None where it is damaged.
        loose: of a damaged text, the objects that are whole and are entries.
    """

    value: Any = None
    loose: tuple[Located, ...] = ()
    damages: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    line: int


def read_json(text: str, *, is_entry: Callable[[Located], bool]) -> Document:
    """Read a JSON text; of a damaged one, all entries that are whole.

    Args:
        is_entry: whether an object is an entry of the file, and not a part of one or something around them.
    """
    text = clean(text)
    try:
        return Document(value=_decode(text, 1))
    except RecursionError:
        line, problem = 0, "it is nested too deeply"
    except json.JSONDecodeError as error:
        line, problem = error.lineno, error.msg
    loose = tuple(_whole_entries(text, is_entry))
    told = f"The JSON is damaged here ({problem}); the entries that are whole were read one by one: {len(loose)}."
    return Document(loose=loose, damages=(Damage(line=line, text=told),))


def top_level(text: str) -> dict[str, str]:
    """The keys of the outermost object, each with the token that its value begins with; also of half a text."""
    found: dict[str, str] = {}
    depth, key, before = 0, "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if depth == 1 and token == ":":
            key = before[1:-1]
        elif depth == 1 and before == ":":
            found.setdefault(key, token)
        depth += _STEPS.get(token, 0)
        before = token
    return found


def _decode(text: str, line: int) -> Any:
    """The value that the text spells, which begins in this line."""
    lines = (span.line for span in _spans(text, _ANY_STRING, line))
    decoder = json.JSONDecoder(
        strict=False,
        # An object is reported when it closes, inner before outer: the order in which the spans are found.
        object_pairs_hook=lambda pairs: Located(pairs, next(lines, 0)),
        parse_constant=str,
        parse_float=_float,
        parse_int=_int,
    )
    return decoder.decode(text)


def _float(written: str) -> float | str:
    number = float(written)
    return number if math.isfinite(number) else written


def _int(written: str) -> int | str:
    return int(written) if len(written) <= _MAX_DIGITS else written


def _whole_entries(text: str, is_entry: Callable[[Located], bool]) -> Iterator[Located]:
    """Entries inside the largest parts that are whole, in their order, none inside another."""
    spans = {*_spans(text, _LINE_STRING, 1), *_spans(text, _ANY_STRING, 1)}
    allowance, read_to = _ALLOWANCE * len(text), 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start < read_to:
            continue
        allowance -= span.end - span.start
        if allowance < 0:
            return
        try:
            value = _decode(text[span.start : span.end], span.line)
        except (ValueError, RecursionError):
            continue
        read_to = span.end
        yield from entries_in(value, is_entry)


def entries_in(value: Any, is_entry: Callable[[Located], bool]) -> Iterator[Located]:
    """The entries in a value, however deep, in their order."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Located) and is_entry(part):
            yield part
        elif isinstance(part, Located):
            waiting.extend(inner for _, inner in reversed(part.pairs))
        elif isinstance(part, list):
            waiting.extend(reversed(part))


def _spans(text: str, string: str, line: int) -> Iterator[_Span]:
    """Places of closed objects in the order in which they close, each with the line of its opening brace."""
    opened: list[tuple[int, int]] = []
    for match in _BRACES[string].finditer(text):
        mark = match[0]
        if mark == "{":
            opened.append((match.start(), line))
        elif mark == "}" and opened:
            start, at = opened.pop()
            yield _Span(start, match.end(), at)
        else:
            line += mark.count("\n")
