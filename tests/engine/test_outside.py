"""Knowledge from outside: asked for in time, and never taken twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.engine.outside import Outside, bring, drafts_as_operations, due, last_refresh, record_of
from cheatsheet.errors import SetupError
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Draft
from indexes.hashing import HashingEmbedder
from tests.memory.worlds import Memory

NOW = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)


@given(last=st.integers(0, 1000), now=st.integers(0, 1000), interval=st.integers(1, 500))
def test_a_source_is_asked_once_per_interval(last: int, now: int, interval: int) -> None:
    asked = due(NOW + timedelta(hours=last), NOW + timedelta(hours=now), timedelta(hours=interval))
    assert asked == (now - last >= interval)


def test_a_source_that_was_never_asked_is_due() -> None:
    assert due(None, NOW, DAY)


def test_the_last_time_stands_in_the_journal() -> None:
    journal = [
        JournalEntry(version=4, at=NOW + 3 * DAY, cause="import", record={"other": 1}),
        JournalEntry(version=3, at=NOW + 2 * DAY, cause="turn", record=record_of("news")),
        JournalEntry(version=2, at=NOW + DAY, cause="import", record=record_of("news")),
        JournalEntry(version=1, at=NOW, cause="import", record=record_of("news")),
    ]
    assert last_refresh(journal, "news") == NOW + DAY
    assert last_refresh(journal, "weather") is None
    assert last_refresh([], "news") is None


def test_only_what_is_new_is_brought() -> None:
    memory = Memory(HashingEmbedder())
    said = [Draft(content="Rates rose."), Draft(content="The office moved.", sources=("bulletin",))]

    def refresh() -> Iterator[Draft]:
        yield from said

    outside = Outside(name="news", refresh=refresh, refresh_after=DAY)
    first = bring(outside, memory.view)
    assert (len(first.operations), first.known, first.record) == (2, 0, record_of("news"))
    assert first.operations[1].draft.sources[:2] == ("bulletin", "news")
    memory.commit(*first.operations)
    said.append(Draft(content="Rates fell."))
    second = bring(outside, memory.view)
    assert [operation.draft.content for operation in second.operations] == ["Rates fell."]
    assert second.known == 2


def test_what_a_draft_says_of_itself_is_kept() -> None:
    draft = Draft(content="x", section="rates", tags=("t",), helpful=2, expires_at=NOW, metadata={"a": 1})
    (operation,) = drafts_as_operations([draft], name="news")
    brought = operation.draft.model_dump(exclude={"sources"})
    assert brought == draft.model_dump(exclude={"sources"})


def test_an_interval_is_longer_than_nothing() -> None:
    with pytest.raises(SetupError, match="longer than nothing"):
        Outside(refresh=list, refresh_after=timedelta(0))
