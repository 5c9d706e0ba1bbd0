"""Settings: where they come from, and what happens to mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.errors import SettingsError
from cheatsheet.settings import load_settings


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("postgresql://ann:s3cret@host/notes?schema=team", "postgresql://ann@host/notes?schema=team"),
        ("postgresql://ann:pa/s3@cret?x@host/notes", "postgresql://ann@host/notes"),
        (
            "postgresql://host/notes?password=s3cret&SSLPASSWORD=s3cret",
            "postgresql://host/notes?password=***&SSLPASSWORD=***",
        ),
        ("postgresql://ann@/notes?host=/run", "postgresql://ann@/notes?host=/run"),
    ],
)
def test_an_address_is_shown_without_its_password(path: str, shown: str) -> None:
    settings = load_settings(path=path)
    assert (settings.memory_path, settings.memory_shown) == (path, shown)
    assert "s3" not in repr(settings)


def test_arguments_win_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cheatsheet.toml").write_text("top_k = 1\ngrow_threshold = 0.1\ntemperature = 0.1\n", encoding="utf-8")
    monkeypatch.setenv("CHEATSHEET_GROW_THRESHOLD", "0.2")
    monkeypatch.setenv("CHEATSHEET_TEMPERATURE", "0.2")
    loaded = load_settings(temperature=0.3)
    assert (loaded.top_k, loaded.grow_threshold, loaded.temperature) == (1, 0.2, 0.3)


def test_none_means_not_given_and_zero_means_zero() -> None:
    assert load_settings(top_k=None).top_k == 5
    assert load_settings(grow_threshold=0.0).grow_threshold == 0.0
    assert load_settings(token_budget=0).token_budget == 0


@pytest.mark.parametrize(
    ("name", "text"), [("cheatsheet.yaml", "top_k: 3\nfallbacks: [a, b]\n"), ("cheatsheet.yml", "top_k: 3")]
)
def test_yaml_is_read(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")
    assert load_settings().top_k == 3


def test_the_file_at_home_is_read_when_there_is_none_here(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "cheatsheet.toml").write_text("top_k = 9", encoding="utf-8")
    assert load_settings(home=home).top_k == 9
    assert load_settings(home=home).memory_path == str(home / "memory.db")


def test_a_named_file_is_read_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cheatsheet.toml").write_text("top_k = 1", encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text("top_k = 2", encoding="utf-8")
    assert load_settings(config=other).top_k == 2
    monkeypatch.setenv("CHEATSHEET_CONFIG", str(other))
    assert load_settings().top_k == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("top_kk = 5", "Unknown setting in .*cheatsheet.toml 'top_kk'. Did you mean 'top_k'"),
        ("top_k = 'many'", "top_k: .*integer"),
        ("top_k = ", "Cannot read the settings file"),
        ("mode = 'retreival'", "Did you mean 'retrieval'"),
        ("refine = 'sometimes'", "refine: .*proactive"),
    ],
)
def test_mistakes_in_the_file_are_sentences(text: str, sentence: str) -> None:
    Path("cheatsheet.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=sentence):
        load_settings()


def test_a_list_is_no_settings_file() -> None:
    Path("cheatsheet.yaml").write_text("- top_k", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"must hold names and values"):
        load_settings()


def test_an_unknown_argument_or_variable_is_told_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"Unknown argument 'topk'. Did you mean 'top_k'"):
        load_settings(topk=3)
    monkeypatch.setenv("CHEATSHEET_TOKEN_BUDGE", "3")
    with pytest.raises(SettingsError, match=r"'CHEATSHEET_TOKEN_BUDGE'. Did you mean 'CHEATSHEET_TOKEN_BUDGET'"):
        load_settings()


def test_the_budget_variable_of_another_engine_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINICLAW_TOKEN_BUDGET", "1234")
    assert load_settings().token_budget == 1234
    monkeypatch.setenv("CHEATSHEET_TOKEN_BUDGET", "4321")
    assert load_settings().token_budget == 4321
