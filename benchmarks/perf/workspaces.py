"""`cheatsheet context` in folders of every kind: whether what it says is right, and how long it takes.

    python -m benchmarks.perf.workspaces [--files 20000] [--repeat 5] [--json]

Every folder is made anew, and looked at by processes of their own, as on the command line: without a home and without a
memory. Beside the time on the wall stands the processor time, which other work on the machine does not stretch.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.perf import figures
from benchmarks.perf.figures import notice
from benchmarks.perf.processes import COMMAND, Ended, Processes

FILES = 20_000
A_FOLDER = 100
UNKNOWN = "unknown"
WORK_TIME = "2026-01-05T10:30"
_MALFORMED = {
    "package.json": ('{"name": "shop",', "Node.js/JavaScript"),
    "pyproject.toml": ("[project\nname = 'shop'", "Python"),
    "Cargo.toml": ("package = 3", "Rust"),
    "go.mod": ("modul shop", "Go"),
    "pom.xml": ("<project><name>shop</name>", "Java"),
}

_LINE = re.compile(r"- (?P<key>[A-Z][a-z]+)(?: \([\w.]+\))?: (?P<value>.*)")

Lines = Mapping[str, str]
"""What the workspace section says, by the word before the colon, or the name of a manifest."""

Look = Callable[[Path], Lines]
"""Looks at a folder."""


@dataclass(frozen=True, slots=True)
class World:
    """A folder to look at, and what is to be said of it."""

    name: str
    folder: Path
    expected: Lines

    def is_right(self, said: Lines) -> bool:
        """Whether everything expected is said; the status of a repository may also be unknown."""
        told = {key: said.get(key, "") for key in self.expected}
        return told == self.expected or told == {**self.expected, "Status": UNKNOWN}


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of one world.

    Attributes:
        wall_s, wall_most_s, cpu_s: of a whole process; the median, the most, and the median.
    """

    world: str
    right: bool
    type: str
    branch: str
    status: str
    wall_s: float
    wall_most_s: float
    cpu_s: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, look and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=FILES, help="of the large repository")
    parser.add_argument("--repeat", type=int, default=5, help="processes for each folder")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as root:
        notice(f"making folders, one of them with {options.files:,} files …")
        worlds = build_worlds(Path(root) / "worlds", files=options.files)
        bytecode = Path(root) / "bytecode"
        Looks(bytecode)(worlds[0].folder)  # writes it
        seen = [examine(world, options.repeat, bytecode) for world in worlds]
    figures.show(seen, as_table, as_json=options.json)


def examine(world: World, repeat: int, bytecode: Path) -> Seen:
    """Look at a folder several times, in processes of their own; it is right when it was right every time."""
    look = Looks(bytecode)
    said = [look(world.folder) for _ in range(repeat)]
    wall_s = [ended.wall_s for ended in look.ended]
    wrong = next((lines for lines in said if not world.is_right(lines)), None)
    shown = wrong if wrong is not None else said[-1]
    return Seen(
        world=world.name,
        right=wrong is None,
        type=shown.get("Type", ""),
        branch=shown.get("Branch", ""),
        status=shown.get("Status", ""),
        wall_s=round(median(wall_s), 3),
        wall_most_s=round(max(wall_s), 3),
        cpu_s=round(median(ended.cpu_s for ended in look.ended), 3),
    )


class Looks:
    """Looks by `cheatsheet context` in a process, and remembers how long each took."""

    def __init__(self, bytecode: Path) -> None:
        self._run = Processes(bytecode)
        self.ended: list[Ended] = []

    def __call__(self, folder: Path) -> Lines:
        with tempfile.TemporaryDirectory() as home:
            given = ["context", "--json", "--at", WORK_TIME, "--home", f"{home}/absent"]
            self.ended.append(self._run([*COMMAND, *given], cwd=folder))
        return workspace_lines(json.loads(self.ended[-1].out)["text"])


def workspace_lines(text: str) -> Lines:
    """The lines of the workspace section of a context; what is wrong with a manifest stands under its name."""
    section = text.partition("# Workspace\n")[2].partition("\n---\n")[0]
    said: dict[str, str] = {}
    for line in section.splitlines():
        if found := _LINE.match(line):
            said[found["key"]] = found["value"]
        elif line.startswith("- "):
            file, _, trouble = line.removeprefix("- ").partition(" ")
            said[file] = trouble.partition(":")[0]
    return said


def as_table(seen: Sequence[Seen]) -> str:
    """A Markdown table."""
    titles = ("folder", "right", "type", "branch", "status", "wall s median / most", "CPU s")
    rows = [
        (
            one.world,
            "yes" if one.right else "NO",
            one.type,
            one.branch,
            one.status,
            f"{one.wall_s:.2f} / {one.wall_most_s:.2f}",
            f"{one.cpu_s:.2f}",
        )
        for one in seen
    ]
    return figures.table(titles, rows)


# The folders


def build_worlds(root: Path, *, files: int = FILES) -> list[World]:
    """Make them all below a folder."""
    return [
        _plain(root / "plain"),
        _large(root / "large", files),
        _bare(root / "bare.git"),
        _empty(root / "empty"),
        *_worktree_and_detached(root / "commits"),
        *(_malformed(root / "malformed" / file, file) for file in _MALFORMED),
        _loops(root / "loops"),
        _not_utf8(root),
    ]


def _plain(folder: Path) -> World:
    _write(folder, {"notes.txt": "nothing"})
    return World("plain folder", folder, {"Project": "plain", "Type": UNKNOWN, "Branch": ""})


def _large(folder: Path, files: int) -> World:
    names = [f"d{number // A_FOLDER:03}/f{number % A_FOLDER:02}.txt" for number in range(files)]
    _repository(folder, dict.fromkeys(names, "text\n"))
    _write(folder, {names[-1]: "changed, with another length\n"})
    status = f"1 changed (modified: {names[-1]})"
    return World(f"git, {files:,} files", folder, {"Type": "git repository", "Branch": "main", "Status": status})


def _bare(folder: Path) -> World:
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--bare")
    return World("bare repository", folder, {"Type": "bare git repository", "Branch": "main", "Status": ""})


def _empty(folder: Path) -> World:
    _repository(folder, {})
    return World("empty repository", folder, {"Type": "git repository", "Branch": "main", "Status": "clean"})


def _worktree_and_detached(folder: Path) -> list[World]:
    _repository(folder / "main", {"package.json": '{"name": "shop", "scripts": {"test": "x"}}'})
    _git(folder / "main", "worktree", "add", "--quiet", "-b", "feature", "../second")
    _git(folder / "main", "checkout", "--quiet", "--detach")
    commit = _git(folder / "main", "rev-parse", "--short", "HEAD")
    kind, both = "Node.js/JavaScript", {"Project": "shop", "Scripts": "test", "Status": "clean"}
    detached = {"Type": f"{kind}, git repository", "Branch": f"none (detached at {commit})"}
    return [
        World("worktree", folder / "second", {"Type": f"{kind}, git worktree", "Branch": "feature", **both}),
        World("detached head", folder / "main", {**detached, **both}),
    ]


def _malformed(folder: Path, file: str) -> World:
    text, kind = _MALFORMED[file]
    _repository(folder, {file: text})
    expected = {"Project": file, "Type": f"{kind}, git repository", "Branch": "main", "Status": "clean"}
    return World(f"malformed {file}", folder, {**expected, file: "cannot be understood"})


def _loops(folder: Path) -> World:
    """A folder that holds itself, two links that lead to each other, and a manifest that leads to itself."""
    _repository(folder, {"go.mod": "module example.com/shop\n"})
    for name, target in {"self": ".", "there": "back", "back": "there", "package.json": "package.json"}.items():
        (folder / name).symlink_to(target)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", "second")
    expected = {"Project": "example.com/shop", "Type": "Node.js/JavaScript, Go, git repository", "Status": "clean"}
    return World("symlink loops", folder, {**expected, "package.json": "cannot be read"})


def _not_utf8(root: Path) -> World:
    folder = Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9"))
    _repository(folder, {"a.txt": "a"})
    _write(folder, {os.fsdecode(b"\xff.txt"): "b"})
    expected = {"Project": r"caf\xe9", "Type": "git repository", "Status": r"1 changed (untracked: \xff.txt)"}
    return World("names that are not UTF-8", folder, expected)


def _repository(folder: Path, files: Mapping[str, str]) -> None:
    """A repository with one commit of these files; without files there is no commit."""
    _write(folder, files)
    _git(folder, "init", "--quiet")
    if files:
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "-m", "first")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _git(folder: Path, *arguments: str) -> str:
    """Run git with nothing of whoever measures."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    settings = ("user.name=Bench", "user.email=bench@example.com", "init.defaultBranch=main", "gc.auto=0")
    options = [part for setting in settings for part in ("-c", setting)]
    done = subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
