"""Recordings by themselves: what is kept, when it is given out again, and what is said where it is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ContextOverflowError, ModelAuthError, ModelError, ModelUnavailableError, SetupError
from cheatsheet.evaluation.runs.recording.contents import digest, vector_from, vectors_line
from cheatsheet.evaluation.runs.recording.memory import failures
from cheatsheet.evaluation.runs.recording.on_record import CounterOnRecord, EmbedderOnRecord, ModelOnRecord
from cheatsheet.evaluation.runs.recording.recording import Recording
from cheatsheet.llm.model import Capabilities, Message, Model, Reply, Request
from cheatsheet.llm.recorded import RecordedModel
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.tokens import CharCounter
from indexes.embedder import Embedder, TextKind
from indexes.hashing import HashingEmbedder

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ask(text: str) -> Request:
    return Request(messages=(Message(role="user", content=text),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arm" / "calls.jsonl"


def nobody() -> Model:
    pytest.fail("a replay made a model")


def recorder(path: Path, *replies: str | Reply | Exception) -> tuple[Recording, ModelOnRecord]:
    """A recording whose clock stands at noon and whose calls take a quarter of a second."""
    ticks = iter(quarter / 4 for quarter in range(1_000))
    recording = Recording(path, replays=False, clock=lambda: NOON, timer=lambda: next(ticks))
    inner = ScriptedModel(replies, capabilities=Capabilities(context_window=77))
    return recording, ModelOnRecord("scripted", lambda: inner, recording)


def replayer(path: Path) -> tuple[Recording, ModelOnRecord]:
    recording = Recording(path, replays=True, hint="Other settings.")
    return recording, ModelOnRecord("scripted", nobody, recording)


def both(path: Path, *replies: str | Reply | Exception) -> Iterator[tuple[Recording, ModelOnRecord]]:
    """What is recorded, and then its replay."""
    yield recorder(path, *replies)
    yield replayer(path)


def test_an_answer_belongs_to_one_try_at_one_question(path: Path) -> None:
    recording, model = recorder(path, "first", "second", "third", "fourth")
    for turn, attempt, expected in [("a:1", 0, "first"), ("a:2", 0, "second"), ("a:1", 1, "third")]:
        with recording.turn(turn, attempt=attempt):
            assert model.complete(ask("same")).text == expected
    again, model = replayer(path)
    for turn, attempt, expected in [("a:1", 1, "third"), ("a:2", 0, "second"), ("a:1", 0, "first")]:
        with again.turn(turn, attempt=attempt):
            assert model.complete(ask("same")).text == expected


def test_equal_requests_of_one_question_are_answered_in_their_order_and_not_more_often(path: Path) -> None:
    recording, model = recorder(path, "first", "second")
    with recording.turn("a:1"):
        assert [model.complete(ask("same")).text for _ in range(2)] == ["first", "second"]
    again, model = replayer(path)
    with again.turn("a:1"):
        assert [model.complete(ask("same")).text for _ in range(2)] == ["first", "second"]
        with pytest.raises(SetupError, match=r"2 calls on record there, and is made once more now"):
            model.complete(ask("same"))


def test_a_question_that_was_cut_off_pays_for_what_is_missing_only(path: Path) -> None:
    recording, model = recorder(path, "first")
    with recording.turn("a:1"):
        model.complete(ask("one"))
    resumed, model = recorder(path, "second")
    with resumed.turn("a:1"):
        assert [model.complete(ask(text)).text for text in ("one", "two")] == ["first", "second"]
    again, model = replayer(path)
    with again.turn("a:1"):
        assert [model.complete(ask(text)).text for text in ("one", "two")] == ["first", "second"]


@pytest.mark.parametrize("error", [ModelUnavailableError("down"), ContextOverflowError("too long"), ModelError("?")])
def test_a_failed_call_fails_again_in_the_same_way(path: Path, error: ModelError) -> None:
    for each, asked in both(path, error):
        with each.turn("a:1"), pytest.raises(type(error)) as caught:
            asked.complete(ask("one"))
        assert (type(caught.value), str(caught.value)) == (type(error), str(error))


def test_a_refused_key_is_asked_for_again_where_the_question_is_begun_again(path: Path) -> None:
    recording, model = recorder(path, ModelAuthError("no key"))
    with recording.turn("a:1"), pytest.raises(ModelAuthError):
        model.complete(ask("one"))
    resumed, model = recorder(path, "answered")
    with resumed.turn("a:1"):
        assert model.complete(ask("one")).text == "answered"
    again, model = replayer(path)
    with again.turn("a:1"):
        assert model.complete(ask("one")).text == "answered"


def test_time_stands_still_but_for_the_calls(path: Path) -> None:
    for each, asked in both(path, "one", ModelUnavailableError("down")):
        with each.turn("a:1"):
            assert (each.seconds(), each.now()) == (0.0, NOON)
            asked.complete(ask("one"))
            assert (each.seconds(), each.now()) == (0.25, NOON + timedelta(seconds=0.25))
            with pytest.raises(ModelUnavailableError):
                asked.complete(ask("two"))
            assert each.seconds() == 0.5
    assert abs(Recording(path, replays=True).now() - datetime.now(UTC)) < timedelta(hours=1)


def test_a_question_that_is_resumed_keeps_its_time(path: Path) -> None:
    with recorder(path)[0].turn("a:1"):
        pass
    later = Recording(path, replays=False, clock=lambda: NOON + timedelta(days=1))
    with later.turn("a:1"):
        assert later.now() == NOON


def test_what_is_asked_otherwise_is_told_with_the_nearest_request(path: Path) -> None:
    recording, model = recorder(path, "amber", "teal")
    with recording.turn("retrieval:t7"):
        model.complete(ask("Known: cards go to amber.\n\nWhere does a card go?"))
        model.complete(ask("Curate."))
    again, model = replayer(path)
    other = Request(messages=ask("Known: cards go to teal.\n\nWhere does a card go?").messages, max_tokens=16)
    with again.turn("retrieval:t7"), pytest.raises(SetupError) as caught:
        model.complete(other)
    told = str(caught.value)
    assert f"{path} holds no answer of scripted to a request of question 't7' of arm 'retrieval'." in told
    assert "from character 25 of the prompt on" in told
    assert "'user: Known: cards go to amber." in told
    assert "became 'user: Known: cards go to teal." in told
    assert "max_tokens was 2048, is 16" in told
    assert told.endswith("Other settings.")


def test_what_is_not_on_record_at_all_is_told(path: Path) -> None:
    recording, model = recorder(path, "amber")
    with recording.turn("retrieval:t1"):
        model.complete(ask("one"))
    again, model = replayer(path)
    with pytest.raises(SetupError, match=r"anything about question 't2' of arm 'retrieval'; 1 questions are on record"):
        again.turn("retrieval:t2").__enter__()
    with pytest.raises(SetupError, match=r"a further try at question 't1'"):
        again.turn("retrieval:t1", attempt=1).__enter__()
    with again.turn("retrieval:t1"), pytest.raises(SetupError, match=r"no call of other for question 't1'"):
        ModelOnRecord("other", nobody, again).complete(ask("one"))
    with pytest.raises(SetupError, match=r"does not hold the capabilities of scripted"):
        _ = model.capabilities
    with again.turn("retrieval:t1"), pytest.raises(SetupError, match=r"no token count .* 't1' .* ending 'new words'"):
        CounterOnRecord(CharCounter, again).count("new words")


def test_what_a_model_can_do_is_on_record_for_each_window(path: Path) -> None:
    recording, model = recorder(path)
    other = ModelOnRecord(
        "scripted", lambda: ScriptedModel([], capabilities=Capabilities(choices=True)), recording, window=900
    )
    assert model.capabilities == Capabilities(context_window=77)
    assert other.capabilities == Capabilities(choices=True)
    again, model = replayer(path)
    assert model.capabilities == Capabilities(context_window=77)
    assert ModelOnRecord("scripted", nobody, again, window=900).capabilities == Capabilities(choices=True)


def test_token_counts_are_kept_by_their_text(path: Path) -> None:
    recording = Recording(path, replays=False)
    counter = CounterOnRecord(lambda: CharCounter(3), recording)
    with recording.turn("a:1"):
        assert [counter.count(text) for text in ("", "abcd", "abcd", "\ud83d")] == [0, 2, 2, 1]
    assert path.read_bytes().count(digest("abcd").encode()) == 1
    assert b"abcd" not in path.read_bytes()
    assert counter.name == "chars/3"
    again = CounterOnRecord(lambda: pytest.fail("a replay made a counter"), Recording(path, replays=True))
    assert [again.count(text) for text in ("", "abcd", "\ud83d")] == [0, 2, 1]
    assert again.name == "chars/3"


class Sided(HashingEmbedder):
    """Gives a question another vector than a document."""

    symmetric = False

    def embed(self, texts, kind="document"):  # type: ignore[no-untyped-def]  # as the class above has it
        return super().embed([f"{kind} {text}" for text in texts])


@pytest.mark.parametrize("make", [HashingEmbedder, Sided])
def test_vectors_come_back_bit_for_bit(path: Path, make: type[HashingEmbedder]) -> None:
    recording = Recording(path, replays=False)
    kept: Embedder = EmbedderOnRecord(make, recording)
    texts = ["Where is my parcel?", "My card", "Where is my parcel?", "\ud83d"]
    kinds: tuple[TextKind, ...] = ("query", "document")
    rows = {kind: kept.embed(texts, kind) for kind in kinds}
    assert np.array_equal(kept.embed(texts, "query"), make().embed(texts, "query"))
    replayed = EmbedderOnRecord(lambda: pytest.fail("a replay made an embedder"), Recording(path, replays=True))
    assert (replayed.model_id, replayed.dim, replayed.symmetric) == (kept.model_id, kept.dim, kept.symmetric)
    for kind, expected in rows.items():
        assert replayed.embed(texts, kind).tobytes() == expected.tobytes()
    assert replayed.embed([]).shape == (0, kept.dim)
    with pytest.raises(SetupError, match=r"no vector for 1 of the texts .* ending 'A new text'"):
        replayed.embed(["My card", "A new text"])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=5))
def test_any_vector_comes_back(values: list[float]) -> None:
    vector = np.array(values, dtype=np.float32)
    line = json.loads(json.dumps(vectors_line({"key": vector})))
    assert vector_from(line["rows"]["key"]).tobytes() == vector.tobytes()


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back(tmp_path: Path, question: str, answer: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.unlink(missing_ok=True)
    for each, asked in both(path, answer):
        with each.turn(f"a:{question}"):
            assert asked.complete(ask(question)).text == (answer if answer.strip() else "")


def test_damaged_lines_are_counted_and_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recording, model = recorder(path, "amber", "teal")
    for turn in ("a:1", "a:2"):
        with recording.turn(turn):
            model.complete(ask("one"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"kind": "nonsense"}\n', b"[1]\n", lines[2], lines[3][:-30]]))
    again, model = replayer(path)
    assert [damage.partition(":")[0] for damage in again.damaged] == ["line 3", "line 4", "line 6"]
    assert "3 of its lines cannot be read" in caplog.messages[-1]
    with again.turn("a:1"):
        assert model.complete(ask("one")).text == "amber"
    with again.turn("a:2"), pytest.raises(SetupError, match="3 of its lines cannot be read"):
        model.complete(ask("one"))


def test_what_a_replay_reads_is_left_as_it_is(path: Path) -> None:
    recording, model = recorder(path, "amber")
    with recording.turn("a:1"):
        model.complete(ask("one"))
    path.write_bytes(path.read_bytes() + b'{"torn')
    path.chmod(0o400)
    before = path.read_bytes()
    again, model = replayer(path)
    with again.turn("a:1"):
        model.complete(ask("one"))
    assert path.read_bytes() == before


def test_failed_tries_are_counted_by_their_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    assert failures(rows, "a") == {}
    lines = [{"id": "1", "error": "x"}, {"id": "2", "error": ""}, {"id": "1", "error": "y"}]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"id": "3", "er')
    assert failures(rows, "a") == {"a:1": 2}


def test_the_calls_of_a_run_can_be_replayed_by_hand(path: Path) -> None:
    """By `RecordedModel`, in tests of a user's own; lines of other kinds are no damage to it."""
    recording, model = recorder(path, "amber", ModelUnavailableError("down"))
    assert model.capabilities.context_window == 77
    with recording.turn("a:1"):
        model.complete(ask("one"))
        with pytest.raises(ModelUnavailableError):
            model.complete(ask("two"))
    by_hand = RecordedModel(None, path)
    assert (by_hand.damaged, by_hand.name) == ((), "scripted")
    assert by_hand.complete(ask("one")).text == "amber"
