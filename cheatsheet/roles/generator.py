"""The Generator: a model that answers with the compiled context."""

from __future__ import annotations

import re
from typing import Literal

from cheatsheet.context.section import ChatTurn
from cheatsheet.errors import SettingsError
from cheatsheet.llm.model import Message, Model, Outcome, Reply, Request
from cheatsheet.memory.experience import Query
from cheatsheet.roles.code_rounds import CodeRounds, Exchange, RunCode
from cheatsheet.roles.layout import (
    LONGEST_EARLIER,
    Labels,
    Style,
    chat_messages,
    continuation_stop,
    continuation_text,
    head,
    notes_text,
    text_messages,
)
from cheatsheet.roles.replies import Reading, read_answer, read_used_ids, strip_thinking, well_formed
from cheatsheet.roles.role import EarlierAnswer, Generation
from cheatsheet.sandbox.sandbox import Sandbox

STYLES = ("auto", "chat", "text", "continuation")

_ID_AT_LINE_START = re.compile(r"^\[(?P<id>\w+-\d+)\] ", re.MULTILINE)


class ModelGenerator:
    """Asks a model (ACE's Generator, arXiv 2510.04618, section 3; the layouts are those of Dynamic Cheatsheet and of
    few-shot prompting). Nothing in it is random: the same arguments make the same request.

    `overhead` holds the first request. What running programs adds to the conversation is not in it: an output is shown
    in part where it is long, and one that does not fit into the window ends the exchange with a note.

    Args:
        model: who answers.
        style: `chat` shows examples as turns of a conversation, `text` as text before the question, `continuation`
            makes one text that the model continues; `auto` is `continuation` for models that prefer it, else `chat`.
        max_tokens, temperature: of each call.
        scaffold: whether the model is told how to use the notes, to name those it used, and to end with
            `<answer>…</answer>`, and sees the block of the notes also when there are none yet. None: wherever there are
            notes, the answer is free and the model chats. A continuation follows no instructions: it has that block
            alone, so that with an empty memory it has the form that it has with a full one.
        instructions: stands first in every prompt.
        labels: what questions and answers are called where they are shown as text.
        sandbox: where programs of the model are run; None where `run_code` is `off`.
        run_code: which programs are run (see `CodeRounds`); the model is told wherever its answer is free, or the
            scaffold lets it write before it answers.
        code_rounds: replies whose programs are run, at most.
        earlier_room: how many earlier answers `overhead` keeps room for.

    Raises:
        SettingsError: a style that does not exist, that the model cannot do, or that has no room for programs; or
            `run_code` without a sandbox to run them in.
    """

    def __init__(
        self,
        model: Model,
        *,
        style: Literal["auto"] | Style = "auto",
        max_tokens: int = 2048,
        temperature: float = 0.0,
        scaffold: bool | None = None,
        instructions: str = "",
        labels: Labels = ("Question", "Answer"),
        sandbox: Sandbox | None = None,
        run_code: RunCode = "off",
        code_rounds: int = 3,
        earlier_room: int = 0,
    ) -> None:
        self.model = model
        self.style = _resolved(style, model, run_code=run_code)
        self._code = CodeRounds(sandbox, run_code=run_code, rounds=code_rounds)
        self._earlier_room = earlier_room
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._scaffold = scaffold
        self._instructions = instructions
        self._labels = labels

    def overhead(self, query: Query) -> str:
        scaffolded = self._scaffolded(query, has_notes=True)
        # As text, examples come with a heading and a block around them; an empty one brings these in.
        examples = (ChatTurn(user="", assistant=""),) if self.style == "text" else ()
        earlier = (LONGEST_EARLIER,) * self._earlier_room
        request = self._request(query, notes="", examples=examples, earlier=earlier, scaffolded=scaffolded)
        return "\n\n".join(message["content"] for message in _shown(request))

    def generate(
        self,
        query: Query,
        *,
        context: str,
        examples: tuple[ChatTurn, ...] = (),
        earlier: tuple[EarlierAnswer, ...] = (),
    ) -> Generation:
        notes = context if context.strip() else None
        scaffolded = self._scaffolded(query, has_notes=notes is not None)
        request = self._request(query, notes=notes, examples=examples, earlier=earlier, scaffolded=scaffolded)
        exchange = self._code.converse(self.model, request)
        return _read(exchange, query=query, context=context, scaffolded=scaffolded)

    def _scaffolded(self, query: Query, *, has_notes: bool) -> bool:
        if self.style == "continuation":
            return False
        return self._scaffold if self._scaffold is not None else has_notes and not query.choices

    def _request(
        self,
        query: Query,
        *,
        notes: str | None,
        examples: tuple[ChatTurn, ...],
        earlier: tuple[EarlierAnswer, ...],
        scaffolded: bool,
    ) -> Request:
        # A model that is held to the choices could not write its reasoning first, which the scaffold asks for.
        bound = query.choices if self.model.capabilities.choices and not scaffolded else ()
        told = () if bound and self.style == "continuation" else query.choices
        code = self._code.told if scaffolded or not query.choices else ""
        start = head(instructions=self._instructions, choices=told, scaffold=scaffolded, code=code)
        block = notes_text(notes, always=bool(self._scaffold))
        prompt: str | None = None
        stop: tuple[str, ...] = ()
        messages: tuple[Message, ...] = ()
        if self.style == "continuation":
            prompt = continuation_text(start, block, examples, query.text, self._labels, earlier)
            stop = continuation_stop(examples, query.choices, self._labels)
        elif self.style == "text":
            messages = text_messages(start, block, examples, query.text, self._labels, earlier)
        else:
            messages = chat_messages(start, block, examples, query.text, earlier)
        return Request(
            messages=messages,
            prompt=prompt,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            choices=bound,
            stop=stop,
        )


def _resolved(style: Literal["auto"] | Style, model: Model, *, run_code: RunCode) -> Style:
    if style not in STYLES:
        raise SettingsError(f"Unknown prompt style {style!r}. Choose one of {', '.join(map(repr, STYLES))}.")
    resolved: Style = style if style != "auto" else "chat"
    if style == "auto" and model.capabilities.prefers_continuation:
        resolved = "continuation"
    elif style == "continuation" and not model.capabilities.continuation:
        raise SettingsError(f"The model {model.name!r} cannot continue a plain text. Use style 'chat' or 'text'.")
    if run_code != "off" and resolved == "continuation":
        raise SettingsError("A continuation has no room for programs. Use style 'chat' or 'text', or run_code='off'.")
    return resolved


def _shown(request: Request) -> tuple[Message, ...]:
    """The prompt as messages; a text to be continued is one user message."""
    return request.messages or ({"role": "user", "content": request.prompt or ""},)


def _read(exchange: Exchange, *, query: Query, context: str, scaffolded: bool) -> Generation:
    reply = exchange.reply
    reading, note = _answer(reply, query, scaffolded=scaffolded)
    text = well_formed(reply.text)
    said = (exchange.before + strip_thinking(text)).strip()
    known = _ID_AT_LINE_START.findall(context)
    return Generation(
        answer=reading.value,
        text=exchange.before + text,
        outcome=reply.outcome,
        reasoning="" if said == reading.value else said,
        used=read_used_ids("\n\n".join((*exchange.earlier, text)), known) if known else (),
        prompt=_shown(exchange.request),
        usage=reply.usage,
        notes=(*reply.notes, *note),
    )


def _answer(reply: Reply, query: Query, *, scaffolded: bool) -> tuple[Reading[str], tuple[str, ...]]:
    """The answer, and what the user should know of how it was read."""
    nothing: Reading[str] = Reading("", "unreadable")
    if not reply.readable:
        return nothing, (f"There is no answer: the reply is {reply.outcome}.",)
    reading = read_answer(reply.text, query.choices)
    cut = reply.outcome is Outcome.LENGTH
    if cut and scaffolded and reading.how == "text":
        return nothing, ("There is no answer: the reply was cut at max_tokens before it came.",)
    if not reading.value:
        return reading, ("There is no answer: the reply holds only reasoning or blanks.",)
    return reading, ("The reply was cut at max_tokens; the answer may be incomplete.",) if cut else ()
