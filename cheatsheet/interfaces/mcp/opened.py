"""An engine that is opened when it is first needed, so that a client is answered at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine


class OpenedOnce:
    """Opens an engine at its first use; for several threads at once.

    Args:
        open: makes the engine. It is called again where it raised.
    """

    def __init__(self, open: Callable[[], Engine]) -> None:
        self._open = open
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def get(self) -> Engine:
        """The engine, always the same.

        Raises:
            CheatsheetError: it cannot be opened.
        """
        with self._lock:
            if self._engine is None:
                self._engine = self._open()
            return self._engine

    def close(self) -> None:
        """Close the engine, when it is open; what is being stored is stored first."""
        if not self._lock.acquire(blocking=False):
            return  # it is being opened this moment, so that nothing of it needs to be saved
        try:
            if self._engine is not None:
                self._engine.close()
        finally:
            self._lock.release()
