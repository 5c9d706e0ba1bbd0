"""A model that says what it was told to say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from cheatsheet.llm.model import Capabilities, Outcome, Reply, Request, Usage

Script = Sequence[str | Reply | Exception] | Callable[[Request], str | Reply]


class ScriptExhaustedError(AssertionError):
    """More was asked of a scripted model than it has replies: the test expects another number of calls."""


class ScriptedModel:
    """Replies in order, for tests and examples; deterministic and free.

    Args:
        replies: texts, replies, or exceptions to raise, one for each request; or a function from a request to its
            text or reply.
        capabilities: what it claims to be able to do. Choices and schemas are not enforced: the script decides.

    Attributes:
        requests: all requests so far, in order.
    """

    def __init__(self, replies: Script, *, name: str = "scripted", capabilities: Capabilities | None = None) -> None:
        self._script = replies if callable(replies) else tuple(replies)
        self._name = name
        self._capabilities = capabilities or Capabilities()
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities as they were given."""
        return self._capabilities

    def complete(self, request: Request) -> Reply:
        """The next reply.

        Raises:
            ScriptExhaustedError: all replies were given.
            Exception: whatever the script holds at this place.
        """
        with self._lock:
            self.requests.append(request)
            position = len(self.requests) - 1
        answer = self._script(request) if callable(self._script) else self._at(position)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else self._spoken(answer, request)

    def _at(self, position: int) -> str | Reply | Exception:
        assert not callable(self._script)
        if position >= len(self._script):
            raise ScriptExhaustedError(
                f"{self._name} has {len(self._script)} replies, and this is request number {position + 1}: "
                f"{_excerpt(self.requests[position])!r}"
            )
        return self._script[position]

    def _spoken(self, text: str, request: Request) -> Reply:
        """Words stand for tokens, so that sums in tests can be checked by eye."""
        prompt = " ".join((request.prompt or "", *(message["content"] for message in request.messages)))
        usage = Usage(prompt_tokens=len(prompt.split()), completion_tokens=len(text.split()), calls=1, cost_usd=0.0)
        if text.strip():
            return Reply(text=text, outcome=Outcome.OK, model=self._name, usage=usage, finish_reason="stop")
        return Reply(text="", outcome=Outcome.EMPTY, model=self._name, usage=usage, notes=("the script is blank here",))


def _excerpt(request: Request, length: int = 80) -> str:
    text = request.prompt if request.prompt is not None else request.messages[-1]["content"]
    return text if len(text) <= length else f"{text[:length]} …"
