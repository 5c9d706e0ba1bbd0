"""What was seen last time, kept in the home across processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from cheatsheet.context.home import path_in, write_private
from cheatsheet.context.providers.files import read_file

STATE_FILE: Final = "state.json"

_VERSION: Final = 1
_MAX_BYTES: Final = 8 * 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """What one request leaves for the next.

    Attributes:
        files: for every provider the digests of the files that it looked at, by path.
        log_day: the day whose log was read last, or None before the first request.
        log_bytes: how long that log was.
    """

    files: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    log_day: date | None = None
    log_bytes: int = 0

    @property
    def is_first(self) -> bool:
        """Whether nothing was seen yet."""
        return self.log_day is None


def load_state(home: Path) -> tuple[ContextState, str]:
    """The state of a home, and what is wrong with its file, if anything; a damaged one counts as none."""
    read = read_file(home, STATE_FILE, max_bytes=_MAX_BYTES)
    if read.fact.health == "missing":
        return ContextState(), ""
    why = read.fact.why
    if not why:
        try:
            return _from_json(json.loads(read.text)), ""
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            why = "cannot be understood"
    return ContextState(), f"{STATE_FILE} {why}; changes are told from the next time on."


def save_state(home: Path, state: ContextState) -> None:
    """Write the state as a whole; take `home_lock` around reading, changing and saving it.

    Raises:
        StoreReadOnlyError: the home cannot be written.
    """
    write_private(path_in(home, STATE_FILE), (json.dumps(_to_json(state), ensure_ascii=True, indent=1) + "\n").encode())


def _to_json(state: ContextState) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "log_day": state.log_day.isoformat() if state.log_day else None,
        "log_bytes": state.log_bytes,
        "files": {provider: dict(sorted(files.items())) for provider, files in sorted(state.files.items())},
    }


def _from_json(values: Any) -> ContextState:
    """Raises ValueError, TypeError, KeyError or AttributeError for anything that is no state."""
    if values["version"] != _VERSION:
        raise ValueError(f"version {values['version']!r}")
    files = {str(name): {str(p): str(d) for p, d in found.items()} for name, found in values["files"].items()}
    return ContextState(
        files=files,
        log_day=date.fromisoformat(values["log_day"]) if values["log_day"] is not None else None,
        log_bytes=int(values["log_bytes"]),
    )
