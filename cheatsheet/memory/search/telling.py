"""Which words of a question an embedding is likely to blur, so that they are better looked for as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cheatsheet.memory.likeness.lexicon import EMPTY, NEGATIONS, NO_SPACES

FEW_WORDS = 3
"""So many words and no more are keywords, as they are typed into a search box, and not a sentence."""

MANY_CAPITALS = 0.5
"""Share of words with a capital from which on capitals tell nothing, as in a headline or where somebody shouts."""

_GLUED = re.compile(f"[{NO_SPACES}]+")
_CHUNK = re.compile(r"\S+")
_PART = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"[^\W_][._:/\\@#$]+[^\W_]")
_MIXED_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_ENDS_SENTENCE = frozenset(".!?:;")


def telling_words(text: str) -> list[str]:
    """Codes, identifiers, versions and names of a text, in their order, each once; all words of a few keywords.

    An embedding of an ordinary sentence says what it means, whatever its words are, and words that a question and an
    advice share by chance say little. It is the other way round with `ORA-00942`, `merge_asof`, `3.0.7` or a surname:
    their pieces mean nothing, and their neighbours in a list mean the same to it.
    """
    spaced = _GLUED.sub(" ", text)
    found = list(dict.fromkeys(_telling(spaced)))
    if found:
        return found
    words = list(dict.fromkeys(_PART.findall(spaced)))
    return [word for word in words if not _is_empty(word)] if len(words) <= FEW_WORDS else []


def _telling(text: str) -> Iterator[str]:
    chunks = list(_CHUNK.finditer(text))
    capitals_tell = sum(chunk[0][:1].isupper() for chunk in chunks) <= MANY_CAPITALS * len(chunks)
    begins = True
    for chunk in chunks:
        word, behind = _core(chunk[0])
        if word and (_is_code(word) or (capitals_tell and _is_name(word, begins=begins))):
            yield word
        begins = not _ENDS_SENTENCE.isdisjoint(behind) or text[chunk.end() : chunk.end() + 1] == "\n"


def _core(chunk: str) -> tuple[str, str]:
    """A chunk from its first letter or digit to its last, and what stands behind that."""
    parts = _PART.findall(chunk)
    if not parts:
        return "", chunk
    start, end = chunk.index(parts[0]), chunk.rindex(parts[-1]) + len(parts[-1])
    return chunk[start:end], chunk[end:]


def _is_code(word: str) -> bool:
    """Whether digits, signs or capitals within it make a word one that is written in one way only."""
    if any(sign.isdigit() for sign in word):
        return len(word) > 2 or not word.isdigit()
    return bool(_MIXED_CASE.search(word)) or (bool(_JOINED.search(word)) and not _is_empty(word))


def _is_name(word: str, *, begins: bool) -> bool:
    """Whether capitals make a word a name; the first of a sentence has one anyway."""
    if _is_empty(word) or len(word) == 1:
        return False
    return word.isupper() or (word[0].isupper() and not begins)


def _is_empty(word: str) -> bool:
    return all(part in EMPTY or part in NEGATIONS for part in _PART.findall(word.casefold()))
