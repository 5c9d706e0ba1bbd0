"""Secrets in texts: found, and masked before a text is stored, shown or logged.

Providers echo the key in their errors ("Incorrect API key provided: sk-…"), tools print environments, and users paste
what they have. A mask in the wrong place ruins knowledge, so that what only looks like a secret stays: variables,
placeholders of documentation, hashes of commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from cheatsheet.safety.secret_forms import FORMS, Kind, holds_one
from cheatsheet.safety.secret_names import named_secrets

MASK: Final = "[redacted]"

_SHORTEST_KNOWN: Final = 4  # a shorter one would tear up ordinary words


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text.

    Attributes:
        kind: `key`, `token`, `password`, `private key`.
        start, end: where it stands.
    """

    kind: Kind
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """All that looks like a secret, in order; none overlaps another. The time grows with the length of the text."""
    found = list(_all(text))
    if not found:
        return ()
    found.sort(key=attrgetter("start", "end"))
    united: list[Secret] = []
    for secret in found:
        last = united[-1] if united else None
        if last is None or secret.start >= last.end:
            united.append(secret)
        elif secret.end > last.end:
            united[-1] = Secret(last.kind, last.start, secret.end)
    return tuple(united)


def mask_secrets(text: str, known: Iterable[str] = ()) -> str:
    """`text` with everything that looks like a secret replaced by "[redacted]"; `known` ones go wherever they stand.

    Masking twice changes nothing more.
    """
    return masked(text, known)[0]


def masked(text: str, known: Iterable[str] = ()) -> tuple[str, Counter[Kind]]:
    """As `mask_secrets`, and how many of each kind were masked; known ones are counted as keys."""
    counts: Counter[Kind] = Counter()
    for secret in known:
        if len(secret) >= _SHORTEST_KNOWN and secret not in MASK:
            counts["key"] += text.count(secret)
            text = text.replace(secret, MASK)
    secrets = find_secrets(text)
    if not secrets:
        return text, +counts
    counts.update(secret.kind for secret in secrets)
    return "".join(_pieces(text, secrets)), +counts


def _all(text: str) -> Iterator[Secret]:
    for form in FORMS:
        if holds_one(text, form.signs):
            for kind, start, end in form.find(text):
                yield Secret(kind, start, end)
    for kind, start, end in named_secrets(text):
        yield Secret(kind, start, end)


def _pieces(text: str, secrets: Iterable[Secret]) -> Iterator[str]:
    at = 0
    for secret in secrets:
        yield text[at : secret.start]
        yield MASK
        at = secret.end
    yield text[at:]
