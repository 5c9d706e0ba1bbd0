"""The context of `get_context`, and what is written into the day's log after a turn."""

from __future__ import annotations

from pathlib import Path

from cheatsheet.context.home import create_home
from cheatsheet.interfaces.mcp.briefing import AdaptiveBriefing
from cheatsheet.interfaces.wiring import build_engine
from cheatsheet.settings import Settings, load_settings


def settings_in(home: Path) -> Settings:
    return load_settings(home=home, embedder="hashing", time_zone="Europe/Berlin", provider_timeout_s=60.0)


def test_an_agent_is_briefed_by_home_and_memory_and_can_learn_the_turn(tmp_path: Path) -> None:
    create_home(tmp_path / "home")
    settings = settings_in(tmp_path / "home")
    with build_engine(settings) as engine:
        engine.learn("Where do parcels go?", "amber", feedback="wrong: parcels go to crimson")
        briefing = AdaptiveBriefing(settings)
        told = briefing(engine, "Where do parcels go?", False)
        assert "IDENTITY.md" in told.text
        assert "parcels go to crimson" in told.text
        assert told.recall is not None
        assert engine.learn(told.recall, "crimson", feedback=True).experience_id == "exp-00002"


def test_a_turn_is_written_into_the_log_of_the_day(tmp_path: Path) -> None:
    home = tmp_path / "home"
    create_home(home)
    settings = settings_in(home)
    with build_engine(settings) as engine:
        assert AdaptiveBriefing(settings).after_turn(engine, "Where do parcels go?", "crimson", "right") == ()
    (log,) = (home / "memory").glob("*.md")
    written = log.read_text(encoding="utf-8")
    assert "Where do parcels go?" in written
    assert "crimson" in written
    assert "right" in written


def test_without_a_home_nothing_is_written(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "none").model_copy(update={"path": ":memory:"})
    with build_engine(settings) as engine:
        assert AdaptiveBriefing(settings).after_turn(engine, "q", "a", "") == ()
    assert not (tmp_path / "none").exists()
