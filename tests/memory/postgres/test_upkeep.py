"""Keeping a memory on a server sound and small, where that differs from a file."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from cheatsheet.errors import SetupError
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Merge
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.upkeep.verify import verify
from indexes.cached import CacheKey
from tests.memory.postgres.worlds import NOW, add, change, learn, outside


def key(text: str, model: str = "m") -> CacheKey:
    return CacheKey(model, "document", sha256(text.encode()).hexdigest())


def test_embeddings_of_living_texts_stay_also_of_texts_that_are_held_otherwise(store: PostgresStore) -> None:
    texts = ("plain", "nul \x00", "escape \x01", "é🙂", "question \x00\x01", "into another")
    store.commit(
        "a", change(*map(add, texts[:4]), experiences=(Experience(query=texts[4], answer="", created_at=NOW),))
    )
    store.commit("a", change(add(texts[5])))
    store.commit("a", change(Merge(into="misc-00001", absorbed=("misc-00005",))))
    keys = [key(text) for text in (*texts, "nobody's")] + [key("plain", "another model")]
    store.put_many({one: np.array([1, 0], dtype=np.float32) for one in keys})
    gone = [key(texts[5]), key("nobody's")]
    assert store.shrink(dry_run=True).vectors == len(gone)
    assert set(store.get_many(keys)) == set(keys)
    assert store.shrink().vectors == len(gone)
    assert set(store.get_many(keys)) == set(keys) - set(gone)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE bullets SET version = version + 9", "touched by a version that the journal does not have"),
        ("UPDATE namespaces SET bullet_words = 0", "other sums or another version"),
        ("UPDATE namespaces SET version = version + 1", "other sums or another version"),
        ("UPDATE bullets SET content = 'other words'", "stored otherwise than the journal tells"),
        ("UPDATE namespaces SET active_bullets = 9", "says that it holds 9 active bullets"),
        ("DELETE FROM journal", "not"),
    ],
)
def test_what_somebody_else_changes_is_found(store: PostgresStore, damage: str, sentence: str) -> None:
    learn(store, "one", "two")
    assert verify(store) == []
    with outside(store) as db:
        db.execute(damage)
    assert any(sentence in flaw.text for flaw in verify(store))


def test_an_experience_with_another_letter_is_found(store: PostgresStore) -> None:
    told = ("plain é🙂", "nul \x00", "escape \x01")
    store.commit("a", change(experiences=[Experience(query=text, answer=text, created_at=NOW) for text in told]))
    assert verify(store) == []
    with outside(store) as db:
        db.execute("UPDATE experiences SET data = replace(data, 'plain', 'plane') WHERE number = 1")
    (flaw,) = verify(store)
    assert flaw.text == "Experiences were changed by something else: exp-00001 in 'a' (1)."


def test_a_server_is_backed_up_by_its_own_tools(store: PostgresStore, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"pg_dump --schema=test_\d+.*`cheatsheet migrate"):
        store.backup(tmp_path / "copy.db")
