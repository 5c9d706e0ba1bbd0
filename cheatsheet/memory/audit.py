"""A scan of what is remembered for what should not be: instructions, secrets, hidden characters, bullets too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience
from cheatsheet.safety.injection import signs
from cheatsheet.safety.invisible import unseen, with_marks
from cheatsheet.safety.secrets import MASK, masked

FindingKind = Literal["injection", "secret", "invisible", "oversized"]

LONGEST_CHARS: Final = 2_000
"""Characters of a bullet from which on it is too long to be one piece of advice: about 500 tokens."""

_SHOWN_CHARS: Final = 100
_BEFORE_CHARS: Final = 30  # that are shown in front of what was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a person should look at.

    Attributes:
        id: of the bullet or experience.
        found: what it is, in a few words.
        excerpt: where it stands, on one line, with secrets masked and hidden characters written out.
    """

    id: str
    kind: FindingKind
    found: str
    excerpt: str


def audit(
    bullets: Iterable[Bullet], experiences: Iterable[Experience] = (), *, longest_chars: int = LONGEST_CHARS
) -> list[Finding]:
    """Everything that looks wrong, bullet by bullet, then experience by experience; one finding of a kind for each.

    Args:
        longest_chars: of a bullet's content.
    """
    found: list[Finding] = []
    for bullet in bullets:
        found += _findings(bullet.id, [bullet.content, bullet.section.replace("_", " "), *_texts(bullet.metadata)])
        found += _oversized(bullet, longest_chars)
    for experience in experiences:
        found += _findings(experience.id, list(_texts(experience.model_dump(exclude=_NO_TEXTS))))
    return found


_NO_TEXTS: Final = {"id", "bullets", "used", "mode", "model", "created_at"}


def _findings(id: str, texts: Sequence[str]) -> Iterator[Finding]:
    yield from _injections(id, texts)
    yield from _secrets(id, texts)
    yield from _hidden(id, texts)


def _injections(id: str, texts: Sequence[str]) -> Iterator[Finding]:
    found = [sign for text in texts for sign in signs(text)]
    if found:
        kinds = ", ".join(dict.fromkeys(sign.kind for sign in found))
        yield Finding(id=id, kind="injection", found=kinds, excerpt=_excerpt(found[0].excerpt, ""))


def _secrets(id: str, texts: Sequence[str]) -> Iterator[Finding]:
    found = [(text, counts) for text in texts if (counts := masked(text)[1])]
    if found:
        kinds = ", ".join(dict.fromkeys(kind for _, counts in found for kind in sorted(counts)))
        yield Finding(id=id, kind="secret", found=kinds, excerpt=_excerpt(found[0][0], MASK))


def _hidden(id: str, texts: Sequence[str]) -> Iterator[Finding]:
    found = [(text, chars) for text in texts if (chars := unseen(text))]
    if found:
        names = dict.fromkeys(f"U+{ord(char):04X}" for _, chars in found for char in chars)
        shown = ", ".join(list(names)[:3]) + (", …" if len(names) > 3 else "")
        text, chars = found[0]
        yield Finding(id=id, kind="invisible", found=shown, excerpt=_excerpt(text, f"<U+{ord(chars[0]):04X}>"))


def _oversized(bullet: Bullet, longest_chars: int) -> Iterator[Finding]:
    if len(bullet.content) > longest_chars:
        size = f"{len(bullet.content):,} characters, more than {longest_chars:,}"
        yield Finding(id=bullet.id, kind="oversized", found=size, excerpt=_excerpt(bullet.content, ""))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value; behind its name where the name tells that it is a secret."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            named = f'{name}: "{each}"' if isinstance(each, str) else ""
            yield from (named,) if masked(named)[1] else _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _excerpt(text: str, around: str) -> str:
    """One line around the first place of something, once secrets are masked and hidden characters written out."""
    line = " ".join(with_marks(masked(text)[0]).split())
    start = max(0, line.find(around) - _BEFORE_CHARS) if around else 0
    shown = line[start : start + _SHOWN_CHARS]
    return ("…" if start else "") + shown + ("…" if start + _SHOWN_CHARS < len(line) else "")
