"""Programs in a reply: fenced blocks of Markdown, and those of them that the model wants to have run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKER = "EXECUTE CODE!"  # Dynamic Cheatsheet's word for it (arXiv 2504.07952, generator prompt)

_LINE = re.compile(r"[^\n]*(?:\n|$)")
_OPENING = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]*)[^`\n]*\n?")
_CLOSING = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*")
_MARKER = re.compile(r"[\s*_]*EXECUTE CODE\b!?[*_]*")
_PYTHON = frozenset({"python", "py", "python3"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        code: its lines, without the indentation of the fence.
        language: as the fence says, in lower case; may be empty.
        marked: whether `EXECUTE CODE!` follows it.
        end: where it ends in the text, the marker included.
    """

    code: str
    language: str
    marked: bool
    end: int

    @property
    def is_python(self) -> bool:
        """Whether it says that it is Python, or is marked to be run and says nothing else."""
        return self.language in _PYTHON or (self.marked and not self.language)


def programs(text: str, *, unmarked: bool = False) -> tuple[Block, ...]:
    """The Python blocks that are to be run, in their order.

    Args:
        text: a reply.
        unmarked: also those without a marker.
    """
    return tuple(block for block in find_blocks(text) if block.is_python and (block.marked or unmarked))


def find_blocks(text: str) -> tuple[Block, ...]:
    """All fenced blocks that are closed; the work grows with the length of the text.

    A fence counts only at the start of a line. The one that closes a block is of the same kind, at least as long, not
    indented further, and alone on its line except for the marker; any other is a part of the program.
    """
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    for start, end in _lines(text):
        if opening is None:
            if start >= (blocks[-1].end if blocks else 0):
                opening = _OPENING.fullmatch(text, start, end)
            continue
        closing = _CLOSING.match(text, start, end)
        if closing is None or not _closes(text, opening, closing, end):
            continue
        blocks.append(_block(text, opening, start, closing.end()))
        opening = None
    return tuple(blocks)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _LINE.finditer(text) if match[0])


def _closes(text: str, opening: re.Match[str], closing: re.Match[str], line_end: int) -> bool:
    same = closing["fence"].startswith(opening["fence"]) and len(closing["indent"]) <= len(opening["indent"])
    rest = text[closing.end() : line_end]
    return same and (not rest.strip() or _MARKER.match(rest) is not None)


def _block(text: str, opening: re.Match[str], code_end: int, fence_end: int) -> Block:
    lines = text[opening.end() : code_end].splitlines(keepends=True)
    marker = _MARKER.match(text, fence_end)
    return Block(
        code="".join(_dedented(line, len(opening["indent"])) for line in lines),
        language=opening["language"].lower(),
        marked=marker is not None,
        end=marker.end() if marker else fence_end,
    )


def _dedented(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, width) :]
