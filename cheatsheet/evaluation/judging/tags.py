r"""Scoring lists of tags, one point each: "Revenues, Depreciation" against "Revenues,Goodwill" is 0.5.

The rules are those of ACE's FiNER: tags are parted by commas and compared place by place whatever their case, since
each answers a question of its own. A place without a tag is wrong; what comes after the last place does not count.

Besides, tags may stand on lines of their own; a number before a tag ("1. ", "2) "), words before a colon ("us-gaap:",
"Tags:") and quotes or Markdown marks around it do not count. Where there is a `\boxed{…}`, what is in the last one
counts.
"""

from __future__ import annotations

import re

from cheatsheet.evaluation.judging.text import normalise, unboxed

_SEPARATORS = ",;，、"
_BETWEEN = re.compile(f"[{_SEPARATORS}]")
_LABEL = re.compile(r"\A[^,\n:]*:")
_NUMBERED = re.compile(r"\A\(?\d{1,3}[.)]\s")


def share_of_tags(answer: str, target: str) -> float:
    """The share of the target's tags that the answer has in their places, from 0 to 1."""
    wanted, given = _tags(target), _tags(answer)
    hits = sum(bool(one) and one == other for one, other in zip(wanted, given, strict=False))
    return hits / len(wanted)


def _tags(text: str) -> list[str]:
    """One tag for each place; an empty text where a place has none."""
    lines = [line.strip().rstrip(_SEPARATORS) for line in _LABEL.sub("", unboxed(text).strip()).splitlines()]
    return [_tag(piece) for piece in _BETWEEN.split(",".join(line for line in lines if line))]


def _tag(piece: str) -> str:
    bare = normalise(_NUMBERED.sub("", piece.strip()))
    return normalise(bare.rpartition(":")[2])
