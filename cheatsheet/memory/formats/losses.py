"""What a format cannot carry, told in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from cheatsheet.memory.bullet import DEFAULT_SECTION, Bullet, section_key

Has = Callable[[Bullet], bool]

# Each kind of thing that a bullet has, by the words in which its loss is told, and whether a bullet has it.
_KINDS: dict[str, Has] = {
    "ids": lambda bullet: True,
    "times": lambda bullet: True,
    "sections": lambda bullet: section_key(bullet.section) != DEFAULT_SECTION,
    "counters": lambda bullet: bullet.helpful + bullet.harmful > 0,
    "uses": lambda bullet: bullet.uses > 0 or bullet.last_used_at is not None,
    "sources": lambda bullet: bool(bullet.sources),
    "tags": lambda bullet: bool(bullet.tags),
    "expiry dates": lambda bullet: bullet.expires_at is not None,
    "pins": lambda bullet: bullet.pinned,
    "kinds of bullets": lambda bullet: bullet.kind != "bullet",
    "metadata": lambda bullet: bool(bullet.metadata),
}
EVERYTHING = frozenset(_KINDS) | {"status"}


def lost(
    owner: str, bullets: Sequence[Bullet], *, carried: Set[str], further: Mapping[str, Has] | None = None
) -> tuple[str, ...]:
    """One sentence for each kind of thing that some bullet has and the format does not carry.

    Args:
        owner: the format, as the subject of a sentence.
        carried: the kinds that it carries, out of `EVERYTHING`.
        further: kinds that the format carries in part only: which bullets have what it does not carry.
    """
    missing = {name: has for name, has in _KINDS.items() if name not in carried} | dict(further or {})
    counts = {name: sum(map(has, bullets)) for name, has in missing.items()}
    told = [f"{owner} holds no {name}: {count} {_noun(count)} had some." for name, count in counts.items() if count]
    return (*told, *_status(owner, bullets, carried))


def _status(owner: str, bullets: Sequence[Bullet], carried: Set[str]) -> Iterator[str]:
    merged = sum(bullet.status == "merged" for bullet in bullets)
    hidden = sum(bullet.status != "active" for bullet in bullets)
    if "status" not in carried and hidden:
        yield f"{owner} holds no status: {hidden} archived or merged {_noun(hidden)} would be served when read again."
    elif merged:
        yield f"A merged bullet comes back as an archived one: {merged} {_noun(merged)} were merged into others."


def _noun(count: int) -> str:
    return "bullet" if count == 1 else "bullets"
