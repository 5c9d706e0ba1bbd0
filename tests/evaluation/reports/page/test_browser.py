"""The page in a real browser: it opens from a file, draws, filters, suits phones and the dark, and reaches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cheatsheet.evaluation.reports.page.content import Report, report_of
from cheatsheet.evaluation.runs.reading import find_runs
from tests.evaluation.reports.page import worlds
from tests.evaluation.reports.page.browser import EXECUTABLE, browser, colour, drawn, opened
from tests.evaluation.reports.page.worlds import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright", reason="the browser is driven by playwright")
pytest.importorskip("vl_convert", reason="pages need the extra `report`")
pytestmark = pytest.mark.skipif(
    EXECUTABLE is None, reason="no Chromium: neither on the path nor in CHEATSHEET_CHROMIUM"
)

PHONE = (360, 780)
MANY = 5_000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    # Not for the whole session: while it is open, no other test of the process could run an event loop.
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory, three_orders: Report) -> Path:
    return _written(tmp_path_factory.mktemp("page") / "report.html", three_orders)


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory, hostile: Report) -> Path:
    return _written(tmp_path_factory.mktemp("page") / "hostile.html", hostile)


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    marks = "+-" * (MANY // 2)
    arms = {"default": worlds.stream(marks), "retrieval": worlds.stream(marks, tokens=200)}
    worlds.write_run(folder / "run", arms, learns=False)
    return _written(folder / "report.html", report_of(find_runs([folder])))


def _written(file: Path, report: Report) -> Path:
    from cheatsheet.evaluation.reports.page.html import as_html

    file.write_text(as_html(report), encoding="utf-8")
    return file


def _rows(page: Page) -> Any:
    return page.locator("tr[data-answer]")


def _count(page: Page) -> str:
    return page.locator(".found output").inner_text()


def _hash(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def test_it_opens_draws_and_reaches_nothing(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as (page, seen):
        assert page.title() == "Memory on colours"
        assert page.locator("h1").inner_text() == "Memory helps here"
        assert page.locator(".lead").inner_text().startswith("retrieval scores 63.3 points more than default")
        assert drawn(page) == 5
        assert seen.requests == [page_file.as_uri()]
        assert seen.said == []


def test_charts_follow_the_width_of_the_window(chromium: Browser, page_file: Path) -> None:
    from playwright.sync_api import expect

    with opened(chromium, page_file) as (page, _):
        drawn(page)
        page.set_viewport_size({"width": 500, "height": 900})
        expect(page.locator("[data-spec] svg").first).to_have_attribute("width", re.compile(r"^4[0-5]\d(\.\d+)?$"))


def test_filters_change_the_rows_and_stand_in_the_address(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as (page, _):
        assert _count(page) == "360 of 360 answers, 171 right"
        page.locator("[name=arm]").select_option("retrieval")
        page.locator("[name=order]").select_option("seed 2")
        assert _count(page) == "30 of 360 answers, 29 right"
        assert set(page.locator("td[data-name=arm]").all_inner_texts()) == {"retrieval"}
        page.locator("[name=result]").select_option("wrong")
        assert _count(page) == "1 of 360 answers, 0 right"
        assert _hash(page) == "#questions?result=wrong&arm=retrieval&order=seed+2"
        page.get_by_role("button", name="Show all").click()
        assert _count(page) == "360 of 360 answers, 171 right"
        page.get_by_label("Text in question").fill("THING 12?")
        assert _count(page) == "12 of 360 answers, 3 right"


def test_what_memory_won_and_lost_can_be_listed(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, address="questions?arm=retrieval&result=gained") as (page, _):
        assert _count(page) == "57 of 360 answers, 57 right"
        page.locator("[name=result]").select_option("lost")
        assert _count(page) == "0 of 360 answers, 0 right"


def test_an_answer_shows_its_context_and_what_was_learnt(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, address="questions?arm=retrieval&order=seed+1") as (page, _):
        page.get_by_role("button", name="What is the colour of thing 4?").click()
        page.locator("tr.detail", has_text="advice number 4").wait_for()
        told = page.locator("tr.detail").inner_text()
        for part in (
            "advice number 4", "It fits whole.", "misc-00001", "Thing 4 is amber, not amber.", "exp-0000",
            "I think that it is amber.", "110 tokens", "5 in the stream (seed 1)",
        ):  # fmt: skip
            assert part.casefold() in told.casefold(), part
        page.get_by_role("button", name="What is the colour of thing 4?").click()
        assert page.locator("tr.detail").count() == 0


def test_an_answer_has_an_address_of_its_own(chromium: Browser, page_file: Path) -> None:
    from playwright.sync_api import expect

    with opened(chromium, page_file) as (page, _):
        _rows(page).nth(1).get_by_role("button").click()
        address = page.get_by_role("link", name="Link to this answer").get_attribute("href") or ""
    with opened(chromium, page_file, address=address.removeprefix("#")) as (page, _):
        page.locator("tr.detail").wait_for()
        assert _rows(page).count() == 12  # four arms in three orders
        assert page.locator("tr.open").get_attribute("data-answer") == "colours-fake-model-seed-1/retrieval/q-000"
        expect(page.locator("tr.open")).to_be_in_viewport()
        page.get_by_role("link", name="default, seed 2").click()
        page.locator("tr.open[data-answer*='seed-2/default']").wait_for()
        page.get_by_role("button", name="Only q-000").click()
        assert _count(page) == "360 of 360 answers, 171 right"


def test_tables_can_be_sorted(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as (page, _):
        table = page.get_by_role("table", name="The arms, colours")
        heading = table.get_by_role("button", name="accuracy")
        heading.click()
        assert table.locator("tbody th").all_inner_texts() == ["full-history", "default", "random", "retrieval"]
        heading.click()
        assert table.locator("tbody th").first.inner_text() == "retrieval"
        assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
        questions = page.locator("table.questions")
        questions.get_by_role("button", name="Tokens").click()
        questions.get_by_role("button", name="Tokens").click()
        assert _rows(page).first.locator("td").last.inner_text() == "902"


def test_it_can_be_used_from_the_keyboard(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the comparison"
        _rows(page).first.get_by_role("button").focus()
        page.keyboard.press("Enter")
        page.locator("tr.detail .inside").wait_for()
        assert _rows(page).first.get_by_role("button").get_attribute("aria-expanded") == "true"


def test_the_dark_is_the_systems_or_the_readers_choice(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, scheme="dark") as (page, _):
        drawn(page)
        dark, mark = colour(page, "body", "backgroundColor"), colour(page, ".mark-symbol path", "fill")
        assert sum(dark) < 150
        page.get_by_role("button", name="Show the page in light colours").click()
        assert sum(colour(page, "body", "backgroundColor")) > 600
        assert colour(page, ".mark-symbol path", "fill") != mark
        page.reload()
        page.locator("tr[data-answer]").first.wait_for()
        assert sum(colour(page, "body", "backgroundColor")) > 600


def test_paper_is_white(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, scheme="dark") as (page, _):
        page.emulate_media(media="print")
        assert sum(colour(page, "body", "color")) < 150
        assert not page.locator("form.filters").is_visible()


@pytest.mark.parametrize("which", ["page_file", "hostile_file"])
def test_a_phone_shows_it_without_scrolling_sideways(
    chromium: Browser, which: str, request: pytest.FixtureRequest
) -> None:
    with opened(chromium, request.getfixturevalue(which), size=PHONE) as (page, _):
        drawn(page)
        for place in (0, 1):
            _rows(page).nth(place).get_by_role("button").click()
        page.locator("tr.detail .inside").nth(1).wait_for()
        page.locator("figure summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_keeps_the_rules_of_accessibility(chromium: Browser, page_file: Path, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe judges accessibility")
    with opened(chromium, page_file, scheme=scheme, bypass_csp=True) as (page, _):
        drawn(page)
        _rows(page).first.get_by_role("button").click()
        page.locator("tr.detail .inside").wait_for()
        found = axe.Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


def test_hostile_texts_are_texts(chromium: Browser, hostile_file: Path) -> None:
    with opened(chromium, hostile_file) as (page, seen):
        for place in range(2 * len(HOSTILE)):
            _rows(page).nth(place).get_by_role("button").click()
        page.locator("tr.detail .inside").nth(2 * len(HOSTILE) - 1).wait_for()
        told = page.locator("table.questions").inner_text()
        for text in HOSTILE[:5]:
            assert text in told
        assert "half \ufffd and ␀ bell ␇ ␛[31m" in told
        assert "turned [U+202E]evil[U+202C]" in told
        assert "| `code` *bold* [link](javascript:alert(1))" in told
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main svg[onload], main script").count() == 0
        assert (seen.said, seen.asked, seen.requests) == ([], [], [hostile_file.as_uri()])


def test_the_page_forbids_itself_what_it_does_not_need(chromium: Browser, page_file: Path) -> None:
    """Should a text ever get through as markup, it still runs nothing and reaches nothing."""
    with opened(chromium, page_file) as (page, seen):
        page.evaluate(
            """() => {
                document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hacked = 1">');
                document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}));
            }"""
        )
        assert page.evaluate("fetch('https://example.invalid').then(() => 'reached', () => 'refused')") == "refused"
        assert page.evaluate("window.hacked") is None
        assert all("Content Security Policy" in said for said in seen.said), seen.said


def test_many_questions_stay_usable(chromium: Browser, large_file: Path) -> None:
    with opened(chromium, large_file) as (page, _):
        assert re.match(rf"{2 * MANY:,} of {2 * MANY:,} answers", _count(page))
        assert _rows(page).count() <= 100
        page.get_by_label("Text in question").fill(f"thing {MANY - 1}?")
        assert _rows(page).count() == 2
        _rows(page).first.get_by_role("button").click()
        page.get_by_text("the memory cannot be read").wait_for()
        page.get_by_role("button", name="Show all").click()
        page.locator("footer").scroll_into_view_if_needed()
        _rows(page).nth(50).wait_for()
