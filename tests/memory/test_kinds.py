"""Kinds of bullets: fields and rules of one's own, stored so that nothing is lost where the kind is unknown."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, field_validator

from cheatsheet.errors import BulletError, SetupError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats import read_playbook, write_playbook
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.history.past import rollback_operations
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.incoming import kinds
from cheatsheet.memory.incoming.kinds import bullet_class, draft_of, register_kind, registered_kinds, update_of
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.memory.strategies import operations
from tests.memory.worlds import NOW, AllAlike, Memory, add

FIELDS = {"jurisdiction": "DE", "effective_date": "2024-01-01", "citations": ["BGB § 126b"]}


class LegalBullet(Bullet):
    jurisdiction: str
    effective_date: date
    citations: tuple[str, ...] = ()

    def validate(self) -> None:
        if not self.citations:
            raise ValueError("a legal bullet needs a citation")


class Counted(Bullet):
    """Counts how often it is held to its rules."""

    weight: Decimal = Decimal("0.5")
    parts: list[int] = Field(default_factory=lambda: [1])
    calls: int = 0

    def validate(self) -> None:
        COUNTS.append(self.id)


class Unregistered(Bullet):
    """Nobody has registered it."""


COUNTS: list[str] = []


@pytest.fixture(autouse=True)
def _own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins with the plain kind and these two."""
    monkeypatch.setattr(kinds, "_KINDS", {kinds.PLAIN: kinds._KINDS[kinds.PLAIN]})
    register_kind("legal")(LegalBullet)
    register_kind("counted")(Counted)
    COUNTS.clear()


def legal(content: str = "Contracts need text form", **more: Any) -> Draft:
    return draft_of(LegalBullet, content=content, **{**FIELDS, **more})


def without_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that does not know the kinds."""
    monkeypatch.setattr(kinds, "_KINDS", {kinds.PLAIN: kinds._KINDS[kinds.PLAIN]})


def test_fields_stand_in_the_metadata_under_their_own_names() -> None:
    draft = legal(section="contracts", metadata={"from": "a lawyer"}, effective_date=date(2024, 1, 1))
    assert draft == Draft(
        content="Contracts need text form", section="contracts", kind="legal", metadata={"from": "a lawyer"} | FIELDS
    )


def test_a_bullet_is_read_as_one_of_its_class(memory: Memory) -> None:
    memory.commit(Add(draft=legal()))
    bullet = memory.view.bullet("misc-00001")
    assert isinstance(bullet, LegalBullet)
    assert (bullet.jurisdiction, bullet.effective_date, bullet.citations) == ("DE", date(2024, 1, 1), ("BGB § 126b",))
    assert bullet.metadata == FIELDS


@pytest.mark.parametrize(
    ("given_fields", "sentence"),
    [
        ({"jurisdicton": "DE"}, "has no property 'jurisdicton'. Did you mean 'jurisdiction'?"),
        ({"effective_date": "soon"}, "A 'legal' bullet's effective_date is not valid"),
        ({"citations": ()}, "A 'legal' bullet is not valid: a legal bullet needs a citation"),
        ({"helpful": -1}, "A 'legal' bullet's helpful is not valid"),
        ({"content": " "}, "A 'legal' bullet's content is not valid: the content is blank"),
    ],
)
def test_what_breaks_a_rule_is_refused_in_a_sentence(given_fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BulletError) as refusal:
        legal(**given_fields)
    assert sentence in str(refusal.value)


def test_rules_hold_for_drafts_made_by_hand_updates_and_merges(memory: Memory) -> None:
    memory.commit(Add(draft=Draft(content="No fields", kind="legal")), Add(draft=legal()))
    assert "jurisdiction is not valid: Field required" in memory.store.journal("default")[-1].notes[0]
    memory.commit(
        Update(id="misc-00001", metadata={"citations": []}),
        Merge(into="misc-00001", draft=legal(), content=" "),
        Update(id="misc-00001", content="Contracts need written form", metadata={"jurisdiction": "AT"}),
    )
    notes = memory.store.journal("default")[-1].notes
    assert "a legal bullet needs a citation" in notes[0]
    assert len(notes) == 2
    (bullet,) = memory.view.bullets()
    assert isinstance(bullet, LegalBullet)
    assert (bullet.content, bullet.jurisdiction) == ("Contracts need written form", "AT")
    assert bullet.citations == ("BGB § 126b",)


def test_any_error_of_the_rules_becomes_a_bullet_error(memory: Memory) -> None:
    @register_kind("strict")
    class Strict(Bullet):
        level: int = Field(default=1, le=3)

        @field_validator("level")
        @classmethod
        def _odd(cls, level: int) -> int:
            if level % 2 == 0:
                raise ValueError("the level is even")
            return level

        def validate(self) -> None:
            assert self.level != 3, "three is too much"
            if self.content == "no":
                raise BulletError("That one never.")

    for level, sentence in ((2, "the level is even"), (3, "three is too much"), (5, "less than or equal to 3")):
        with pytest.raises(BulletError, match=sentence):
            draft_of(Strict, content="x", level=level)
    with pytest.raises(BulletError, match=r"^That one never\.$"):
        draft_of(Strict, content="no")
    memory.commit(Add(draft=Draft(content="x", kind="strict", metadata={"level": 2})))
    assert memory.view.bullets() == []


def test_rules_are_asked_once_for_each_change_and_never_when_reading(memory: Memory) -> None:
    draft = draft_of(Counted, content="x")
    COUNTS.clear()
    memory.commit(Add(draft=draft))
    memory.commit(Update(id="misc-00001", content="y"), Tag(id="misc-00001", helpful=1), Remove(id="misc-00001"))
    assert len(COUNTS) == 2
    memory.commit(Restore(id="misc-00001"))
    assert isinstance(memory.view.bullet("misc-00001"), Counted)
    assert isinstance(next(iter(replay(memory.store.journal("default")))), Counted)
    assert len(COUNTS) == 2


def test_defaults_are_stored_so_that_they_stay(memory: Memory) -> None:
    memory.commit(Add(draft=draft_of(Counted, content="x")))
    bullet = memory.view.bullet("misc-00001")
    assert isinstance(bullet, Counted)
    assert (bullet.weight, bullet.parts) == (Decimal("0.5"), [1])
    assert bullet.metadata == {"weight": "0.5", "parts": [1], "calls": 0}


def test_a_process_that_does_not_know_the_kind_loses_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.commit(Add(draft=legal()))
    known = kinds._KINDS
    without_kinds(monkeypatch)
    bullet = memory.view.bullet("misc-00001")
    assert type(bullet) is Bullet
    assert (bullet.kind, bullet.metadata) == ("legal", FIELDS)
    memory.commit(
        Update(id="misc-00001", content="New words", metadata={"seen": 1}),
        Tag(id="misc-00001", helpful=1),
        Remove(id="misc-00001", reason="for now"),
        Restore(id="misc-00001"),
    )
    assert memory.store.journal("default")[-1].notes == ()
    monkeypatch.setattr(kinds, "_KINDS", known)
    again = memory.view.bullet("misc-00001")
    assert isinstance(again, LegalBullet)
    assert again.effective_date == date(2024, 1, 1)
    assert (again.content, again.helpful, again.metadata) == ("New words", 1, FIELDS | {"seen": 1})
    assert list(replay(memory.store.journal("default"))) == memory.view.bullets()


def test_what_no_longer_fits_its_class_is_still_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    without_kinds(monkeypatch)
    memory.commit(Add(draft=Draft(content="old", kind="legal", metadata={"jurisdiction": "DE"})))
    register_kind("legal")(LegalBullet)
    bullet = memory.view.bullet("misc-00001")
    assert type(bullet) is Bullet
    assert list(replay(memory.store.journal("default"))) == [bullet]
    memory.commit(Update(id="misc-00001", content="new"))
    assert "effective_date is not valid: Field required" in memory.store.journal("default")[-1].notes[0]
    memory.commit(Update(id="misc-00001", content="new", metadata=FIELDS))
    assert isinstance(memory.view.bullet("misc-00001"), LegalBullet)


def test_a_memory_is_rolled_back_with_its_kinds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.commit(Add(draft=legal()))
    then = replay(memory.store.journal("default"))
    memory.commit(Update(id="misc-00001", content="Other words", metadata={"jurisdiction": "AT"}))
    now = replay(memory.store.journal("default"))
    memory.commit(*rollback_operations(now, then))
    assert list(memory.view.bullets()) == list(then)
    without_kinds(monkeypatch)
    state = {**then.bullets["misc-00001"].model_dump(mode="json"), "content": "Words from elsewhere"}
    memory.commit(Restore(id="misc-00001", state=state))
    bullet = memory.view.bullet("misc-00001")
    assert bullet is not None
    assert (bullet.content, bullet.metadata) == ("Words from elsewhere", FIELDS)


def test_update_of_changes_fields_and_is_checked(memory: Memory) -> None:
    memory.commit(Add(draft=legal()))
    bullet = memory.view.bullet("misc-00001")
    assert bullet is not None
    update = update_of(bullet, content="Other", effective_date=date(2025, 2, 3))
    assert update == Update(id="misc-00001", content="Other", metadata={"effective_date": "2025-02-03"})
    memory.commit(update)
    assert memory.view.bullets()[0].model_dump(include={"effective_date"}) == {"effective_date": date(2025, 2, 3)}
    for changes, sentence in (
        ({"citations": ()}, "needs a citation"),
        ({"citation": ()}, "Did you mean 'citations'"),
        ({"tags": 3}, "tags is not valid"),
    ):
        with pytest.raises(BulletError, match=sentence):
            update_of(bullet, **changes)


def test_the_same_words_with_other_fields_are_another_bullet() -> None:
    memory = Memory(AllAlike(dim=4))
    memory.commit(Add(draft=legal()))
    other = Add(draft=legal(jurisdiction="FR"))
    grown = memory.grow(other)
    assert grown.operations == [other]
    assert "their jurisdiction differ" in grown.notes[0]
    assert isinstance(memory.grow(Add(draft=legal(helpful=2))).operations[0], Merge)
    assert isinstance(memory.grow(add("Contracts need text form")).operations[0], Add)
    memory.store.close()


def test_of_an_unknown_kind_every_name_may_be_a_field() -> None:
    memory = Memory(AllAlike(dim=4))
    memory.commit(add("x", kind="unknown", metadata={"place": "here", "merged_into": "a"}))
    assert isinstance(memory.grow(add("x", kind="unknown", metadata={"place": "there"})).operations[0], Add)
    assert isinstance(memory.grow(add("x", kind="unknown", metadata={"place": "here"})).operations[0], Merge)
    memory.store.close()


def test_registering() -> None:
    assert registered_kinds() == ("bullet", "legal", "counted")
    assert bullet_class("legal") is LegalBullet
    assert bullet_class("nobody's") is Bullet
    assert register_kind("legal")(LegalBullet) is LegalBullet
    with pytest.raises(SetupError, match=r"The kind 'legal' has the class .*LegalBullet already"):
        register_kind("legal")(Counted)
    with pytest.raises(SetupError, match="The kind 'bullet' has the class"):
        register_kind("bullet")(Counted)
    with pytest.raises(SetupError, match="cannot be kept"):
        register_kind("two words")(Counted)
    with pytest.raises(SetupError, match="Make it a subclass of Bullet"):
        register_kind("number")(int)  # type: ignore[type-var]  # the mistake that is tested
    with pytest.raises(SetupError, match="is not registered"):
        draft_of(Unregistered, content="x")


def test_a_class_that_is_defined_anew_in_its_place_takes_it() -> None:
    def define(text: str) -> type[Bullet]:
        class Cell(Bullet):
            mood: str = text

        return register_kind("cell")(Cell)

    assert define("one") is not define("two")
    assert draft_of(bullet_class("cell"), content="x").metadata == {"mood": "two"}


def test_names_that_the_memory_writes_are_no_fields() -> None:
    class Bad(Bullet):
        merged_into: str = ""

    with pytest.raises(SetupError, match="cannot be named 'merged_into'"):
        register_kind("bad")(Bad)


def test_a_field_that_is_no_json_is_told() -> None:
    class Odd(Bullet):
        model_config = ConfigDict(arbitrary_types_allowed=True)

        thing: object = None

    register_kind("odd")(Odd)
    with pytest.raises(BulletError, match="a field is not JSON"):
        draft_of(Odd, content="x", thing=object())


words = st.text(min_size=1, max_size=8)


@settings(max_examples=40)
@given(
    jurisdiction=st.text(max_size=8).filter(lambda text: text.isprintable()),
    effective=st.dates(),
    citations=st.lists(words.filter(str.isprintable), min_size=1, max_size=3),
)
def test_what_is_stored_is_what_is_read(jurisdiction: str, effective: date, citations: list[str]) -> None:
    store = SqliteStore(":memory:")
    draft = legal(jurisdiction=jurisdiction, effective_date=effective, citations=citations)
    store.commit("default", Change(at=NOW, cause="user", operations=(Add(draft=draft),)))
    (bullet,) = store.bullets("default")
    assert isinstance(bullet, LegalBullet)
    assert (bullet.jurisdiction, bullet.effective_date, bullet.citations) == (jurisdiction, effective, tuple(citations))
    assert list(replay(store.journal("default"))) == [bullet]
    store.close()


legal_drafts = st.builds(
    Draft,
    content=st.sampled_from(["a", "b", " "]),
    kind=st.sampled_from(["legal", "bullet", "nobody's"]),
    helpful=st.integers(0, 2),
    metadata=st.sampled_from([FIELDS, FIELDS | {"seen": 1}, {"jurisdiction": "DE"}, {}]),
)


@settings(max_examples=30)
@given(operations=st.lists(operations() | st.builds(Add, draft=legal_drafts), max_size=12), known=st.booleans())
def test_the_journal_gives_the_memory_whether_the_kinds_are_known_or_not(
    operations: list[Operation], known: bool
) -> None:
    """K3 with kinds: written where they are known or are not, and read in both."""
    kinds_here = dict(kinds._KINDS)
    store = SqliteStore(":memory:")
    try:
        if not known:
            kinds._KINDS.pop("legal", None)
        store.commit("default", Change(at=NOW, cause="user", operations=tuple(operations)))
        for registered in (kinds_here, {kinds.PLAIN: kinds_here[kinds.PLAIN]}):
            kinds._KINDS.clear()
            kinds._KINDS.update(registered)
            assert list(replay(store.journal("default"))) == store.bullets("default", status=None)
    finally:
        kinds._KINDS.clear()
        kinds._KINDS.update(kinds_here)
        store.close()


def test_the_legal_example(tmp_path: Path) -> None:
    """A kind, kept in a file, found by what it says, checked where it is changed."""
    store = SqliteStore(tmp_path / "law.db")
    drafts = (legal(), legal("Consumers may withdraw within 14 days", citations=["BGB § 355"]))
    change = Change(at=NOW, cause="user", operations=tuple(Add(draft=draft) for draft in drafts))
    assert store.commit("default", change).skipped == ()
    store.close()
    store = SqliteStore(tmp_path / "law.db")
    old = [b for b in store.bullets("default") if isinstance(b, LegalBullet) and b.effective_date < date(2025, 1, 1)]
    assert [bullet.citations for bullet in old] == [("BGB § 126b",), ("BGB § 355",)]
    late = Change(
        at=NOW + timedelta(days=1), cause="user", operations=(Update(id=old[0].id, metadata={"citations": []}),)
    )
    assert "needs a citation" in store.commit("default", late).skipped[0]
    store.close()


def test_a_kind_goes_into_a_file_and_comes_back(memory: Memory) -> None:
    memory.commit(Add(draft=legal(metadata={"from": "a lawyer"})))
    playbook = read_playbook(write_playbook(memory.view.bullets(), "json").text)
    assert [entry.draft.metadata for entry in playbook.entries] == [{"from": "a lawyer"} | FIELDS]
    memory.commit(*(Add(draft=entry.draft) for entry in playbook.entries))
    first, second = memory.view.bullets()
    assert isinstance(second, LegalBullet)
    assert second.model_dump(exclude={"id", "updated_at"}) == first.model_dump(exclude={"id", "updated_at"})


def test_bullets_of_a_kind_are_found_by_what_they_say(memory: Memory) -> None:
    memory.commit(Add(draft=legal()))
    (hit,) = memory.view.nearest_bullets("Contracts need text form", 1)
    assert isinstance(hit.value, LegalBullet)
