"""How much of one wording another one holds: words that carry meaning, and facts (numbers, names, code)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from cheatsheet.memory.gate.stand_ins import is_ellipsis
from cheatsheet.memory.likeness.sameness import words

# Words that come and go with the style of a sentence. Negations are not among them.
_STYLE = frozenset(
    "a an the this that these those it its of to in on at by for with from as and or is are was were be been being "
    "will would can could may might should do does so then also just very really please note".split()
)
_FEW = 2  # words; losing them leaves nothing to compare by shares
_FACT = re.compile(
    r"\d+(?:[.,:/^]\d+)*%?"  # numbers
    r"|\b\w+(?:[_.]\w+)+\b|\b\w+(?=\()"  # snake_case, dotted.names, called()
    r"|\b[A-Z]+[a-z0-9]+[A-Z]\w*\b|\b[A-Z]{2,}\w*\b"  # CamelCase, ACRONYMS
)


@dataclass(frozen=True, slots=True)
class Held:
    """What a new wording holds of an old one, counted with repetitions.

    Attributes:
        words, facts: of the old wording.
        lost_words, lost_facts: those of them that are not in the new one.
        new_words: of the new wording.
    """

    words: int
    lost_words: int
    facts: int
    lost_facts: int
    new_words: int

    @property
    def word_share(self) -> float:
        """Share of the old words that are still there, from 0 to 1."""
        return 1 - self.lost_words / self.words if self.words else 1.0

    @property
    def fact_share(self) -> float:
        """Share of the old facts that are still there, from 0 to 1."""
        return 1 - self.lost_facts / self.facts if self.facts else 1.0

    @property
    def shrinks(self) -> bool:
        """Whether something is gone and nothing came in its place."""
        return self.lost_words > 0 and self.new_words < self.words


def held(old: str, new: str) -> Held:
    """Compare a new wording with an old one; by all words where the old one has none that carry meaning."""
    old_words, new_words = meaningful(old), meaningful(new)
    if not old_words:
        old_words, new_words = Counter(words(old)), Counter(words(new))
    old_facts, new_facts = _facts(old), _facts(new)
    return Held(
        words=old_words.total(),
        lost_words=(old_words - new_words).total(),
        facts=old_facts.total(),
        lost_facts=(old_facts - new_facts).total(),
        new_words=new_words.total(),
    )


def loses(old: str, new: str, *, min_kept: float, small_change: int) -> str:
    """Why a wording may not become another one, in a few words; blank where it may.

    Args:
        min_kept: the smallest share of the old words, and of the old facts, that must still be there.
        small_change: losses of at most so many may be larger in share, where others came in their place.
    """
    loss = held(old, new)
    if loss.lost_words and _dots(new) > _dots(old):
        return "the new words have dots in the place of others"
    replaced = loss.lost_words > small_change and loss.word_share < min_kept
    shortened = loss.lost_words > _FEW and loss.new_words < min_kept * loss.words
    if replaced or shortened:
        return f"the new words hold {loss.words - loss.lost_words} of the {loss.words} words"
    if loss.lost_facts > small_change and loss.fact_share < min_kept:
        return (
            f"the new words hold {loss.facts - loss.lost_facts} of the {loss.facts} numbers, names and pieces of code"
        )
    return ""


def _dots(text: str) -> int:
    return sum(map(is_ellipsis, text.split("\n")))


@lru_cache(maxsize=512)
def meaningful(text: str) -> Counter[str]:
    """The words that carry meaning, in lower case, counted. Not to be changed: it is remembered."""
    return Counter(word for word in words(text) if word not in _STYLE)


@lru_cache(maxsize=512)
def _facts(text: str) -> Counter[str]:
    return Counter(fact.casefold() for fact in _FACT.findall(text))
