"""Whether two pieces of advice that are near in an embedding really say the same.

Similarity is not sameness: negated sentences, other numbers and other names in the same sentence lie above a cosine
of 0.9 (reported with 0.96 for a negated pair). Every rule here can only keep bullets apart; a needless second bullet
costs a few tokens, a wrong merge loses a lesson.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

# The default embedding model reads 256 word pieces; what stands behind them does not reach the vector.
READ_WORDS = 160
UNREAD_CHANGES = 4  # words; more than a repaired phrase
MIN_OVERLAP = 0.3

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)?")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,:]\d+)*%?")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|«([^»]+)»")
# Identifiers and names: snake_case, dotted.names, CamelCase, ACRONYMS, and capitalised words inside a sentence.
_NAME = re.compile(r"\b(?:\w+[_./]\w[\w./]*|[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z]{2,}\w*|(?<=[^.!?:\s]\s)[A-Z]\w+)\b")

_NEGATIONS = frozenset(
    "not no never none nothing neither nor without avoid cannot dont don't doesn't didn't isn't aren't won't can't "
    "shouldn't mustn't wouldn't refrain stop unless except "
    "nicht kein keine keinen nie ohne pas jamais sans nunca sin não".split()
)
_NEGATIONS_CJK = re.compile(r"不|没|別|别|勿|莫|禁止|避免|无|無|ない|ません|않|없")

_OPPOSITES = (
    ("before", "after"), ("first", "last"), ("enable", "disable"), ("on", "off"), ("increase", "decrease"),
    ("maximum", "minimum"), ("max", "min"), ("include", "exclude"), ("allow", "deny"), ("above", "below"),
    ("more", "less"), ("always", "sometimes"), ("start", "end"), ("open", "close"), ("true", "false"), ("up", "down"),
    ("left", "right"), ("north", "south"), ("east", "west"), ("add", "remove"), ("accept", "reject"),
    ("upper", "lower"), ("buy", "sell"), ("even", "odd"), ("positive", "negative"), ("public", "private"),
)  # fmt: skip


def difference(first: str, second: str) -> str | None:
    """Why two near texts must stay two bullets, in a few words; None when nothing speaks against one bullet."""
    if fold(first) == fold(second):
        return None
    one, two = words(first), words(second)
    checks = (
        (_negations(first, one) != _negations(second, two), "one of them negates"),
        (_numbers(first) != _numbers(second), "their numbers differ"),
        (_names(first) != _names(second), "they name different things"),
        (_opposite(one, two), "they say opposite words"),
        (_overlap(one, two) < MIN_OVERLAP, "they share too few words"),
        (_same_frame(one, two), "they are one sentence with other words filled in"),
        (_long(one, two) and _unread_part_differs(one, two), "they differ behind what the embedding reads"),
    )
    return next((reason for differs, reason in checks if differs), None)


def fold(text: str) -> str:
    """The text without differences of case, white space and closing punctuation: equal folds are exact duplicates."""
    return " ".join(text.split()).casefold().rstrip(".!。")


def words(text: str) -> list[str]:
    """Words in lower case; in scripts without spaces, every character."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def _negations(text: str, its_words: Sequence[str]) -> int:
    return sum(word in _NEGATIONS for word in its_words) + len(_NEGATIONS_CJK.findall(text))


def _numbers(text: str) -> Counter[str]:
    return Counter(number.lstrip("+").rstrip(".,:") for number in _NUMBER.findall(text))


def _names(text: str) -> set[str]:
    quoted = {next(filter(None, groups)).casefold() for groups in _QUOTED.findall(text)}
    return quoted | {name.casefold() for name in _NAME.findall(text)}


def _opposite(one: Sequence[str], two: Sequence[str]) -> bool:
    only_one, only_two = set(one) - set(two), set(two) - set(one)
    return any(
        (left in only_one and right in only_two) or (right in only_one and left in only_two)
        for left, right in _OPPOSITES
    )


def _overlap(one: Sequence[str], two: Sequence[str]) -> float:
    union = set(one) | set(two)
    return len(set(one) & set(two)) / len(union) if union else 1.0


def _same_frame(one: Sequence[str], two: Sequence[str]) -> bool:
    """True when the texts are equal but for words put in the place of others: "Ana owns billing", "Ben owns search"."""
    if len(one) != len(two):
        return False
    pairs = [(left, right) for left, right in zip(one, two, strict=True) if left != right]
    return bool(pairs) and any(not _same_stem(left, right) for left, right in pairs)


def _same_stem(one: str, two: str) -> bool:
    shared = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return shared >= 4 or (shared >= 3 and min(len(one), len(two)) == shared)


def _long(one: Sequence[str], two: Sequence[str]) -> bool:
    return max(len(one), len(two)) > READ_WORDS


def _unread_part_differs(one: Sequence[str], two: Sequence[str]) -> bool:
    rest = difflib.SequenceMatcher(a=one[READ_WORDS:], b=two[READ_WORDS:], autojunk=False)
    changed = sum(a2 - a1 + b2 - b1 for tag, a1, a2, b1, b2 in rest.get_opcodes() if tag != "equal")
    return changed > UNREAD_CHANGES
