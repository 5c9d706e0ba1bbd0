"""Compress: the same advice in fewer characters, by rule.

Words that say nothing are left out, phrases become words, white space is tightened. What carries meaning stays letter
by letter: code, quotations, formulas, numbers, names, negations. English only; texts in other scripts stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.sameness import keeps_names

# At the beginning of a sentence, these say nothing. Words of modesty and of limits ("just", "generally", "about") are
# not among them, here and below: they change what is meant.
_OPENINGS = (
    r"(?:please\s+)?(?:note|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|remember)\s+that",
    r"it\s+is\s+(?:important|worth|useful|helpful|essential|crucial)\s+(?:to\s+)?"
    r"(?:note|noting|remember|remembering|mention|mentioning)\s+that",
    r"it\s+(?:should|must)\s+be\s+(?:noted|remembered|mentioned)\s+that",
    r"as\s+a\s+matter\s+of\s+fact,?",
    r"needless\s+to\s+say,?",
    r"it\s+goes\s+without\s+saying\s+that",
    r"(?:please\s+)?(?:always\s+)?(?:make|be)\s+sure\s+(?:that\s+you|to)",
    r"(?:please\s+)?(?:always\s+)?remember\s+to",
    r"you\s+(?:will\s+)?(?:want|need|have)\s+to",
    r"please|kindly|basically,?|of\s+course,|in\s+essence,?",
)
_SHORTER = {
    r"in\s+order\s+to": "to",
    r"so\s+as\s+to": "to",
    r"(?:due|owing)\s+to\s+the\s+fact\s+that": "because",
    r"in\s+view\s+of\s+the\s+fact\s+that": "because",
    r"for\s+the\s+reason\s+that": "because",
    r"(?:despite|in\s+spite\s+of)\s+the\s+fact\s+that": "although",
    r"in\s+the\s+event\s+that": "if",
    r"at\s+(?:this|the\s+present)\s+point\s+in\s+time": "now",
    r"at\s+the\s+present\s+time": "now",
    r"prior\s+to": "before",
    r"for\s+the\s+purposes?\s+of": "for",
    r"a\s+(?:large|great)\s+number\s+of(?!\s+(?:the|these|those|our|your|its)\b)": "many",
    r"ha(?:s|ve)\s+the\s+ability\s+to": "can",
    r"(?:is|are)\s+able\s+to": "can",
    r"by\s+means\s+of": "by",
    r"each\s+and\s+every": "every",
    r"first\s+and\s+foremost": "first",
    r"utili[sz]ing": "using",
    r"utili[sz]es": "uses",
    r"utili[sz]e": "use",
}

_CODE_LINE = (
    r"^(?=[ \t]*(?:def |class |import |from [\w.]+ import |return |for [^\n]*:$|if [^\n]*:$|while [^\n]*:$|"
    r"elif [^\n]*:$|else:|try:|except|with [^\n]*:$|@\w|#include|print\(|let |const |var |function |SELECT |select )"
    r"|[^\n]*[;{}][ \t]*$|[ \t]*[\w.\[\]'\"]+[ \t]*(?:[-+*/|&%]|\*\*|//)?=(?!=)[ \t]*\S|[ \t]*[\w.]+\([^\n]*\)[ \t]*$"
    r"| {4}|\t)[^\n]+$"
)
# What is kept letter by letter: fenced, indented and inline code, quotations, formulas, tags, addresses.
_KEPT = re.compile(
    r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)"
    rf"|{_CODE_LINE}"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)(?!`)"
    r"|\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|(?<!\w)'[^'\n]*'(?!\w)"
    r"|(?<![\w$])\$\$?[^$\n]+\$\$?(?!\w)|\\\([^\n]*?\\\)|\\\[[^\n]*?\\\]"
    r"|<[^<>\n]{1,200}>|\b[a-z]{2,12}://\S+",
    re.MULTILINE | re.DOTALL,
)
# While the rest is shortened, each kept piece is one character of a private plane: no word, no space, no letter.
_FIRST_MARK = 0xF0000
_MARKS = re.compile("[\U000f0000-\U000ffffd]")

_START = r"(?P<before>^[ \t]*(?:(?:[-*+•]|\d+[.)])[ \t]+)?|[.!?:;] )"
_OPENING = re.compile(
    rf"{_START}(?P<gone>(?:(?:{'|'.join(_OPENINGS)})[ \t]+)+)(?P<next>[A-Za-z]++(?!\w|[./(]\w))?(?=\S|[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
_ASIDE = re.compile(r",[ \t]+(?:please|of[ \t]+course)(?=[.!,;])", re.IGNORECASE)
_INTENSIFIER = re.compile(r"\b(?:very|really|quite|extremely|absolutely)[ \t]+(?=[a-z])(?!an?\b|the\b|few\b|same\b)")
_CLAUSE = 40  # characters in front of a word in which a negation is looked for
_NEGATED = re.compile(r"(?:\b(?:not|never|no|hardly|cannot|without)|n't)\b[^.,;:!?\n]*\Z", re.IGNORECASE)
_WORDS = tuple(_SHORTER.values())
_PHRASE = re.compile(
    r"\b(?:" + "|".join(f"(?P<_{number}>{long})" for number, long in enumerate(_SHORTER)) + r")\b", re.IGNORECASE
)
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*\*(?![\w*])")
_SPACES = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)|[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z]")

# Words that stand at the beginning of a sentence as well as inside one; any other may be a name, which keeps its case.
_COMMON = frozenset(
    "the a an this these that those it its if when while before after always never do check use avoid keep all every "
    "each any for in on at to with you your there only both first read write answer give make look test try list start "
    "compare compute count convert round sort split add close open run call set put take find solve pass send store "
    "return remove replace prefer apply handle please".split()
)

_MOST_ROUNDS = 20  # nearly every text is done after two

_Acronyms = tuple[tuple[re.Pattern[str], str], ...]


def compress(text: str, acronyms: Mapping[str, str] | None = None) -> str:
    """The text in fewer characters, and with the same meaning.

    Compressing twice is compressing once. The result is never longer than the text, and never blank unless the text is;
    its numbers, negations, names and code are those of the text. Where that cannot be had, the text stays as it is.

    Args:
        acronyms: words and their short forms, such as `{"application programming interface": "API"}`; whole words are
            replaced, whatever their case.
    """
    if _MARKS.search(text) or 2 * len(_LATIN.findall(text)) <= len(_LETTER.findall(text)):
        return text
    shorter = _patterns(acronyms or {})
    current = text
    for _ in range(_MOST_ROUNDS):
        before, current = current, _tightened(current, shorter)
        if current == before:
            return current if _may_stand_for(current, text, shorter) else text
    return text


def _patterns(acronyms: Mapping[str, str]) -> _Acronyms:
    longest_first = sorted(((tuple(words.split()), short) for words, short in acronyms.items()), key=_length)
    return tuple(
        (re.compile(rf"(?<!\w){' +'.join(map(re.escape, words))}(?!\w)", re.IGNORECASE), short)
        for words, short in longest_first
        if words and len(short) < len(" ".join(words))
    )


def _length(acronym: tuple[tuple[str, ...], str]) -> tuple[int, tuple[str, ...]]:
    return -sum(map(len, acronym[0])), acronym[0]


def _tightened(text: str, acronyms: _Acronyms) -> str:
    """The text after one round."""
    return _outside_of_kept(text, lambda rest: _shortened(_with_acronyms(rest, acronyms)))


def _outside_of_kept(text: str, change: Callable[[str], str]) -> str:
    """The text changed outside of what is kept letter by letter."""
    kept: list[str] = []

    def mark(piece: re.Match[str]) -> str:
        kept.append(piece[0])
        return chr(_FIRST_MARK + len(kept) - 1)

    rest = _KEPT.sub(mark, text)
    return _MARKS.sub(lambda mark: kept[ord(mark[0]) - _FIRST_MARK], change(rest))


def _with_acronyms(text: str, acronyms: _Acronyms) -> str:
    for words, short in acronyms:
        text = words.sub(lambda found, short=short: short, text)  # type: ignore[misc]  # bound as it is now
    return text


def _shortened(text: str) -> str:
    text = _SPACES.sub(lambda found: " " if found.end() < len(text) and text[found.end()] != "\n" else "", text)
    text = _BLANK_LINES.sub("\n\n", text).strip("\n")
    text = _OPENING.sub(_without_opening, _BOLD.sub(r"\1", text))
    text = _INTENSIFIER.sub(_without_intensifier, _ASIDE.sub("", text))
    return _PHRASE.sub(lambda found: _cased(_WORDS[int((found.lastgroup or "_0")[1:])], found[0]), text)


def _without_intensifier(found: re.Match[str]) -> str:
    """Nothing, unless it is negated: "not very large" is not "not large"."""
    return found[0] if _NEGATED.search(found.string[max(0, found.start() - _CLAUSE) : found.start()]) else ""


def _without_opening(found: re.Match[str]) -> str:
    following = found["next"] or ""
    if following.casefold() in _COMMON:
        following = _cased(following, found["gone"])
    return f"{found['before']}{following}"


def _cased(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _may_stand_for(short: str, text: str, acronyms: _Acronyms) -> bool:
    """Whether nothing was lost; names are compared after the acronyms were put in."""
    if not short.strip() or len(short) > len(text):
        return False
    one, two = facts_of(text), facts_of(short)
    same = (
        one.numbers == two.numbers
        and one.negations == two.negations
        and one.operators == two.operators
        and (one.code, one.fences) == (two.code, two.fences)
    )
    named = _outside_of_kept(text, lambda rest: _with_acronyms(rest, acronyms))
    return same and keeps_names(facts_of(named), two)
