"""What all tests share: no network, no home of the user's, no settings of the user's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.memory.stores"]

# Hypothesis must not fail a law because a shared machine was slow for a moment.
settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tests")

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(autouse=True)
def _private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing reads or writes the home of whoever runs the tests."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("CHEATSHEET_", "MINICLAW_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CHEATSHEET_HOME", str(home / ".cheatsheet"))


@pytest.fixture
def start() -> datetime:
    """A fixed moment."""
    return datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


class TickingClock:
    """A clock that goes one second further each time it is read."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock(start: datetime) -> TickingClock:
    return TickingClock(start)


@pytest.fixture
def memory_file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(scope="session", autouse=True)
def _main_loop() -> Iterator[None]:
    """A loop that is closed in the end: litellm asks for the main thread's loop, which else is made and forgotten."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()


@pytest.fixture(scope="session", autouse=True)
def _exports(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One folder for the exported model of all test processes of a run: exporting takes long."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    os.environ["TEST_EXPORTS"] = str(shared / "exports")
