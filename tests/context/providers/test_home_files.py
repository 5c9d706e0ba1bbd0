"""Home files by the design's table, first-run instructions, runtime facts, and the part of the day."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.context.providers.bootstrap import BootstrapProvider
from cheatsheet.context.providers.clock import TimeModeProvider
from cheatsheet.context.providers.continuation import Continuation
from cheatsheet.context.providers.home_files import HOME_FILES, HomeFilesProvider
from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.runtime import RuntimeFacts, RuntimeProvider
from cheatsheet.context.providers.time_mode import TimeModes
from cheatsheet.context.render import MEMORY_PRIORITY
from tests.context.providers.worlds import PATIENT, at, request, write

FACTS = RuntimeFacts(python="3.11.7", system="Linux x86_64")


def test_each_file_has_the_priority_of_the_table(tmp_path: Path) -> None:
    write(tmp_path, {name: f"text of {name}\n" for name in HOME_FILES})
    provided = HomeFilesProvider().provide(request(tmp_path))
    assert {section.name: section.priority for section in provided.sections} == {
        "IDENTITY.md": 10,
        "SOUL.md": 9,
        "AGENTS.md": 9,
        "USER.md": 8,
        "MEMORY.md": MEMORY_PRIORITY,
        "TOOLS.md": 6,
        "HEARTBEAT.md": 4,
    }
    assert provided.sections[0].text == "# IDENTITY.md\n\ntext of IDENTITY.md"
    assert all(section.stable for section in provided.sections)


def test_absent_and_empty_files_are_no_sections(tmp_path: Path) -> None:
    write(tmp_path, {"SOUL.md": " \n", "USER.md": "Anna"})
    provided = HomeFilesProvider().provide(request(tmp_path))
    assert [section.name for section in provided.sections] == ["USER.md"]
    assert {fact.path: fact.health for fact in provided.files}["SOUL.md"] == "empty"
    assert {fact.health for fact in provided.files} == {"ok", "empty", "missing"}


def test_tool_settings_are_in_full_in_the_working_hours(tmp_path: Path) -> None:
    write(tmp_path, {"TOOLS.md": "```\n" + "make test\n" * 500})
    limits = Limits(tools_chars=500)
    by_hour = {
        hour: HomeFilesProvider()
        .provide(request(tmp_path, now=at(f"2026-01-05T{hour}:00"), limits=limits))
        .sections[0]
        .text
        for hour in ("07", "10", "19")
    }
    assert by_hour["10"].count("make test") == 500
    assert by_hour["07"] == by_hour["19"]
    assert len(by_hour["07"]) <= 500
    assert "[… shortened: " in by_hour["07"]
    assert by_hour["07"].count("```") == 2


def test_a_file_over_its_limit_is_shown_to_there(tmp_path: Path) -> None:
    write(tmp_path, {"MEMORY.md": "x" * 5_000})
    provided = HomeFilesProvider().provide(request(tmp_path, limits=Limits(file_bytes=1_000)))
    assert provided.sections[0].text.count("x") == 1_000
    (memory,) = [fact for fact in provided.files if fact.path == "MEMORY.md"]
    assert (memory.health, memory.why) == ("oversized", "has 5,000 bytes, of which 1,000 are read")


def test_first_run_instructions_are_for_fresh_sessions(tmp_path: Path) -> None:
    write(tmp_path, {"BOOTSTRAP.md": "Ask for the name."})
    (section,) = BootstrapProvider().provide(request(tmp_path)).sections
    assert (section.priority, section.text) == (2, "# BOOTSTRAP.md\n\nAsk for the name.")
    goes_on = BootstrapProvider().provide(request(tmp_path, continuation=Continuation(is_continuation=True)))
    assert goes_on.sections == ()
    assert goes_on.files[0].health == "ok"  # known also when it is not shown: it did not go


def test_runtime_facts(tmp_path: Path) -> None:
    (section,) = RuntimeProvider(facts=FACTS).provide(request(tmp_path, workspace=tmp_path / "shop")).sections
    assert section.priority == 5
    assert [item.text for item in section.items] == [
        "- Date: Monday, 2026-01-05 (Europe/Berlin)",
        "- Folder: shop",
        "- Python 3.11.7 on Linux x86_64",
    ]


def test_the_date_is_that_of_the_user(tmp_path: Path) -> None:
    late = at("2026-01-05T23:30", "America/New_York")
    (section,) = RuntimeProvider(facts=FACTS).provide(request(tmp_path, now=late)).sections
    assert section.items[0].text == "- Date: Monday, 2026-01-05 (America/New_York)"


@pytest.mark.parametrize(
    ("hour", "words"),
    [
        (7, ["morning ☀️ (06:00–09:00)", "Yesterday's log", "to-dos"]),
        (10, ["work 💼 (09:00–12:00, 14:00–18:00)", "Everything is loaded"]),
        (13, ["break 🍜 (12:00–14:00)", "light"]),
        (19, ["evening 🌙 (18:00–22:00)", "look back", "distil", "tidy", "sum up"]),
        (23, ["night 😴 (22:00–06:00)", "core"]),
    ],
)
def test_the_part_of_the_day_says_what_it_asks_for(tmp_path: Path, hour: int, words: list[str]) -> None:
    now = at(f"2026-01-05T{hour:02}:15")
    (section,) = TimeModeProvider().provide(request(tmp_path, now=now)).sections
    assert section.priority == 10
    for word in words:
        assert word in section.text


def test_a_table_of_ones_own_is_obeyed(tmp_path: Path) -> None:
    table = TimeModes.parse({"evening": "05:00-13:00", "work": "13:00-05:00"})
    (section,) = TimeModeProvider().provide(request(tmp_path, time_modes=table)).sections
    assert "evening 🌙 (05:00–13:00)" in section.text


def test_requests_need_a_time_zone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give a moment with the time zone"):
        request(tmp_path, now=at("2026-01-05T07:30").replace(tzinfo=None))
    with pytest.raises(ValueError, match="skills is 0"):
        Limits(skills=0)
    assert PATIENT.git_timeout_s > 1
