"""Files and folders that only their owner may read, whatever the umask is."""

from __future__ import annotations

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make the folder and those above it that are missing, all for their owner alone (0700).

    Folders that are there keep their rights.

    Raises:
        OSError: it cannot be made, or a file stands in its place.
    """
    missing = [above for above in folder.parents if not above.exists()]
    for each in (*reversed(missing), folder):
        each.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file for its owner alone (0600); one that is there stays as it is.

    Raises:
        OSError: it cannot be made, or cannot be opened to be read and written.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
