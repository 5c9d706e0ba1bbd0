"""Formats by name and by content."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats import FORMATS, format_named, read_playbook, recognise, write_playbook

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SHARED = Path(__file__).parents[4] / "shared" / "data"


def bullet(number: int, section: str, **more: object) -> Bullet:
    content = f"lesson {number}, long enough"
    return Bullet.model_validate(
        {"id": f"x-{number:05d}", "section": section, "content": content, "created_at": NOW, "updated_at": NOW} | more
    )


def test_a_format_is_found_by_its_name() -> None:
    assert format_named("ace").name == "ace"
    assert format_named(" Reasoning-Bank").name == "reasoning-bank"
    with pytest.raises(UnknownNameError, match=r"Unknown format 'yaml'.*'cass'.*'markdown'"):
        format_named("yaml")


@pytest.mark.parametrize(
    "text", ["", "   \n", "Only prose, and no list.", "{}", '{"a": 1}', "[1, 2]", "\x00", "# Title"]
)
def test_what_fits_nothing_is_refused_with_what_fits(text: str) -> None:
    with pytest.raises(SetupError, match=r"'ace': .*'markdown': "):
        recognise(text)


def test_an_unknown_name_is_no_reason_to_guess() -> None:
    with pytest.raises(UnknownNameError):
        read_playbook("- item", "acee")
    with pytest.raises(UnknownNameError):
        write_playbook([], "auto")


def test_a_format_can_be_named_against_appearances() -> None:
    assert [entry.draft.content for entry in read_playbook("- [x] helpful=1 harmful=0 :: y", "markdown").entries] == [
        "[x] helpful=1 harmful=0 :: y"
    ]


def test_what_a_run_left_in_place_of_a_cheatsheet_is_no_list() -> None:
    playbook = read_playbook("### PREVIOUS SOLUTIONS (START)\n\n- an answer\n")
    assert (playbook.format, playbook.entries) == ("dc", ())


def test_sections_come_once_where_they_are_headings() -> None:
    bullets = [bullet(1, "b"), bullet(2, "others"), bullet(3, "b"), bullet(4, "formulas_and_calculations")]
    headings = [line for line in write_playbook(bullets, "ace").text.split("\n") if line.startswith("## ")]
    assert headings[:3] == ["## FORMULAS & CALCULATIONS", "## OTHERS", "## B"]
    ids = [entry.id for entry in read_playbook(write_playbook(bullets, "json").text).entries]
    assert ids == ["x-00001", "x-00002", "x-00003", "x-00004"]


def test_losses_are_counted() -> None:
    bullets = [bullet(1, "b", tags=("t",)), bullet(2, "b", tags=("t",), status="archived"), bullet(3, "b", pinned=True)]
    assert write_playbook(bullets, "ace").lost == (
        "ACE's playbook holds no times: 3 bullets had some.",
        "ACE's playbook holds no tags: 2 bullets had some.",
        "ACE's playbook holds no pins: 1 bullet had some.",
        "ACE's playbook holds no status: 1 archived or merged bullet would be served when read again.",
    )
    assert write_playbook([bullet(1, "b")], "json").lost == ()


def test_texts_that_cass_refuses_are_named() -> None:
    short = bullet(1, "b").model_copy(update={"content": "short"})
    assert "refuse contents of under 10 or over 500" in write_playbook([short], "cass").lost[0]


def test_every_cheatsheet_of_the_published_runs_is_read() -> None:
    files = sorted((SHARED / "dc_runs").glob("*.jsonl.gz"))
    if not files:
        pytest.skip("the published runs are not here")
    texts: set[str] = set()
    for path in files:
        if "Cumulative" in path.name or "RetrievalSynthesis" in path.name:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                texts.update(json.loads(line)["cheatsheet"] for line in lines)
    assert len(texts) > 400
    assert {read_playbook(text).format for text in texts} == {"dc"}
    for text in sorted(texts)[::20]:
        for format in FORMATS:
            format.read(text)
