r"""Texts as PostgreSQL can hold them: without the character NUL, which it refuses, and with nothing lost.

NUL becomes `\x01\x01` and `\x01` becomes `\x01\x02`. Different texts stay different and in the same order, and a text
with neither of the two characters stays as it is. JSON needs none of this: it writes both as escapes.
"""

from __future__ import annotations

import re

_PAIRS = {"\x01\x01": "\x00", "\x01\x02": "\x01"}
_PAIR = re.compile("\x01[\x01\x02]")


def held(text: str) -> str:
    """The text as a column holds it."""
    return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")


def told(column: str) -> str:
    """The text that a column holds."""
    return _PAIR.sub(lambda pair: _PAIRS[pair[0]], column) if "\x01" in column else column
