"""Ids of bullets as models write them: `[sai-00001]`, `SAI-1`, `sai_00001`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cheatsheet.roles.replies.reading import well_formed
from cheatsheet.roles.replies.structured import read_json
from cheatsheet.roles.replies.thinking import strip_thinking

_WORD = re.compile(r"\w+(?:-\w+)*")
_USED_LINE = re.compile(r"^[ \t*_>-]{0,8}used(?:[ \t]+\w+){0,2}[ \t*_]{0,4}:(?P<ids>.*)$", re.IGNORECASE | re.MULTILINE)
_DIGITS = "0123456789"


class IdMatcher:
    """Finds the known id that a model meant. An id that fits two known ones fits none, unless it is exactly one."""

    def __init__(self, known: Iterable[str]) -> None:
        self._exact = {id.casefold(): id for id in known}
        forms: dict[tuple[str, str], list[str]] = {}
        for id in self._exact.values():
            forms.setdefault(_form(id), []).append(id)
        self._by_form = {form: ids[0] for form, ids in forms.items() if len(ids) == 1}

    def match(self, written: str) -> str | None:
        """The known id that `written` means, or None."""
        bare = written.strip(" \t\r\n[](){}<>'\"`*#.,:;")
        return self._exact.get(bare.casefold()) or self._by_form.get(_form(bare))

    def mentions(self, text: str) -> Iterator[str]:
        """Known ids that stand in running text, in their order; a number needs its separator there."""
        for word in _WORD.findall(text):
            if word.casefold() in self._exact or "-" in word or "_" in word:
                id = self.match(word)
                if id is not None:
                    yield id


def read_used_ids(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known ids that a reply names as used, in the order of their mention, each once.

    A JSON list `bullet_ids` (ACE's form) or a last line `Used: …` says it alone; otherwise every mention counts.
    """
    matcher = IdMatcher(known)
    visible = strip_thinking(well_formed(text))
    return tuple(dict.fromkeys(matcher.mentions(_statement(visible))))


def _statement(text: str) -> str:
    if "bullet_ids" in text:
        value = read_json(text, wants=("bullet_ids",)).value
        if isinstance(value, dict) and "bullet_ids" in value:
            ids = value["bullet_ids"]
            return " ".join(map(str, ids)) if isinstance(ids, list) else str(ids)
    lines = _USED_LINE.findall(text)
    return lines[-1] if lines else text


def _form(id: str) -> tuple[str, str]:
    """Slug and number, without case, separator and leading zeros."""
    folded = id.casefold()
    slug = folded.rstrip(_DIGITS)
    return slug.rstrip("-_ "), folded[len(slug) :].lstrip("0")
