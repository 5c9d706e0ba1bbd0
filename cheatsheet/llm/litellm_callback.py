"""LiteLLM's callbacks for chat calls, brought down to three: before a call, after it, and when it failed.

No single hook of LiteLLM can change the messages of every call (as of 1.110):

    async_pre_call_deployment_hook   `acompletion`, streaming or not, of every provider
    log_pre_api_call                 `completion`: the request's body is changed in place just before it is sent, where
                                     it has messages in OpenAI's or Anthropic's form and is not signed yet
    get_chat_completion_prompt       both, of every provider, where the caller gives `prompt_id="cheatsheet"`

The first two need nothing from the caller. Where the second cannot help (Gemini, Bedrock, handlers of one's own), the
call goes out unchanged, and the third is named as the way out.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, cast

from cheatsheet.llm.own_calls import is_own_call

if TYPE_CHECKING:
    from litellm.integrations.custom_logger import CustomLogger
else:
    CustomLogger = object  # importing it takes seconds; what is made is one (`_with_litellm`)

Messages = Sequence[Mapping[str, Any]]

PROMPT_ID: Final = "cheatsheet"
_CHAT_CALLS: Final = ("completion", "acompletion")
_UNSIGNED: Final = ("bearer", "basic", "token", "key", "api-key")  # any other scheme may be a signature of the body

_log = logging.getLogger("cheatsheet")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """A chat call on its way.

    Attributes:
        id: LiteLLM's name of the call; empty where a hook does not tell it.
        messages: in OpenAI's form, or in Anthropic's where they were made ready for it.
        metadata: as the caller gave it.
        provider: LiteLLM's name of it, where it is known.
        changeable: whether changed messages would be sent.
    """

    id: str
    messages: Messages
    metadata: Mapping[str, Any] = field(default_factory=dict)
    provider: str = ""
    changeable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The whole reply to a chat call, also where it was streamed.

    Attributes:
        finish_reason: in OpenAI's words (`stop`, `length`, `tool_calls`, `content_filter`), or empty.
    """

    text: str
    finish_reason: str = ""
    calls_tools: bool = False


class ChatCallback(CustomLogger):
    """A callback for `litellm.callbacks`; an instance is also a `CustomLogger` of LiteLLM, which is imported for it.

    Calls that the memory makes for itself (`own_call`) are left alone.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        with_litellm: type[Self] = _with_litellm(cast("Hashable", cls))  # mypy doubts that classes are
        return object.__new__(with_litellm)

    def __init__(self) -> None:
        super().__init__()
        # LiteLLM takes two callbacks for one when their public texts and numbers are equal.
        self.number = next(_numbers)

    # To be given

    def before(self, call: ChatCall) -> Messages | None:
        """As many messages, to be sent instead; None leaves them as they are. It must not raise."""
        raise NotImplementedError

    def after(self, call: ChatCall, reply: ChatReply) -> None:
        """A call was answered; LiteLLM may tell that twice. It must not raise."""
        raise NotImplementedError

    def failed(self, call: ChatCall) -> None:
        """A call failed; LiteLLM may try again, under the same id. It must not raise."""
        raise NotImplementedError

    # What LiteLLM calls, by name and with these names

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Before `acompletion`; in a thread, as the loop must go on."""
        given = kwargs.get("messages")
        if getattr(call_type, "value", call_type) not in _CHAT_CALLS or not given or is_own_call():
            return None
        changed = await asyncio.to_thread(self._changed, given, **_arguments(kwargs))
        return None if changed is None else {**kwargs, "messages": changed}

    def log_pre_api_call(self, model: str, messages: Any, kwargs: dict[str, Any]) -> None:
        """Before every call goes out."""
        if kwargs.get("call_type") not in _CHAT_CALLS or is_own_call():
            return
        request = _mapping(kwargs.get("additional_args"))
        body: Any = request.get("complete_input_dict")
        changeable = isinstance(body, dict) and bool(_plain(body.get("messages"))) and not _is_signed(request)
        changed = self._changed(body["messages"] if changeable else messages, **_details(kwargs), changeable=changeable)
        if changed is not None and changeable:
            body["messages"] = changed

    def should_run_prompt_management(self, prompt_id: str | None, *args: Any, **kwargs: Any) -> bool:
        """Only where it is asked for: LiteLLM lets one manager of prompts work on a call."""
        return prompt_id == PROMPT_ID

    def get_chat_completion_prompt(
        self,
        model: str,
        messages: list[Any],
        non_default_params: dict[str, Any],
        prompt_id: str | None,
        *_: Any,
        **__: Any,
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Before a call with `prompt_id="cheatsheet"`; which call it is, is not told."""
        changed = self._changed(messages, id="") if prompt_id == PROMPT_ID and not is_own_call() else None
        return model, messages if changed is None else changed, non_default_params

    async def async_get_chat_completion_prompt(
        self, model: str, messages: list[Any], non_default_params: dict[str, Any], *_: Any, **__: Any
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """The hook before `acompletion` was there already, whatever the `prompt_id`."""
        return model, messages, non_default_params

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> None:
        """After `acompletion`, but for streams; unlike the event, which may be late, before it returns."""
        if getattr(call_type, "value", call_type) in _CHAT_CALLS and not is_own_call():
            messages = _plain(request_data.get("messages"))
            self.after(ChatCall(messages=messages, **_arguments(request_data)), _reply(response))

    def log_success_event(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """After `completion`, in a thread of LiteLLM's, and after a stream."""
        if kwargs.get("call_type") in _CHAT_CALLS and not is_own_call():
            self.after(ChatCall(messages=_plain(kwargs.get("messages")), **_details(kwargs)), _reply(response_obj))

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """After `acompletion`, and after its streams."""
        self.log_success_event(kwargs, response_obj, start_time, end_time)

    def log_failure_event(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """After a `completion` that failed."""
        if kwargs.get("call_type") in _CHAT_CALLS and not is_own_call():
            self.failed(ChatCall(messages=_plain(kwargs.get("messages")), **_details(kwargs)))

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """After an `acompletion` that failed."""
        self.log_failure_event(kwargs, response_obj, start_time, end_time)

    def _changed(self, given: Any, **details: Any) -> list[Any] | None:
        """The messages to be sent instead, if any."""
        try:
            plain = _plain(given)
            changed = self.before(ChatCall(messages=plain, **details)) if plain else None
            return None if changed is None else _merged(given, plain, changed)
        except Exception:
            # LiteLLM would let it rise to whoever made the call, where it has nothing to do.
            _log.exception("A callback failed before a model call; the call goes out as it is.")
            return None


@functools.cache
def _with_litellm(cls: Any) -> Any:
    from litellm.integrations.custom_prompt_management import CustomPromptManagement

    return cls if issubclass(cls, CustomPromptManagement) else type(cls.__name__, (cls, CustomPromptManagement), {})


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the arguments of a call tell of it, but for its messages."""
    # The arguments of a fallback have an id of their own; what comes after it has that of its logging object.
    id = getattr(given.get("litellm_logging_obj"), "litellm_call_id", None) or given.get("litellm_call_id")
    return {"id": str(id or ""), "metadata": _mapping(given.get("metadata"))}


def _details(told: Mapping[str, Any]) -> dict[str, Any]:
    """What an event tells of a call, but for its messages."""
    return {
        "id": str(told.get("litellm_call_id") or ""),
        "metadata": _mapping(_mapping(told.get("litellm_params")).get("metadata")),
        "provider": str(told.get("custom_llm_provider") or ""),
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _plain(messages: Any) -> list[Mapping[str, Any]]:
    """The messages as mappings; LiteLLM also takes its own objects."""
    given = messages if isinstance(messages, list | tuple) else []
    read = [message.model_dump() if hasattr(message, "model_dump") else message for message in given]
    return read if all(isinstance(message, Mapping) for message in read) else []


def _merged(given: Sequence[Any], plain: Messages, changed: Messages) -> list[Any]:
    """The given messages, whatever their class, but for those that were changed."""
    return [old if new is read else new for old, read, new in zip(given, plain, changed, strict=True)]


def _is_signed(request: Mapping[str, Any]) -> bool:
    """Whether the body must not be changed any more, as its signature stands in the headers (AWS, OCI)."""
    headers = _mapping(request.get("headers"))
    credential = next((str(value) for name, value in headers.items() if str(name).lower() == "authorization"), "")
    scheme, _, rest = credential.partition(" ")
    return bool(rest) and scheme.lower() not in _UNSIGNED


def _reply(response: Any) -> ChatReply:
    choices = getattr(response, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    content = getattr(message, "content", None)
    return ChatReply(
        text=content if isinstance(content, str) else "",
        finish_reason=str(getattr(choices[0], "finish_reason", None) or "") if choices else "",
        calls_tools=bool(getattr(message, "tool_calls", None) or getattr(message, "function_call", None)),
    )
