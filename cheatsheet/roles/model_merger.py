"""The words of a merge by a model."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from cheatsheet.llm.model import Model, Outcome, Request, Usage
from cheatsheet.roles.prompts import data_block, render
from cheatsheet.roles.replies import strip_thinking

# An id and counters in front of a text, as in ACE's playbook: both are given by the memory alone.
_LABEL = re.compile(
    r"^[ \t]{0,9}(?:[-*+][ \t]{1,9})?\[[^\]\n]{0,80}\][ \t]{0,9}(?:helpful=\d+[ \t]{1,9}harmful=\d+[ \t]{0,9})?::[ \t]*"
    r"|^[ \t]{0,9}helpful=\d+[ \t]{1,9}harmful=\d+[ \t]{0,9}::[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(
    r"\A(?:#{1,6}[ \t]*)?(?:\*\*)?(?:merged|new|combined)[ \t]+(?:entry|advice|bullet)(?:\*\*)?:(?:\*\*)?\s*",
    re.IGNORECASE,
)
_TAGS = re.compile(r"\A<(entry(?:-\d+)?)>\s*(.*?)\s*</\1>\Z", re.DOTALL)
_FENCE = re.compile(r"\A(`{3,}|~{3,})[^\n]*\n(.*?)\n?\1\Z", re.DOTALL)
_QUOTES = re.compile(r"\A(?:\"([^\"]*)\"|“([^“”]*)”)\Z")


class ModelMerger:
    """Asks a model for the words of a merged bullet (a `Merger`).

    - Only words are taken: ids, counters and headings that the model writes are left out, further lines are kept.
    - A reply that is empty, cut, filtered, or longer than all texts together, is none: the words are then found by
      rule.
    - What is missing in the words is not judged here: whoever merges compares the facts, and the guard judges the rest.

    Safe for use from several threads.

    Args:
        max_tokens: of each reply.
    """

    def __init__(self, model: Model, *, max_tokens: int = 1024) -> None:
        self.model = model
        self._max_tokens = max_tokens
        self._usage = Usage()
        self._lock = threading.Lock()

    def merge_words(self, texts: Sequence[str]) -> str | None:
        """One text that says what all of them say, or None.

        Raises:
            ModelError: the call failed.
        """
        reply = self.model.complete(self._request(texts))
        with self._lock:
            self._usage += reply.usage
        if reply.outcome is not Outcome.OK:
            return None
        words = _words(reply.text, texts)
        return words if words and len(words) <= sum(map(len, texts)) else None

    def take_usage(self) -> Usage:
        """What the calls since the last time took; asking begins anew."""
        with self._lock:
            taken, self._usage = self._usage, Usage()
        return taken

    def _request(self, texts: Sequence[str]) -> Request:
        prompt = render("merger", entries="\n".join(data_block("entry", text) for text in texts))
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)


def _words(reply: str, texts: Sequence[str]) -> str:
    """The reply without what models put around their words."""
    words = strip_thinking(reply).strip()
    words = _HEADING.sub("", words).strip()
    for wrapping in (_TAGS, _FENCE):
        found = wrapping.match(words)
        if found and not any(text.strip().startswith(found[0][:1]) for text in texts):
            words = found[2].strip()
    quoted = _QUOTES.match(words)
    if quoted and not any(_QUOTES.match(text.strip()) for text in texts):
        words = next(filter(None, quoted.groups()), "").strip()
    return _LABEL.sub("", words).strip()
