"""Keeping an open memory: copied, looked through, made smaller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cheatsheet.engine.options import Clock
from cheatsheet.errors import SetupError
from cheatsheet.memory.history.past import History
from cheatsheet.memory.store import MemoryStore, Progress

if TYPE_CHECKING:
    from datetime import datetime

    from cheatsheet.memory.upkeep.flaw import Flaw
    from cheatsheet.memory.upkeep.vacuum import Vacuumed


class Upkeep:
    """What an open memory does for its own keeping."""

    namespace: str
    _store: MemoryStore
    _clock: Clock

    def backup(self, path: str | Path, *, force: bool = False, progress: Progress | None = None) -> None:
        """Copy the memory, with all its namespaces, to a file, while others read and write it.

        The copy is a memory of its own: open it, or put it in the place of the other one.

        Args:
            path: the file, for its owner alone; there is a whole and sound copy afterwards, or what was there before.
            force: whether a file that is there is replaced.
            progress: told how much is done and how much there is, in pages.

        Raises:
            SetupError: there is a file already, or the memory is kept by a server.
            StoreError: it cannot be written.
        """
        self._store.backup(Path(path), force=force, progress=progress)

    def verify(self) -> list[Flaw]:
        """What is wrong with the memory, in all its namespaces; nothing is changed.

        Files of indexes are left out: an open memory looks at its own when it reads them, and makes anew what is of no
        use. `cheatsheet verify` reads those of all namespaces.
        """
        from cheatsheet.memory.upkeep.verify import verify

        return verify(self._store)

    def vacuum(
        self,
        *,
        keep_days: float | None = None,
        before: int | str | datetime | None = None,
        dry_run: bool = False,
    ) -> Vacuumed:
        """Forget of the past what explains nothing that lives, and give back the room.

        The memory stays as it is, and can be looked at, and rolled back to, as it was from then on. `blame` tells of
        what is served all that it told before, but for uses in a row, which become one.

        Args:
            keep_days: how many days the whole past is kept; 30 where neither this nor `before` is given.
            before: a version, a time, or the id of a turn, from which on it is kept.
            dry_run: only tell what would go.

        Raises:
            SetupError: both are given.
            OperationError: the memory has no such version, time or turn.
        """
        from cheatsheet.memory.upkeep.vacuum import since_days, vacuum

        if keep_days is not None and before is not None:
            raise SetupError("keep_days and before cannot be given together: choose one.")
        history = History.of(self._store, self.namespace)
        if before is not None:
            version = history.version_at(before)
        else:
            version = since_days(history, keep_days, now=self._clock())
        return vacuum(self._store, self.namespace, version, dry_run=dry_run)
