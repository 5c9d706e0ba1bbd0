"""Pairs and questions out of published runs of Dynamic Cheatsheet: what their models did, not what we think of it.

The cheatsheets are read with the importer of the product. Items that are no more than words in the place of others
("[Previous content preserved…]") are left out.

- *reworded*: an item that follows one with the same title in the next version of the cheatsheet, in other words. That
  the model put it in the other's place is a fact; that it says the same is not: many say more, or give another example.
- *side by side*: two items with different titles in one version. That the model kept them as two is a fact; that they
  should be two is not.
- A question is answered by the items that name it, as in "(Reference: Q7)". Of a reference to several, "Q1-Q7", none
  counts. Items were written after their questions, so that this says how near a lesson lies to what it was learnt from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

from benchmarks.calibration.labelled import Label, Lookup, Pair
from benchmarks.collapse import KINDS, Run, read_runs
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat
from cheatsheet.memory.gate.stand_ins import stand_ins
from cheatsheet.memory.likeness.sameness import fold

GROUP = "published"

_AFTER_TITLE = re.compile(r"[:\n]")
_ONE_QUESTION = re.compile(r"Q(\d+)")

Version = Mapping[str, tuple[str, ...]]
"""The items of one version of a cheatsheet, and the questions that each names."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the runs of a folder give; all empty without a folder."""

    pairs: tuple[Pair, ...] = ()
    lookups: tuple[Lookup, ...] = ()

    @property
    def bullets(self) -> tuple[str, ...]:
        """All texts of the pairs, each once."""
        return tuple(dict.fromkeys(text for pair in self.pairs for text in (pair.first, pair.second)))


def read_published(folder: Path) -> Published:
    """Read all runs of a folder.

    Raises:
        SetupError: there are none.
    """
    pairs: list[Pair] = []
    lookups: list[Lookup] = []
    for run in read_runs(folder):
        versions = [_version(sheet) for sheet in run.cheatsheets]
        pairs += _pairs(run.name, versions)
        if KINDS[0] in run.name:  # the other kind writes its cheatsheet for one question, and seldom names any
            lookups += _lookup(run, versions)
    return Published(tuple(pairs), tuple(lookups))


def _version(sheet: str) -> Version:
    drafts = (entry.draft for entry in DynamicCheatsheetFormat().read(sheet).entries)
    return {draft.content: draft.sources for draft in drafts if not stand_ins(draft.content)}


def _pairs(run: str, versions: Sequence[Version]) -> list[Pair]:
    by_title = [_titled(version) for version in versions]
    reworded = (
        (before[title], after[title])
        for before, after in pairwise(by_title)
        for title in before.keys() & after.keys()
        if fold(before[title]) != fold(after[title])
    )
    together = (pair for titled in by_title for pair in combinations(titled.values(), 2))
    return [*_distinct(run, "reworded", sorted(reworded)), *_distinct(run, "side by side", together)]


def _titled(version: Version) -> dict[str, str]:
    """The items by title; without those that share theirs."""
    titles = [fold(_AFTER_TITLE.split(item, maxsplit=1)[0]) for item in version]
    return {title: item for title, item in zip(titles, version, strict=True) if titles.count(title) == 1}


def _distinct(run: str, label: Label, pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    distinct = {frozenset(pair): pair for pair in pairs}
    for number, (first, second) in enumerate(distinct.values(), start=1):
        yield Pair(id=f"{run}: {label} {number}", group=GROUP, label=label, first=first, second=second)


def _lookup(run: Run, versions: Sequence[Version]) -> list[Lookup]:
    """The questions of a run that an item names, put to all items that it ever had; nothing where no item names one."""
    naming: dict[str, set[int]] = {}
    for version in versions:
        for item, sources in version.items():
            single = map(_ONE_QUESTION.fullmatch, sources)
            naming.setdefault(item, set()).update(int(found[1]) for found in single if found)
    answers = {
        question: frozenset(place for place, named in enumerate(naming.values()) if number in named)
        for number, question in enumerate(run.questions, start=1)
    }
    named = {question: places for question, places in answers.items() if places}
    if not named:
        return []
    return [Lookup(group=GROUP, questions=tuple(named), texts=tuple(naming), answers=tuple(named.values()))]
