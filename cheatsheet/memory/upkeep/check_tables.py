"""What a store holds of a namespace, against the sheet that its journal leads to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience, experience_id
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.flaw import Flaw, named

T = TypeVar("T", Bullet, Experience)

_AT_ONCE: Final = 500
_ID: Final = re.compile(r"[a-z0-9]+-(\d{5,})")


def check_tables(store: MemoryStore, namespace: str, sheet: Sheet) -> Iterator[Flaw]:
    """Bullets and experiences one by one, and the sizes that are kept beside them."""
    for check in (_check_bullets, _check_experiences):
        for text in check(store, namespace, sheet):
            yield Flaw(namespace=namespace, text=text)


@dataclass(slots=True)
class _Met:
    """Ids by what is wrong with them, and what was counted on the way."""

    missing: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    active: int = 0
    tokens: int = 0

    def told(self, what: str) -> Iterator[str]:
        """One sentence for each kind of thing that is wrong."""
        kinds = {
            f"{what} of the journal are not stored": self.missing,
            f"{what} cannot be read": self.unreadable,
            f"{what} have an id that does not fit their number": self.misnamed,
            f"{what} are stored otherwise than the journal tells": self.others,
        }
        yield from (f"{text}: {named(ids)}." for text, ids in kinds.items() if ids)


def _check_bullets(store: MemoryStore, namespace: str, sheet: Sheet) -> Iterator[str]:
    met = _Met()
    for page in _pages(list(sheet.bullets)):
        found = _read(lambda numbers: store.bullets_by_number(namespace, numbers), page, met)
        for id in page:
            bullet = found.get(number_of(id) or 0)
            if bullet is not None:
                _meet(bullet, sheet.bullets[id], met)
    yield from met.told("Bullets")
    yield from _counted("bullets", store.count_bullets(namespace, None), len(sheet))
    yield from _counted("active bullets", store.count_bullets(namespace), met.active)
    yield from _counted("tokens of active bullets", store.sheet_tokens(namespace), met.tokens)


def _meet(stored: Bullet, told: Bullet, met: _Met) -> None:
    digits = _ID.fullmatch(stored.id)
    if digits is None or digits[1] != f"{number_of(told.id):05d}":
        met.misnamed.append(stored.id)
    elif stored != told:
        met.others.append(stored.id)
    if stored.status == "active":
        met.active += 1
        met.tokens += estimate_tokens(stored.content)


def _check_experiences(store: MemoryStore, namespace: str, sheet: Sheet) -> Iterator[str]:
    met = _Met()
    standings = store.standings(namespace)
    for page in _pages(list(sheet.standings)):
        found = _read(lambda numbers: store.experiences_by_number(namespace, numbers), page, met)
        met.misnamed += [
            experience.id or experience_id(number)
            for number, experience in found.items()
            if experience.id != experience_id(number)
        ]
        met.others += [id for id in page if id in standings and standings[id] != sheet.standings[id]]
    met.active = sum(standing.status == "active" for standing in standings.values())
    yield from met.told("Experiences")
    yield from _counted("experiences", len(standings), len(sheet.standings))
    yield from _counted("active experiences", store.count_experiences(namespace), met.active)


def _counted(what: str, stored: int, found: int) -> Iterator[str]:
    if stored != found:
        yield f"The store says that it holds {stored:,} {what}; counted are {found:,}."


def _read(read: Callable[[Sequence[int]], Mapping[int, T]], page: Sequence[str], met: _Met) -> dict[int, T]:
    """The values of a page, read one by one where one of them cannot be; notes which those and which are missing."""
    numbers = [number_of(id) or 0 for id in page]
    try:
        found = dict(read(numbers))
    except Exception as error:  # whatever a damaged row does to who reads it, is what is looked for here
        if len(page) == 1:
            met.unreadable.append(f"{page[0]}, {type(error).__name__}")
            return {}
        return {number: value for id in page for number, value in _read(read, [id], met).items()}
    met.missing += [id for id, number in zip(page, numbers, strict=True) if number not in found]
    return found


def _pages(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
