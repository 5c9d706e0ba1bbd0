"""Characters that a reader cannot see, and that a model reads all the same.

Tag characters spell whole sentences, bidirectional controls show a text in another order than it is read, what has no
width tears words apart that a filter looks for, and variation selectors can carry bytes behind a single letter. Joiners
and selectors belong into emoji and into scripts such as Persian and Devanagari, and stay there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# What has no place in a text: tags, embeddings, overrides and isolates of writing direction, spaces without width,
# invisible operators, fillers, marks of annotations and of notes, controls, and halves of characters. The marks
# U+200E, U+200F and U+061C stay: right-to-left texts need them.
_UNSEEN: Final = (
    "\U000e0000-\U000e007f\u202a-\u202e\u2066-\u206f\u200b\u2060-\u2065\ufeff\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e"
    "\u3164\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
)
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d"
_EMOJI: Final = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# Scripts whose letters are joined or kept apart by a joiner: Arabic to Thaana, and those of India and its neighbours.
_JOINED: Final = (
    "\u0600-\u085f\u08a0-\u0dff\u0f00-\u109f\u1780-\u17ff\u1800-\u18af\u1a20-\u1aaf\u1b00-\u1c4f\ua840-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
)
_HAS_VARIANTS: Final = "#*0-9\u2200-\u22ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u1000-\u109f\ua860-\ua87f"

# The flags of England, Scotland and Wales are the only ones that Unicode recommends to write with tags.
_FLAG: Final = (
    "\U0001f3f4\U000e0067\U000e0062(?:"
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
    ")\U000e007f"
)
_WANTED: Final = (
    rf"{_FLAG}|(?<=[{_EMOJI}{_SELECTORS}])\u200d|(?<=[{_JOINED}])[{_JOINERS}]"
    rf"|(?<=[{_EMOJI}{_HAS_VARIANTS}{_JOINED}])[{_SELECTORS}]"
)
_FOUND: Final = re.compile(rf"(?P<wanted>{_WANTED})|[{_UNSEEN}{_JOINERS}{_SELECTORS}]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # all that is unseen in ASCII
_BYTE_ORDER_MARK: Final = "\ufeff"


def visible(text: str) -> str:
    """The text without characters that a reader cannot see, controls and halves of characters.

    Line breaks and tabs stay, and so do joiners within emoji, the marks of right-to-left scripts, and the joiners of
    scripts that are written with them. Making a visible text visible changes nothing.
    """
    if _plain(text):
        return text
    shown = _FOUND.sub(_kept, text)
    # What stood behind a character that went may have been wanted for its sake.
    return shown if shown == text else visible(shown)


def unseen(text: str) -> tuple[str, ...]:
    """The characters of a text that a reader cannot see, in order; a byte order mark at its start is none of them."""
    if _plain(text):
        return ()
    return tuple(char for _, char in _unseen(text.removeprefix(_BYTE_ORDER_MARK)))


def with_marks(text: str) -> str:
    """The text with every unseen character written out, as `<U+200B>`, for a person to look at."""
    return _FOUND.sub(lambda found: found["wanted"] or f"<U+{ord(found[0]):04X}>", text)


def _plain(text: str) -> bool:
    """Whether all of it is ASCII that a reader can see; most texts are, and need not be looked through."""
    return text.isascii() and not _CONTROL.search(text)


def _unseen(text: str) -> Iterator[tuple[int, str]]:
    return ((found.start(), found[0]) for found in _FOUND.finditer(text) if not found["wanted"])


def _kept(found: re.Match[str]) -> str:
    return found["wanted"] or ""
