"""The recording of one arm: asked first for everything that a model would have to be asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from cheatsheet.errors import ModelError
from cheatsheet.evaluation.runs.recording.contents import Call, Contents, TurnKey, digest, turn_line, vectors_line
from cheatsheet.evaluation.runs.recording.missing import Missing
from cheatsheet.llm.call_file import CallFile
from cheatsheet.llm.call_json import error_json, reply_json, request_json, request_key
from cheatsheet.llm.model import Reply, Request
from cheatsheet.safety.logs import masking_logger
from indexes.vectors import Matrix, Vector

_log = masking_logger()

_OUTSIDE = TurnKey()

Ask = Callable[[Request], Reply]
Count = Callable[[str], int]
Embed = Callable[[Sequence[str]], Matrix]


class Recording:
    """What the models of one arm said, question by question, in one file.

    A recording that goes on gives out what is on record for the question and asks for the rest, which it keeps before
    anyone sees it: a run that was stopped pays again for a call in flight at most. A replay asks nobody. Both hand out
    what stands in the file, errors as well, so that a replay cannot differ from what was recorded.

    An answer belongs to one try at one question. So equal requests of two questions have an answer each, and it does
    not matter which turns were stored when a process ended.

    Time stands still but for the calls: within a question, `seconds` is what its calls took when they were made, and
    `now` is the recorded beginning and these seconds. Give both to the engine, and to whatever times a failed call.

    Args:
        path: the file; where it does not exist, a recording begins.
        replays: nobody may be asked; the file is only read.
        hint: said with every error of a replay, such as how the recorded run differs from this one.
        clock, timer: the system's, for what is recorded anew.
    """

    def __init__(
        self,
        path: Path,
        *,
        replays: bool,
        hint: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.replays = replays
        self._file = CallFile(path)
        self._contents = Contents.of(self._file.read())
        self._missing = Missing(path=path, hint=" ".join(filter(None, (hint, self._told_damage()))))
        self._clock = clock
        self._timer = timer
        self._lock = threading.RLock()
        self._turn, self._elapsed_s = _OUTSIDE, 0.0
        self._new_counts: dict[str, int] = {}
        if not replays:
            self._file.make_ready()

    @property
    def damaged(self) -> Sequence[str]:
        """Lines of the file that could not be read, as "line 3: reason"."""
        return tuple(map(str, self._contents.damaged))

    @contextmanager
    def turn(self, turn_id: str, *, attempt: int = 0) -> Iterator[None]:
        """Everything within belongs to a try at a question.

        Args:
            attempt: how often the question failed before.

        Raises:
            SetupError: a replay of a question that is not on record.
        """
        self._turn, self._elapsed_s = TurnKey(turn_id, attempt), 0.0
        try:
            self._begin()
            yield
        finally:
            self.flush()
            self._turn = _OUTSIDE

    def seconds(self) -> float:
        """What the calls of this question took so far."""
        return self._elapsed_s

    def now(self) -> datetime:
        """When the question was asked and the seconds of its calls; outside of questions, the system's time."""
        begun = self._contents.begun.get(self._turn)
        return self._clock() if begun is None else begun + timedelta(seconds=self._elapsed_s)

    def answer(self, model: str, request: Request, ask: Ask) -> Reply:
        """The answer of a model to a request.

        Args:
            ask: the model; not called where the answer is on record, and never in a replay.

        Raises:
            ModelError: the call failed, now or when it was recorded.
            SetupError: it is not on record, and nobody may be asked.
        """
        key = request_key(model, request)
        with self._lock:
            call = self._contents.next_call(self._turn, key)
        if call is None:
            if self.replays:
                raise self._missing.request(self._turn, model, request)
            call = self._asked(ask, request, {"key": key, "model": model, "request": request_json(request)})
        with self._lock:
            self._elapsed_s += call.seconds
        return call.outcome()

    def tokens(self, text: str, count: Count) -> int:
        """How many tokens a text has; arguments and errors as in `answer`."""
        key = digest(text)
        if key not in self._contents.counts:
            if self.replays:
                raise self._missing.count(self._turn, text)
            self._contents.counts[key] = self._new_counts[key] = count(text)
        return self._contents.counts[key]

    def vectors(self, texts: Sequence[str], kind: str, embed: Embed) -> list[Vector]:
        """The vector of each text; arguments and errors as in `answer`."""
        keys = [digest(kind, text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._contents.vectors}
        if unknown:
            if self.replays:
                raise self._missing.vectors(self._turn, tuple(unknown.values()))
            rows = np.asarray(embed(tuple(unknown.values())), dtype=np.float32)
            # Before anyone keeps them: a vector that the memory has is never asked for again.
            self._keep(vectors_line(dict(zip(unknown, rows, strict=True))))
        return [self._contents.vectors[key] for key in keys]

    def fact(self, name: str, ask: Callable[[], Any]) -> Any:
        """What a model says of itself, as JSON; arguments and errors as in `answer`."""
        if name not in self._contents.facts:
            if self.replays:
                raise self._missing.fact(name, self._contents.facts)
            self._keep({"kind": "fact", "name": name, "value": ask()})
        return self._contents.facts[name]

    def flush(self) -> None:
        """Bring to the disk what is not there yet; token counts wait for the next line or for this."""
        with self._lock:
            if self._new_counts:
                self._file.append(self._waiting())

    def _begin(self) -> None:
        if not self.replays:
            self._keep(turn_line(self._turn, self._clock()))
        elif self._turn not in self._contents.begun:
            raise self._missing.turn(self._turn, self._contents)

    def _asked(self, ask: Ask, request: Request, asked: Mapping[str, Any]) -> Call:
        started = self._timer()
        came: dict[str, Any] = {}
        try:
            came["reply"] = reply_json(ask(request))
        except ModelError as error:
            came["error"] = error_json(error)
        where = {"kind": "call", "turn": self._turn.turn, "attempt": self._turn.attempt}
        line = {**where, **asked, "seconds": self._timer() - started, **came}
        with self._lock:
            self._file.append([*self._waiting(), line])
        return Call.read(line)

    def _keep(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            self._file.append([*self._waiting(), line])
            self._contents.take(line)

    def _waiting(self) -> list[dict[str, Any]]:
        counts, self._new_counts = self._new_counts, {}
        return [{"kind": "tokens", "counts": counts}] if counts else []

    def _told_damage(self) -> str:
        """The lines that are lost, told at once and with what is missed later."""
        damaged = self._contents.damaged
        if not damaged:
            return ""
        told = f"{len(damaged)} of its lines cannot be read and are left out: {'; '.join(map(str, damaged[:3]))}."
        _log.warning("%s: %s", self._file.path, told)
        return told
