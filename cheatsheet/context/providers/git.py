"""What git knows of a folder: asked of the git program, within a time limit, so that no repository can run code."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit, urlunsplit

from cheatsheet.context.fence import one_line
from cheatsheet.context.home import is_within
from cheatsheet.context.providers.repository import Repository, RepositoryKind, find_repository, read_head
from cheatsheet.safety.secrets import mask_secrets

GitStatus = Literal["clean", "changed", "timeout", "none", "unknown"]

# What a repository's own settings could have run by asking for its status (git-config(1)), and what waits for a user.
_HARDENED: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENVIRONMENT: Final = {
    "GIT_OPTIONAL_LOCKS": "0",  # looking at a repository writes nothing into it
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_INHERITED: Final = ("PATH", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
_PLAIN_FILTER: Final = re.compile(r"filter\.([\w.-]+)\.(clean|process)")
_STATUS_LETTERS: Final = {"?": "untracked", "U": "in conflict", "A": "added", "D": "deleted", "R": "renamed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    """What is known of a repository.

    Attributes:
        branch: None where the head is detached or not known.
        commit: the short hash of a detached head.
        status: `none` where there is no work tree; `unknown` where git could not be asked.
        changed: paths with what became of them, such as `modified: a.py`.
        remote: name and address, without credentials.
        problem: why something is unknown, as a sentence.
    """

    root: Path
    kind: RepositoryKind
    bare: bool = False
    branch: str | None = None
    detached: bool = False
    commit: str | None = None
    status: GitStatus = "unknown"
    changed: tuple[str, ...] = ()
    remote: str = ""
    problem: str = ""

    @property
    def is_repo(self) -> bool:
        """True: a folder outside any repository has no facts at all."""
        return True


def git_facts(folder: Path, *, timeout_s: float, git: Path | None = None) -> GitFacts | None:
    """What git knows of the repository that a folder belongs to; None outside any.

    What was answered stays when a later question is not.

    Args:
        timeout_s: for all questions together; the status comes last and gets what is left.
        git: the program; None looks for it on the search path.
    """
    repository = find_repository(folder)
    if repository is None:
        return None
    facts = _by_files(repository)
    program = git or find_git(repository.root)
    if program is None or repository.problem:
        why = f"The repository cannot be used: {repository.problem}." if repository.problem else "git is not installed."
        return replace(facts, problem=why)
    ask = _Git(program, repository.root, timeout_s)
    try:
        for question in (_bare, _head, _remote, _status):
            facts = question(ask, facts)
    except _SlowError:
        return replace(facts, status="timeout", problem=f"git took longer than {timeout_s:g} s.")
    except _RefusedError as error:
        return replace(facts, problem=_why_refused(str(error)))
    return facts


def find_git(outside: Path) -> Path | None:
    """The git program; one inside the folder that is looked at is none."""
    found = shutil.which("git")
    if found is None or is_within(os.path.realpath(found), str(outside)):
        return None
    return Path(found).absolute()


def without_credentials(address: str) -> str:
    """A remote's address without user, password, query and what looks like a key; a command is not shown at all."""
    if "::" in address.split("/")[0]:
        return "(an address that runs a command)"
    if "://" not in address:
        return one_line(mask_secrets(address))  # git@host:path, or a folder
    scheme, _, rest = address.partition("://")
    try:
        parts = urlsplit(f"{scheme}://{_host_and_path(rest)}")
    except ValueError:  # an address that is none
        return f"{one_line(scheme)}://(an address that cannot be read)"
    user = "git@" if scheme.startswith("ssh") and rest.startswith("git@") else ""
    return one_line(mask_secrets(urlunsplit((parts.scheme, user + parts.netloc, parts.path, "", ""))))


def _host_and_path(rest: str) -> str:
    """What stands behind the credentials, which may hold `/` and `@` where nobody encoded them."""
    host, _, _ = rest.partition("/")
    if "@" in host:
        return rest[len(host) - len(host.rpartition("@")[2]) :]
    port = host.partition(":")[2]
    return rest.rpartition("@")[2] if port and not port.isdigit() and "@" in rest else rest


class _SlowError(Exception):
    """git took longer than it may."""


class _RefusedError(Exception):
    """git cannot or will not answer; the text is its reason."""


class _Git:
    """Runs the git program in one folder."""

    def __init__(self, program: Path, folder: Path, timeout_s: float) -> None:
        self._program = program
        self._folder = folder
        self._until = time.monotonic() + timeout_s

    def __call__(self, *arguments: str, more: tuple[str, ...] = (), allowed: tuple[int, ...] = (0,)) -> str:
        """The output of a git command; bytes that are not UTF-8 are written `\\xff`."""
        settings = [part for setting in (*_HARDENED, *more) for part in ("-c", setting)]
        command = [str(self._program), "--no-pager", *settings, *arguments]
        try:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=_environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in a path
            raise _RefusedError(f"cannot be started: {error}") from error
        with process:
            try:
                out, err = process.communicate(timeout=max(0.01, self._until - time.monotonic()))
            except subprocess.TimeoutExpired as error:
                _end(process)
                raise _SlowError from error
        if process.returncode not in allowed:
            raise _RefusedError(one_line(err.decode("utf-8", "replace")) or f"ended with {process.returncode}")
        return out.decode("utf-8", "backslashreplace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has just ended by itself
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Little of the environment: variables such as GIT_DIR, set inside hooks, would lead to another repository."""
    return {name: value for name, value in given.items() if name.upper() in _INHERITED} | _ENVIRONMENT


def _by_files(repository: Repository) -> GitFacts:
    """What the repository's files tell without git."""
    head = read_head(repository)
    return GitFacts(
        root=repository.root,
        kind=repository.kind,
        bare=repository.kind == "bare",
        branch=head.branch and one_line(head.branch),
        detached=head.commit is not None,
        commit=head.commit,
        status="none" if repository.kind == "bare" else "unknown",
    )


def _bare(git: _Git, facts: GitFacts) -> GitFacts:
    """A bare repository may also lie behind the `.git` of a folder that holds its worktrees."""
    bare, inside = git("rev-parse", "--is-bare-repository", "--is-inside-work-tree").split()
    status: GitStatus = "none" if bare == "true" or inside != "true" else "unknown"
    return replace(facts, bare=bare == "true", status=status)


def _head(git: _Git, facts: GitFacts) -> GitFacts:
    branch = git("symbolic-ref", "--quiet", "HEAD", allowed=(0, 1)).strip().removeprefix("refs/heads/")
    if branch:
        return replace(facts, branch=one_line(branch), detached=False, commit=None)
    return replace(facts, branch=None, detached=True, commit=git("rev-parse", "--short", "HEAD").strip())


def _remote(git: _Git, facts: GitFacts) -> GitFacts:
    """The remote `origin`, or else the first by name."""
    found: dict[str, str] = {}
    for _, key, address in _settings(git, r"^remote\..*\.url$"):
        found.setdefault(key.removeprefix("remote.").removesuffix(".url"), address)
    if not found:
        return facts
    name = "origin" if "origin" in found else min(found)
    return replace(facts, remote=f"{one_line(name, max_chars=60)} {without_credentials(found[name])}")


def _status(git: _Git, facts: GitFacts) -> GitFacts:
    """Clean, or what changed. Submodules are not looked into, and files that git does not know are not opened."""
    if facts.status == "none":
        return facts
    out = git(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=all",
        "--no-renames",
        more=_without_filters(git),
    )
    changed = tuple(_change(entry) for entry in out.split("\0") if len(entry) > 3)
    return replace(facts, status="changed" if changed else "clean", changed=changed)


def _without_filters(git: _Git) -> tuple[str, ...]:
    """Settings that switch off the filters of the repository's own: programs that git runs to compare files.

    Filters that the user set for all repositories stay.
    """
    off: list[str] = []
    for scope, key, _ in _settings(git, r"^filter\..*\.(clean|process)$"):
        if scope not in ("local", "worktree"):
            continue
        plain = _PLAIN_FILTER.fullmatch(key)
        if plain is None:
            raise _RefusedError("its own settings name a filter, a program to run, that cannot be switched off")
        off += [f"filter.{plain[1]}.{name}" for name in ("clean=", "process=", "required=false")]
    return tuple(dict.fromkeys(off))


def _settings(git: _Git, pattern: str) -> list[tuple[str, str, str]]:
    """Scope, key and value of every setting whose key matches."""
    out = git("config", "--show-scope", "--null", "--get-regexp", pattern, allowed=(0, 1))
    fields = out.split("\0")
    return [(scope, *_key_and_value(setting)) for scope, setting in zip(fields[::2], fields[1::2], strict=False)]


def _key_and_value(setting: str) -> tuple[str, str]:
    key, _, value = setting.partition("\n")
    return key, value


def _change(entry: str) -> str:
    letters, path = entry[:2], one_line(entry[3:], max_chars=120)
    letter = "U" if "U" in letters or letters in ("AA", "DD") else letters.strip()[:1]
    return f"{_STATUS_LETTERS.get(letter, 'modified')}: {path}"


def _why_refused(reason: str) -> str:
    if "dubious ownership" in reason:
        return "git refuses the repository, because it belongs to another user (git's setting safe.directory)."
    return f"git cannot be asked: {reason.removeprefix('fatal: ').rstrip('.')}."
