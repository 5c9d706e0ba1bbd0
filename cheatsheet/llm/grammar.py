"""Grammars that hold a local model to given texts."""

from __future__ import annotations

from collections.abc import Sequence

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def choices_grammar(choices: Sequence[str], *, after: str = "") -> str:
    r"""A GBNF grammar whose only texts are `choices`.

    Args:
        choices: at least one.
        after: the text that the answer continues. Where it ends in a word or a mark, every choice begins with a
            space: tokenizers join the space to the word that follows, so "Team:" is continued by " amber".

    >>> choices_grammar(["amber", "teal"], after="Team:")
    'root ::= " amber" | " teal"'
    >>> print(choices_grammar(['say "hi"\n']))
    root ::= "say \"hi\"\n"
    """
    if not choices:
        raise ValueError("A grammar needs at least one choice.")
    return "root ::= " + " | ".join(map(_literal, continued(choices, after)))


def continued(choices: Sequence[str], after: str) -> list[str]:
    """The choices as they continue a text: with a space before them where it ends in a word or a mark."""
    space = " " if after and not after[-1].isspace() else ""
    return [space + choice for choice in choices]


def _literal(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _code(char)) for char in text) + '"'


def _code(char: str) -> str:
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x80 else f"\\u{point:04x}" if point < 0x1_0000 else f"\\U{point:08x}"
