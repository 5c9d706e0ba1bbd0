"""The walls of the house: imports run one way (the contracts stand in pyproject.toml)."""

from __future__ import annotations

from pathlib import Path

from importlinter.cli import lint_imports


def test_the_import_contracts_hold() -> None:
    config = Path(__file__).parent.parent / "pyproject.toml"
    assert lint_imports(config_filename=str(config), no_cache=True) == 0
