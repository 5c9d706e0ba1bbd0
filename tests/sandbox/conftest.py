from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from cheatsheet.sandbox.isolation import PRIVATE, bubblewrap
from cheatsheet.sandbox.sandbox import SandboxLimits
from cheatsheet.sandbox.subprocess_sandbox import SubprocessSandbox

Make = Callable[..., SubprocessSandbox]

GENEROUS_S = 30.0
"""Seconds for a program that ends by itself: far more than it needs on a busy machine."""


def _needs_linux() -> None:
    if sys.platform != "linux":
        pytest.skip("programs are run on Linux only")


@pytest.fixture(params=["none", "required"], ids=["plain", "bubblewrap"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes a sandbox with these limits, once without and once with bubblewrap, where that works."""
    _needs_linux()
    isolation: Literal["none", "required"] = request.param
    if isolation == "required" and not (found := bubblewrap(SandboxLimits().file_mib)).command:
        pytest.skip(found.told)

    def made(**limits: Any) -> SubprocessSandbox:
        return SubprocessSandbox(SandboxLimits(**{"timeout_s": GENEROUS_S, **limits}), isolation=isolation)

    return made


@pytest.fixture
def plain() -> Make:
    """As `make`, only without bubblewrap."""
    _needs_linux()

    def made(**limits: Any) -> SubprocessSandbox:
        return SubprocessSandbox(SandboxLimits(**{"timeout_s": GENEROUS_S, **limits}), isolation="none")

    return made


@pytest.fixture
def private() -> Make:
    """As `make`, only with bubblewrap."""
    _needs_linux()
    if (found := bubblewrap(SandboxLimits().file_mib)).told != PRIVATE:
        pytest.skip(found.told)

    def made(**limits: Any) -> SubprocessSandbox:
        return SubprocessSandbox(SandboxLimits(**{"timeout_s": GENEROUS_S, **limits}), isolation="required")

    return made


@pytest.fixture
def fresh_detection() -> Iterator[None]:
    """Bubblewrap is looked for anew in the test, and after it."""
    bubblewrap.cache_clear()
    yield
    bubblewrap.cache_clear()
