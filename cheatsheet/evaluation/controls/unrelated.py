"""Sentences that help with nothing, made as long as is asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from typing import Final, TypeVar

Count = Callable[[str], int]
"""Tokens of a text."""

_FILE: Final = "unrelated.md"
_BULLET: Final = "- "
_BAR: Final = " | "
# One token each in the vocabularies cl100k, o200k and that of SmolLM2, and four characters with the space before them.
_FILLERS: Final = ("now", "too", "yet", "and", "for", "but")
_MARKS: Final = ".?,;:"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the placebo says: statements, and questions with their answers."""

    statements: tuple[str, ...]
    pairs: tuple[Pair, ...]


SentenceT = TypeVar("SentenceT")


@cache
def unrelated_corpus() -> Corpus:
    """The sentences of `unrelated.md`."""
    text = files(__package__ or "").joinpath(_FILE).read_text(encoding="utf-8")
    _, statements, questions = text.split("\n## ")
    pairs = (line.partition(_BAR) for line in _list(questions))
    return Corpus(
        statements=tuple(_list(statements)), pairs=tuple(Pair(question, answer) for question, _, answer in pairs)
    )


def _list(text: str) -> list[str]:
    return [line.removeprefix(_BULLET) for line in text.splitlines() if line.startswith(_BULLET)]


class Supply:
    """Statements and pairs one after the other, from a place in the corpus on, and again from its beginning.

    Args:
        start: any number; the same one gives the same sentences.
    """

    def __init__(self, corpus: Corpus, start: int) -> None:
        self._statements = _from(corpus.statements, start)
        self._pairs = _from(corpus.pairs, start)

    def pair(self) -> Pair:
        return next(self._pairs)

    def text(self, tokens: int, count: Count, *, opening: str = "") -> str:
        """A text of so many tokens, or of the nearest number that its words allow; one word at least.

        Args:
            opening: the sentence that it begins with, cut where it is too long; empty takes a statement.
        """
        sentences = [opening or next(self._statements)]
        while (have := count(" ".join(sentences))) < tokens:
            # Half of what is missing at once, so that a text of a thousand tokens is not counted a hundred times.
            more = (tokens - have) * len(sentences) // (2 * max(1, have))
            sentences += islice(self._statements, max(1, more))
        return _cut(" ".join(sentences).split(), tokens, count)


def _from(sentences: Sequence[SentenceT], start: int) -> Iterator[SentenceT]:
    first = start % len(sentences)
    return cycle([*sentences[first:], *sentences[:first]])


def _cut(words: list[str], tokens: int, count: Count) -> str:
    """As many of the words as fit, and short ones that fill what is left."""
    fitting = bisect_right(range(1, len(words) + 1), tokens, key=lambda number: count(_ended(words[:number])))
    kept = words[: max(1, fitting)]
    for filler in _FILLERS:
        if count(_ended([*kept, filler])) > tokens:
            break
        kept.append(filler)
    text = _ended(kept)
    return text if count(text) <= tokens else kept[0].rstrip(_MARKS)


def _ended(words: Sequence[str]) -> str:
    """The words as a sentence, wherever it was cut."""
    text = " ".join(words)
    return text if text.endswith("?") else text.rstrip(_MARKS) + "."
