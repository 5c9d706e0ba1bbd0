"""Cleaning what is about to be stored: secrets masked, unseen characters removed, both counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from cheatsheet.safety.invisible import unseen, visible
from cheatsheet.safety.secret_forms import Kind
from cheatsheet.safety.secrets import MASK, masked


class Cleaner:
    """Cleans texts one after the other, and tells in the end what was done to them, never the secret itself.

    Args:
        secrets: whether they are masked; unseen characters go in any case.
        known: secrets that are masked wherever they stand.

    Attributes:
        removed: how many unseen characters were removed.
    """

    def __init__(self, *, secrets: bool = True, known: Iterable[str] = ()) -> None:
        self.removed = 0
        self._counts: Counter[Kind] = Counter()
        self._secrets = secrets
        self._known = tuple(known)

    def text(self, text: str) -> str:
        """The text, cleaned. Unseen characters go first: they could tear a secret apart."""
        self.removed += len(unseen(text))
        return self._masked(visible(text))

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it cleaned; names stay as they are, and tell what belongs to them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self._field(name, each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.value, value))
        return value

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, one sentence for each kind of it."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self._counts.items()))
        return (
            *((f"Secrets masked before they were stored: {kinds}.",) if kinds else ()),
            *((f"Characters removed that cannot be seen: {self.removed}.",) if self.removed else ()),
        )

    def _masked(self, text: str) -> str:
        if not self._secrets:
            return text
        shown, counts = masked(text, self._known)
        if counts:
            self._counts += counts
        return shown

    def _field(self, name: Any, value: Any) -> Any:
        """The value of a field; `{"password": "hunter2"}` is a secret by its name, as `password: "hunter2"` is."""
        cleaned = self.value(value)
        if not isinstance(name, str) or not isinstance(cleaned, str) or not self._secrets:
            return cleaned
        _, counts = masked(f'{name}: "{cleaned}"') if cleaned.isprintable() and '"' not in cleaned else ("", Counter())
        if not counts or MASK in cleaned:
            return cleaned
        self._counts += counts
        return MASK
