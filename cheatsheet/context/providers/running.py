"""Running providers side by side, each with a time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.provider import ContextRequest, Provided, Provider
from cheatsheet.safety.secrets import mask_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one provider.

    Attributes:
        provided: what it returned; None when it is left out.
        problem: why it is left out, as a sentence.
    """

    name: str
    provided: Provided | None = None
    problem: str = ""


@dataclass(slots=True)
class Runner:
    """Runs providers in threads of their own.

    A provider that is still busy with an earlier request is not started again, so that one that hangs costs one thread
    and not one a request. The threads are daemons: those of a pool would be waited for when the process ends.
    """

    _busy: dict[int, threading.Thread] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, providers: Sequence[Provider], request: ContextRequest) -> tuple[Outcome, ...]:
        """The outcome of every provider, in the order given, whatever order they finish in."""
        answers: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
        limit_s = request.limits.provider_timeout_s
        outcomes = {
            number: Outcome(name=provider.name, problem="It is still busy with an earlier request.")
            for number, provider in enumerate(providers)
            if not self._start(number, provider, request, answers)
        }
        until = time.monotonic() + limit_s
        while len(outcomes) < len(providers):
            try:
                number, outcome = answers.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                break
            outcomes[number] = outcome
        late = f"It took longer than {limit_s:g} s."
        return tuple(
            outcomes.get(number, Outcome(name=provider.name, problem=late)) for number, provider in enumerate(providers)
        )

    def _start(
        self,
        number: int,
        provider: Provider,
        request: ContextRequest,
        answers: SimpleQueue[tuple[int, Outcome]],
    ) -> bool:
        """Start one provider; False when it is still busy."""

        def work() -> None:
            answers.put((number, _outcome(provider, request)))

        with self._lock:
            earlier = self._busy.get(id(provider))
            if earlier is not None and earlier.is_alive():
                return False
            self._busy = {key: thread for key, thread in self._busy.items() if thread.is_alive()}
            thread = threading.Thread(target=work, name=f"cheatsheet-{provider.name}", daemon=True)
            self._busy[id(provider)] = thread
            thread.start()
        return True


def _outcome(provider: Provider, request: ContextRequest) -> Outcome:
    try:
        provided = provider.provide(request)
    except Exception as error:  # a provider may be anybody's code; the request goes on without it, and says so
        why = one_line(mask_secrets(f"{type(error).__name__}: {error}"))
        return Outcome(name=provider.name, problem=f"It failed: {why}")
    if not isinstance(provided, Provided):
        return Outcome(name=provider.name, problem=f"It returned {type(provided).__name__}, not Provided.")
    return Outcome(name=provider.name, provided=provided)
