"""What a model proposes for a memory, read into operations and checked against the memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from cheatsheet.errors import OperationError
from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.repetition import repeated
from cheatsheet.roles.replies import IdMatcher

# An id and counters that a model writes in front of a text, as in ACE's playbook: both are given by the memory alone.
_LINE_START = re.compile(r"^\s*\[[^\]\n]{0,80}\]\s{0,9}(?:helpful=\d+\s{1,9}harmful=\d+\s{0,9})?::\s*")


class Proposals:
    """Reads the operations of one reply, one after the other; each is checked before any is returned.

    Ids are matched to bullets of the memory; what is removed or merged away by one operation is gone for the next.
    Counters, and ids of new bullets, are not taken from the text.

    Args:
        shown: the bullets that the model saw.
        tagged: ids of bullets whose counters change in this turn already.
        served: the bullets that stood in the prompts of the attempts. An Add that only repeats one of them is an echo.
        credited: ids of those that stood in the prompt of a right answer: their echo counts as helpful, once.

    Attributes:
        operations: what can be applied.
        skipped: one sentence for each proposal that cannot, naming it and the reason.
    """

    def __init__(
        self,
        memory: MemoryView,
        *,
        shown: Iterable[Bullet],
        tagged: Iterable[str] = (),
        served: Iterable[Bullet] = (),
        credited: Iterable[str] = (),
    ) -> None:
        self.operations: list[Operation] = []
        self.skipped: list[str] = []
        self._memory = memory
        self._matcher = IdMatcher(bullet.id for bullet in shown)
        self._tagged = set(tagged)
        self._served = tuple(served)
        self._credited = frozenset(credited)
        self._gone: set[str] = set()
        self._readers: Mapping[str, Callable[[Mapping[str, Any]], Operation]] = {
            "add": self._add,
            "update": self._update,
            "merge": self._merge,
            "tag": self._tag,
            "remove": self._remove,
        }

    def read(self, entry: Any) -> None:
        """Take one entry of the list that the model wrote."""
        kind = str(entry.get("type", "")).strip() if isinstance(entry, dict) else ""
        reader = self._readers.get(kind.casefold())
        if reader is None:
            allowed = ", ".join(name.upper() for name in self._readers)
            self.skipped.append(f"{_named(kind, entry)} was left out: its type is none of {allowed}.")
            return
        try:
            self.operations.append(reader(entry))
        except (OperationError, ValidationError) as error:
            self.skipped.append(f"{_named(kind.upper(), entry)} was left out: {_reason(error)}")

    def _add(self, entry: Mapping[str, Any]) -> Add:
        content = _content(entry)
        if content is None:
            raise OperationError("its content is empty or no text.")
        if echoed := repeated(content, self._served):
            self._credit(echoed)
            raise OperationError(f"it only repeats {echoed.id!r}, which stood in the prompt.")
        return Add(draft=Draft(section=_section(entry) or section_key(""), content=content))

    def _credit(self, echoed: Bullet) -> None:
        bullet = self._memory.bullet(echoed.id)
        known = bullet is not None and bullet.status == "active" and echoed.id not in self._gone
        if known and echoed.id in self._credited and echoed.id not in self._tagged:
            self._tagged.add(echoed.id)
            self.operations.append(Tag(id=echoed.id, helpful=1))

    def _update(self, entry: Mapping[str, Any]) -> Update:
        bullet = self._bullet(entry.get("id"))
        content, section = _content(entry), _section(entry)
        if content is None and section is None:
            raise OperationError("it gives neither content nor section.")
        if content in (None, bullet.content) and section in (None, bullet.section):
            raise OperationError("it changes nothing.")
        return Update(id=bullet.id, content=content, section=section)

    def _merge(self, entry: Mapping[str, Any]) -> Merge:
        into = self._bullet(entry.get("into"))
        named = {bullet.id: bullet for bullet in map(self._bullet, _list(entry.get("absorbed")))}
        named.pop(into.id, None)
        if not named:
            raise OperationError("it names no other bullet to absorb.")
        ids = tuple(_unpinned(bullet).id for bullet in named.values())
        self._gone.update(ids)
        return Merge(into=into.id, absorbed=ids, content=_content(entry))

    def _tag(self, entry: Mapping[str, Any]) -> Tag:
        bullet = self._bullet(entry.get("id"))
        verdict = str(entry.get("tag", "")).strip().casefold()
        if verdict not in ("helpful", "harmful"):
            raise OperationError("its tag is neither helpful nor harmful.")
        if bullet.id in self._tagged:
            raise OperationError(f"the bullet {bullet.id!r} is tagged already in this turn.")
        self._tagged.add(bullet.id)
        return Tag(id=bullet.id, helpful=int(verdict == "helpful"), harmful=int(verdict == "harmful"))

    def _remove(self, entry: Mapping[str, Any]) -> Remove:
        bullet = _unpinned(self._bullet(entry.get("id")))
        self._gone.add(bullet.id)
        return Remove(id=bullet.id, reason=str(entry.get("reason") or "").strip())

    def _bullet(self, written: Any) -> Bullet:
        name = str(written).strip() if isinstance(written, (str, int)) else ""
        bullet = self._memory.bullet(name) or self._memory.bullet(self._matcher.match(name) or name)
        if bullet is None:
            raise OperationError(f"there is no bullet {name!r}." if name else "it names no bullet.")
        if bullet.id in self._gone:
            raise OperationError(f"the bullet {bullet.id!r} is gone by an earlier operation of the same reply.")
        if bullet.status != "active":
            raise OperationError(f"the bullet {bullet.id!r} is {bullet.status}.")
        return bullet


def _unpinned(bullet: Bullet) -> Bullet:
    if bullet.pinned:
        raise OperationError(f"the bullet {bullet.id!r} is pinned.")
    return bullet


def _content(entry: Mapping[str, Any]) -> str | None:
    content = entry.get("content")
    text = _LINE_START.sub("", content).strip() if isinstance(content, str) else ""
    return text or None


def _section(entry: Mapping[str, Any]) -> str | None:
    """The section as it is kept; None when none is given."""
    section = entry.get("section")
    key = section_key(section).strip("_") if isinstance(section, str) and section.strip() else ""
    return key or None


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _named(kind: str, entry: Any) -> str:
    """The proposal in a few words: its type and what it is about."""
    if not isinstance(entry, dict):
        return f"An entry that is no object ({str(entry)[:40]!r})"
    about = next((entry[key] for key in ("id", "into", "content") if entry.get(key)), "")
    return f"{kind or 'An operation'} {str(about)[:60]!r}" if about else (kind or "An operation without a type")


def _reason(error: OperationError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{detail['loc'][0]}: {detail['msg']}" for detail in error.errors()) + "."
    return str(error)
