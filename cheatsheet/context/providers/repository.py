"""Finding a git repository by its files alone: without the git program, and without running anything."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cheatsheet.context.providers.files import read_file

RepositoryKind = Literal["repository", "worktree", "submodule", "bare"]

_SMALL_BYTES: Final = 4_096
_HASH: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHORT_HASH: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository as its files show it.

    Attributes:
        root: the folder that is worked in: the top of the work tree, or the bare repository itself.
        git_dir: the folder with HEAD.
        kind: a worktree is a second work tree of a repository; a submodule a repository within another one.
        problem: why it cannot be used, as the rest of a sentence; empty when it can.
    """

    root: Path
    git_dir: Path
    kind: RepositoryKind
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What HEAD says: a branch, or the short hash of a commit; neither where it cannot be told from the file."""

    branch: str | None = None
    commit: str | None = None


def find_repository(folder: Path) -> Repository | None:
    """The repository that a folder belongs to, looked for upwards until the root of the file system.

    Source: gitrepository-layout(5), and the order in which git itself looks (setup_git_directory_gently).
    """
    top = Path(os.path.realpath(folder))
    for root in (top, *top.parents):
        dot_git = root / ".git"
        if dot_git.is_file():
            return _linked(root, dot_git)
        if _is_git_dir(dot_git):
            return Repository(root=root, git_dir=dot_git, kind="repository")
        if _is_git_dir(root) and root.name != ".git":
            return Repository(root=root, git_dir=root, kind="bare")
    return None


def read_head(repository: Repository) -> Head:
    """What the HEAD file says; nothing for reference storages that keep it elsewhere."""
    text = read_file(repository.git_dir, "HEAD", max_bytes=_SMALL_BYTES).text.strip()
    branch = text.removeprefix("ref: refs/heads/")
    if branch != text and branch != ".invalid":  # so written where references are kept in tables
        return Head(branch=branch)
    return Head(commit=text[:_SHORT_HASH]) if _HASH.fullmatch(text) else Head()


def _linked(root: Path, dot_git: Path) -> Repository:
    """A `.git` that is a file: of a worktree, of a submodule, or of a repository whose git folder lies elsewhere."""
    text = read_file(root, ".git", max_bytes=_SMALL_BYTES).text.strip()
    if not text.startswith("gitdir:"):
        return Repository(
            root=root, git_dir=dot_git, kind="repository", problem="its .git is a file that names no folder"
        )
    git_dir = Path(os.path.realpath(root / text.removeprefix("gitdir:").strip()))
    kind = _kind(git_dir)
    if not git_dir.is_dir():
        return Repository(root=root, git_dir=git_dir, kind=kind, problem="its .git names a folder that is not there")
    return Repository(root=root, git_dir=git_dir, kind=kind)


def _kind(git_dir: Path) -> RepositoryKind:
    """Worktrees lie in `worktrees/NAME` and know their common folder; submodules lie in `modules/` of the outer one."""
    if (git_dir / "commondir").is_file() or git_dir.parent.name == "worktrees":
        return "worktree"
    return "submodule" if "modules" in git_dir.parts else "repository"


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
