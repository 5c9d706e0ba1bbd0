"""YAML of files, read and written with the safe classes only; what is whole in a damaged file is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml

from cheatsheet.memory.formats.format import Damage
from cheatsheet.memory.formats.text import clean

# The C classes are many times faster where PyYAML was built with them; both are safe.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_WORD = re.compile(r"[A-Za-z][A-Za-z_]*(?:-[A-Za-z0-9]+)*")
_NO_LIMIT = 2**30  # columns
_ITEM = re.compile(r"([ \t]*)-(?:[ \t]|$)")
_SPARE_PARTS = 10_000  # that aliases may add to a file
_BROKEN = (yaml.YAMLError, ValueError, RecursionError, TypeError)


@dataclass(frozen=True, slots=True)
class YamlItem:
    """An object in a list, and the line in which it begins."""

    fields: Mapping[Any, Any]
    line: int


@dataclass(slots=True)
class YamlList:
    """One list of a YAML text, and the other fields beside it.

    Attributes:
        room: how many more parts may be read. Aliases can make more of few lines than any memory holds.
        sizes: of the nodes that were measured, by their identity, with all that their aliases stand for.
    """

    items: list[YamlItem] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)
    damages: list[Damage] = field(default_factory=list)
    room: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    def say(self, line: int, text: str) -> None:
        self.damages.append(Damage(line=line, text=text))


class _Loader(_SafeLoader):  # type: ignore[misc]  # one of two classes, chosen above
    """Reads scalars as YAML 1.2 does, in which other projects write: `no` is a word, and a date is a text."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
    ("float", r"[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$", list("-+.")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


class _Dumper(_SafeDumper):  # type: ignore[misc]  # one of two classes, chosen above
    """Quotes every text that is more than a word, so that no reader of any version takes it for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    style = None if _WORD.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: Any) -> str:
    """The value as YAML, in the order of its fields."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NO_LIMIT)
    return text


def read_yaml_list(text: str, name: str) -> YamlList:
    """Read the list of objects in the field `name` of the outermost object."""
    text = clean(text)
    found = YamlList(room=len(text) + _SPARE_PARTS)
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_node() if loader.check_node() else None
        _from_root(loader, root, name, found)
        if loader.check_node():
            found.say(0, "The file holds more than one YAML document; only the first was read.")
    except _BROKEN as error:
        found = YamlList()
        found.say(_line_of(error), f"The YAML is damaged here ({_problem(error)}); its {name} were read one by one.")
        _one_by_one(text, name, found)
    finally:
        if loader is not None:
            loader.dispose()
    return found


def _from_root(loader: Any, root: Any, name: str, found: YamlList) -> None:
    pairs = root.value if isinstance(root, yaml.MappingNode) else ()
    for key, node in pairs:
        if key.value == name and isinstance(node, yaml.SequenceNode):
            for part in node.value:
                _take(loader, part, found)
        elif key.value == name:
            found.say(node.start_mark.line + 1, f"The field {name} is no list; it was left out.")
        else:
            found.others[str(key.value)] = _constructed(loader, node, found)
    if not any(key.value == name for key, _ in pairs):
        found.say(0, f"The file has no list of {name}.")


def _take(loader: Any, node: Any, found: YamlList) -> None:
    line = node.start_mark.line + 1
    value = _constructed(loader, node, found)
    if isinstance(value, Mapping):
        found.items.append(YamlItem(value, line))
    elif value is not None:
        found.say(line, "The list holds what is no object; it was left out.")


def _constructed(loader: Any, node: Any, found: YamlList) -> Any:
    try:
        found.room -= _size(node, found)
        if found.room < 0:
            raise ValueError("its aliases make too much of it")
        return loader.construct_object(node, deep=True)
    except _BROKEN as error:
        found.say(node.start_mark.line + 1, f"A part of the file was left out: {_problem(error)}.")
        return None


def _size(node: Any, found: YamlList) -> int:
    """How many parts a node has, aliases followed.

    Raises:
        ValueError: it is a part of itself.
    """
    known = found.sizes.get(id(node))
    if known == 0:
        raise ValueError("it is a part of itself")
    if known is None:
        found.sizes[id(node)] = 0
        inner = node.value if isinstance(node, yaml.SequenceNode | yaml.MappingNode) else ()
        parts = [part for pair in inner for part in (pair if isinstance(pair, tuple) else (pair,))]
        known = found.sizes[id(node)] = 1 + sum(_size(part, found) for part in parts)
    return known


def _one_by_one(text: str, name: str, found: YamlList) -> None:
    """Read each item of the list by itself, as far as items can be told by their dashes."""
    for start, lines in _segments(text.split("\n"), name):
        try:
            value = yaml.load("\n".join(lines), Loader=_Loader)  # a safe loader
        except _BROKEN as error:
            found.say(start + max(_line_of(error) - 1, 0), f"This item was left out: {_problem(error)}.")
            continue
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
            found.items.append(YamlItem(value[0], start))
        else:
            found.say(start, "The list holds what is no object; it was left out.")


def _segments(lines: list[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """Each item of the list with its first line's number."""
    head = re.compile(rf"[\"']?{re.escape(name)}[\"']?[ \t]*:[ \t\r]*$")
    begin = next((number for number, line in enumerate(lines) if head.match(line)), len(lines))
    indent: str | None = None
    start, segment = 0, list[str]()
    for number, line in enumerate(lines[begin + 1 :], start=begin + 2):
        dash = _ITEM.match(line)
        if dash and indent in (None, dash[1]):
            if segment:
                yield start, segment
            indent, start, segment = dash[1], number, [line]
        elif line.strip() and not line[0].isspace() and not dash and line[0] != "#":
            break
        elif segment:
            segment.append(line)
    if segment:
        yield start, segment


def _line_of(error: BaseException) -> int:
    mark = getattr(error, "problem_mark", None)
    return 0 if mark is None else mark.line + 1


def _problem(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(getattr(error, "problem", None) or error).splitlines()[0][:120]
