"""Homes, repositories and requests that the tests of providers are made with."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.provider import ContextRequest

BERLIN = ZoneInfo("Europe/Berlin")
# A shared machine may be slow; no test waits for these.
PATIENT = Limits(provider_timeout_s=120, git_timeout_s=60)
WORK_TIME = datetime(2026, 1, 5, 10, 30, tzinfo=BERLIN)


def at(text: str, zone: str = "Europe/Berlin") -> datetime:
    """A moment by the clock on the wall."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def request(home: Path, **options: Any) -> ContextRequest:
    """A request on a working day, unless the options say otherwise."""
    values: dict[str, Any] = {"now": WORK_TIME, "home": home, "limits": PATIENT}
    return ContextRequest(**values | options)


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder; returns the folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def touch(path: Path, moment: datetime) -> None:
    """Set when a file was last written."""
    os.utime(path, (moment.timestamp(), moment.timestamp()))


def git(folder: Path, *arguments: str) -> str:
    """Run the real git, with nothing of whoever runs the tests."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "file",
    }
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """A repository with one commit of these files; without files there is no commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    if files:
        write(folder, files)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "first")
    return folder
