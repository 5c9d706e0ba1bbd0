"""Replies that were paid for once, kept by litellm's cache (`litellm.Cache`), in memory or in a folder.

The cache is asked here and not by `litellm.completion(caching=True)`:

- litellm's key leaves out what a provider of one's own is told besides OpenAI's parameters, such as choices.
- A cache at `litellm.cache` takes part in every call of litellm in the process, and keeps cut and empty replies too.
- litellm 1.110.2 imports its proxy for a hit, which fails where fastapi is not installed, and keeps nothing on disk
  any more ("the disk cache backend was removed").
"""

from __future__ import annotations

import functools
import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from cheatsheet.errors import SettingsError, SetupError
from cheatsheet.llm.call_json import request_key
from cheatsheet.llm.model import Request
from cheatsheet.safety.private import make_private_file, make_private_folder

CacheKind = Literal["off", "memory", "disk"]

FILE_NAME = "replies.sqlite"
_MAX_IN_MEMORY = 2_000  # replies
_KEPT_IN_MEMORY_S = 7 * 24 * 3600  # litellm's own default is 10 minutes
_BUSY_S = 5.0
# Options of a call that do not change what is answered, or must not be known to a file.
_NO_PART_OF_A_KEY = frozenset({"api_key", "client", "timeout", "threads", "extra_headers", "headers"})


class DiskReplies:
    """What litellm's cache calls a backend, in one SQLite file; several processes may share it.

    Attributes:
        trouble: why the file could not be used the last time; litellm itself takes every failure for a miss.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self.trouble = ""
        try:
            make_private_folder(folder)
            make_private_file(self._path)
            self._do("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise SetupError(f"Replies cannot be kept in {folder}: {error}. Choose another cache_folder.") from error

    def get_cache(self, key: str, **_: Any) -> dict[str, Any] | None:
        """The value kept under the key."""
        found = self._try("SELECT value FROM replies WHERE key = ?", key)
        value: dict[str, Any] | None = json.loads(found[0][0]) if found else None
        return value

    def set_cache(self, key: str, value: Mapping[str, Any], **_: Any) -> None:
        """Keep the value; what stood there before is replaced."""
        self._try("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, json.dumps(value))

    def _try(self, statement: str, *values: str) -> list[tuple[str, ...]]:
        self.trouble = ""
        try:
            return self._do(statement, *values)
        except sqlite3.Error as error:
            self.trouble = str(error)
            return []

    def _do(self, statement: str, *values: str) -> list[tuple[str, ...]]:
        with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection, connection:
            return connection.execute(statement, values).fetchall()


class ReplyCache:
    """Answers in OpenAI's form by key; see `cache_key`."""

    def __init__(self, litellm: ModuleType, folder: Path | None) -> None:
        self._cache = litellm.Cache(type="local", max_messages=None)
        in_memory = type(self._cache.cache)
        self._disk = None if folder is None else DiskReplies(folder)
        self._cache.cache = self._disk or in_memory(max_size_in_memory=_MAX_IN_MEMORY, default_ttl=_KEPT_IN_MEMORY_S)

    def get(self, key: str) -> dict[str, Any] | None:
        """The answer that was kept, or None."""
        found: Any = self._cache.get_cache(cache_key=key)
        return found if isinstance(found, dict) else None

    def put(self, key: str, body: Mapping[str, Any]) -> tuple[str, ...]:
        """Keep the first choice of an answer. Returns a note where it could not be kept."""
        self._cache.add_cache(json.dumps({"choices": body["choices"][:1]}, default=str), cache_key=key)
        trouble = self._disk.trouble if self._disk else ""
        return (f"the reply could not be kept in the cache: {trouble}",) if trouble else ()


@functools.cache
def reply_cache(litellm: ModuleType, folder: Path | None) -> ReplyCache:
    """The cache of a folder, or the one in memory: one for the whole process.

    Raises:
        SetupError: the folder cannot be used.
    """
    return ReplyCache(litellm, folder)


def checked_cache(kind: str, folder: str | Path | None) -> tuple[bool, Path | None]:
    """Whether replies are kept, and the folder; None for memory.

    Raises:
        SettingsError: another kind, or a cache on disk without a folder.
    """
    if kind not in get_args(CacheKind):
        allowed = ", ".join(map(repr, get_args(CacheKind)))
        raise SettingsError(f"Unknown cache {kind!r}. Choose one of {allowed}.")
    if kind == "disk" and folder is None:
        raise SettingsError("A cache on disk needs a folder: give cache_folder, or choose cache='memory'.")
    return kind != "off", Path(folder).resolve() if kind == "disk" and folder is not None else None


def cache_key(model: str, request: Request, options: Mapping[str, Any]) -> str:
    """SHA-256 of all that an answer depends on: the model, the request, and the options of the call, less its keys."""
    counted = {name: value for name, value in options.items() if name not in _NO_PART_OF_A_KEY}
    text = json.dumps([request_key(model, request), counted], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()
