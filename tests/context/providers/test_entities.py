"""Entities: names found by rule, counted over processes, and shown when they are met again."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers.entities import EntitiesProvider, EntityStore
from cheatsheet.context.providers.entity_rules import find_names, name_key
from cheatsheet.errors import StoreCorruptError
from tests.context.providers.worlds import WORK_TIME, request, write


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When Anna Schmidt met Bob at OpenAI, it rained.", ["Anna Schmidt", "Bob", "OpenAI"]),
        ("Ask Anna. I think Anna knows.", ["Anna"]),
        ("Please call me. The parcel is late. Monday is fine, I'll wait.", []),
        (
            "See ABC-123, load_state(), src/app.py, os.path and parseJson.",
            ["ABC-123", "load_state()", "src/app.py", "os.path", "parseJson"],
        ),
        ("and/or 1/2 e.g. km/h 2026/01/05 https://example.com/a/b.html a@b.com", []),
        ("@carol wrote to @dave.b about #release-2, not #1.", ["@carol", "@dave.b", "#release-2"]),
        ('The plan "Blue Heron" and „Roter Milan“ and «Héron bleu»', ["Blue Heron", "Roter Milan", "Héron bleu"]),
        ("田中さんと「青い鳥」計画について話した。王老师说可以。", ["青い鳥", "田中", "王"]),
        ("김철수님이 왔다", ["김철수"]),
        ("Вчера Анна Петрова говорила с компанией Яндекс.", ["Анна Петрова", "Яндекс"]),
        ("María García habló con Juan de la Cruz en Madrid.", ["María García", "Juan de la Cruz", "Madrid"]),
        (
            "Gestern hat Frau Müller mit Peter Kraus über die neue Maschine gesprochen. Der Preis ist hoch, aber die "
            "Qualität der Ware ist gut, und das Teil kommt im Januar mit der Post.",
            ["Frau Müller", "Peter Kraus"],
        ),
        ("the key is sk-abcdefghijklmnop1234", []),
    ],
)
def test_names_in_several_languages(text: str, names: list[str]) -> None:
    assert [mention.name for mention in find_names(text)] == names


@given(st.text(max_size=200))
def test_no_text_makes_finding_fail(text: str) -> None:
    mentions = find_names(text)
    assert len({mention.key for mention in mentions}) == len(mentions)
    assert all(mention.key == name_key(mention.name) for mention in mentions)


@pytest.mark.parametrize("piece", ["a_", "a.", "a/", "Aa", "a-'"])
def test_no_text_takes_long(piece: str) -> None:
    """Rules whose repetitions have no end would not come back from these within the time limit of the tests."""
    find_names(piece * 50_000)


def test_names_are_counted_once_a_text(tmp_path: Path) -> None:
    store = EntityStore(tmp_path / "home")
    store.record("I met Anna Schmidt. Anna Schmidt is well.", WORK_TIME)
    store.record("he saw anna   schmidt and Bob", WORK_TIME + timedelta(days=1))
    assert [(e.name, e.count, str(e.first_seen.date()), str(e.last_seen.date())) for e in store.all()] == [
        ("Anna Schmidt", 2, "2026-01-05", "2026-01-06"),
        ("Bob", 1, "2026-01-06", "2026-01-06"),
    ]
    assert (tmp_path / "home/entities.json").stat().st_mode & 0o777 == 0o600


def test_keys_are_not_remembered(tmp_path: Path) -> None:
    EntityStore(tmp_path).record("We use sk-Abcdefgh_1234567890 at https://Anna:secret_word@host.example", WORK_TIME)
    assert EntityStore(tmp_path).all() == ()


def test_the_text_decides_what_is_surfaced(tmp_path: Path) -> None:
    store = EntityStore(tmp_path)
    store.record("about Anna, @anna, #release, 「青い鳥」, load_state() and Bob", WORK_TIME)
    store.record("about Bob", WORK_TIME)

    def names(text: str) -> list[str]:
        return sorted(entity.name for entity in store.surface_relevant(text))

    assert names("ANNA?") == ["Anna"]
    assert names("Annabel, released") == []
    assert names("@anna and #release") == ["#release", "@anna", "Anna"]
    assert names("call load_state() now") == ["load_state()"]
    assert names("この青い鳥は") == ["青い鳥"]
    assert [entity.name for entity in store.surface_relevant("Anna and Bob", limit=1)] == ["Bob"]
    assert store.surface_relevant("") == ()


def test_the_least_met_are_forgotten(tmp_path: Path) -> None:
    store = EntityStore(tmp_path, max_entities=2)
    for text in ("with Anna and Bob", "with Anna", "with Carol"):
        store.record(text, WORK_TIME)
    store.record("with Dora", WORK_TIME + timedelta(hours=1))
    assert [entity.name for entity in store.all()] == ["Anna", "Dora"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b'{"version": 2, "entities": []}',
        b'{"version": 1, "entities": [{"name": "x"}]}',
    ],
)
def test_a_damaged_store_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "entities.json").write_bytes(content)
    with pytest.raises(StoreCorruptError, match="left as it is: mend it, or delete it"):
        EntityStore(tmp_path).record("with Anna", WORK_TIME)
    assert (tmp_path / "entities.json").read_bytes() == content
    provided = EntitiesProvider().provide(request(tmp_path, query="Anna"))
    assert provided.sections == ()
    assert provided.notes[0].kind == "damaged"


def test_several_processes_count_together(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, datetime\n"
        "from cheatsheet.context.providers.entities import EntityStore\n"
        "now = datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC)\n"
        "for n in range(15):\n"
        "    EntityStore(pathlib.Path(sys.argv[1])).record('again with Anna', now)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    assert [entity.count for entity in EntityStore(tmp_path).all()] == [30]


def test_what_was_asked_comes_before_what_is_in_the_log(tmp_path: Path) -> None:
    store = EntityStore(tmp_path)
    for text in ("with Bob", "with Bob", "with Anna", "with Zoe"):
        store.record(text, WORK_TIME)
    write(tmp_path, {"memory/2026-01-05.md": "saw bob"})
    (section,) = EntitiesProvider().provide(request(tmp_path, query="where is Anna?")).sections
    assert section.priority == 5
    assert [item.text for item in section.items] == [
        "- Anna (name): met once, last on 2026-01-05",
        "- Bob (name): met 2 times, last on 2026-01-05",
    ]
