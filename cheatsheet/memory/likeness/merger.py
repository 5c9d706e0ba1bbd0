"""The words of a merge: found by rule, or by a model whose words count and nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cheatsheet.errors import ModelError
from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.sameness import fold


class Merger(Protocol):
    """Finds words that say what several texts say.

    It gives words only: which bullet survives, its id and its counters are settled by the memory.
    """

    def merge_words(self, texts: Sequence[str]) -> str | None:
        """One text for all, or None where it has none: then the words are found by rule.

        Args:
            texts: at least two, the one that would be kept by rule first.

        Raises:
            ModelError: the call of a model failed; then too the words are found by rule.
        """
        ...


def merged_words(texts: Sequence[str], merger: Merger | None, notes: list[str]) -> str:
    """The words of the merged bullet: the merger's where they keep all that the texts state, else the first text.

    Args:
        texts: the one to be kept by rule first.
        notes: told why a merger's words do not count.
    """
    if merger is None or len({fold(text) for text in texts}) == 1:
        return texts[0]
    try:
        words = merger.merge_words(texts)
    except ModelError as error:
        notes.append(f"The words of {texts[0][:60]!r} stay, because the model could not merge them: {error}")
        return texts[0]
    if words is None or not words.strip():
        notes.append(f"The words of {texts[0][:60]!r} stay, because the model gave none.")
        return texts[0]
    lost = lost_facts(texts, words)
    if lost:
        notes.append(f"The words of {texts[0][:60]!r} stay, because those of the model lose {', '.join(lost[:5])}.")
        return texts[0]
    return words


def lost_facts(texts: Sequence[str], words: str) -> list[str]:
    """What any of the texts states and the new words do not: numbers, names, code, comparisons, negations."""
    new = facts_of(words)
    lost: dict[str, None] = {}
    for facts in map(facts_of, texts):
        known = {*new.numbers, *new.names, *new.operators, *new.code, *new.fences}
        stated = (*facts.numbers, *facts.names, *facts.operators, *facts.code, *facts.fences)
        lost |= dict.fromkeys(repr(fact) for fact in stated if fact not in known and fact not in new.words)
        if facts.negations > new.negations:
            lost["a negation"] = None
        if facts.conditions > new.conditions:
            lost["a condition"] = None
    return list(lost)
