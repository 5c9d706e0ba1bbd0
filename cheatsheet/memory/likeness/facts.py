"""What a piece of advice states: its words, numbers, names, negations, comparisons and code.

Read once for each text, in time that grows with its length; `sameness` compares what is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from cheatsheet.memory.likeness.lexicon import (
    CONDITIONS,
    CONDITIONS_NO_SPACES,
    EMPTY,
    NEGATIONS,
    NEGATIONS_NO_SPACES,
    ORDERING,
    SPELLED_NUMBER,
    UNITS,
    WORD,
    spelled_value,
    stem,
    without_phrases,
)

SCOPE = 3  # content words behind a negation that it is taken to negate

_FENCE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`++)([^`\n]+)\1")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»|「([^「」\n]+)」|(?<!\w)'([^'\n]+)'(?!\w)")
# Identifiers and names: snake_case, dotted.names, CamelCase, ACRONYMS, --flags, and capitalised words in a sentence.
_NAME = re.compile(
    r"\b\w+(?:[_./]\w+)+|\b[A-Z]+[a-z0-9]+[A-Z]\w*|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*|(?<!\w)--?[a-zA-Z]\w*(?:-\w+)*"
    r"|(?<=[^.!?:\s][ \t])[A-ZÀ-ÖØ-Þ]\w+"
)
_NUMBER = re.compile(
    r"(?P<money>[$€£¥])?\s?(?:(?<![\w.])(?P<sign>-))?(?P<digits>\d+(?:[.,:]\d+)*)"
    r"(?:[ \t-]?(?P<unit>[%$€£¢]|°[CF]?|[A-Za-zµ]+))?|[⁰¹²³⁴-⁹½¼¾⅓⅔⅛]"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_OPERATOR = re.compile(r"[<>=!]=|->|=>|[<>=≥≤≠±×÷*^→⇒&|~+]|(?<=[\w)])\s*/\s*(?=\d)|(?<=\s)/(?=\s)|(?<=\w)\s-\s(?=\w)")
_SIDES = re.compile(r"\b(\w+)\s*([<>≥≤/→]|(?<=\s)-(?=\s))\s*(?=(\w+))")
# Signs that say something by themselves: ✅, ∑, ©.
_SYMBOL = re.compile(
    r"[^\x00-\x7f\w\s\u00a1\u00a7\u00ab\u00b4-\u00b8\u00bb\u00bf\u0300-\u036f\u0591-\u05f4\u060c-\u0670\u0900-\u109f"
    r"\u1780-\u17ff\u200b-\u203e\u3000-\u303f\ufe00-\ufe0f\uff00-\uff65<>≥≤≠±×÷→⇒€£¥]"
)
_SAME_OPERATOR = {">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "=>": "→", "⇒": "→", "×": "*", "÷": "/", "==": "="}
_CLAUSE = re.compile(r"[.,;:!?\n—–，、。；：！？]|\bbut\b", re.IGNORECASE)
_NO_NAMES = frozenset(("e.g", "i.e", "and/or"))
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+•][ \t]+|#{1,6}[ \t]+|>[ \t])", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__(?=\W)|(?<=\W)__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20, 0x2019: 0x27}


@dataclass(frozen=True, slots=True)
class Facts:
    """What one text states.

    Attributes:
        words: in lower case and in order, without fenced code and numbers; in scripts without spaces, every character.
        content: stems of the words that carry content.
        order: stems of content words that occur once, in order, without adverbs.
        negations: how many.
        negated: for each negated word, the stems that follow it.
        numbers: in order, with their units, in one spelling.
        names: identifiers, proper names and quoted words in order, in lower case.
        operators: signs and words of comparison and arithmetic in one spelling, and other signs, sorted.
        conditions: how many.
        heads: for words such as `before`, the stems that come next.
        sides: what stands left and right of a sign: (left, sign, right).
        fences: fenced code, line by line.
        code: inline code as it is written.
        folded: the whole text in lower case.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    order: tuple[str, ...]
    negations: int
    negated: tuple[frozenset[str], ...]
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    operators: tuple[str, ...]
    conditions: int
    heads: dict[str, frozenset[str]]
    sides: frozenset[tuple[str, str, str]]
    fences: tuple[str, ...]
    code: tuple[str, ...]
    folded: str


@lru_cache(maxsize=1024)
def facts_of(text: str) -> Facts:
    """Read a text."""
    fences = tuple(_lines(block[2]) for block in _FENCE.finditer(text))
    prose = _LIST_MARK.sub("", _FENCE.sub("\n", text).translate(_FULL_WIDTH))
    prose = _EMPHASIS.sub("", prose)
    plain = without_phrases(prose)
    wordy = _without_numbers(plain)
    words = tuple(words_of(wordy))
    content = _contents(words)
    return Facts(
        words=words,
        content=frozenset(filter(None, content)),
        order=tuple(_once(each for word, each in zip(words, content, strict=True) if each and word[-2:] != "ly")),
        negations=sum(map(_negates, words)) + len(NEGATIONS_NO_SPACES.findall(plain)),
        negated=tuple(_scopes(wordy)),
        numbers=tuple(_numbers(prose)),
        names=tuple(_names(prose)),
        operators=tuple(sorted(_operators(plain))),
        conditions=sum(word in CONDITIONS for word in words) + len(CONDITIONS_NO_SPACES.findall(plain)),
        heads=_heads(words, content),
        sides=frozenset((left, sign, right) for left, sign, right in _SIDES.findall(plain.casefold())),
        fences=fences,
        code=tuple(span[2] for span in _INLINE.finditer(prose)),
        folded=text.casefold(),
    )


def words_of(text: str) -> list[str]:
    """Words in lower case; in scripts without spaces, every character."""
    return WORD.findall(text.casefold().replace("’", "'"))


def _lines(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.strip("\n").splitlines())


def _empty(word: str) -> bool:
    return word in EMPTY or _negates(word)


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _once(stems: Iterable[str]) -> list[str]:
    counted: dict[str, int] = {}
    for each in stems:
        counted[each] = counted.get(each, 0) + 1
    return [each for each, count in counted.items() if count == 1]


def _contents(words: Sequence[str]) -> list[str | None]:
    return [None if _empty(word) else stem(word) for word in words]


def _scopes(text: str) -> Iterator[frozenset[str]]:
    """For each negation, what it negates: the next content words of its clause."""
    for clause in _CLAUSE.split(text):
        words = words_of(clause)
        for at, word in enumerate(words):
            if _negates(word) or NEGATIONS_NO_SPACES.fullmatch(word):
                following = filter(None, _contents(words[at + 1 : at + 1 + 4 * SCOPE]))
                yield frozenset(islice(following, SCOPE))


def _without_numbers(plain: str) -> str:
    """The text without numbers and their units, which are compared by themselves."""
    spelled = SPELLED_NUMBER.sub(" 0 ", plain)
    return _NUMBER.sub(lambda found: f" {'' if _unit(found['unit'] or '') else found['unit'] or ''} ", spelled)


def _numbers(prose: str) -> Iterator[str]:
    spelled = SPELLED_NUMBER.sub(lambda found: str(spelled_value(found[0])), prose)
    for found in _NUMBER.finditer(spelled):
        if found["digits"] is None:
            yield found[0]
            continue
        digits = found["digits"]
        if not digits.isascii():
            digits = "".join(str(int(char)) if char.isdecimal() else char for char in digits)
        digits = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits
        yield f"{found['sign'] or ''}{digits}{_unit(found['unit'] or found['money'] or '')}"


def _unit(written: str) -> str:
    return UNITS.get(written) or UNITS.get(written.casefold(), "")


def _names(prose: str) -> Iterator[str]:
    quoted = [next(filter(None, found.groups())) for found in _QUOTED.finditer(prose)]
    yield from (name.casefold() for name in quoted)
    written = (name.rstrip("./").casefold() for name in _NAME.findall(prose))
    yield from (name for name in written if name not in _NO_NAMES and not name[0].isdecimal())


def _operators(plain: str) -> Iterator[str]:
    for sign in _OPERATOR.findall(plain):
        yield _SAME_OPERATOR.get(sign.strip(), sign.strip())
    yield from _SYMBOL.findall(plain)


def _heads(words: Sequence[str], content: Sequence[str | None]) -> dict[str, frozenset[str]]:
    heads: dict[str, set[str]] = {}
    following = ""
    for word, its_stem in zip(reversed(words), reversed(content), strict=True):
        if word in ORDERING:
            heads.setdefault(word, set()).add(following)
        following = its_stem or following
    return {word: frozenset(found) for word, found in heads.items()}
