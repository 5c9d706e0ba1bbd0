"""Whether two pieces of advice that are near in an embedding really say the same.

Similarity is not sameness: negated sentences, other numbers and other names in the same sentence lie above a cosine
of 0.9 (reported with 0.96 for a negated pair). Every rule here can only keep bullets apart; a needless second bullet
costs a few tokens, a wrong merge loses a lesson. All of them take time that grows with the length of the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from cheatsheet.memory.likeness.facts import Facts, facts_of, words_of
from cheatsheet.memory.likeness.lexicon import CONTRASTS, IDEOGRAPHS, NO_SPACES, OPPOSITE_PREFIXES, OPPOSITES, PASSIVE

# The default embedding model reads 256 word pieces; what stands behind them does not reach the vector.
READ_WORDS = 160
UNREAD_CHANGES = 4  # words; more than a repaired phrase
MIN_OVERLAP = 0.6  # of content words: what one text has beyond the other is a detail, not a lesson of its own
MIN_SIGN_OVERLAP = 0.5  # of pairs of signs, where no spaces tell words apart
_COMPARED_LEFTOVERS = 8
_LEAST_PIECE = 4  # letters that can be a word of their own

_SIGN = re.compile(f"[{NO_SPACES}]")
_STRICT = re.compile(r"[_./-]")

words = words_of


def difference(first: str, second: str) -> str | None:
    """Why two near texts must stay two bullets, in a few words; None when nothing speaks against one bullet.

    The order of the two does not matter.
    """
    one, two = facts_of(first), facts_of(second)
    if one.fences != two.fences or not (_has_code(one, second) and _has_code(two, first)):
        return "their code differs"
    if fold(first) == fold(second):
        return None
    return next(_differences(one, two), None)


def fold(text: str) -> str:
    """The text without differences of case, white space and closing punctuation: equal folds are exact duplicates."""
    return " ".join(text.split()).casefold().rstrip(".!。")


def contains(first: str, second: str) -> bool:
    """True when the first of two texts that say the same says all that the second says, and something more."""
    return facts_of(first).content > facts_of(second).content


def _differences(one: Facts, two: Facts) -> Iterator[str]:
    """One reason after the other, the cheap ones first."""
    if one.negations != two.negations:
        yield "one of them negates"
    if not (_negates_alike(one, two) and _negates_alike(two, one)):
        yield "they negate different things"
    if one.numbers != two.numbers:
        same = Counter(one.numbers) == Counter(two.numbers)
        yield "their numbers stand in another order" if same else "their numbers differ"
    if not (keeps_names(one, two) and keeps_names(two, one)):
        yield "they name different things"
    if one.operators != two.operators:
        yield "they compare or calculate differently"
    if one.conditions != two.conditions:
        yield "one of them holds only under a condition"
    yield from _differing_words(one, two)
    yield from _differing_order(one, two)
    if _unread_part_differs(one.words, two.words):
        yield "they differ behind what the embedding reads"


def _differing_words(one: Facts, two: Facts) -> Iterator[str]:
    if _opposite(one.words, two.words):
        yield "they say opposite words"
    left, right = _left_over(one.content - two.content, two.content - one.content)
    shared = max(len(one.content) - len(left), len(two.content) - len(right))
    if shared < MIN_OVERLAP * (shared + len(left) + len(right)) or _sign_share(one, two) < MIN_SIGN_OVERLAP:
        yield "they share too few words"
    if not one.content and one.words != two.words:
        yield "they share too few words"
    if left and right:
        yield f"they fill in other words ({min(left)!r}, {min(right)!r})"


def _differing_order(one: Facts, two: Facts) -> Iterator[str]:
    names = [_shared(facts.names, set(one.names) & set(two.names)) for facts in (one, two)]
    if names[0] != names[1]:
        yield "they name things in another order"
    shared = set(one.order) & set(two.order)
    orders = [[word for word in facts.order if word in shared] for facts in (one, two)]
    passive = PASSIVE.isdisjoint(one.words) != PASSIVE.isdisjoint(two.words)
    if not _moved_as_one(orders[0], orders[1], least=2 if passive else 3):
        yield "they say their words in another order"
    if _turned_round(one, two) or _turned_round(two, one):
        yield "they say their words in another order"
    if _unspaced(one) and _unspaced(two) and not (_inserted(one.words, two.words) or _all_ideographs(one, two)):
        yield "they fill in other words"


def _has_code(facts: Facts, other: str) -> bool:
    """Code is compared letter by letter: `Foo` is not `foo`."""
    return all(span in other for span in facts.code)


def _negates_alike(one: Facts, two: Facts) -> bool:
    """Each thing that the first negates is negated by the second."""
    return all(any(not scope or scope & other for other in two.negated) or not two.negated for scope in one.negated)


def keeps_names(one: Facts, two: Facts) -> bool:
    """Whether each name in the first occurs in the second, be it as a name or as a word."""
    others, known = set(two.names), set(two.words)
    return all(
        name in others or (not _STRICT.search(name) and known.issuperset(words_of(name) or [name]))
        for name in one.names
    )


def _shared(names: Iterable[str], both: Collection[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name in both))


def _opposite(one: Sequence[str], two: Sequence[str]) -> bool:
    only_one, only_two = set(one) - set(two), set(two) - set(one)
    if any(OPPOSITES[word] & only_two for word in only_one if word in OPPOSITES):
        return True
    contrasts = [{CONTRASTS[word] for word in only if word in CONTRASTS} for only in (only_one, only_two)]
    if contrasts[0] & contrasts[1]:
        return True
    return _prefixed(only_one, only_two) or _prefixed(only_two, only_one)


def _prefixed(plain: Collection[str], other: Collection[str]) -> bool:
    """`safe` in one text and `unsafe` in the other."""
    return any(f"{prefix}{word}" in other for word in plain if len(word) > 3 for prefix in OPPOSITE_PREFIXES)


def _share(one: Collection[str], two: Collection[str]) -> float:
    """Jaccard index: what both have, of what either has; 1 when both are empty."""
    union = set(one) | set(two)
    return len(set(one) & set(two)) / len(union) if union else 1.0


def _sign_share(one: Facts, two: Facts) -> float:
    signs = [[word for word in facts.words if _SIGN.match(word)] for facts in (one, two)]
    if not any(signs):
        return 1.0
    pairs = [{f"{left}{right}" for left, right in pairwise(each)} or set(each) for each in signs]
    return _share(pairs[0], pairs[1])


def _left_over(one: frozenset[str], two: frozenset[str]) -> tuple[set[str], set[str]]:
    """The words that only one of the texts has, without those that are forms of the same word."""
    if max(len(one), len(two)) > _COMPARED_LEFTOVERS:
        return set(one), set(two)
    left = {word for word in one if not any(_same_word(word, other) for other in two)}
    right = {word for word in two if not any(_same_word(word, other) for other in one)}
    return left, right


def _same_word(one: str, two: str) -> bool:
    """Forms of a word in languages whose endings `stem` does not know; English words were reduced to their stems."""
    if one.isascii() and two.isascii():
        return False
    shorter, longer = sorted((one, two), key=len)
    return len(shorter) >= 4 and len(longer) - len(shorter) <= 2 and longer.startswith(shorter)


def _moved_as_one(one: list[str], two: list[str], *, least: int) -> bool:
    """True when two orders of the same words are equal, or differ by one block that stands elsewhere.

    "Before you answer, check the units" is "check the units before you answer"; "the client calls the server" is not
    "the server calls the client".

    Args:
        least: how many words must have changed their places: where only two have, as in "log, retry" and "retry, log",
            the order may be all that is said, unless it is "set the limit" and "the limit is set".
    """
    start = next((at for at, (left, right) in enumerate(zip(one, two, strict=True)) if left != right), len(one))
    if start == len(one):
        return True
    end = next(at for at in range(len(one), 0, -1) if one[at - 1] != two[at - 1])
    middle, other = one[start:end], two[start:end]
    cut = middle.index(other[0]) if other[0] in middle else 0
    return len(middle) >= least and middle[cut:] + middle[:cut] == other


def _turned_round(one: Facts, two: Facts) -> bool:
    """What stands behind `before`, `to` or `<` in one text stands in front of it in the other."""
    if any((right, sign, left) in two.sides for left, sign, right in one.sides - two.sides):
        return True
    for word, heads in one.heads.items():
        others = two.heads.get(word, heads)
        if (heads - others) & two.content and (others - heads) & one.content:
            return True
    return False


def _unspaced(facts: Facts) -> bool:
    return sum(bool(_SIGN.match(word)) for word in facts.words) > len(facts.words) / 2


def _all_ideographs(one: Facts, two: Facts) -> bool:
    """Where one sign says a word or a syllable, other signs are other words; a letter of Thai alone says nothing."""
    return all(IDEOGRAPHS.match(word) for facts in (one, two) for word in facts.words if _SIGN.match(word))


def _inserted(one: Sequence[str], two: Sequence[str]) -> bool:
    """True when one sequence is the other with one piece put in."""
    shorter, longer = sorted((one, two), key=len)
    start = next((at for at, word in enumerate(shorter) if word != longer[at]), len(shorter))
    rest = len(shorter) - start
    piece = len(longer) - len(shorter)
    return piece >= _LEAST_PIECE and (not rest or tuple(longer[len(longer) - rest :]) == tuple(shorter[start:]))


def _unread_part_differs(one: Sequence[str], two: Sequence[str]) -> bool:
    if max(len(one), len(two)) <= READ_WORDS:
        return False
    tails = [Counter(pairwise(facts[READ_WORDS - 1 :])) for facts in (one, two)]
    changed = (tails[0] - tails[1]).total() + (tails[1] - tails[0]).total()
    return changed > 2 * UNREAD_CHANGES  # a word more is a pair more, and may shift another one out of the part
