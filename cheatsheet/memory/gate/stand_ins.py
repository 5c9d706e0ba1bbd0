"""Words that stand in the place of others: "[Previous content preserved…]", "the rest of the cheatsheet is unchanged".

A model that is asked to write a whole cheatsheet anew saves itself the writing with such words, and whoever stores them
has lost what they stand for. The wordings are those of the published runs of Dynamic Cheatsheet
(suzgunmirac/dynamic-cheatsheet), in which they replace whole sections, and their like.
"""

from __future__ import annotations

import re

_TITLE_WORDS = 15
_LONGEST = 400  # characters; the longest in the runs, which lists what it leaves out, has 268

_EARLIER = r"(?:previous|previously|prior|earlier|existing|original|old|above|current|remaining|other|others|rest|same)"
_STAYS = (
    r"(?:preserved|unchanged|retained|kept|maintained|remains?|stays?|as[ -]is|as before|as above|not changed"
    r"|no changes?|omitted|the same|identical|continues?|continued|untouched|intact|not repeated|keep|retain|preserve)"
)
_PARTS = (
    r"(?:contents?|memory|memories|items?|sections?|entry|entries|bullets?|notes?|cheat ?sheet|sheet|playbook"
    r"|strategies|strategy|insights?|examples?|descriptions?|snippets?|code|implementation|text|version|lines?|rules?"
    r"|heuristics|solutions|knowledge|list|material|details)"
)
# In square brackets, or in others that fill a line: one word says what, one that it stays, one that it is of a sheet.
_SQUARE = re.compile(r"\[[^\[\]\n]*\]")
_WHOLE = re.compile(r"[\W_]*[\[({<][^\n]*[\])}>][\W_]*")
_SAYS = tuple(re.compile(rf"\b{words}\b", re.IGNORECASE) for words in (_EARLIER, _STAYS, _PARTS))

# On a line of its own: a sentence that says nothing but this.
_FEW = r"(?:\ [\w'’&/,-]+){0,12}?"
_SENTENCE = re.compile(
    rf"""
      (?:the\ |all\ )?{_EARLIER}{_FEW}\ {_PARTS}{_FEW}(?:\ (?:is|are|was|were|has\ been|have\ been))?\ {_STAYS}
          (?:\ (?:unchanged|the\ same|as\ is|as\ before|as\ above|here|in\ full|exactly|for\ brevity))*
    | (?:the\ )?{_EARLIER}\ (?:is\ |are\ )?{_STAYS}
    | (?:the\ )?(?:rest|remainder)\ of{_FEW}\ {_PARTS}(?:{_FEW}\ {_STAYS}{_FEW})?
    | everything\ else{_FEW}\ {_STAYS}{_FEW}
    | (?:remains?|stays?|left|kept)\ (?:unchanged|the\ same|as\ (?:is|before|above|it\ was))
    | (?:(?:the\ )?same|identical|unchanged)\ (?:as|to|from)\ (?:in\ )?(?:the\ )?
          (?:before|above|previous(?:ly)?|earlier)(?:\ {_PARTS})?
    | (?:see|as|refer\ to|cf\.?)\ (?:the\ )?(?:above|before|previous|earlier)(?:\ {_PARTS})?
    | (?:contents?\ )?(?:unchanged|omitted|truncated|not\ changed)(?:\ for\ brevity)?
    | no\ changes?(?:\ (?:here|needed|made|to{_FEW}\ {_PARTS}))?
    | as[\ -]is | same | ditto | (?:previous|existing|earlier)\ contents?
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Dots, and a few words that say of what: "... existing code ...".
_DOTS_FIRST = re.compile(r"[\W_]*?(?:\.{3,}|…)[\W_]*(?:\w+[\W_]+){0,5}\w+[\W_]*")
_ELLIPSIS = re.compile(r"[\s\[\](){}<>*_+•-]*(?:\.{3,}|…+)[\s\[\](){}<>*_.…]*")


def stand_ins(text: str) -> tuple[str, ...]:
    """The pieces of the text that stand in the place of other words, in their order."""
    return tuple(piece for line in text.split("\n") for piece in _pieces(line))


def without_stand_ins(text: str) -> str:
    """The text without them, without dots that fill a line, and without lines that nothing else is left of."""
    lines: list[str] = []
    for line in text.split("\n"):
        pieces = _pieces(line)
        rest = line
        for piece in pieces:
            rest = rest.replace(piece, "", 1)
        if not is_ellipsis(line) and not (pieces and _says_nothing(rest)):
            lines.append(rest)
    return "\n".join(lines)


def own_words(text: str) -> str | None:
    """What is left of a text without them: blank where it is no more than a title; None where it has none of them."""
    if not stand_ins(text) and not all(is_ellipsis(line) or not line.strip() for line in text.split("\n")):
        return None
    rest = without_stand_ins(text).strip()
    while stand_ins(rest):  # what stood around one can make another
        rest = without_stand_ins(rest).strip()
    lines = rest.split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].rstrip().endswith(":")):  # "Example:", and no more
        del lines[-1]
    only = lines[0].rstrip()
    is_title = len(lines) == 1 and len(only.split()) <= _TITLE_WORDS and not only.endswith((".", "!", "?", "。"))
    return "" if is_title else "\n".join(lines)


def is_ellipsis(line: str) -> bool:
    """Whether a line is dots and nothing else. It can be meant, as in code: it counts only where words are missing."""
    return ("..." in line or "…" in line) and len(line) <= _LONGEST and _ELLIPSIS.fullmatch(line) is not None


def _pieces(line: str) -> list[str]:
    if not line.strip():
        return []
    if _fills_line(line):
        return [line]
    return [match[0] for match in _SQUARE.finditer(line) if _says_it(match[0])]


def _fills_line(line: str) -> bool:
    if len(line) > _LONGEST:
        return False
    bare = " ".join(re.findall(r"[\w'’&/,-]*\w", line))
    if _SENTENCE.fullmatch(bare) or (_WHOLE.fullmatch(line) and _says_it(line)):
        return True
    earlier, _, part = _SAYS
    return bool(_DOTS_FIRST.fullmatch(line) and earlier.search(line) and part.search(line))


def _says_it(bracketed: str) -> bool:
    return len(bracketed) <= _LONGEST and all(words.search(bracketed) for words in _SAYS)


def _says_nothing(rest: str) -> bool:
    return re.search(r"\w", rest) is None
