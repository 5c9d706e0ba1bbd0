"""What the doctor looks at in files that only their owner should read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cheatsheet.interfaces.finding import Found, read_by_others
from cheatsheet.settings import Settings

_NAMED: Final = 5


def check_files(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether others can read what lies in the home (replies, exports, the log) and beside the memory file.

    A folder that is shut shuts what lies in it, whatever the rights of that are.
    """
    home, memory = settings.home_folder, Path(settings.memory_path)
    places = [("the home", home, _inside(home))]
    if not memory.is_relative_to(home) and memory.is_file():
        places.append((f"the folder of {memory.name}", memory.parent, _beside(memory)))
    told = [found for what, folder, files in places if (found := _open_to_others(what, folder, files))]
    yield from told or [("ok", "What lies in the home and beside the memory is private.", "")]


def _open_to_others(what: str, folder: Path, files: Iterator[Path]) -> Found | None:
    if not folder.is_dir() or not read_by_others(folder):
        return None
    exposed = [file for file in files if read_by_others(file)]
    if not exposed:
        return None
    names = ", ".join(str(file.relative_to(folder)) for file in exposed[:_NAMED])
    more = ", …" if len(exposed) > _NAMED else ""
    mend = f"chmod 700 {folder}" if what == "the home" else f"chmod 600 {' '.join(map(str, exposed[:_NAMED]))}"
    return (
        "warning",
        f"{what.capitalize()} is open, and others can use {len(exposed):,} files in it: {names}{more}.",
        mend,
    )


def _inside(home: Path) -> Iterator[Path]:
    return (path for path in sorted(home.rglob("*")) if path.is_file() and not path.is_symlink())


def _beside(memory: Path) -> Iterator[Path]:
    """What SQLite keeps beside the file, and the saved indexes; of the file itself another check tells."""
    yield from (path for end in ("-wal", "-shm") if (path := Path(f"{memory}{end}")).is_file())
    yield from (path for path in sorted(Path(f"{memory}.index").rglob("*")) if path.is_file())
