"""Where the children of these tests come from, and memories for them to harm."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.faults.dying import AtStep, FailingCalls
from benchmarks.faults.nursery import Nursery
from tests.faults import deeds

WARM = "tests.faults.deeds:warm"
NOTHING = "tests.faults.deeds:nothing"

# In a name space of its own, so that nobody else sees the mounts and none is left behind.
_OTHER_WORLD = """
mount -t tmpfs -o size=1m tmpfs "$0/full" && head -c 400000 /dev/zero > "$0/full/filler" &&
mount --bind "$0/read-only" "$0/read-only" && mount -o remount,bind,ro "$0/read-only" && exec "$@"
"""


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery([WARM]) as nursery:
        yield nursery


@pytest.fixture(scope="session")
def tracing_nursery(nursery: Nursery) -> Nursery:
    """One that may follow its children from system call to system call."""
    life = nursery.live(NOTHING, death=AtStep(step=1))
    if not life.facts.get("calls"):
        pytest.skip(f"processes cannot be traced here: {life.error or 'no system call was seen'}")
    return nursery


@pytest.fixture(scope="session")
def failing_nursery(tracing_nursery: Nursery) -> Nursery:
    """One that may let their system calls fail."""
    if not FailingCalls.possible():
        pytest.skip("system calls can be made to fail on x86-64 only")
    return tracing_nursery


@pytest.fixture(scope="session")
def mounted(lived_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a small disk (`full`) and one that cannot be written (`read-only`), for its nursery only."""
    folder = tmp_path_factory.mktemp("mounted")
    (folder / "full").mkdir()
    (folder / "read-only").mkdir()
    shutil.copy(lived_once, folder / "read-only")
    return folder


@pytest.fixture(scope="session")
def mounting_nursery(mounted: Path) -> Iterator[Nursery]:
    world = ["unshare", "--map-root-user", "--mount", "sh", "-c", _OTHER_WORLD, str(mounted)]
    if not shutil.which("unshare") or subprocess.run([*world, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here, not even in a name space of its own")
    with Nursery([WARM], before=world) as nursery:
        yield nursery


@pytest.fixture(scope="session")
def lived_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with twelve turns, to be copied."""
    path = tmp_path_factory.mktemp("lived") / "memory.db"
    deeds.lived(path, 12)
    return path


@pytest.fixture
def lived(lived_once: Path, tmp_path: Path) -> Path:
    """The same, to be harmed."""
    return Path(shutil.copy(lived_once, tmp_path / "memory.db"))
