"""Programs that a model writes on its way to an answer: they are run, and it goes on with their output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cheatsheet.errors import ContextOverflowError, SettingsError
from cheatsheet.llm.model import Message, Model, Reply, Request
from cheatsheet.roles.prompts import clip, data_block, render
from cheatsheet.roles.replies import strip_thinking, well_formed
from cheatsheet.sandbox.blocks import MARKER, Block, programs
from cheatsheet.sandbox.sandbox import Ending, Execution, Sandbox

RunCode = Literal["off", "marked", "all"]

_SHOWN_CHARS = 4_000  # of a program's output to the model; some thousand tokens
_PROGRAMS_PER_REPLY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A conversation with a model in which its programs were run.

    Attributes:
        request: the last one; it holds all that was said before.
        reply: the last one, which counts. Its usage is that of all calls, its notes are those of all replies.
        earlier: the replies before it, without thinking and up to the programs that were run.
        outputs: what was shown of the programs, for each of the earlier replies.
        executions: of all programs, in their order.
    """

    request: Request
    reply: Reply
    earlier: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    executions: tuple[Execution, ...] = field(default=(), repr=False)

    @property
    def before(self) -> str:
        """Everything before the last reply, as text."""
        return "".join(f"{said}\n\n{shown}\n\n" for said, shown in zip(self.earlier, self.outputs, strict=True))


class CodeRounds:
    """Runs the programs of a reply and has the model go on, as Dynamic Cheatsheet does (arXiv 2504.07952; `generate` in
    language_model.py of suzgunmirac/dynamic-cheatsheet): a program is run where `EXECUTE CODE!` follows it, and what
    the reply says after that is left out, because it was written before there was an output.

    Args:
        sandbox: where programs run; None exactly where `run_code` is `off`.
        run_code: `off`; `marked` for programs that `EXECUTE CODE!` follows; `all` for every fenced Python block as
            well, each once.
        rounds: replies whose programs are run, at most.

    Raises:
        SettingsError: a choice that does not exist, or that does not fit to the sandbox; fewer than one round.
    """

    def __init__(self, sandbox: Sandbox | None, *, run_code: RunCode, rounds: int) -> None:
        if run_code not in ("off", "marked", "all"):
            raise SettingsError(f"Unknown run_code {run_code!r}. Choose one of 'off', 'marked', 'all'.")
        if (sandbox is None) != (run_code == "off"):
            raise SettingsError(
                f"run_code={run_code!r} does not go with sandbox={sandbox!r}. Give a sandbox to run programs in, or "
                f"run_code='off' without one."
            )
        if rounds < 1:
            raise SettingsError(
                f"code_rounds is {rounds}. It must be at least 1; to run no programs, use run_code='off'."
            )
        self._sandbox = sandbox
        self._run_code: RunCode = run_code
        self._rounds = rounds

    @property
    def on(self) -> bool:
        """Whether programs are run at all."""
        return self._sandbox is not None

    @property
    def told(self) -> str:
        """What the model is told about it; empty where no programs are run."""
        if not self.on:
            return ""
        return render("code_all" if self._run_code == "all" else "code_marked")

    def converse(self, model: Model, request: Request) -> Exchange:
        """Ask the model, and go on as long as its reply holds programs to run.

        A follow-up that does not fit into the model's window ends the exchange with the reply before it.

        Raises:
            ModelError: a call failed otherwise.
        """
        exchange = Exchange(request=request, reply=model.complete(request))
        if self._sandbox is None or not request.messages:
            return _with_note(exchange, _asked_in_vain(exchange.reply))
        ran: set[str] = set()
        for left in reversed(range(self._rounds)):
            found = self._programs(exchange.reply, ran)
            if not found:
                return _with_note(exchange, _summary(exchange.executions))
            try:
                exchange = self._round(self._sandbox, model, exchange, found, left=left)
            except ContextOverflowError as error:
                told = f"A program was run, but its output does not fit into the window of the model: {error}"
                return _with_note(exchange, _summary(exchange.executions), told)
            ran.update(block.code for block in found)
        return _with_note(exchange, _summary(exchange.executions), self._left_over(exchange.reply, ran))

    def _programs(self, reply: Reply, ran: set[str]) -> tuple[Block, ...]:
        """Those to run now. A program without a marker is shown again as often as it explains something."""
        found = programs(_visible(reply), unmarked=self._run_code == "all")
        return tuple(block for block in found if block.marked or block.code not in ran)

    def _round(
        self, sandbox: Sandbox, model: Model, exchange: Exchange, found: Sequence[Block], *, left: int
    ) -> Exchange:
        executions = tuple(sandbox.run(block.code) for block in found[:_PROGRAMS_PER_REPLY])
        outputs = _outputs(executions, start=len(exchange.executions) + 1, unrun=len(found) - len(executions))
        said, dropped = _kept(_visible(exchange.reply), found)
        prompt = (
            render("code_output", outputs=outputs, rounds=str(left)) if left else render("code_last", outputs=outputs)
        )
        request = replace(exchange.request, messages=(*exchange.request.messages, *_turns(said, prompt)))
        reply = model.complete(request)
        return Exchange(
            request=request,
            reply=replace(
                reply,
                usage=exchange.reply.usage + reply.usage,
                notes=(*exchange.reply.notes, *dropped, *reply.notes),
            ),
            earlier=(*exchange.earlier, said),
            outputs=(*exchange.outputs, outputs),
            executions=(*exchange.executions, *executions),
        )

    def _left_over(self, reply: Reply, ran: set[str]) -> str:
        count = len(self._programs(reply, ran))
        if not count:
            return ""
        return f"The last reply holds {count} more to run; after {self._rounds} rounds no more programs are run."


def _visible(reply: Reply) -> str:
    return strip_thinking(well_formed(reply.text)).strip()


def _kept(text: str, found: Sequence[Block]) -> tuple[str, tuple[str, ...]]:
    """The part of a reply that stands, and a note when there is another."""
    last = found[-1]
    if not last.marked or not text[last.end :].strip():
        return text, ()
    return text[: last.end], (f"What a reply said after {MARKER} was left out: it was written before the program ran.",)


def _outputs(executions: Sequence[Execution], *, start: int, unrun: int) -> str:
    parts = [
        f"Program {number}: {execution.error or 'It finished.'} Its output:\n"
        + data_block("output", clip(execution.output.rstrip(), _SHOWN_CHARS) or "(nothing)")
        for number, execution in enumerate(executions, start=start)
    ]
    if unrun:
        parts.append(f"Only the first {len(executions)} programs of a reply are run; {unrun} were not.")
    return "\n\n".join(parts)


def _turns(said: str, shown: str) -> tuple[Message, Message]:
    return {"role": "assistant", "content": said}, {"role": "user", "content": shown}


def _with_note(exchange: Exchange, *notes: str) -> Exchange:
    told = tuple(note for note in notes if note)
    return replace(exchange, reply=replace(exchange.reply, notes=(*exchange.reply.notes, *told)))


def _asked_in_vain(reply: Reply) -> str:
    count = len(programs(_visible(reply)))
    return f"The reply asks for {count} to be run ({MARKER}), but running programs is off." if count else ""


def _summary(executions: Sequence[Execution]) -> str:
    """How many programs were run, how they ended, and what they could reach."""
    if not executions:
        return ""
    endings = Counter(execution.ended for execution in executions)
    ended = ", ".join(f"{ending} {endings[ending]}" for ending in Ending if endings[ending])
    further = " ".join(dict.fromkeys(note for execution in executions for note in execution.notes))
    isolation = "; ".join(dict.fromkeys(execution.isolation for execution in executions))
    return f"Programs run: {len(executions)} ({ended}). Isolation: {isolation}. {further}".rstrip()
