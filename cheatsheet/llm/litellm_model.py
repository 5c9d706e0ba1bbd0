"""Models reached through LiteLLM: every provider that it routes to, and the embedded one."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cheatsheet.errors import CheatsheetError, ModelError, ModelRateError, ModelUnavailableError
from cheatsheet.llm.failures import Failure, chain, is_about_schema, is_filtered, judge, program_fault
from cheatsheet.llm.gguf_files import is_local, resolve_gguf
from cheatsheet.llm.listing import check_key, is_priced, left_out, listed_capabilities, price, prompt_tokens
from cheatsheet.llm.llama_server import local_capabilities
from cheatsheet.llm.model import Capabilities, Model, Outcome, Reply, Request, Usage
from cheatsheet.llm.own_calls import own_call
from cheatsheet.llm.reading import FILTERED_BODY, RawReply, read_reply, read_usage
from cheatsheet.llm.reply_cache import CacheKind, ReplyCache, cache_key, checked_cache, reply_cache
from cheatsheet.llm.retry import RetryPolicy
from cheatsheet.llm.schemas import choices_schema, response_format
from cheatsheet.safety.logs import masking_logger
from cheatsheet.tokens.gguf_file import read_header

if TYPE_CHECKING:
    import types

FROM_CACHE = "answered from the cache"

_log = masking_logger()
_no_schema: set[tuple[str, str]] = set()  # name and address of models that refused a JSON schema in this process


class Answered(NamedTuple):
    """A reply, and the answer in OpenAI's form that it was read from."""

    reply: Reply
    body: Mapping[str, Any]


@functools.cache
def load_litellm() -> types.ModuleType:
    """Import litellm (3.5 s) and make it quiet: no price list from the net, no prints, no log but on request."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # what fails is raised, and told once
    return litellm


def has_price(model: str) -> bool:
    """Whether it is known what a call of a model costs, by its name; a local one costs nothing."""
    return is_local(model) or is_priced(load_litellm(), model)


class LiteLLMModel:
    """A model by its LiteLLM name, such as `openai/gpt-4o-mini` or `local/smollm2-135m`.

    A parameter that the model does not take is left out and named in `Reply.notes`. Choices are sent as a JSON
    schema with one field (to local models as a grammar), and the reply's text is the bare choice. `Request.prompt`
    goes through `litellm.text_completion`.

    Args:
        model: provider and name, as litellm knows them.
        api_base: the server's address, for servers of one's own.
        api_key: read from the provider's environment variable when None.
        timeout_s: for each try; does not apply to local models.
        retries: tries after the first, for failures that can heal: status 408, 409, 429, 5xx, no connection, time-out.
        max_wait_s: all waits between tries together; a longer Retry-After ends the tries.
        fallbacks: asked in order when this model is unavailable or asks to slow down; one whose known window is
            smaller than the request is skipped. Models, or names, which get these settings for tries but not the key.
        context_window: tokens, where litellm does not know it or a server is set up otherwise; for local models the
            window that is allocated.
        extra: keywords for litellm, passed with every call (`seed`, `reasoning_effort`, for local models `threads`).
        cache: whether the answer to a request is kept and given again to the same request, for nothing: in the memory
            of the process, or on disk. Only whole answers are kept; one from the cache is named in `Reply.notes`.
        cache_folder: for `cache="disk"`.
        sleep: how to wait.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60,
        retries: int = 3,
        max_wait_s: float = 60,
        fallbacks: Sequence[str | Model] = (),
        context_window: int | None = None,
        extra: Mapping[str, Any] | None = None,
        cache: CacheKind = "off",
        cache_folder: str | Path | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = model
        self._retry = RetryPolicy(retries=retries, max_wait_s=max_wait_s, sleep=sleep)
        self._timeout_s = timeout_s
        self._context_window = context_window
        self._secrets = (api_key,) if api_key else ()
        given = {"api_base": api_base, "api_key": api_key, **(extra or {})}
        self._keywords = {name: value for name, value in given.items() if value is not None}
        self._caches, self._cache_folder = checked_cache(cache, cache_folder)
        options: dict[str, Any] = {"timeout_s": timeout_s, "retries": retries, "max_wait_s": max_wait_s, "sleep": sleep}
        options |= {"cache": cache, "cache_folder": cache_folder}
        self._fallbacks = tuple(LiteLLMModel(item, **options) if isinstance(item, str) else item for item in fallbacks)

    def __repr__(self) -> str:
        return f"LiteLLMModel({self._name!r})"

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """From the model file of a local model, otherwise from litellm's own list; the network is not asked."""
        if is_local(self._name):
            return local_capabilities(resolve_gguf(self._name), self._context_window)
        return listed_capabilities(load_litellm(), self._name, self._context_window)

    def check(self) -> None:
        """Make sure, without a call, that there is a key or a model file, so that a run fails before it starts.

        Raises:
            ModelAuthError: the environment variable with the key is not set.
            MissingExtraError: a local model's packages are not installed.
            SetupError: a local model's file does not exist or is no model, litellm knows no such provider, or the
                folder of the cache cannot be used.
        """
        self._cache()
        if is_local(self._name):
            read_header(resolve_gguf(self._name))
        elif "api_key" not in self._keywords:
            check_key(load_litellm(), self._name)

    def complete(self, request: Request) -> Reply:
        """Answer `request`; see `Model`.

        Raises:
            ModelError: after all tries, and after the fallbacks.
            ValueError: `request.prompt` is given to a model that cannot continue a text.
        """
        if request.prompt is not None and not self.capabilities.continuation:
            raise ValueError(
                f"{self._name} only chats: give messages, or a model whose capabilities have continuation."
            )
        try:
            return self._ask(request)
        except (ModelRateError, ModelUnavailableError) as error:
            if not self._fallbacks:
                raise
            return self._fall_back(request, error)

    def _ask(self, request: Request) -> Reply:
        """The kept answer, or a new one."""
        _make_ready(self._name)  # before the clock of the first try starts
        cache = self._cache()
        if cache is None:
            return self._ask_anew(request)[0]
        key, started = (
            cache_key(self._name, request, {"n_ctx": self._context_window, **self._keywords}),
            time.perf_counter(),
        )
        kept = cache.get(key)
        if kept is not None:
            usage = Usage(cost_usd=0.0, seconds=time.perf_counter() - started)
            return read_reply(kept, request=request, model=self._name, usage=usage, notes=(FROM_CACHE,))
        reply, body = self._ask_anew(request)
        notes = cache.put(key, body) if reply.outcome is Outcome.OK else ()
        return replace(reply, notes=(*reply.notes, *notes))

    def _cache(self) -> ReplyCache | None:
        return reply_cache(load_litellm(), self._cache_folder) if self._caches else None

    def _ask_anew(self, request: Request) -> tuple[Reply, Mapping[str, Any]]:
        """Try until a reply comes back, or no further try can help. Returns the reply and what it was read from."""
        tries, waited_s = 0, 0.0
        notes: tuple[str, ...] = ()
        while True:
            result = self._try(request)
            if isinstance(result, Answered):
                return replace(result.reply, notes=(*notes, *result.reply.notes)), result.body
            if self._sends_schema(request) and is_about_schema(result.error):
                _no_schema.add(self._address)
                notes = (*notes, f"the JSON schema was refused, and left out: {result.error}")
                continue
            tries += 1
            wait_s = self._retry.wait(tries, waited_s, result.retry_after_s) if result.can_heal else None
            if wait_s is None:
                raise _after(result.error, tries) from result.cause
            waited_s += wait_s
            notes = (*notes, f"try {tries} failed: {result.error}")

    def _try(self, request: Request) -> Answered | Failure:
        handled_before, started, raw = sys.exception(), time.perf_counter(), RawReply()
        try:
            with own_call():
                body, notes = self._call(request, raw)
        except Exception as error:  # whatever it is: judged below, and raised again unless it is a failed call
            links = chain(error, handled_before=handled_before)
            return self._judge(links, request, raw.body, time.perf_counter() - started)
        return Answered(self._reply(body, request, time.perf_counter() - started, notes), body)

    def _call(self, request: Request, raw: RawReply) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """One call. Returns its answer in OpenAI's form, and a note for each parameter that was left out."""
        litellm = load_litellm()
        wanted = self._parameters(request)
        notes = () if is_local(self._name) or request.prompt is not None else left_out(litellm, self._name, wanted)
        call = {
            "model": self._name,
            "timeout": self._timeout_s,
            "max_retries": 0,  # the tries are counted in one place, here
            "drop_params": True,
            "logger_fn": raw.note,
            **wanted,
            **self._keywords,
        }
        if request.prompt is not None:
            response = litellm.text_completion(prompt=request.prompt, **call)
        else:
            response = litellm.completion(messages=[dict(message) for message in request.messages], **call)
        return response.model_dump(warnings=False), notes

    @property
    def _address(self) -> tuple[str, str]:
        return self._name, str(self._keywords.get("api_base", ""))

    def _parameters(self, request: Request) -> dict[str, Any]:
        wanted: dict[str, Any] = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        if request.stop:
            wanted["stop"] = list(request.stop)
        if is_local(self._name):
            if self._context_window is not None:
                wanted["n_ctx"] = self._context_window
            if request.choices:
                return {**wanted, "choices": list(request.choices)}
        if self._sends_schema(request):
            schema = choices_schema(request.choices) if request.choices else request.json_schema
            wanted["response_format"] = response_format(schema or {})
        return wanted

    def _sends_schema(self, request: Request) -> bool:
        """Whether the answer is to be kept to a JSON schema, and the model has not refused one before."""
        local = is_local(self._name)
        wanted = not local if request.choices else request.json_schema is not None
        able = self.capabilities.json_schema and (request.prompt is None or local)
        return wanted and able and self._address not in _no_schema

    def _reply(self, body: Mapping[str, Any], request: Request, seconds: float, notes: tuple[str, ...] = ()) -> Reply:
        cost_usd = 0.0 if is_local(self._name) else price(load_litellm(), self._name, body)
        if cost_usd is None and body.get("usage"):
            _warn_unpriced(self._name)
            notes = (*notes, "the price of this model is unknown")
        usage = read_usage(body, cost_usd=cost_usd, seconds=seconds)
        return read_reply(body, request=request, model=self._name, usage=usage, notes=notes)

    def _judge(
        self, links: Sequence[BaseException], request: Request, body: Mapping[str, Any] | None, seconds: float
    ) -> Answered | Failure:
        """A reply that litellm could not read, or a failed call; anything else is raised again."""
        litellm = load_litellm()
        if body is not None and isinstance(links[0], RuntimeError) and not threading.main_thread().is_alive():
            # At the program's end, LiteLLM has no thread left to log the call in; its answer is there.
            return Answered(self._reply(body, request, seconds), body)
        fault = next((link for link in links if isinstance(link, CheatsheetError)), None) or program_fault(links)
        if fault is not None or not isinstance(links[0], tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES)):
            raise fault or links[0]
        if body is not None:
            return Answered(self._reply(body, request, seconds), body)
        if isinstance(links[0], litellm.ContentPolicyViolationError) or is_filtered(links):
            return Answered(self._reply(FILTERED_BODY, request, seconds), FILTERED_BODY)
        too_large = isinstance(links[0], litellm.ContextWindowExceededError)
        return judge(links, model=self._name, too_large=too_large, secrets=self._secrets)

    def _fall_back(self, request: Request, error: ModelError) -> Reply:
        notes: tuple[str, ...] = (str(error),)
        for model in self._fallbacks:
            if obstacle := _obstacle(model, request):
                notes = (*notes, f"{model.name} was not asked: {obstacle}")
                continue
            try:
                reply = model.complete(request)
            except (ModelRateError, ModelUnavailableError) as next_error:
                notes = (*notes, str(next_error))
                continue
            return replace(reply, notes=(*notes, f"answered by the fallback {reply.model}", *reply.notes))
        raise type(error)("; ".join(notes)) from error


def _after(error: ModelError, tries: int) -> ModelError:
    return error if tries == 1 else type(error)(f"{error} (given up after {tries} tries)")


def _obstacle(model: Model, request: Request) -> str:
    """Why `model` cannot take `request`; empty when it may be tried."""
    capabilities = model.capabilities
    if request.prompt is not None and not capabilities.continuation:
        return "it cannot continue a text"
    needed = prompt_tokens(load_litellm(), request) + request.max_tokens
    if capabilities.context_window is not None and needed > capabilities.context_window:
        return f"its window of {capabilities.context_window} tokens is smaller than the {needed} that are needed"
    return ""


def _make_ready(model: str) -> None:
    """Load what a call needs. A local model's file is checked here: litellm would wrap the error into its own."""
    load_litellm()
    if is_local(model):
        from cheatsheet.llm.local_provider import register_local_provider

        read_header(resolve_gguf(model))
        register_local_provider()


@functools.cache
def _warn_unpriced(model: str) -> None:
    _log.warning(
        "The price of %s is unknown: its calls count as of unknown cost, and sums are marked incomplete.", model
    )
