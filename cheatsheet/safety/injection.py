"""Signs that a text is written to be obeyed by a model that reads it, and not to inform.

A sign is a finding for a person or a policy to judge, no proof: no rule tells every attack from every piece of advice,
and what protects a prompt is that stored text stands in it as data. So the rules are narrow. They name who is addressed
and what is asked of them; "ignore the header row" and "send the form to https://…" are ordinary advice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from cheatsheet.safety import injection_rules as rules
from cheatsheet.safety.block import closed_tags
from cheatsheet.safety.invisible import visible

SignKind = Literal["override", "role", "persona", "secrecy", "exfiltration", "closing tag"]

_RULES: Final[tuple[tuple[SignKind, re.Pattern[str], tuple[str, ...]], ...]] = (
    ("override", rules.OVERRIDE, rules.IN_OVERRIDE),
    ("role", rules.ROLE, ("",)),
    ("persona", rules.PERSONA, rules.IN_PERSONA),
    ("exfiltration", rules.EXFILTRATION, rules.IN_EXFILTRATION),
)
_OPENING: Final = re.compile(r"<([\w-]++)")
_SHOWN_CHARS: Final = 80
_SENTENCE_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign.

    Attributes:
        kind: `override` sets earlier instructions aside; `role` poses as a message of somebody else; `persona` makes
            the model somebody else or asks for its prompt; `exfiltration` sends what is known to an address; `secrecy`
            keeps something from the user; `closing tag` ends a block that data stand in.
        excerpt: the words, in lower case and on one line.
    """

    kind: SignKind
    excerpt: str


def signs(text: str) -> tuple[Sign, ...]:
    """All signs in a text, kind by kind in the order in which they stand. The time grows with the length of the text.

    Letters in other forms (full width, mathematical) and unseen characters between them make no difference.
    """
    plain = re.sub(r"[^\S\n]{1,}", " ", unicodedata.normalize("NFKC", visible(text)).lower())
    found = [
        Sign(kind, _line(match[0]))
        for kind, rule, words in _RULES
        if any(word in plain for word in words)
        for match in rule.finditer(plain)
    ]
    return (*found, *_secrecy(plain), *(Sign("closing tag", f"</{name}>") for name in _closings(plain)))


def _secrecy(plain: str) -> Iterator[Sign]:
    for match in rules.SECRECY.finditer(plain):
        if not (match["without"] and _negated(plain, match.start())):
            yield Sign("secrecy", _line(match[0]))


def _negated(plain: str, at: int) -> bool:
    """Whether the sentence says what is not done: "never delete a file without telling the user"."""
    sentence = re.split(r"[.!?\n]", plain[max(0, at - _SENTENCE_CHARS) : at])[-1]
    return rules.NEGATION.search(sentence) is not None


def _closings(plain: str) -> Iterator[str]:
    """Names of blocks in our prompts that the text closes and does not open."""
    opened = frozenset(_OPENING.findall(plain))
    return (name for name in dict.fromkeys(closed_tags(plain)) if name not in opened)


def _line(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
