"""What finding by words gives in every store: BM25 over what is active in one namespace."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.store import MemoryStore
from tests.memory.stores import Place, fresh_namespace

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def commit(store: MemoryStore, *operations: Operation, namespace: str = "default", queries: Sequence[str] = ()) -> None:
    lived = tuple(Experience(query=query, answer="an answer", created_at=NOW) for query in queries)
    store.commit(namespace, Change(at=NOW, cause="user", operations=operations, experiences=lived))


def learn(store: MemoryStore, *contents: str, namespace: str = "default") -> None:
    commit(store, *(Add(draft=Draft(content=content)) for content in contents), namespace=namespace)


def found(store: MemoryStore, text: str, limit: int = 50, namespace: str = "default") -> list[int]:
    return list(store.matching_bullets(namespace, text, limit))


CODES = (
    "ORA-00942 means that the table is not visible",
    "Rust E0502: end the first borrow",
    "0x80070005 is a matter of rights",
    "call foo.bar_baz() before anything else",
    "stay on OpenSSL 3.0.7 for now",
    "Brzezicki signs, and not Osei",
    "遇到ORA-28000时先解锁账户",
)


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("ORA-00942", 1),
        ("what does ora-00942 mean?", 1),
        ("error[E0502]: cannot borrow", 2),
        ("0X80070005", 3),
        ("foo.bar_baz()", 4),
        ("bar_baz", 4),
        ("3.0.7", 5),
        ("brzezicki", 6),
        ("ORA-28000", 7),
    ],
)
def test_codes_identifiers_versions_and_names_are_found(store: MemoryStore, asked: str, number: int) -> None:
    learn(store, *CODES)
    assert number in found(store, asked)[:2]


def test_a_new_store_and_an_unknown_namespace_have_nothing(store: MemoryStore) -> None:
    assert found(store, "anything") == list(store.matching_experiences("default", "anything", 5)) == []
    learn(store, "something")
    assert found(store, "something", namespace="nobody's") == []


def test_what_is_active_is_found_however_it_became_so(store: MemoryStore) -> None:
    """F14: what was written before words were first looked for, and after."""
    learn(store, "check the units", "check the dates", "check the signs")
    assert found(store, "check") == [1, 2, 3]
    commit(store, Update(id="misc-00001", content="weigh the parcels"), Remove(id="misc-00002"))
    assert found(store, "check") == [3]
    assert found(store, "parcels") == [1]
    assert found(store, "units") == []
    commit(
        store, Restore(id="misc-00002"), Merge(into="misc-00001", absorbed=("misc-00003",), content="weigh and check")
    )
    assert sorted(found(store, "check")) == [1, 2]
    learn(store, "check the weights")
    assert sorted(found(store, "check")) == [1, 2, 4]
    commit(store, Tag(id="misc-00001", uses=1), Update(id="misc-00002", section="else"))
    assert sorted(found(store, "check dates")) == [1, 2, 4]


def test_experiences_are_found_by_their_queries_while_they_are_served(store: MemoryStore) -> None:
    commit(store, queries=["how heavy is the parcel", "how long is the parcel"])
    assert list(store.matching_experiences("default", "heavy", 5)) == [1]
    commit(store, Remove(id="exp-00001"), queries=["a heavy one"])
    assert list(store.matching_experiences("default", "heavy", 5)) == [3]
    commit(store, Restore(id="exp-00001"))
    assert sorted(store.matching_experiences("default", "heavy", 5)) == [1, 3]
    assert found(store, "heavy") == []


def test_the_best_come_first_ties_by_the_lowest_number(store: MemoryStore) -> None:
    """A rare word counts more than a frequent one, and a text that has both more than either."""
    learn(store, *(f"frequent words here {n}" for n in range(20)), "frequent rare words", "rare words alone here")
    assert found(store, "frequent rare")[0] == 21
    assert found(store, "frequent rare")[1] == 22
    learn(store, "same text", "same text", "same text")
    assert found(store, "same") == [23, 24, 25]
    assert found(store, "same", 2) == [23, 24]
    assert found(store, "same", 0) == found(store, "same", -1) == []


def test_neither_hits_nor_the_rarity_of_words_cross_namespaces(store: MemoryStore) -> None:
    """K6: what is rare in one namespace stays so, whatever is frequent in another."""
    names = ("one", "'; DROP TABLE bullets; --", "one%", "../one", "名")
    for name in names:
        learn(store, "alpha beta", "beta gamma", "beta delta", namespace=name)
    before = {name: found(store, "alpha gamma beta", namespace=name) for name in names}
    assert list(before.values()) == [[1, 2, 3]] * len(names)
    learn(store, *(f"alpha {n}" for n in range(60)), namespace="another")
    learn(store, "alpha zeta", namespace="one")
    assert found(store, "zeta", namespace="one") == [4]
    for name in names[1:]:
        assert found(store, "alpha gamma beta", namespace=name) == before[name]
        assert found(store, "zeta", namespace=name) == []


def test_whoever_writes_it_is_found(shared_place: Place) -> None:
    """Also what a process writes that never looks for words, before and after another does."""
    one, two = shared_place.open(), shared_place.open()
    learn(one, "written before")
    assert found(two, "written") == [1]
    learn(one, "written after")
    commit(one, Remove(id="misc-00001"))
    assert found(two, "written") == found(one, "written") == [2]


def test_two_that_look_at_once_for_the_first_time_both_find(shared_place: Place) -> None:
    stores = [shared_place.open() for _ in range(4)]
    learn(stores[0], *(f"advice {n}" for n in range(50)))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda store: found(store, "advice 7"), stores))
    assert results == [results[0]] * 4
    assert results[0][0] == 8


def test_inside_a_commit_what_it_has_made_is_found(store: MemoryStore) -> None:
    learn(store, "check the units")
    inside: list[list[int]] = []

    def then() -> tuple[Operation, ...]:
        inside.append(found(store, "check"))
        raise KeyboardInterrupt

    change = Change(at=NOW, cause="user", operations=(Add(draft=Draft(content="check the dates")),))
    for _ in range(2):  # the first time with no words indexed yet
        with pytest.raises(KeyboardInterrupt):
            store.commit("default", change, then=then)
    assert inside == [[1, 2], [1, 2]]
    assert found(store, "check") == [1]


SIGNS = st.characters(blacklist_characters="\0")
ANY = st.text(st.one_of(st.characters(), st.sampled_from("\"'*():^-+{}[]~\\/&|!<>=,.;\0\n 😀数é")), max_size=60)


@settings(max_examples=60)
@given(text=ANY, contents=st.lists(st.text(SIGNS, min_size=1, max_size=30).filter(str.strip), max_size=4))
def test_any_text_can_be_asked_and_is_data(lasting_store: MemoryStore, text: str, contents: list[str]) -> None:
    namespace = fresh_namespace()
    learn(lasting_store, "plain words", *contents, namespace=namespace)
    numbers = found(lasting_store, text, namespace=namespace)
    assert len(numbers) == len(set(numbers))
    assert set(numbers) <= set(range(1, len(contents) + 2))
    if not {"plain", "words"} & set("".join(sign if sign.isalnum() else " " for sign in text.lower()).split()):
        assert 1 not in numbers
    assert 1 in found(lasting_store, f"{text} words", namespace=namespace)


@pytest.mark.parametrize(
    "text",
    [
        "check AND NOT units OR (",
        'say "check" NEAR/2 units',
        "check* ^units -dates content:check",
        "check\0units",
        "'; DELETE FROM bullets; -- check",
        "check 😀 数据 \u202e units",
        "check \ud800 units",
        "check " + "x" * 100_000,
        "check " + " ".join(map(str, range(20_000))),
        "check " + "-".join(map(str, range(20_000))),
    ],
    ids=[
        "operators",
        "quotes",
        "prefixes",
        "NUL",
        "SQL",
        "signs",
        "half a sign",
        "100 kB in a word",
        "many words",
        "many parts of a word",
    ],
)
def test_nothing_in_a_text_is_syntax(store: MemoryStore, text: str) -> None:
    learn(store, "check the units", "round at the end")
    assert found(store, text)[:1] == [1]
    assert store.count_bullets("default") == 2
