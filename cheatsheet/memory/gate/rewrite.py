"""A whole new cheatsheet as changes of the one that is there (Dynamic Cheatsheet, arXiv 2504.07952, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats.dynamic_cheatsheet import joined, parts
from cheatsheet.memory.formats.format import Playbook
from cheatsheet.memory.gate.guard import LEFT_OUT, GuardPolicy, guard
from cheatsheet.memory.gate.holdings import held, meaningful
from cheatsheet.memory.gate.stand_ins import is_ellipsis, stand_ins, without_stand_ins
from cheatsheet.memory.likeness.sameness import difference, fold
from cheatsheet.memory.operations import Add, Draft, Operation, Remove, Update
from cheatsheet.memory.view import MemoryView

# Between one version and the next of the published runs, an item that stays keeps its title and most of its words.
MIN_KEPT = 0.6  # share of a bullet's words that an item with another title must hold; half is enough with the same one
MIN_KEPT_TITLE = 0.5
MIN_SHARED = 0.4  # share of an item's words that the bullet must hold
SHORT_WORDS = 25  # in texts up to here a few words make the difference, so that `sameness.difference` decides,
NEARLY_ALL = 0.9  # unless the title is the same and so many of the words are there still
CANDIDATES = 5
MIN_SCORE = 0.7  # cosine from which on a bullet is a candidate at all

_EQUAL = 3.0  # more than any other score
_TITLE = re.compile(r"[^\n]{1,200}?(?=[:.(]|\n|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What a new cheatsheet changes.

    Attributes:
        operations: to be judged by the guard.
        ids: for each item the bullet that it is; empty for a new one.
        contents: for each item its words, with those of the bullet where it only said that they stay.
        notes: what became of its items, in a sentence.
    """

    operations: tuple[Operation, ...] = ()
    ids: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Match:
    """An item that can be a bullet; the better the higher its score."""

    item: int
    bullet: Bullet
    score: float


def rewrite_operations(
    playbook: Playbook,
    memory: MemoryView,
    *,
    shown: Sequence[Bullet] | None = None,
    complete: bool = True,
    policy: GuardPolicy | None = None,
) -> Rewritten:
    """Read a new cheatsheet as changes of the present one.

    - An item that is equal or nearly equal to a bullet is that bullet: its words are updated where they changed. Words
      that stand in the place of others ("[Previous content preserved…]") are replaced by those that the bullet has.
      Each bullet is one item at most. An item that drifted so far from its bullet that the guard would refuse its
      words is a new one.
    - Other items are new. A bullet that no item stands for is removed as left out, and the guard judges that.
    - Ids and counters are not taken from the text. A count that was raised changes nothing: verdicts come from the
      reflection and uses from the engine, while models raise the counts of all items from one version to the next.
      Bullets that stay also stay in their sections.

    Args:
        shown: the bullets that the writer of the new cheatsheet saw; only these can be left out. All active ones by
            default.
        complete: whether what is not in it was left out; false for a text that breaks off, or that says itself that
            the rest stays.
        policy: of the guard that will judge.
    """
    texts = [entry.draft.content for entry in playbook.entries]
    pool = memory.bullets() if shown is None else shown
    matched = _assign(_matches(texts, memory, pool, searched=shown is not None))
    updates = {index: _update(texts[index], bullet) for index, bullet in matched.items()}
    drifted = _refused(updates.values(), memory, policy)
    kept = {index: bullet for index, bullet in matched.items() if bullet.id not in drifted}
    ids = tuple(kept[index].id if index in kept else "" for index in range(len(texts)))
    gone = [bullet for bullet in pool if bullet.id not in ids and not bullet.pinned] if complete else []
    operations: list[Operation] = []
    for index, entry in enumerate(playbook.entries):
        if index not in kept:
            operations.append(Add(draft=Draft(section=entry.draft.section, content=texts[index])))
        elif fold(updates[index].content or "") != fold(kept[index].content):
            operations.append(updates[index])
    operations += [Remove(id=bullet.id, reason=LEFT_OUT) for bullet in gone]
    return Rewritten(
        operations=tuple(operations),
        ids=ids,
        contents=tuple(updates[i].content or text if i in kept else text for i, text in enumerate(texts)),
        notes=(_told(operations, ids, complete=complete),),
    )


def _update(text: str, bullet: Bullet) -> Update:
    return Update(id=bullet.id, content=_filled(text, bullet.content))


def _refused(updates: Iterable[Update], memory: MemoryView, policy: GuardPolicy | None) -> set[str]:
    """Ids of the bullets that would lose by their new words what they held; small steps can lead that far."""
    refused = guard(updates, memory, policy).refused
    return {operation.id for item in refused for operation in item.operations if isinstance(operation, Update)}


def _told(operations: Sequence[Operation], ids: Sequence[str], *, complete: bool) -> str:
    new, changed = ids.count(""), sum(isinstance(operation, Update) for operation in operations)
    told = (
        f"The new cheatsheet has {new} new items, {changed} with other words and {len(ids) - new - changed} as before"
    )
    gone = sum(isinstance(operation, Remove) for operation in operations)
    return f"{told}; it leaves out {gone}." if complete else f"{told}; nothing counts as left out."


def _matches(texts: Sequence[str], memory: MemoryView, pool: Sequence[Bullet], *, searched: bool) -> Iterable[_Match]:
    """Every item with every bullet that it can be.

    Args:
        searched: whether all of the pool is compared; otherwise what has the same title or is near in meaning.
    """
    by_id = {bullet.id: bullet for bullet in pool}
    equal = {fold(bullet.content): bullet for bullet in pool}
    titled: dict[str, list[Bullet]] = {}
    for bullet in pool:
        titled.setdefault(_title(bullet.content), []).append(bullet)
    for index, text in enumerate(texts):
        same = equal.get(fold(text))
        if same is not None:
            yield _Match(index, same, _EQUAL)
            continue
        own = without_stand_ins(text)
        near = memory.nearest_bullets(own, CANDIDATES, min_score=MIN_SCORE) if own.strip() else ()
        candidates = {hit.value.id: hit.value for hit in near if hit.value.id in by_id}
        candidates |= by_id if searched else {bullet.id: bullet for bullet in titled.get(_title(own), ())}
        for bullet in candidates.values():
            score = _score(text, own, bullet.content)
            if score > 0:
                yield _Match(index, bullet, score)


def _assign(matches: Iterable[_Match]) -> dict[int, Bullet]:
    """The best match of each item; each bullet is taken once."""
    taken: dict[int, Bullet] = {}
    used: set[str] = set()
    for match in sorted(matches, key=lambda match: (-match.score, match.item, match.bullet.id)):
        if match.item not in taken and match.bullet.id not in used:
            taken[match.item] = match.bullet
            used.add(match.bullet.id)
    return taken


def _score(text: str, own: str, known: str) -> float:
    """How well an item can be the bullet with the known words; 0 where it cannot.

    Args:
        own: the item's words without those that stand in the place of others.
    """
    same_title = _title(own) == _title(known) != ""
    kept, shared = held(known, own).word_share, held(own, known).word_share
    if own != text:
        return 1 + shared if same_title or (shared >= MIN_KEPT and meaningful(own).total() >= 3) else 0.0
    if kept < (MIN_KEPT_TITLE if same_title else MIN_KEPT) or shared < MIN_SHARED:
        return 0.0
    is_short = max(meaningful(own).total(), meaningful(known).total()) <= SHORT_WORDS
    extends = same_title and kept >= NEARLY_ALL
    if is_short and not extends and difference(own, known) is not None:
        return 0.0
    return kept + same_title


def _title(text: str) -> str:
    """What stands before the first colon, bracket or full stop of the first line; blank where that is no title."""
    found = _TITLE.match(text.lstrip())
    words = found[0].split() if found else []
    return " ".join(words).casefold() if 2 <= len(words) <= 12 else ""


def _filled(text: str, known: str) -> str:
    """The text with the known words in the place of those that stand for them."""
    if fold(text) == fold(known) or (not stand_ins(text) and _dots(text) <= _dots(known)):
        return text
    pairs = zip(parts(text), parts(known), strict=True)
    return joined(*(_filled_part(new, old) if new else old for new, old in pairs))


def _filled_part(new: str, old: str) -> str:
    there = {fold(line) for line in new.split("\n")}
    if _title(new):
        there |= {fold(line) for line in old.split("\n")[:1] if _title(line) == _title(new)}
    missing = [line for line in old.split("\n") if not line.strip() or fold(line) not in there]
    lines: list[str] = []
    for line in new.split("\n"):
        if is_ellipsis(line) or stand_ins(line):
            rest = without_stand_ins(line)
            lines += [*([rest] if rest.strip() else []), *missing]
            missing = []
        else:
            lines.append(line)
    return "\n".join(lines).strip("\n")


def _dots(text: str) -> int:
    return sum(map(is_ellipsis, text.split("\n")))
