"""All formats by name, and by what a text shows of itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.formats.ace import SECTIONS, AceFormat
from cheatsheet.memory.formats.axace import AxAceFormat
from cheatsheet.memory.formats.cass import CassFormat
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat
from cheatsheet.memory.formats.format import Format, Playbook, Written
from cheatsheet.memory.formats.markdown import MarkdownFormat
from cheatsheet.memory.formats.own import OwnFormat
from cheatsheet.memory.formats.reasoning_bank import ReasoningBankFormat
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.skillbook import SkillbookFormat

AUTO = "auto"
"""The name under which the format is recognised from the text."""

# In the order of recognition: plain Markdown, which much looks like, comes last.
FORMATS: tuple[Format, ...] = (
    OwnFormat(),
    SkillbookFormat(),
    AxAceFormat(),
    CassFormat(),
    ReasoningBankFormat(),
    DynamicCheatsheetFormat(),
    AceFormat(),
    MarkdownFormat(),
)

# Formats in which bullets stand under headings, so that each section should come once.
_UNDER_HEADINGS = frozenset({"ace", "dc", "markdown"})


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UnknownNameError: there is none.
    """
    for format in FORMATS:
        if format.name == name.strip().casefold():
            return format
    raise UnknownNameError("format", name, [format.name for format in FORMATS])


def recognise(text: str) -> Format:
    """The format that a text is of, judged by its content.

    Raises:
        SetupError: it is of none.
    """
    for format in FORMATS:
        if format.recognises(text):
            return format
    if sign := sign_of(text):  # what some format leaves behind where it has no entries
        return format_named(sign)
    known = "; ".join(f"{format.name!r}: {format.title}" for format in FORMATS)
    raise SetupError(
        f"The text is of no format that is known. Name its format, or give a text in one of these: {known}."
    )


def read_playbook(text: str, format: str = AUTO) -> Playbook:
    """Read a playbook of a named format, or of the one that is recognised.

    Raises:
        UnknownNameError: there is no format of that name.
        SetupError: no format was recognised.
    """
    return (recognise(text) if format == AUTO else format_named(format)).read(text)


def write_playbook(bullets: Iterable[Bullet], format: str) -> Written:
    """Write bullets in a named format; where it has headings, section by section.

    Raises:
        UnknownNameError: there is no format of that name.
    """
    chosen = format_named(format)
    listed = list(bullets)
    return chosen.write(by_section(listed) if chosen.name in _UNDER_HEADINGS else listed)


def by_section(bullets: Sequence[Bullet]) -> list[Bullet]:
    """The bullets section by section: those of ACE in its order, then others as they first come."""
    keys = dict.fromkeys(section_key(bullet.section) for bullet in bullets)
    order = {key: place for place, key in enumerate(dict.fromkeys([*(k for k in SECTIONS if k in keys), *keys]))}
    return sorted(bullets, key=lambda bullet: order[section_key(bullet.section)])
