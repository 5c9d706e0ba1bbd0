"""JSON out of a reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from cheatsheet.roles.replies.cut import finished_part
from cheatsheet.roles.replies.echo import is_schema
from cheatsheet.roles.replies.reading import How, Json, Reading, well_formed
from cheatsheet.roles.replies.scan import embedded, keep_backslashes, parse
from cheatsheet.roles.replies.thinking import strip_thinking

# json_repair takes time with the square of the brackets that make no sense: 40 s for 20 kB of them, and 0.5 s at
# most within these limits. A reply of 2,048 tokens with its closing brackets cut off is well inside.
_REPAIR_MAX_CHARS = 20_000
_REPAIR_MAX_BRACKETS = 100

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)$")


def read_json(
    text: str,
    *,
    wants: Collection[str] = (),
    items: Collection[str] = (),
    cut: bool = False,
    refuse: Callable[[Mapping[str, Any]], bool] = lambda value: False,
) -> Reading[Json | None]:
    """The object or array that the reply is meant to be.

    The whole reply is tried first, then fenced blocks, then brackets in the text, each without thinking; a repair is
    the last resort. Of several, the last one that holds a wanted key is taken, before any that holds none: examples
    come first. `value` is None when there is no JSON.

    Args:
        text: a model's reply.
        wants: keys of which the right object holds at least one, at its top; it is also found one step inside
            another object or an array.
        items: keys that every item of a list has which the right object holds; a list of such items, or the items
            alone, stand for the object where it is missing.
        cut: the reply breaks off: of an object that is open at its end, the finished part is taken (`how` is then
            `cut`), before objects that stand in front of it.
        refuse: tells an object with a wanted key that is none, such as the example of the prompt. Where there is
            nothing else, `how` is `refused`.
    """
    wanted, refused = frozenset(wants), False
    spare: Reading[Json | None] = Reading(None, "unreadable")
    listed: Reading[Json | None] | None = None
    for how, values in _stages(well_formed(text).strip("\ufeff \t\r\n"), wanted, cut=cut):
        held = [(value, holder) for value in values if (holder := _holder(value, wanted)) is not None]
        right = [holder for _, holder in held if not refuse(holder)]
        if right:
            return Reading(right[-1], how)
        refused = refused or bool(held)
        others = [value for value in values if all(value is not whole for whole, _ in held)]
        if items and listed is None and (found := _items(others, frozenset(items))):
            listed = Reading(found, how)
        if others and spare.value is None:
            spare = Reading(_likeliest(others), how)
        if spare.value is not None and not wanted:
            break
    return Reading(None, "refused") if refused and listed is None else listed or spare


def without_unfinished(value: Json) -> Json:
    """The value less its last part, for a reply that was cut: what stands at the cut cannot be trusted."""
    if isinstance(value, list):
        return value[:-1]
    if not value:
        return value
    *whole, last = value
    kept = {key: value[key] for key in whole}
    if isinstance(value[last], list):
        kept[last] = value[last][:-1]
    return kept


def _stages(text: str, wanted: frozenset[str], *, cut: bool) -> Iterator[tuple[How, list[Json]]]:
    yield "whole", _parsed([text])
    visible = strip_thinking(text).strip()
    if visible != text:
        yield "whole", _parsed([visible])
    if cut:
        yield "cut", finished_part(visible)
    yield "fenced", _parsed(_fenced(visible))
    yield "embedded", [value for _, value in embedded(visible)]
    yield "repaired", _repaired(visible, wanted)


def _parsed(texts: Iterable[str]) -> list[Json]:
    values: list[Json] = []
    for text in texts:
        try:
            value = parse(text)
        except ValueError:
            continue
        if isinstance(value, (dict, list)):
            values.append(value)
    return values


def _fenced(text: str) -> list[str]:
    """Bodies of fenced blocks; a fence counts only at the start of a line, and an open one reaches to the end."""
    blocks: list[str] = []
    mark, body = "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence and not mark:
            mark, body = fence[1], []
        elif fence and fence[1].startswith(mark) and not fence[2].strip():
            blocks.append("\n".join(body))
            mark = ""
        elif mark:
            body.append(line)
    return [*blocks, "\n".join(body)] if mark else blocks


def _repaired(text: str, wanted: frozenset[str]) -> list[Json]:
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    broken = text[start:]
    brackets = broken.count("{") + broken.count("[")
    if start < 0 or len(broken) > _REPAIR_MAX_CHARS or brackets > _REPAIR_MAX_BRACKETS:
        return []
    if wanted and not any(re.search(rf"{re.escape(key)}[\"']?\s*:", broken) for key in wanted):
        return []
    return _repair(broken)


def _repair(broken: str) -> list[Json]:
    import json_repair  # a memory without a model imports this module, and repairs nothing

    try:
        value = json_repair.loads(keep_backslashes(broken), skip_json_loads=True)
    except (ValueError, RecursionError, AssertionError):  # json_repair asserts about comments inside broken keys
        return []
    if isinstance(value, dict) and value:
        return [value]
    return [value] if isinstance(value, list) and any(isinstance(item, dict) for item in value) else []


def _holder(value: Json, wanted: frozenset[str]) -> dict[str, Any] | None:
    """The object with a wanted key: the value itself, or else the only such one a step inside."""
    if isinstance(value, dict) and not wanted.isdisjoint(value):
        return value
    inside: Iterable[Any] = value.values() if isinstance(value, dict) else value
    holders = [item for item in inside if isinstance(item, dict) and not wanted.isdisjoint(item)]
    return holders[0] if len(holders) == 1 else None


def _items(values: list[Json], keys: frozenset[str]) -> list[Any]:
    """The last list that holds an item, or else all items that stand alone."""
    lists = [value for value in values if isinstance(value, list) and any(_is_item(item, keys) for item in value)]
    return lists[-1] if lists else [value for value in values if _is_item(value, keys)]


def _is_item(value: Any, keys: frozenset[str]) -> bool:
    return isinstance(value, dict) and keys <= value.keys() and not is_schema(value)


def _likeliest(values: list[Json]) -> Json:
    lists = [value for value in values if isinstance(value, list) and value and isinstance(value[0], dict)]
    objects = [value for value in values if isinstance(value, dict)]
    return (lists or objects or values)[-1]
