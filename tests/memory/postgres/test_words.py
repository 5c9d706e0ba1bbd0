"""BM25 on PostgreSQL is BM25: by hand on small memories, and in what it finds of codes, names and unspaced texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Remove, Update
from cheatsheet.memory.postgres import words
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.words import K1, B, indexed, words_of
from tests.memory.postgres.worlds import NOW, TIMEOUT_S, add, change, check, learn
from tests.memory.stores import fresh_namespace, new_url


@pytest.fixture(scope="module")
def lasting(postgres_server: PostgresServer) -> Iterator[PostgresStore]:
    store = PostgresStore(new_url(postgres_server), timeout_s=TIMEOUT_S)
    yield store
    store.close()


def ranked(texts: Sequence[str], asked: str) -> list[int]:
    """The textbook's BM25 (Robertson and Zaragoza 2009, eq. 3.15) with the idf that is never negative."""
    documents = [Counter(words_of(text)) for text in texts]
    mean = sum(document.total() for document in documents) / len(documents)

    def score(document: Counter[str]) -> float:
        total = 0.0
        for word in dict.fromkeys(words_of(asked)):
            having = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            tf = document[word]
            total += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * document.total() / mean))
        return total

    scores = {number: score(document) for number, document in enumerate(documents, start=1)}
    return sorted((number for number in scores if scores[number]), key=lambda n: (-round(scores[n], 9), n))


some = st.lists(st.sampled_from("red green blue a-b E42 été".split()), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=40)
@given(texts=st.lists(some, min_size=1, max_size=8), asked=some)
def test_the_order_is_that_of_bm25(lasting: PostgresStore, texts: list[str], asked: str) -> None:
    space = fresh_namespace()
    learn(lasting, *texts, namespace=space)
    learn(lasting, "red green blue", "words of another namespace say nothing about this one", namespace=space + "'")
    assert list(lasting.matching_bullets(space, asked, 20)) == ranked(texts, asked)


def test_what_is_active_is_found_by_its_words_of_now(store: PostgresStore) -> None:
    learn(store, "ORA-00942 means a missing table", "another table", "a third")
    assert list(store.matching_bullets("default", "What is ORA-00942?", 5)) == [1]
    assert list(store.matching_bullets("default", "table", 1)) == [2]
    store.commit("default", change(Update(id="misc-00001", content="gone"), Remove(id="misc-00002")))
    assert list(store.matching_bullets("default", "ORA-00942 table", 5)) == []
    assert list(store.matching_bullets("default", "' | !! \\ :*", 5)) == []
    assert list(store.matching_bullets("nowhere", "table", 5)) == []
    assert list(store.matching_bullets("default", "gone", 0)) == []
    check(store)


def test_a_code_as_a_whole_comes_before_its_parts(store: PostgresStore) -> None:
    learn(store, "942 and ora, ora and 00942", "ORA-00942 and more words that make it longer than the other is")
    assert list(store.matching_bullets("default", "ora-00942", 5)) == [2, 1]


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("遇到ORA-00942时重建表", "ORA-00942"),
        ("遇到ORA-00942时重建表", "如何重建表"),
        ("Überprüfe die Größe", "uberprufe"),
        ("naïve café", "NAIVE CAFÉ"),
        ("check_units_first", "units"),
        ("nul \x00 inside", "inside"),
    ],
)
def test_words_are_found_as_people_write_them(store: PostgresStore, content: str, asked: str) -> None:
    learn(store, "something else", content)
    assert list(store.matching_bullets("default", asked, 5)) == [2]


def test_experiences_are_found_by_their_questions(store: PostgresStore) -> None:
    lives = [Experience(query=query, answer="a", created_at=NOW) for query in ("Why E42?", "Why not?")]
    store.commit("default", change(experiences=tuple(lives)))
    assert list(store.matching_experiences("default", "E42", 5)) == [1]
    store.commit("default", change(Remove(id="exp-00001")))
    assert list(store.matching_experiences("default", "why E42", 5)) == [2]
    check(store)


def test_words_that_stand_everywhere_find_nothing_beside_rare_ones(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MOST_ROWS", 5)
    learn(store, *(f"the number {number}" for number in range(10)))
    assert list(store.matching_bullets("default", "the number 7", 9)) == [8]
    assert len(store.matching_bullets("default", "the number", 99)) == 10


def test_a_text_of_any_length_is_indexed(store: PostgresStore) -> None:
    """A `tsvector` has at most one MiB, and a word of it at most 2,046 bytes."""
    long = " ".join(f"wort{number}" for number in range(120_000)) + " " + "🙂x" * 3_000 + "y" * 5_000
    store.commit("default", change(experiences=(Experience(query=long, answer="a", created_at=NOW),)))
    assert list(store.matching_experiences("default", "wort7", 5)) == [1]
    assert indexed(long).length > 120_000
    learn(store, "again " * 300)
    assert list(store.matching_bullets("default", "again", 5)) == [1]
    check(store)


def test_nothing_is_added_to_a_bullet_by_looking(store: PostgresStore) -> None:
    store.commit("default", change(add("one two")))
    before = store.bullets("default")
    store.matching_bullets("default", "two", 1)
    assert store.bullets("default") == before


def test_a_word_that_is_too_long_for_the_index_is_cut_and_stops_nothing(store: PostgresStore) -> None:
    """PostgreSQL's bound is in bytes, of which a letter may take four, and two words with a hyphen are one more."""
    long = ("a" * 3_000, "\u0915" * 900, "\U00010000" * 700)
    for word in long:
        learn(store, f"{word}-{word} and more")
    check(store)
    assert [list(store.matching_bullets("default", word, 5)) for word in long] == [[1], [2], [3]]
