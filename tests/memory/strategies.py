"""Random bullets and operations."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update

moments = st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
contents = st.text(min_size=1, max_size=60)
sections = st.sampled_from(["others", "FORMULAS & CALCULATIONS", "code_snippets", "", "数据库", "Meta strategies"])
words = st.lists(st.text(max_size=8), max_size=3).map(tuple)
metadata = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.none()), max_size=2)

drafts = st.builds(
    Draft,
    section=sections,
    content=contents,
    helpful=st.integers(0, 5),
    harmful=st.integers(0, 5),
    sources=words,
    tags=words,
    expires_at=st.none() | moments,
    pinned=st.booleans(),
    metadata=metadata,
    created_at=st.none() | moments,
    last_used_at=st.none() | moments,
    uses=st.integers(0, 3),
    status=st.sampled_from(["active", "active", "active", "archived"]),
)


def ids(most: int) -> st.SearchStrategy[str]:
    """Ids that exist, of bullets and of experiences, and some that do not."""
    slugs = st.sampled_from(["misc", "calc", "cs", "ms", "zz", "exp"])
    return st.builds(lambda slug, number: f"{slug}-{number:05d}", slugs, st.integers(1, most))


def operations(most: int = 8) -> st.SearchStrategy[Operation]:
    """Any operation; many of them cannot be applied."""
    some = ids(most)
    return st.one_of(
        st.builds(Add, draft=drafts),
        st.builds(
            Update,
            id=some,
            content=st.none() | contents,
            section=st.none() | sections,
            tags=st.none() | words,
            expires_at=st.none() | moments,
            pinned=st.none() | st.booleans(),
            metadata=st.none() | metadata,
        ),
        st.builds(Tag, id=some, helpful=st.integers(0, 3), harmful=st.integers(0, 3), uses=st.integers(0, 3)),
        st.builds(
            Merge,
            into=some,
            absorbed=st.lists(some, max_size=3).map(tuple),
            draft=st.none() | drafts,
            content=st.none() | contents,
        ),
        st.builds(Remove, id=some, reason=st.sampled_from(["", "over the limit"])),
        st.builds(Restore, id=some),
    )
