"""A real browser, headless: Chromium as the system has it, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Read when the module is: no test sees variables that begin with CHEATSHEET_.
EXECUTABLE = os.environ.get("CHEATSHEET_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)

_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Seen:
    """What a page did beside showing itself. Without slots: Playwright leaves a mark on what it calls.

    Attributes:
        requests: addresses, of the page itself too.
        said: what stood in the console, and errors that nothing caught.
        asked: texts of dialogs.
    """

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def dismiss(self, dialog: Dialog) -> None:
        self.asked.append(dialog.message)
        dialog.dismiss()


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is closed in the end; only one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=EXECUTABLE, args=_ARGUMENTS)
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def opened(
    where: Browser,
    file: Path,
    *,
    address: str = "",
    size: tuple[int, int] = (1280, 900),
    scheme: Literal["light", "dark"] = "light",
    **context: Any,
) -> Iterator[tuple[Page, Seen]]:
    """A page with its list of questions, and what it did; `address` is what follows the # of its address."""
    seen = Seen()
    width, height = size
    viewport: Any = {"width": width, "height": height}
    made = where.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce", **context)
    try:
        page = made.new_page()
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.said.append(message.text))
        page.on("pageerror", lambda error: seen.said.append(str(error)))
        page.on("dialog", seen.dismiss)
        page.goto(f"{file.as_uri()}{address and '#'}{address}")
        page.locator("tr[data-answer]").first.wait_for()
        yield page, seen
    finally:
        made.close()


def drawn(page: Page) -> int:
    """Scroll to every chart; how many were drawn, as graphics with marks in them."""
    places = page.locator("[data-spec]")
    for place in range(places.count()):
        places.nth(place).scroll_into_view_if_needed()
        places.nth(place).locator("svg .mark-symbol path, svg .mark-line path").first.wait_for(state="attached")
    return page.locator("[data-spec][data-drawn] svg").count()


def colour(page: Page, selector: str, name: str) -> tuple[float, ...]:
    """A colour of the first element, as red, green and blue."""
    text: str = page.locator(selector).first.evaluate(f"each => getComputedStyle(each)[{name!r}]")
    return tuple(float(part) for part in text[text.index("(") + 1 : -1].split(",")[:3])
