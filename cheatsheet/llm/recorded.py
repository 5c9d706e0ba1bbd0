"""A model that remembers what another one said."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from cheatsheet.errors import SetupError
from cheatsheet.llm.call_file import CallFile, Damage
from cheatsheet.llm.call_json import (
    differences,
    nearest,
    reply_from,
    reply_json,
    request_json,
    request_key,
)
from cheatsheet.llm.model import Capabilities, Model, Reply, Request

Mode = Literal["replay", "record", "auto"]

# The recording of a run (`cheatsheet/evaluation/runs/recording/`) holds lines of other kinds, and calls that failed.
_CALLS: Final = (None, "call")
_SHOWN_CHARS: Final = 160


class RecordedModel:
    """Replays recorded answers to exact requests, and records new ones; for tests without keys and for paid calls.

    The file holds one JSON object a line: `{"key", "model", "request", "reply"}`; the key is the SHA-256 of the
    model's name and the request as canonical JSON. Equal requests are answered in the order in which they were
    recorded, the last answer again and again. The calls of a run that was recorded (`calls.jsonl`) can be replayed
    as well.

    Args:
        inner: the model that is recorded; None to replay only.
        path: the recording.
        mode: "replay" never asks `inner`; "record" always does; "auto" asks for what is not on record.
        name: the recorded model's name, where there is no `inner` and the file holds several.

    Attributes:
        damaged: lines of the file that could not be read, as "line 3: reason"; the others are used.

    Raises:
        SetupError: no recording to replay, no model to record, or several recorded models and no name.
    """

    def __init__(
        self, inner: Model | None, path: str | Path, mode: Mode = "replay", *, name: str | None = None
    ) -> None:
        self._inner = inner
        self._file = CallFile(Path(path))
        self._mode = mode
        self._lock = threading.Lock()
        if inner is None and mode == "record":
            raise SetupError('mode="record" needs the model that is to be recorded.')
        if mode == "replay" and not self._file.path.is_file():
            raise SetupError(f'There is no recording at {self._file.path}. Record one with mode="record" or "auto".')
        self._answers: defaultdict[str, deque[Reply]] = defaultdict(deque)
        self.damaged: tuple[str, ...] = ()
        names = self._load()
        self._name = name or (inner.name if inner is not None else _only(names, self._file.path))

    @property
    def name(self) -> str:
        """The recorded model's name."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the inner model; without one all abilities, since what was recorded was possible."""
        if self._inner is not None:
            return self._inner.capabilities
        return Capabilities(continuation=True, choices=True, json_schema=True)

    def complete(self, request: Request) -> Reply:
        """The recorded answer, or the inner model's.

        Raises:
            SetupError: the request is not on record, and no model may be asked.
            ModelError: from the inner model; errors are not recorded.
        """
        key = request_key(self._name, request)
        if self._mode != "record" and (reply := self._replay(key)) is not None:
            return reply
        if self._inner is None or self._mode == "replay":
            raise SetupError(self._not_found(request, key))
        reply = self._inner.complete(request)
        self._record(key, request, reply)
        return reply

    def _replay(self, key: str) -> Reply | None:
        with self._lock:
            answers = self._answers.get(key)
            if not answers:
                return None
            return answers.popleft() if len(answers) > 1 else answers[0]

    def _record(self, key: str, request: Request, reply: Reply) -> None:
        """One line, written and flushed at once: a run that is cut off keeps what it paid for."""
        row = {"key": key, "model": self._name, "request": request_json(request), "reply": reply_json(reply)}
        with self._lock:
            self._file.append([row])
            self._answers[key].append(reply)

    def _load(self) -> set[str]:
        """Read the file; returns the names of the recorded models."""
        names: set[str] = set()
        lines = self._file.read()
        damaged = list(lines.damaged)
        for line in lines.values:
            if line.value.get("kind") not in _CALLS or "error" in line.value:
                continue
            try:
                self._answers[str(line.value["key"])].append(reply_from(line.value["reply"]))
                names.add(str(line.value["model"]))
            except (ValueError, KeyError, TypeError) as error:
                damaged.append(Damage(line.number, str(error)))
        self.damaged = tuple(map(str, sorted(damaged)))
        return names

    def _not_found(self, request: Request, key: str) -> str:
        text = request.prompt if request.prompt is not None else request.messages[-1]["content"]
        return (
            f"{self._file.path} holds no answer of {self._name} to this request (key {key[:12]}…, ending "
            f"{text[-_SHOWN_CHARS:]!r}).{self._nearest(request_json(request))} "
            'Record it with mode="auto" and a model, or look for what changed in the prompt.'
        )

    def _nearest(self, wanted: Mapping[str, Any]) -> str:
        """How the request differs from the nearest one on record; the file is read again for it."""
        recorded = (line.value for line in self._file.read().values if line.value.get("model") == self._name)
        found = nearest((value["request"] for value in recorded if "request" in value), wanted)
        told = () if found is None else differences(found, wanted)
        return f" The nearest request on record is another one: {'; '.join(told)}." if told else ""


def _only(names: set[str], path: Path) -> str:
    if len(names) != 1:
        raise SetupError(f"{path} holds {len(names)} models ({', '.join(sorted(names))}): give the name of one.")
    return next(iter(names))
