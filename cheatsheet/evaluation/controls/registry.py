"""The controls by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cheatsheet.evaluation.controls import nearest, placebo, random_picks, shuffled
from cheatsheet.evaluation.controls.base import Control

CONTROLS: Final[Mapping[str, Control]] = {
    control.name: control for control in (placebo.CONTROL, random_picks.CONTROL, nearest.CONTROL, shuffled.CONTROL)
}
"""All of them. The empty cheatsheet, which any claim must beat as well, is a published mode: `DC-∅`."""
