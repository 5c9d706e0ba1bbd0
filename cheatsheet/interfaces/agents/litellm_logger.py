"""A memory behind every chat call that goes through LiteLLM."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Literal, Self, get_args

from cheatsheet.engine.asynchronous import in_thread
from cheatsheet.engine.engine import Engine
from cheatsheet.interfaces.agents.background import BackgroundLearner
from cheatsheet.interfaces.agents.lessons import TurnJudge
from cheatsheet.interfaces.agents.notes import block_of, has_notes, question_in, steps_after, with_notes
from cheatsheet.interfaces.agents.open_calls import OpenCall, OpenCalls
from cheatsheet.interfaces.agents.tally import Tally
from cheatsheet.llm.litellm_callback import PROMPT_ID, ChatCall, ChatCallback, ChatReply, Messages
from cheatsheet.llm.own_calls import own_call

Count = Literal["noted", "nothing remembered", "not changeable", "given to the learner", "skipped", "failed"]

OPT_OUT = "cheatsheet"
REDACTED = "redacted-by-litellm"  # what LiteLLM tells instead of texts under `turn_off_message_logging`

_log = logging.getLogger("cheatsheet")


class CheatsheetLogger(ChatCallback):
    """`litellm.callbacks = [CheatsheetLogger(memory)]`: recalls before each chat call, and learns from it after.

    `completion` and `acompletion` are served, streaming or not, also through a `Router`. What is remembered stands in
    front of the question, inside the last user message, labelled and fenced as data. The answer is learnt when it is
    whole, in the background. A call of tools, a reply that was cut or filtered, and one that LiteLLM does not tell
    (`turn_off_message_logging`) are not learnt; steps with tools before an answer are learnt with it.

    The call is never harmed: where the memory fails, it goes out as it is, and that is logged and counted (`counts`).
    Calls that the memory makes itself, and those with `metadata={"cheatsheet": False}`, are left alone. For a few
    providers (Gemini, Bedrock, handlers of one's own) LiteLLM lets `completion` be changed only where it is called with
    `prompt_id="cheatsheet"`; without, it goes out without notes, and a warning says so.

    Args:
        judge: says what is known about an answer, as `feedback` of `learn`; without one, turns are only remembered.
        learner: learns in the background; by default one that leaves out new turns when it is full (one that waits
            holds up the event loop of `acompletion`).
        token_budget: for the notes, instead of the setting.
    """

    def __init__(
        self,
        memory: Engine,
        *,
        judge: TurnJudge | None = None,
        learner: BackgroundLearner | None = None,
        token_budget: int | None = None,
    ) -> None:
        super().__init__()
        self._memory = memory
        self._judge = judge
        self._learner = learner or BackgroundLearner(memory, when_full="drop-newest")
        self._owns_learner = learner is None
        self._token_budget = token_budget
        self._calls = OpenCalls()
        self._tally: Tally[Count] = Tally(*get_args(Count))
        self._warned: set[str] = set()
        self._closed = False

    # What the user calls

    @property
    def counts(self) -> dict[str, int]:
        """What became of calls, and of the turns that were given to the learner."""
        return {**self._tally.as_dict(), **{f"learner: {name}": n for name, n in self._learner.counts.items()}}

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until the calls that were noted are over and learnt; false when the time is over first.

        In an event loop use `aflush`: LiteLLM tells of `acompletion` from within the loop.
        """
        over = self._calls.wait(timeout_s)
        return self._learner.flush(timeout_s) and over

    async def aflush(self, timeout_s: float = 10.0) -> bool:
        """As `flush`, while the loop goes on."""
        return await in_thread(self.flush, timeout_s)

    def close(self, timeout_s: float = 10.0) -> bool:
        """Wait as `flush` does, then leave calls alone."""
        over = self.flush(timeout_s)
        self._closed = True
        return self._learner.close(timeout_s) and over if self._owns_learner else over

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # What `ChatCallback` calls

    def before(self, call: ChatCall) -> Messages | None:
        """The messages with notes; None where there are none, or where the call was here already."""
        question = question_in(call.messages)
        if self._leaves_alone(call) or not question or self._calls.is_open(call.id):
            return None
        try:
            return self._noted(call, question)
        except Exception:
            # A memory that fails must not harm the call.
            self._failed("recall before a call")
            self._calls.begin(call.id, OpenCall(question=question))
            return None

    def after(self, call: ChatCall, reply: ChatReply) -> None:
        """Give the turn to the learner."""
        try:
            opened = self._calls.answered(call.id, question_in(call.messages))
            if opened is not None and not self._leaves_alone(call):
                self._learn(call, reply, opened)
        except Exception:
            # As before; LiteLLM would swallow it.
            self._failed("take in a turn")
        finally:
            self._calls.over(call.id)

    def failed(self, call: ChatCall) -> None:
        """Nothing is learnt of a call that failed."""
        self._calls.over(call.id)

    # Steps

    def _leaves_alone(self, call: ChatCall) -> bool:
        return self._closed or call.metadata.get(OPT_OUT) is False

    def _noted(self, call: ChatCall, question: str) -> Messages | None:
        with own_call():
            recall = self._memory.recall(question, token_budget=self._token_budget)
        block, there = block_of(recall), has_notes(call.messages)
        changed = with_notes(call.messages, block) if block and call.changeable and not there else None
        noted = there or changed is not None
        self._calls.begin(call.id, OpenCall(question=question, recall=recall if noted else None))
        self._count(call, noted=noted, empty=not block)
        return changed

    def _count(self, call: ChatCall, *, noted: bool, empty: bool) -> None:
        if noted or empty:
            self._tally.add("noted" if noted else "nothing remembered")
            return
        self._tally.add("not changeable")
        if call.provider not in self._warned:
            self._warned.add(call.provider)
            _log.warning(
                "LiteLLM does not let a plain completion of %r be changed: it went out without notes. Call it with "
                "prompt_id=%r, or use acompletion.",
                call.provider,
                PROMPT_ID,
            )

    def _learn(self, call: ChatCall, reply: ChatReply, opened: OpenCall) -> None:
        answer, question = reply.text, opened.question or question_in(call.messages)
        whole = not reply.calls_tools and reply.finish_reason not in ("length", "content_filter", "tool_calls")
        if not (question and answer.strip() and whole) or REDACTED in (answer, question):
            self._tally.add("skipped")
            return
        steps = steps_after(call.messages)
        told = ({"role": "user", "content": question}, *steps, {"role": "assistant", "content": answer})
        self._learner.learn(
            opened.recall or question,
            answer,
            trajectory=told if steps else (),
            judge=self._judge,
            turn_id=call.id,
        )
        self._tally.add("given to the learner")

    def _failed(self, what: str) -> None:
        _log.exception("The memory could not %s; the call itself is not touched by that.", what)
        self._tally.add("failed")
