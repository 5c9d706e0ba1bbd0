"""A session with `cheatsheet mcp` by the TypeScript SDK: python -m benchmarks.mcp_typescript

Installs the SDK from npm into a temporary folder, fills a memory there, and runs session.mjs of
tests/interfaces/mcp/typescript against the command with the embedding model that is really loaded: initialise, list,
each tool once, malformed calls, a call during a long one, a clean end. The long call is the first recall, which loads
the model.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import cheatsheet
from cheatsheet.memory.operations import Add, Draft

SESSION: Final = Path(__file__).parent.parent / "tests" / "interfaces" / "mcp" / "typescript"
FILES: Final = ("package.json", "package-lock.json", "session.mjs")
COMMAND: Final = (sys.executable, "-c", "from cheatsheet.interfaces.cli import main; main()", "mcp")

INSTALL_S = 300
SESSION_S = 600


def main() -> None:
    """Install, fill, run; the exit code is that of the session."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="auto", help="embedder of the server; default: auto")
    embedder: str = parser.parse_args().embedder
    node, npm = needed("node"), needed("npm")
    with tempfile.TemporaryDirectory(prefix="mcp-typescript-") as name:
        folder = Path(name)
        for file in FILES:
            shutil.copy(SESSION / file, folder)
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=INSTALL_S)
        home = folder / "home"
        fill(home)
        environment = {**os.environ, "CHEATSHEET_HOME": str(home), "CHEATSHEET_EMBEDDER": embedder}
        session = [node, str(folder / "session.mjs"), "recall", "stats", *COMMAND]
        ran = subprocess.run(session, env=environment, check=False, timeout=SESSION_S)
    sys.exit(ran.returncode)


def needed(program: str) -> str:
    """Where a program is, or the end of this one."""
    found = shutil.which(program)
    if found is None:
        sys.exit(f"{program} is not installed. Install Node.js 18 or newer, which brings node and npm.")
    return found


def fill(home: Path) -> None:
    """A memory with something to recall, so that the first recall needs the embedding model."""
    home.mkdir(mode=0o700)
    with cheatsheet.open(home / "memory.db", embedder="hashing") as memory:
        memory.apply([Add(draft=Draft(content="Tickets about cards go to the amber team.", section="cards"))])


if __name__ == "__main__":
    main()
