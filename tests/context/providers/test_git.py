"""What git knows of a folder, with real repositories: every shape that one can have, and none that runs code."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers import git as git_module
from cheatsheet.context.providers.git import GitFacts, find_git, git_facts, without_credentials
from cheatsheet.context.providers.repository import find_repository, read_head
from tests.context.providers.worlds import git, repository


def facts(folder: Path, **options: object) -> GitFacts:
    found = git_facts(folder, **{"timeout_s": 60.0} | options)  # type: ignore[arg-type]  # options of the function
    assert found is not None
    assert found.is_repo
    return found


@pytest.fixture(autouse=True)
def _no_settings_of_whoever_runs_this(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_a_clean_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"src/a.py": "x"})
    found = facts(root / "src")
    assert found == GitFacts(root=root.resolve(), kind="repository", branch="main", status="clean")


def test_what_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a.py": "x", "b.py": "x", "c d.py": "x"})
    (root / "a.py").write_text("changed", encoding="utf-8")
    (root / "b.py").unlink()
    (root / "new").mkdir()
    for name in ("new/one", "new/two"):
        (root / name).write_text("x", encoding="utf-8")
    git(root, "mv", "c d.py", "e.py")
    found = facts(root)
    assert found.status == "changed"
    assert sorted(found.changed) == [
        "added: e.py",
        "deleted: b.py",
        "deleted: c d.py",
        "modified: a.py",
        "untracked: new/",
    ]


def test_conflicts_are_told(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a": "1"})
    git(root, "switch", "--quiet", "--create", "other")
    (root / "a").write_text("2", encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "-m", "two")
    git(root, "switch", "--quiet", "main")
    (root / "a").write_text("3", encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "-m", "three")
    with pytest.raises(Exception, match="merge"):
        git(root, "merge", "other")
    assert facts(root).changed == ("in conflict: a",)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    root = repository(tmp_path / "empty")
    found = facts(root)
    assert (found.branch, found.detached, found.status) == ("main", False, "clean")


def test_a_detached_head(tmp_path: Path) -> None:
    """Case W08."""
    root = repository(tmp_path / "shop", {"a": "x"})
    git(root, "checkout", "--quiet", "--detach")
    found = facts(root)
    assert (found.branch, found.detached, found.status) == (None, True, "clean")
    assert found.commit == git(root, "rev-parse", "--short", "HEAD")


def test_a_bare_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case W09: a repository, bare, and nobody asks for a status."""
    asked = _asked(monkeypatch)
    (tmp_path / "shop.git").mkdir()
    git(tmp_path / "shop.git", "init", "--quiet", "--bare")
    found = facts(tmp_path / "shop.git")
    assert (found.kind, found.bare, found.branch, found.status, found.problem) == ("bare", True, "main", "none", "")
    assert "status" not in asked


def test_a_folder_of_worktrees_around_a_bare_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case W09: its `.git` is a file that leads to a bare repository."""
    asked = _asked(monkeypatch)
    source = repository(tmp_path / "source", {"a": "x"})
    container = tmp_path / "container"
    container.mkdir()
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(container / ".bare"))
    (container / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    found = facts(container)
    assert (found.bare, found.status, found.problem) == (True, "none", "")
    assert "status" not in asked
    git(container, "worktree", "add", "--quiet", "main-tree", "main")
    tree = facts(container / "main-tree")
    assert (tree.kind, tree.bare, tree.branch, tree.status) == ("worktree", False, "main", "clean")


def test_inside_the_git_folder_there_is_no_status(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    assert facts(root / ".git").root == root.resolve()
    assert facts(root / ".git" / "refs").kind == "repository"


def test_worktrees_and_submodules_are_told_apart(tmp_path: Path) -> None:
    """Case W10."""
    root = repository(tmp_path / "shop", {"a": "x"})
    library = repository(tmp_path / "library", {"b": "x"})
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "tree"))
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub")
    tree, sub = facts(tmp_path / "tree"), facts(root / "sub")
    assert (tree.kind, tree.branch, tree.root) == ("worktree", "side", (tmp_path / "tree").resolve())
    assert (sub.kind, sub.branch, sub.root) == ("submodule", "main", (root / "sub").resolve())
    assert facts(root).kind == "repository"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("gitdir: ../.git/modules/sub", "submodule"),
        ("gitdir: ../.git/worktrees/side", "worktree"),
        ("gitdir: /nowhere", "repository"),
        ("nonsense", "repository"),
        ("", "repository"),
    ],
)
def test_a_git_file_that_leads_nowhere(tmp_path: Path, content: str, kind: str) -> None:
    """Case W10: the root is found, the kind is told, nothing raises and nothing searches on."""
    repository(tmp_path / "outer", {"a": "x"})
    inner = tmp_path / "outer" / "inner"
    inner.mkdir()
    (inner / ".git").write_text(content, encoding="utf-8")
    found = facts(inner)
    assert (found.root, found.kind, found.status) == (inner.resolve(), kind, "unknown")
    assert found.problem.startswith("The repository cannot be used: its .git ")


def test_the_search_ends_at_the_root_of_the_file_system(tmp_path: Path) -> None:
    """Case W10."""
    deep = tmp_path.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    (deep / ".git").mkdir()  # an empty folder is no repository
    assert git_facts(deep, timeout_s=60) is None
    assert find_repository(Path("/")) is None
    assert git_facts(tmp_path / "absent", timeout_s=60) is None


def test_a_status_that_takes_too_long(tmp_path: Path) -> None:
    """Case W11: `timeout`, and what was known before stays."""
    root = repository(tmp_path / "shop", {"a": "x"})
    slow = _program(tmp_path, 'case "$*" in *" status "*) sleep 60;; esac\nexec git "$@"')
    found = facts(root, git=slow, timeout_s=0.6)
    assert (found.branch, found.status) == ("main", "timeout")
    assert found.problem == "git took longer than 0.6 s."


def test_untracked_folders_are_not_listed_file_by_file(tmp_path: Path) -> None:
    """Case W11."""
    root = repository(tmp_path / "shop", {"a": "x"})
    (root / "many").mkdir()
    for number in range(300):
        (root / "many" / str(number)).write_text("x", encoding="utf-8")
    assert facts(root).changed == ("untracked: many/",)


def test_without_git_the_files_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    monkeypatch.setenv("PATH", str(tmp_path))
    found = facts(root)
    assert (found.branch, found.status, found.problem) == ("main", "unknown", "git is not installed.")
    head = (root / ".git/refs/heads/main").read_text(encoding="utf-8")
    (root / ".git/HEAD").write_text(head, encoding="utf-8")
    assert (facts(root).detached, facts(root).commit) == (True, head[:7])


def test_a_git_that_refuses_or_cannot_run(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    other = _program(tmp_path, "echo \"fatal: detected dubious ownership in repository at '/x'\" >&2\nexit 128")
    assert "belongs to another user" in facts(root, git=other).problem
    failing = _program(tmp_path, 'printf "fatal: bad \\377 thing" >&2\nexit 1')
    found = facts(root, git=failing)
    assert (found.branch, found.problem) == ("main", "git cannot be asked: bad � thing.")
    assert "cannot be started" in facts(root, git=tmp_path / "absent").problem


def test_a_program_inside_the_repository_is_not_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    _program(root, "touch ran")
    monkeypatch.setenv("PATH", f"{root}{os.pathsep}{os.environ['PATH']}")
    assert find_git(root.resolve()) is None
    assert find_git(tmp_path / "elsewhere") == root / "git"


def test_a_repository_cannot_run_code(tmp_path: Path) -> None:
    """Its settings name programs in every place where git runs one for a status."""
    root = repository(tmp_path / "evil", {"a": "x", ".gitattributes": "* filter=evil\n"})
    trap = _program(tmp_path / "trap", f"touch {tmp_path}/ran; cat")
    for setting in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "core.pager", "core.askPass"):
        git(root, "config", setting, str(trap))
    for setting in ("core.sshCommand", "credential.helper", "core.alternateRefsCommand", "alias.status"):
        git(root, "config", setting, f"!{trap}")
    git(root, "config", "core.hooksPath", str(trap.parent))
    git(root, "config", "filter.evil.required", "true")
    (root / "a").write_text("y", encoding="utf-8")  # of the same size, so that git has to compare
    assert facts(root).changed == ("modified: a",)
    assert not (tmp_path / "ran").exists()


def test_a_filter_that_cannot_be_switched_off_is_not_run(tmp_path: Path) -> None:
    root = repository(tmp_path / "evil", {"a": "x", ".gitattributes": "* filter=e=vil\n"})
    trap = _program(tmp_path / "trap", f"touch {tmp_path}/ran; cat")
    with (root / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[filter "e=vil"]\n\tclean = {trap}\n')
    (root / "a").write_text("y", encoding="utf-8")
    found = facts(root)
    assert (found.branch, found.status) == ("main", "unknown")
    assert "a program to run, that cannot be switched off" in found.problem
    assert not (tmp_path / "ran").exists()


def test_variables_of_a_hook_do_not_lead_astray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    other = repository(tmp_path / "other", {"b": "x"})
    git(other, "switch", "--quiet", "--create", "wrong")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert facts(root).branch == "main"
    assert facts(root).status == "clean"


def test_looking_writes_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    os.utime(root / "a")  # git would refresh its index
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}
    facts(root)
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    root = repository(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")), {"a": "x"})
    (root / os.fsdecode(b"\xff.txt")).write_text("x", encoding="utf-8")
    found = facts(root)
    assert (found.branch, found.changed) == ("main", ("untracked: \\xff.txt",))


def test_a_workspace_that_is_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert git_facts(tmp_path / "loop", timeout_s=60) is None


def test_references_kept_in_tables(tmp_path: Path) -> None:
    """There HEAD is a placeholder, and only git knows the branch."""
    root = repository(tmp_path / "shop", {"a": "x"})
    (root / ".git/HEAD").write_text("ref: refs/heads/.invalid\n", encoding="utf-8")
    found = find_repository(root)
    assert found is not None
    assert read_head(found) == replace(read_head(found), branch=None, commit=None)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://user:s3cret@github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://ghp_abcdefghijklmnop1234@github.com/a/b", "https://github.com/a/b"),
        ("https://user:p/a@ss@github.com:8443/a/b", "https://github.com:8443/a/b"),
        ("https://user:12345@github.com/a", "https://github.com/a"),
        ("https://host/a?access_token=s3cret#s3cret", "https://host/a"),
        ("https://host:8443/@scope/a", "https://host:8443/@scope/a"),
        ("ssh://git@github.com/a/b", "ssh://git@github.com/a/b"),
        ("ssh://anna:s3cret@host:22/a", "ssh://host:22/a"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("../b", "../b"),
        ("/srv/git/b", "/srv/git/b"),
        ("ext::sh -c 's3cret'", "(an address that runs a command)"),
        ("https://[bad", "https://(an address that cannot be read)"),
        ("file:///srv/b", "file:///srv/b"),
    ],
)
def test_addresses_lose_their_credentials(address: str, shown: str) -> None:
    assert without_credentials(address) == shown


passwords = st.text("abcXYZ0189@/:?#%", min_size=4, max_size=12).map(lambda text: f"S3{text}")


@given(st.sampled_from(["https", "http", "ssh", "git"]), passwords)
def test_no_password_is_shown(scheme: str, password: str) -> None:
    shown = without_credentials(f"{scheme}://anna:{password}@host.example/a/b")
    assert "S3" not in shown


def test_the_remote_of_a_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", {"a": "x"})
    git(root, "remote", "add", "backup", "https://user:s3cret@b.example/x")
    assert facts(root).remote == "backup https://b.example/x"
    git(root, "remote", "add", "origin", "git@c.example:x")
    assert facts(root).remote == "origin git@c.example:x"


def _program(folder: Path, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that are run from now on."""
    asked: list[str] = []
    run = git_module._Git.__call__

    def noted(self: git_module._Git, *arguments: str, **options: object) -> str:
        asked.append(arguments[0])
        return run(self, *arguments, **options)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(git_module._Git, "__call__", noted)
    return asked
