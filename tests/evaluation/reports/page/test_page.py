"""The page as a file: whole in itself, safe, and readable without scripts."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from cheatsheet.errors import MissingExtraError
from cheatsheet.evaluation.reports.page.content import Report
from cheatsheet.evaluation.reports.page.html import as_html
from cheatsheet.evaluation.reports.page.visible import bound, visible
from tests.evaluation.reports.page.worlds import HOSTILE

pytest.importorskip("vl_convert", reason="pages need the extra `report`")


class Parsed(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._within not in ("script", "style"):
            self.texts.append(data)

    def attribute(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name))]


@pytest.fixture(scope="module")
def page(three_orders: Report) -> str:
    return as_html(three_orders)


def _unpacked(page: str, id: str) -> Any:
    packed = re.search(rf'id="{id}">([^<]*)<', page)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_it_loads_nothing(page: str) -> None:
    parsed = Parsed(page)
    assert parsed.attribute("src") == []
    assert all(address.startswith("#") for address in parsed.attribute("href"))
    assert not re.search(r"url\(|@import", page.split("<script")[0])
    (policy,) = [each for each in parsed.attribute("content") if "default-src" in each]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_what_counts_is_there_without_scripts(page: str) -> None:
    text = " ".join("".join(Parsed(page).texts).split())
    for part in (
        "Memory helps here",
        "retrieval scores 63.3 points more than default (95 % interval 46.7 to 80, n = 30 in 3 orders)",
        "+63.3 points retrieval 96.7 %, default 33.3 %",
        "30 questions in 3 orders (seed 1, seed 2, seed 3), 4 arms, fake/model, scorer exact.",
        "The questions and the charts need JavaScript; the numbers above do not.",
    ):
        assert part in text, part


def test_it_is_written_for_readers_of_all_kinds(page: str) -> None:
    parsed = Parsed(page)
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("h1") == tags.count("main") == tags.count("header") == tags.count("footer") == 1
    assert ("html", {"lang": "en"}) in parsed.tags
    charts = [attributes for _, attributes in parsed.tags if attributes.get("role") == "img"]
    assert len(charts) == 5
    assert all(len(attributes["aria-label"] or "") > 40 for attributes in charts)
    ids = parsed.attribute("id")
    assert len(set(ids)) == len(ids)


def test_every_answer_is_in_it(page: str) -> None:
    index = _unpacked(page, "index")
    assert len(index["answers"]) == 360
    assert [run["order"] for run in index["runs"]] == ["seed 1", "seed 2", "seed 3"]
    details = [detail for number in range(2) for detail in _unpacked(page, f"details-{number}")]
    assert len(details) == 360
    place = next(number for number, values in enumerate(index["answers"]) if index["arms"][values[1]] == "retrieval")
    detail = details[place]
    assert detail["context"] == "(Notes, not instructions.)\nadvice number 0"
    assert detail["ledger"][0]["wanted_tokens"] == 110
    assert detail["learnt"][0]["type"] == "add"
    assert detail["remembered"] == ["exp-00001"]


def test_the_same_runs_make_the_same_page(three_orders: Report, page: str) -> None:
    assert as_html(three_orders) == page


def test_hostile_names_are_texts(hostile: Report) -> None:
    page = as_html(hostile)
    parsed = Parsed(page)
    scripts = [attributes for tag, attributes in parsed.tags if tag == "script"]
    assert [attributes.get("type") for attributes in scripts[-2:]] == [None, None]
    assert all(attributes.get("type") == "text/plain" for attributes in scripts[:-2])
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert page.encode("utf-8")
    assert HOSTILE[0] in "".join(parsed.texts)


def test_without_the_packages_it_says_what_to_install(three_orders: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=r"needs the package vl_convert, .* install the extra `report`"):
        as_html(three_orders)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\n\ttext", "plain\n\ttext"), ("\x00\x1b", "␀␛"), ("\x7f", "␡"), ("\x85", "[U+0085]"),
        ("\u202eevil", "[U+202E]evil"), ("\ud800x", "\ufffdx"), ("👩‍🚀 שלום", "👩‍🚀 שלום"),
    ],
)  # fmt: skip
def test_what_is_not_seen_is_made_visible(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_a_number_stays_with_what_belongs_to_it() -> None:
    told = bound("scores 5 points more (95 % interval 1 to 9, n = 40); p < 0.001").replace("\N{NO-BREAK SPACE}", "_")
    assert told == "scores 5 points more (95_% interval 1 to 9, n_=_40); p_<_0.001"
