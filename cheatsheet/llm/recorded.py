"""A model that remembers what another one said."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from cheatsheet.errors import SetupError
from cheatsheet.llm.model import Capabilities, Model, Outcome, Reply, Request, Usage

Mode = Literal["replay", "record", "auto"]


class RecordedModel:
    """Replays recorded answers to exact requests, and records new ones; for tests without keys and for paid runs.

    The file holds one JSON object a line: `{"key", "model", "request", "reply"}`; the key is the SHA-256 of the
    model's name and the request as canonical JSON. Equal requests are answered in the order in which they were
    recorded, the last answer again and again.

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
        self._path = Path(path)
        self._mode = mode
        self._lock = threading.Lock()
        if inner is None and mode == "record":
            raise SetupError('mode="record" needs the model that is to be recorded.')
        if mode == "replay" and not self._path.is_file():
            raise SetupError(f'There is no recording at {self._path}. Record one with mode="record" or "auto".')
        self._answers: defaultdict[str, deque[Reply]] = defaultdict(deque)
        self.damaged: tuple[str, ...] = ()
        names = self._load()
        self._name = name or (inner.name if inner is not None else _only(names, self._path))

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
            raise SetupError(_not_found(self._path, self._name, request, key))
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
        row = {"key": key, "model": self._name, "request": _plain(request), "reply": asdict(reply)}
        line = json.dumps(row) + "\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                torn = file.tell() > 0 and not self._ends_with_newline()
                file.write((b"\n" if torn else b"") + line.encode())
            self._answers[key].append(reply)

    def _ends_with_newline(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def _load(self) -> set[str]:
        """Read the file; returns the names of the recorded models."""
        names: set[str] = set()
        damaged: list[str] = []
        content = self._path.read_bytes() if self._path.is_file() else b""
        for number, line in enumerate(content.split(b"\n"), start=1):  # of text, splitlines() would split at U+2028
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                self._answers[str(row["key"])].append(_reply_from(row["reply"]))
                names.add(str(row["model"]))
            except (ValueError, KeyError, TypeError) as error:
                damaged.append(f"line {number}: {error}")
        self.damaged = tuple(damaged)
        return names


def request_key(model: str, request: Request) -> str:
    """SHA-256 of a model's name and a request, the same on every machine."""
    text = json.dumps([model, _plain(request)], ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(request: Request) -> dict[str, Any]:
    """The request as JSON values. Equal requests give equal values: 0 and 0.0 are one temperature."""
    return {
        "messages": [{"role": message["role"], "content": message["content"]} for message in request.messages],
        "prompt": request.prompt,
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "choices": list(request.choices),
        "json_schema": dict(request.json_schema) if request.json_schema is not None else None,
        "stop": list(request.stop),
    }


def _reply_from(row: Mapping[str, Any]) -> Reply:
    fields = {**row, "outcome": Outcome(row["outcome"]), "usage": Usage(**row["usage"]), "notes": tuple(row["notes"])}
    return Reply(**fields)


def _only(names: set[str], path: Path) -> str:
    if len(names) != 1:
        raise SetupError(f"{path} holds {len(names)} models ({', '.join(sorted(names))}): give the name of one.")
    return next(iter(names))


def _not_found(path: Path, name: str, request: Request, key: str) -> str:
    text = request.prompt if request.prompt is not None else request.messages[-1]["content"]
    return (
        f"{path} holds no answer of {name} to this request (key {key[:12]}…, ending {text[-160:]!r}). "
        'Record it with mode="auto" and a model, or look for what changed in the prompt.'
    )
