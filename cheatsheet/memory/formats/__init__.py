"""Playbooks of other projects, and our own: read, written and recognised."""

from cheatsheet.memory.formats.format import Damage, Entry, Format, Playbook, Written
from cheatsheet.memory.formats.markdown import read_prose
from cheatsheet.memory.formats.registry import AUTO, FORMATS, format_named, read_playbook, recognise, write_playbook

__all__ = [
    "AUTO",
    "FORMATS",
    "Damage",
    "Entry",
    "Format",
    "Playbook",
    "Written",
    "format_named",
    "read_playbook",
    "read_prose",
    "recognise",
    "write_playbook",
]
