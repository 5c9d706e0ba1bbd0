"""How arms are told apart in charts: by a colour, and by dash and shape where there are more arms than colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

COLOURS = 8
"""So many colours `page.css` has for arms, `--arm-0` to `--arm-7`; the first one, a grey, is the baseline's."""

Shape = Literal["circle", "square", "triangle-up", "diamond"]

_ROUNDS: tuple[tuple[tuple[int, ...], Shape, str], ...] = (
    ((1, 0), "circle", "M8.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0"),
    ((6, 4), "square", "M8.5 2.5h7v7h-7z"),
    ((2, 3), "triangle-up", "M12 1.5l5 9h-10z"),
    ((8, 3, 2, 3), "diamond", "M12 1l5 5-5 5-5-5z"),
)
"""Dash, shape, and the shape as a path around (12, 6): one after the other, each with all colours."""


@dataclass(frozen=True, slots=True)
class Style:
    """Of one arm.

    Attributes:
        colour: as CSS knows it.
        dash: lengths of line and gap in pixels.
        shape: of its points, as Vega-Lite knows it.
        path: the shape in the middle of a swatch of 24 by 12, as SVG knows it.
    """

    colour: str
    dash: tuple[int, ...]
    shape: Shape
    path: str


def styles_of(arms: Sequence[str], *, baseline: str) -> Mapping[str, Style]:
    """The styles of all arms of a report, so that an arm looks the same in every chart; a baseline may be empty."""
    styles = {baseline: Style("var(--arm-0)", *_ROUNDS[0])} if baseline else {}
    for place, arm in enumerate(arm for arm in arms if arm != baseline):
        turn, colour = divmod(place, COLOURS - 1)
        styles[arm] = Style(f"var(--arm-{colour + 1})", *_ROUNDS[turn % len(_ROUNDS)])
    return styles
