"""The file in which an index is kept between two openings of the memory.

What it holds can always be built again from the memory, so that nothing that goes wrong here stops a search or a turn.
It is told, as a warning of the logger `cheatsheet`.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cheatsheet.errors import CheatsheetError, IndexFileError
from cheatsheet.memory.search.neighbours import IndexKind, Part
from cheatsheet.memory.store import MemoryStore
from cheatsheet.safety.private import make_private_folder
from indexes.index import VectorIndex

LEAST_ROWS = 1_000
"""An index of fewer rows is built from the memory's embeddings in a few hundredths of a second."""

SHARE, SHARE_MEANWHILE = 0.05, 0.25
"""Share of the rows that have to be new before the file is written again, when the memory is closed and meanwhile.

No more than that is missing at the next opening, and while a memory grows, what is written is a few times its size.
"""

_ABANDONED_S = 3_600
"""A draft that is older was left by a process that ended while it was writing."""

_log = logging.getLogger("cheatsheet")


@dataclass(frozen=True, slots=True)
class Reached:
    """An index, and the version of the memory of which it is."""

    index: VectorIndex
    version: int


Still = Callable[[], AbstractContextManager[Reached | None]]
"""Gives an index that does not change while the block lasts; None where it is that of no one version just now."""


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """Where the indexes of one memory are kept.

    Attributes:
        writable: False where they are only read, as those of a memory that cannot be written.
    """

    path: Path
    writable: bool = True


class IndexFile:
    """One index of one namespace. Its name comes from a hash, so that no namespace can lead out of the folder.

    With the index stands a watermark: the version of the memory of which it is, and the mark of that version. It tells
    a file of another memory, or of a later state of one that was restored. Any number of processes may write the file;
    each writes a whole one.

    What is written is the index of one version, though the index may change meanwhile. Its methods are called by one
    thread at a time.
    """

    def __init__(self, folder: IndexFolder, store: MemoryStore, *, namespace: str, part: Part) -> None:
        name = sha256(namespace.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.path = folder.path / f"{name}.{part}"
        self._writable = folder.writable
        self._store = store
        self._namespace = namespace
        self._part = part
        self._unsaved = 0
        self._writing: threading.Thread | None = None

    def load(self, make_index: IndexKind, *, fingerprint: str) -> Reached | None:
        """What the file holds, where that is of this memory and of this embedding model.

        Any other file is told of and removed, so that it is told once.
        """
        try:
            return self.read(make_index, fingerprint=fingerprint) if self.path.exists() else None
        except (IndexFileError, OSError) as error:
            _log.warning("A saved index is of no use, and is built anew; nothing has to be done. %s", error)
            self._remove()
            return None

    def read(self, make_index: IndexKind, *, fingerprint: str | None) -> Reached:
        """What the file holds.

        Args:
            fingerprint: of the embedding model that it has to be of; None for any.

        Raises:
            IndexFileError: it is missing, damaged, of another kind, of another embedding model, or of another memory.
        """
        if self.path.exists() and not self.path.is_file():  # reading a pipe would never end
            raise IndexFileError(f"{self.path} is no file.")
        index = make_index.load(self.path, fingerprint=fingerprint)
        version = _version_in(index.watermark)
        if index.watermark != self._watermark(version):
            index.close()
            raise IndexFileError(
                f"The index in {self.path} was not made from this memory as it is: it is of another one, this one was "
                f"restored to an earlier state, or a vacuum has forgotten the version of which the index is."
            )
        return Reached(index, version)

    def changed(self, index: VectorIndex, still: Still, *, rows: int) -> None:
        """So many rows of the index are new. Begins to write it, in the background, where these are many."""
        self._unsaved += rows
        if not self._is_due(index, SHARE_MEANWHILE) or (self._writing is not None and self._writing.is_alive()):
            return
        self._writing = threading.Thread(target=self._write, args=(index, still), name="cheatsheet-index")
        try:
            self._writing.start()
        except RuntimeError as error:  # no more threads, or the process is ending
            self._writing = None
            self._tell(error)

    def close(self, still: Still) -> None:
        """Write what is worth it, and wait until it is written."""
        self.wait()
        with still() as reached:
            index = None if reached is None else reached.index
        if index is not None and self._is_due(index, SHARE):
            self._write(index, still)

    def wait(self) -> None:
        """Wait until what is being written is written."""
        if self._writing is not None:
            self._writing.join()

    def _is_due(self, index: VectorIndex, share: float) -> bool:
        return self._writable and len(index) >= LEAST_ROWS and self._unsaved >= share * len(index)

    def _write(self, index: VectorIndex, still: Still) -> None:
        try:
            index.settle()  # what it prepares for fast searches is written as well
            save = self._saver(still)
            if save is not None:
                make_private_folder(self.path.parent)
                self._remove_abandoned()
                save(self.path)
        except (CheatsheetError, OSError) as error:
            self._tell(error)

    def _saver(self, still: Still) -> Callable[[Path], None] | None:
        """What writes the index of one version, whatever happens to it meanwhile; None where it is of none."""
        with still() as reached:
            watermark = "" if reached is None else self._watermark(reached.version)
            if reached is None or not watermark:
                return None
            self._unsaved = 0
            return reached.index.saver(watermark=watermark)

    def _tell(self, error: Exception) -> None:
        self._writable = False
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        _log.warning(
            "The index could not be kept for the next opening, which will take longer; nothing else is lost. Mend what "
            "stands in the way, or set keep_index = false. %s",
            reason,
        )

    def _remove(self) -> None:
        if self._writable:
            with suppress(OSError):  # whoever cannot remove it cannot write it either, which is told then
                self.path.unlink(missing_ok=True)

    def _remove_abandoned(self) -> None:
        for draft in self.path.parent.glob(f".{self.path.name}.*.tmp"):
            with suppress(FileNotFoundError):  # another process has just made a file of its draft
                if time.time() - draft.stat().st_mtime > _ABANDONED_S:
                    draft.unlink()

    def _watermark(self, version: int) -> str | None:
        """What tells this part of this memory, as it was at that version, from any other; None where no entry does."""
        mark = self._store.mark(self._namespace, version)
        told = {"version": version, "mark": mark, "namespace": self._namespace, "part": self._part}
        return json.dumps(told) if mark else None


def _version_in(watermark: str) -> int:
    """The version of a watermark; 0, which nothing is ever saved with, where it is none of ours."""
    try:
        found = json.loads(watermark)["version"]
    except (ValueError, KeyError, TypeError):
        return 0
    return found if isinstance(found, int) else 0
