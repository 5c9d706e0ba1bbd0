"""The promises F1-F4 of `Format`, for every format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.formats import FORMATS, Entry, Format, Playbook
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.operations import Draft
from tests.memory.formats.strategies import bullets, damaged, nasty

EXAMPLES = {path.name: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "examples").iterdir()}
BY_NAME = {format.name: format for format in FORMATS}
every_format = pytest.mark.parametrize("name", BY_NAME)

# By which words a loss of each property is told.
WORDS = {
    "section": "sections",
    "helpful": "counters",
    "harmful": "counters",
    "uses": "uses",
    "last_used_at": "uses",
    "sources": "sources",
    "tags": "tags",
    "expires_at": "expiry",
    "pinned": "pins",
    "kind": "kinds",
    "metadata": "metadata",
    "created_at": "times",
    "status": "status",
}


def expected(bullet: Bullet) -> dict[str, Any]:
    """A bullet as a draft, in which a merged one is archived."""
    properties = {name: getattr(bullet, name) for name in Draft.model_fields}
    return properties | {"status": "active" if bullet.status == "active" else "archived"}


def read_back(entry: Entry) -> dict[str, Any]:
    properties = {name: getattr(entry.draft, name) for name in Draft.model_fields}
    return properties | {"section": section_key(entry.draft.section)}


def check(playbook: Playbook) -> None:
    """What holds of whatever was read."""
    for entry in playbook.entries:
        assert entry.draft.content.strip()
        assert entry.line >= 0
        entry.draft.model_dump_json()
    for damage in playbook.damages:
        assert damage.line >= 0
        assert damage.text[0].isupper() or not damage.text[0].isalpha()
        assert damage.text.endswith(".")


# F1


@given(text=nasty | st.lists(nasty, max_size=12).map("\n".join))
@settings(max_examples=100)
def test_f1_any_text_can_be_read(text: str) -> None:
    for format in FORMATS:
        check(format.read(text))
        format.recognises(text)


@given(data=st.data())
@settings(max_examples=120)
def test_f1_damaged_files_can_be_read(data: st.DataObject) -> None:
    text = data.draw(damaged(EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))]))
    for format in FORMATS:
        check(format.read(text))
        format.recognises(text)


HOSTILE = {
    "deep": "[" * 100_000,
    "deep_objects": '{"bullets": ' + '{"a":' * 20_000,
    "deep_and_closed": '{"skills": ' + '{"a":' * 3_000 + "1" + "}" * 3_001,
    "deep_field": '{"skills": {"a-1": {"content": "x", "more": ' + "[" * 500 + "]" * 500 + "}}}",
    "deep_yaml": "schema_version: 2\nbullets:\n- content: x\n  more: " + "[" * 5_000,
    "many_aliases": "schema_version: 2\nbullets:\n- content: x\n  a0: &a0 [1, 1]\n"
    + "".join(f"  a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "a_circle": "schema_version: 2\nbullets:\n- &a\n  content: x\n  more: *a\n",
    "merge_keys": "schema_version: 2\na: &a {x: 1}\nbullets:\n- content: x\n  <<: [*a, *a]\n",
    "python_object": "schema_version: 2\nbullets:\n- content: !!python/object/apply:os.system ['true']\n",
    "long_number": '{"bullets": [{"content": "x", "helpful": ' + "9" * 10_000 + "}]}",
    "not_numbers": '{"bullets": [{"content": "x", "helpful": NaN, "more": Infinity, "yet": 1e999}]}',
    "half_a_character": '{"bullets": [{"content": "x \\ud800", "\\udfff": "\\ud83d"}]}',
    "early_time": '{"bullets": [{"content": "x", "expires_at": "0001-01-01T00:00:00+14:00"}]}',
    "quotes": '"' * 50_000,
    "escaped_quotes": '{"skills": {"' + '\\"' * 50_000,
    "dashes": "- " * 50_000,
    "hashes": "#" * 100_000,
    "counters": "[a-1] " + "a=a " * 20_000 + "a=" * 20_000,
    "brackets": "[a] " * 20_000,
    "backslashes": "\\" * 50_000 + "\n" + "## Content " + "\\" * 50_000 + "## Title",
    "nul": "\x00\n" * 1_000,
    "wrong_types": '{"skills": [1, null, "x", [], {"content": 5}, {"content": ["x"]}], "bullets": 3, "sections": []}',
}


@every_format
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_f1_hostile_files_can_be_read(name: str, text: str) -> None:
    check(BY_NAME[name].read(text))
    BY_NAME[name].recognises(text)


# F2: `dc` has a test of its own, since it has its own words for what it loses.


@given(kept=bullets())
@settings(max_examples=120)
def test_f2_what_was_written_is_read_back(kept: list[Bullet]) -> None:
    for format in FORMATS:
        if format.name != "dc":
            written = format.write(kept)
            check_read_back(format.read(written.text), kept, written.lost)


def check_read_back(playbook: Playbook, kept: list[Bullet], lost: tuple[str, ...]) -> None:
    assert playbook.damages == ()
    found, wanted = [read_back(entry) for entry in playbook.entries], [expected(bullet) for bullet in kept]
    if any("no order" in told for told in lost):
        for listed in (found, wanted):
            listed.sort(key=lambda properties: (properties["content"], repr(properties)))
    assert [each["content"] for each in found] == [each["content"] for each in wanted], playbook.format
    for property, word in WORDS.items():
        if [each[property] for each in found] != [each[property] for each in wanted]:
            assert any(word in told for told in lost), f"{playbook.format}: {property}"


@given(kept=bullets())
@settings(max_examples=40)
def test_f2_formats_with_fields_lose_nothing(kept: list[Bullet]) -> None:
    active = [bullet.model_copy(update={"status": "active", "section": "others"}) for bullet in kept]
    for name in ("json", "skillbook", "cass", "axace"):
        written = BY_NAME[name].write(active)
        assert [told for told in written.lost if "Newer releases" not in told] == [], name
        entries = BY_NAME[name].read(written.text).entries
        assert [read_back(entry) for entry in entries] == [expected(bullet) for bullet in active], name
        assert [entry.id for entry in entries] == [bullet.id for bullet in active], name


@every_format
def test_f2_nothing_is_written_and_read(name: str) -> None:
    written = BY_NAME[name].write([])
    assert written.lost == ()
    assert BY_NAME[name].read(written.text).entries == ()


# F3, F4


@given(kept=bullets(max_size=2))
@settings(max_examples=120)
def test_f3_f4_no_content_makes_a_second_entry_or_another_format(kept: list[Bullet]) -> None:
    for written in FORMATS:
        text = written.write(kept).text
        assert [format.name for format in FORMATS if format.recognises(text)] == [written.name]
        assert sign_of(text) == written.name
        entries = written.read(text).entries
        assert len(entries) == len(kept), written.name
        ids = [entry.id for entry in entries if entry.id]
        assert Counter(ids) <= Counter(bullet.id for bullet in kept), written.name
        sections = {section_key(entry.draft.section) for entry in entries}
        assert sections <= {bullet.section for bullet in kept} | {"others"}, written.name


@pytest.mark.parametrize("example", EXAMPLES)
def test_f4_examples_are_recognised(example: str) -> None:
    recognised = [format.name for format in FORMATS if format.recognises(EXAMPLES[example])]
    assert recognised == [example.split("--")[0]]


def test_names_are_unique_and_titles_tell_something() -> None:
    assert len(BY_NAME) == len(FORMATS) == 8
    formats: tuple[Format, ...] = FORMATS
    assert all(len(format.title) > 10 for format in formats)
