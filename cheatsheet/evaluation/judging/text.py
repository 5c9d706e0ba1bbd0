"""How texts are compared: what does not count as a difference."""

from __future__ import annotations

import re
import unicodedata

_BRACE = re.compile(r"(?P<box>\\(?:boxed|fbox)\s*\{)|[{}]")
_TEXT_COMMAND = re.compile(r"^\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}$")
_WRAPPERS = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "`": "`", "*": "*", "$": "$"}
_MARKED_NUMBER = re.compile(r"\d[.,]\d")
_STOPS = ".,;:。"
_MARKS = "!?！？"


def last_box(text: str) -> str | None:
    r"""The content of the last `\boxed{…}` that is closed, without a `\text{…}` around it; None when there is none."""
    closed: dict[int, str] = {}
    opened: list[int | None] = []
    for match in _BRACE.finditer(text):
        if match.group() != "}":
            opened.append(match.end() if match["box"] else None)
        elif opened and (start := opened.pop()) is not None:
            closed[start] = text[start : match.start()].strip()
    return _TEXT_COMMAND.sub(r"\1", closed[max(closed)]) if closed else None


def unboxed(text: str) -> str:
    r"""What an answer says: the content of its last `\boxed{…}`, or all of it where there is none."""
    box = last_box(text)
    return text if box is None else box


def normalise(text: str) -> str:
    """The form in which two texts are compared.

    Case, the width of white space, Unicode's ways to compose a letter, marks that end a sentence, and quotes or
    Markdown marks around the whole do not count. Everything inside counts: "3.5" is not "35", ".5" not "5",
    "-5" not "5", and LaTeX stays as it is. `normalise(normalise(t)) == normalise(t)`.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    bare = " ".join(folded.split())
    while (peeled := _peeled(bare)) and peeled != bare:
        bare = peeled
    return bare


def contains(text: str, part: str) -> bool:
    """Whether `part` stands in `text` as a whole: "cat" not in "concatenate", "5" not in "3.5" or "1,500"."""
    start = text.find(part)
    while start >= 0:
        if not _cuts(text, start) and not _cuts(text, start + len(part)):
            return True
        start = text.find(part, start + 1)
    return False


def _peeled(text: str) -> str:
    text = text.rstrip(_STOPS + " ")
    unmarked = text.rstrip(_MARKS)
    if unmarked[-1:].isalpha():  # "5!" is a factorial, not the end of a sentence
        text = unmarked
    if len(text) > 1 and _WRAPPERS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    return text


def _cuts(text: str, position: int) -> bool:
    """Whether a word or a number goes on across this position."""
    left, right = text[max(0, position - 2) : position], text[position : position + 2]
    if _wordlike(left[-1:]) and _wordlike(right[:1]):
        return True
    return any(_MARKED_NUMBER.fullmatch(joint) for joint in (left + right[:1], left[-1:] + right))


def _wordlike(char: str) -> bool:
    # Scripts without case (Chinese, Thai …) are written without spaces, so words cannot be told apart there.
    return char.isdigit() or char.lower() != char.upper()
