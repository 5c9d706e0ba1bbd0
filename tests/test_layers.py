"""The walls of the house: imports run one way (the contracts stand in pyproject.toml)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports


@pytest.fixture
def _loggers_stay() -> Iterator[None]:
    """The linter sets up logging and silences all loggers that are there; later tests listen to ours."""
    known = [logger for logger in logging.Logger.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    silent = {logger: logger.disabled for logger in known}
    handlers, level = list(logging.root.handlers), logging.root.level
    yield
    for logger, was_silent in silent.items():
        logger.disabled = was_silent
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.mark.usefixtures("_loggers_stay")
def test_the_import_contracts_hold() -> None:
    config = Path(__file__).parent.parent / "pyproject.toml"
    assert lint_imports(config_filename=str(config), no_cache=True) == 0
