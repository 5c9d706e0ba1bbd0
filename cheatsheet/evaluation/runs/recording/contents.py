"""What stands in the file of a recording, and how its lines are written and read.

Every line is a JSON object; its `kind` tells what it holds:

    fact      name, value: what a model or the embedder said of itself
    turn      turn, attempt, at: a question was begun, or begun again after the process had ended in the middle
    call      turn, attempt, key, model, request, seconds, and reply or error
    tokens    counts: of texts, by their digests
    vectors   rows: of texts, by their digests; float32, little-endian, base64
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from cheatsheet.errors import ModelAuthError, ModelError
from cheatsheet.llm.call_file import CallLines, Damage
from cheatsheet.llm.call_json import error_from, reply_from
from cheatsheet.llm.model import Reply
from indexes.vectors import Vector

_DIGEST_BYTES = 8  # that two among a million texts share a digest has a probability of 3e-8


class TurnKey(NamedTuple):
    """One try at one question.

    Attributes:
        turn: the turn id, "<arm>:<question>"; empty outside of all turns.
        attempt: how many failed rows the question had before.
    """

    turn: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a model, as it came out: with a reply, or with an error.

    Attributes:
        seconds: from the question to the answer, all tries and waits together.
    """

    seconds: float
    reply: Reply | None = None
    error: ModelError | None = None

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Call:
        """The call of a line; raises LookupError, TypeError or ValueError where it holds none."""
        seconds = float(line["seconds"])
        if "error" in line:
            return cls(seconds=seconds, error=error_from(line["error"]))
        return cls(seconds=seconds, reply=reply_from(line["reply"]))

    def outcome(self) -> Reply:
        """The reply; raises the error where there is one."""
        if self.reply is None:
            raise self.error or ModelError("the call has no outcome on record")
        return self.reply


Calls = defaultdict[TurnKey, defaultdict[str, deque[Call]]]
"""The calls that are still to be given out, by try and by the key of the request, in their order."""


@dataclass(slots=True, kw_only=True)
class Contents:
    """All that is on record.

    Attributes:
        begun: when each try began.
        damaged: the lines that could not be read.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    begun: dict[TurnKey, datetime] = field(default_factory=dict)
    calls: Calls = field(default_factory=lambda: defaultdict(lambda: defaultdict(deque)))
    counts: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    damaged: list[Damage] = field(default_factory=list)

    @classmethod
    def of(cls, lines: CallLines) -> Contents:
        """The contents of a file."""
        contents, damaged = cls(), list(lines.damaged)
        for line in lines.values:
            try:
                contents.take(line.value)
            except (LookupError, TypeError, ValueError) as error:
                damaged.append(Damage(line.number, f"{type(error).__name__}: {error}"))
        contents.damaged = sorted(damaged)
        return contents

    def take(self, line: Mapping[str, Any]) -> None:
        """Add what a line holds.

        Raises:
            LookupError, TypeError, ValueError: it is no line of a recording.
        """
        takers: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "fact": self._take_fact,
            "turn": self._take_turn,
            "call": self._take_call,
            "tokens": self._take_counts,
            "vectors": self._take_vectors,
        }
        if line.get("kind") not in takers:
            raise ValueError(f"its kind is {line.get('kind')!r}, and {', '.join(takers)} are known")
        takers[line["kind"]](line)

    def next_call(self, key: TurnKey, request: str) -> Call | None:
        """The next answer to a request in this try, which is then given out; None where there is none left."""
        waiting = self.calls[key][request]
        return waiting.popleft() if waiting else None

    def _take_fact(self, line: Mapping[str, Any]) -> None:
        self.facts[line["name"]] = line["value"]

    def _take_turn(self, line: Mapping[str, Any]) -> None:
        """A question that is begun again forgets refused keys: they stopped the run, and may be mended."""
        key = TurnKey(line["turn"], line["attempt"])
        self.begun.setdefault(key, datetime.fromisoformat(line["at"]))
        for waiting in self.calls[key].values():
            kept = [call for call in waiting if not isinstance(call.error, ModelAuthError)]
            waiting.clear()
            waiting.extend(kept)

    def _take_call(self, line: Mapping[str, Any]) -> None:
        self.calls[TurnKey(line["turn"], line["attempt"])][line["key"]].append(Call.read(line))

    def _take_counts(self, line: Mapping[str, Any]) -> None:
        self.counts.update(line["counts"])

    def _take_vectors(self, line: Mapping[str, Any]) -> None:
        self.vectors.update({key: vector_from(text) for key, text in line["rows"].items()})


def turn_line(key: TurnKey, at: datetime) -> dict[str, Any]:
    """A try that begins, or begins again."""
    return {"kind": "turn", "turn": key.turn, "attempt": key.attempt, "at": at.isoformat()}


def vectors_line(rows: Mapping[str, Vector]) -> dict[str, Any]:
    """Vectors by the digests of their texts."""
    return {"kind": "vectors", "rows": {key: _packed(vector) for key, vector in rows.items()}}


def vector_from(text: str) -> Vector:
    """The vector that was written, bit for bit."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)


def digest(*texts: str) -> str:
    """What a text is known by in counts and vectors; the text itself is not kept there."""
    content = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def requests_of(lines: CallLines, turn: str) -> Iterable[Mapping[str, Any]]:
    """The recorded calls of a question, in all its tries, as they stand in the file."""
    return (line.value for line in lines.values if line.value.get("kind") == "call" and line.value["turn"] == turn)


def _packed(vector: Vector) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode("ascii")
