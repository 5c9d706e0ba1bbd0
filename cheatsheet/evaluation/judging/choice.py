"""Reading which option an answer picks.

An option is named by its text or by its letter, "A" being the first; where the options are letters themselves, by
those. The first of these rules that finds an option decides:

1. the whole answer (or the last box of it) is an option: "B", "(b)", "B.", "B) Berlin", "berlin";
2. the last cue that is followed by an option: "Answer: B", "so the answer is A", "Antwort: Antwort: D". The cue's own
   words are never read as letters, and "Answer: A or B" picks nothing;
3. the last line that is not blank is an option;
4. one option and no other is mentioned, by its text or as "(B)" or "option B".

Anything else picks nothing, which is wrong.

Where a row has no `choices`, its options are those that the question lists at its end, each on a line of its own:
"(A) Paris", "B) Berlin", "C. New York". Their texts do not count where two of them are the same; the letters do.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cheatsheet.evaluation.judging.text import normalise, unboxed

_CUES = (
    "answer", "antwort", "respuesta", "réponse", "risposta", "resposta", "antwoord", "svaret", "svar", "odpowiedź",
    "cevap", "ответ", "答案", "回答", "答え", "正解", "정답", "الجواب", "الإجابة", "उत्तर",
)  # fmt: skip
_BETWEEN = (
    r"(?:[\s:：=*_`\"'“”‘’(\[{$\\是は은는]"
    r"|\b(?:is|ist|es|est|è|é|är|be|option|choice|letter|text|mathrm|boxed)\b)+"
)
_OPENERS = r"[\s*_`\"'“‘(\[{$]*"
_CLOSERS = r"[\s*_`\"'”’)\]}.:,;!$]*"
_NOT_HEDGED = r"(?!\s*(?:/|&|\b(?:or|and|oder|und|ou|et|o|y|e)\b)\s*\(?[A-HJ-Z]\b)"
_ALONE = re.compile(rf"(?:(?i:option|choice)\s+)?{_OPENERS}([A-Za-z]){_CLOSERS}")
_LETTER_AND_TEXT = re.compile(rf"{_OPENERS}([A-Za-z])\s*[).:\]]+\s*(\S.*)", re.DOTALL)
_LETTER = r"(?P<letter>[A-Z])(?![\w'’])|(?P<small>[a-z])(?=[)\].\s*]*(?:\n|$))"
_MARKED = r"\((?P<bracketed>[A-Za-z])\)|(?<![\w(])(?P<closed>[A-Z])\)|(?i:\b(?:option|choice))\s+\(?(?P<named>[A-Z])\b"
_LISTED = re.compile(r"^[ \t]*\(?([A-Z])[).][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def listed_options(question: str) -> dict[str, str]:
    """The options that a question lists at its end, by their letters; empty where it lists none.

    They begin with A and leave no letter out. Of several lists, the last one counts.
    """
    found: dict[str, str] = {}
    for letter, text in _LISTED.findall(question):
        if letter == "A":
            found = {}
        if letter == string.ascii_uppercase[len(found) % 26]:
            found[letter] = text
    return found if len(found) > 1 else {}


def told_apart(options: Iterable[str]) -> bool:
    """Whether no two of the options have the same text."""
    texts = list(map(normalise, options))
    return len(set(texts)) == len(texts)


class Options:
    """The options of one question.

    Args:
        choices: their texts; when empty, the letters A to Z are the options.
    """

    def __init__(self, choices: Sequence[str]) -> None:
        letters = not choices or all(re.fullmatch(r"[A-Za-z]", choice) for choice in choices)
        options = choices or string.ascii_uppercase
        names = [choice.upper() for choice in options] if letters else string.ascii_uppercase
        self._by_letter: Mapping[str, str] = dict(zip(names, options, strict=False))
        self._by_text: Mapping[str, str] = {} if letters else {normalise(choice): choice for choice in choices}
        self._texts = "|".join(map(_loose, sorted(self._by_text, key=len, reverse=True))) or r"(?!)"

    def pick(self, answer: str) -> str | None:
        """The option that an answer picks, as it stands in `choices`; None when it picks none, or several."""
        text = unboxed(answer).strip()
        return self._whole(text) or self._cued(text) or self._whole(_last_line(text)) or self._only_mention(text)

    def _whole(self, text: str) -> str | None:
        if found := self._by_text.get(normalise(text)):
            return found
        if match := _ALONE.fullmatch(text):
            return self._by_letter.get(match[1].upper())
        match = _LETTER_AND_TEXT.fullmatch(text)
        option = self._by_letter.get(match[1].upper()) if match else None
        if match is None or option is None or not self._by_text:
            return None
        return option if self._by_text.get(normalise(match[2])) == option else None

    def _cued(self, text: str) -> str | None:
        cue = rf"(?<![A-Za-z])(?i:{'|'.join(_CUES)}){_BETWEEN}"
        named = rf"(?:(?i:(?P<text>{self._texts}))(?!\w)|{_LETTER})"
        picked = [self._named(match) for match in re.finditer(f"(?={cue}{named}{_NOT_HEDGED})", text)]
        return next((option for option in reversed(picked) if option is not None), None)

    def _only_mention(self, text: str) -> str | None:
        mentioned = set(self._mentions(text))
        return mentioned.pop() if len(mentioned) == 1 else None

    def _mentions(self, text: str) -> Iterator[str]:
        pattern = rf"(?<!\w)(?<!\bnot )(?i:(?P<text>{self._texts}))(?!\w)|{_MARKED}"
        for match in re.finditer(pattern, text):
            option = self._named(match)
            if option is not None:
                yield option

    def _named(self, match: re.Match[str]) -> str | None:
        found = match.groupdict()
        if found.get("text") is not None:
            return self._by_text.get(normalise(found["text"]))
        letter = next(value for name, value in found.items() if name != "text" and value is not None)
        return self._by_letter.get(letter.upper())


def _loose(text: str) -> str:
    """A pattern for a text whose words may be parted by any white space."""
    return r"\s+".join(map(re.escape, text.split()))


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
