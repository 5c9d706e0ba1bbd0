"""The workspace: what kind of project the folder is, where git stands, and what it is built from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cheatsheet.context.fence import NOT_INSTRUCTIONS, one_line, printable
from cheatsheet.context.providers.effects import EFFECTS, Detail
from cheatsheet.context.providers.git import GitFacts, git_facts
from cheatsheet.context.providers.manifests import MANIFESTS, Manifest, read_manifests
from cheatsheet.context.providers.provider import ContextRequest, Note, Provided
from cheatsheet.context.section import Item, Section

WORKSPACE_PRIORITY: Final = 6
UNKNOWN_KIND: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFacts:
    """What is known of a workspace.

    Attributes:
        root: the project's folder: the nearest one with a manifest, within the repository.
        kinds: such as `Python` and `git repository`; several may be true, and none.
        git: None outside any repository.
    """

    root: Path
    project: str
    kinds: tuple[str, ...]
    git: GitFacts | None
    manifests: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class WorkspaceProvider:
    """One section with Project, Type, Branch, Status, Remote, Dependencies and Scripts, as single lines of data.

    In a break it is Project, Type and Branch; in the working hours all lists are in full.

    Attributes:
        git: the git program; None looks for it on the search path.
    """

    name: str = "workspace"
    git: Path | None = None

    def provide(self, request: ContextRequest) -> Provided:
        if request.workspace is None:
            return Provided()
        if not request.workspace.is_dir():
            text = f"The workspace {one_line(printable(str(request.workspace)))} is no folder."
            return Provided(notes=(Note(kind="damaged", provider=self.name, text=text),))
        limits = request.limits
        facts = workspace_facts(
            request.workspace, git_timeout_s=limits.git_timeout_s, manifest_bytes=limits.manifest_bytes, git=self.git
        )
        detail = EFFECTS[request.time_mode].detail
        listed = limits.listed_in_full if detail == "full" else limits.listed
        section = Section(
            name="workspace",
            priority=WORKSPACE_PRIORITY,
            text=f"# Workspace\n{NOT_INSTRUCTIONS}\n",
            items=tuple(Item(text=f"- {line}") for line in workspace_lines(facts, detail=detail, listed=listed)),
        )
        return Provided(sections=(section,), notes=tuple(_notes(facts, self.name)))


def workspace_facts(
    folder: Path, *, git_timeout_s: float, manifest_bytes: int, git: Path | None = None
) -> WorkspaceFacts:
    """What is known of a folder, whatever state it is in."""
    repository = git_facts(folder, timeout_s=git_timeout_s, git=git)
    root = _project_root(Path(os.path.realpath(folder)), repository)
    manifests = read_manifests(root, max_bytes=manifest_bytes)
    return WorkspaceFacts(
        root=root,
        project=next((manifest.name for manifest in manifests if manifest.name), "") or one_line(printable(root.name)),
        kinds=tuple(dict.fromkeys(manifest.kind for manifest in manifests)) + _git_kind(repository),
        git=repository,
        manifests=manifests,
    )


def workspace_lines(facts: WorkspaceFacts, *, detail: Detail, listed: int) -> list[str]:
    """The section's lines; each list shows so many at most and says how many there are."""
    lines = [f"Project: {facts.project or '/'}", f"Type: {', '.join(facts.kinds) or UNKNOWN_KIND}"]
    if facts.git is not None:
        lines += _git_lines(facts.git, detail=detail, listed=listed)
    return lines if detail == "brief" else [*lines, *_stack_lines(facts.manifests, listed)]


def _project_root(folder: Path, repository: GitFacts | None) -> Path:
    if repository is None or repository.bare:
        return folder
    within = [parent for parent in (folder, *folder.parents) if parent.is_relative_to(repository.root)]
    return next((f for f in within if any((f / name).is_file() for name in MANIFESTS)), folder)


def _git_kind(git: GitFacts | None) -> tuple[str, ...]:
    if git is None:
        return ()
    names = {"repository": "git repository", "worktree": "git worktree", "submodule": "git submodule"}
    return ("bare git repository",) if git.bare else (names[git.kind],)


def _git_lines(git: GitFacts, *, detail: Detail, listed: int) -> list[str]:
    branch = f"none (detached at {git.commit})" if git.detached else git.branch or "unknown"
    lines = [f"Branch: {branch}"]
    if detail == "brief":
        return lines
    if not git.bare:
        lines.append(f"Status: {_status(git, listed)}")
    return [*lines, f"Remote: {git.remote}"] if git.remote else lines


def _status(git: GitFacts, listed: int) -> str:
    if git.status == "changed":
        return f"{len(git.changed):,} changed ({_some(git.changed, listed)})"
    return "clean" if git.status == "clean" else "unknown"


def _stack_lines(manifests: Iterable[Manifest], listed: int) -> list[str]:
    lines: list[str] = []
    for manifest in manifests:
        named = [f"{name} {version}".rstrip() for name, version in manifest.dependencies]
        values = (
            ("Frameworks", list(manifest.frameworks)),
            ("Dependencies", named),
            ("Scripts", [script for script in manifest.scripts if script]),
        )
        lines += [f"{title} ({manifest.file}): {_some(found, listed)}" for title, found in values if found]
        if manifest.problem:
            lines.append(f"{manifest.file} {manifest.problem}")
    return lines


def _some(texts: Sequence[str], listed: int) -> str:
    more = len(texts) - listed
    return ", ".join(texts[:listed]) + (f", … and {more:,} more" if more > 0 else "")


def _notes(facts: WorkspaceFacts, provider: str) -> Iterable[Note]:
    if facts.git is not None and facts.git.problem:
        yield Note(kind="info", provider=provider, text=facts.git.problem)
    for manifest in facts.manifests:
        if manifest.problem:
            yield Note(kind="damaged", provider=provider, text=f"{manifest.file} {manifest.problem}.")
