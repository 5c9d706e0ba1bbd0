"""What a failed call means: which error it is, and whether asking again can help.

Judged by the status code that the provider sent, never by words in its message: a permanent refusal that quotes
"429" or "connection" would be retried for hours otherwise. Words are read for one question only: whether a refusal
is about the size of the prompt, which providers say in a sentence and not in a code.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from cheatsheet.errors import (
    ContextOverflowError,
    ModelAuthError,
    ModelError,
    ModelRateError,
    ModelRequestError,
    ModelUnavailableError,
)
from cheatsheet.safety.secrets import mask_secrets

_AUTH = frozenset({401, 402, 403})
_CAN_HEAL = frozenset({408, 409, 429})  # and every 5xx: the set that the providers' own clients retry
_SIZE = frozenset({400, 413, 422})  # statuses under which providers complain about the prompt's size
_PROGRAM_FAULTS = (TypeError, AttributeError, NameError, AssertionError, LookupError, NotImplementedError)
_CLIENT_PACKAGES = frozenset({"litellm", "openai", "httpx", "httpx2", "httpcore"})
_MESSAGE_LIMIT = 600  # characters; litellm adds whole tracebacks

_TOO_LARGE = re.compile(
    r"too (?:long|large|big|many)|exceed|(?:more|longer|larger|greater) than|overflow"
    r"|maximum (?:context|input|prompt)|(?:context|input|prompt)[\w ]{0,20} limit",
    re.IGNORECASE,
)
_OF_THE_PROMPT = re.compile(r"\b(?:prompt|input|inputs|context|window|messages?)\b", re.IGNORECASE)
_OF_THE_SCHEMA = re.compile(
    r"response_?(?:format|schema|mime_?type)|json[_ ]?schema|structured[_ ]output|output_format|\bgrammar\b",
    re.IGNORECASE,
)
_A_SIZE = re.compile(r"\d[\d,_ ]{2,}|\btoo (?:long|large|big|many tokens)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed call, judged.

    Attributes:
        error: what to raise when no further try is made; its text is masked.
        cause: what the client raised; its texts are masked, too.
        can_heal: the same request may succeed later.
        retry_after_s: seconds that the provider asked to wait; None when it named none.
    """

    error: ModelError
    cause: BaseException
    can_heal: bool
    retry_after_s: float | None = None


def chain(error: BaseException, *, handled_before: BaseException | None = None) -> tuple[BaseException, ...]:
    """The error and what led to it, outermost first.

    `handled_before` (`sys.exception()` before the call) ends the chain: Python links an error also to one that the
    caller was handling already, which says nothing about the call.
    """
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link is not handled_before and link not in links:
        links.append(link)
        link = link.__cause__ or link.__context__
    return tuple(links)


def program_fault(links: Sequence[BaseException]) -> BaseException | None:
    """The programming error at the root of the chain, if there is one that is not the client library's own.

    litellm wraps whatever is raised inside a call, a TypeError too, into an error of the provider; one that was
    raised inside litellm or the HTTP client is left wrapped: it means an answer that they could not read.
    """
    root = links[-1]
    if isinstance(root, _PROGRAM_FAULTS) and _package_of(root) not in _CLIENT_PACKAGES:
        return root
    return None


def judge(
    links: Sequence[BaseException], *, model: str, too_large: bool = False, secrets: tuple[str, ...] = ()
) -> Failure:
    """Classify the error of a provider's client.

    Args:
        links: the error's chain. The status code is taken from the deepest error that has one, since litellm
            turns a 400 whose text speaks of a "rate limit" into a 429.
        model: named in the message.
        too_large: the client knows already that the prompt is too large.
        secrets: keys to be masked wherever they stand.
    """
    text = _text(links[0], secrets)
    kind = _kind(links, text, too_large)
    _mask(links, secrets)
    can_heal = kind in (ModelRateError, ModelUnavailableError) and not _is_out_of_quota(links)
    return Failure(error=kind(f"{model}: {text}"), cause=links[0], can_heal=can_heal, retry_after_s=_retry_after(links))


def _kind(links: Sequence[BaseException], text: str, too_large: bool) -> type[ModelError]:
    status = _status(links)
    if too_large or status == 413 or (status in _SIZE and is_about_size(text)):
        return ContextOverflowError
    if status in _AUTH or _is_missing_key(links):
        return ModelAuthError
    if status == 429:
        return ModelRateError
    if status is None or status in _CAN_HEAL or status >= 500:
        return ModelUnavailableError
    return ModelRequestError


def is_filtered(links: Sequence[BaseException]) -> bool:
    """True when the provider refuses the request on grounds of safety (the codes of OpenAI and Azure)."""
    return any(getattr(link, "code", None) in {"content_policy_violation", "content_filter"} for link in links)


def is_about_size(text: str) -> bool:
    """True when a refusal says that the prompt does not fit: it names the prompt, an excess, and a size.

    >>> is_about_size("request too big, prompt 150000 + output 60000 is more than the 200000 window")
    True
    >>> is_about_size("max_tokens is too large: 100000. This model supports at most 16384 completion tokens")
    False
    """
    return all(pattern.search(text) for pattern in (_OF_THE_PROMPT, _TOO_LARGE, _A_SIZE))


def is_about_schema(error: ModelError) -> bool:
    """True when a refusal says that the model, or its server, takes no JSON schema, or not this one."""
    return type(error) is ModelRequestError and bool(_OF_THE_SCHEMA.search(str(error)))


def _status(links: Sequence[BaseException]) -> int | None:
    codes = [code for link in links if isinstance(code := getattr(link, "status_code", None), int)]
    return codes[-1] if codes else None


def _is_missing_key(links: Sequence[BaseException]) -> bool:
    """The OpenAI client raises its base class itself only when it is set up without credentials."""
    root = type(links[-1])
    return root.__name__ == "OpenAIError" and root.__module__.startswith("openai")


def _is_out_of_quota(links: Sequence[BaseException]) -> bool:
    """OpenAI answers 429 also when the account is empty; waiting does not fill it."""
    return any(getattr(link, "code", None) == "insufficient_quota" for link in links)


def _retry_after(links: Sequence[BaseException]) -> float | None:
    for link in links:
        headers = getattr(getattr(link, "response", None), "headers", None)
        if isinstance(headers, Mapping) and (value := headers.get("retry-after")):
            return _seconds(str(value).strip())
    return None


def _seconds(value: str) -> float | None:
    """Retry-After holds seconds or an HTTP date (RFC 9110 §10.2.3); None when it holds neither."""
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _text(error: BaseException, secrets: tuple[str, ...]) -> str:
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) else str(error)
    text = re.sub(r"^(?:(?:litellm\.)?\w+Error: |\w+Exception - )+", "", text.strip()).strip()
    masked = mask_secrets(text or type(error).__name__, secrets)
    return masked if len(masked) <= _MESSAGE_LIMIT else f"{masked[:_MESSAGE_LIMIT]} …"


def _mask(links: Sequence[BaseException], secrets: tuple[str, ...]) -> None:
    """The causes stay chained for the traceback, which is logged too: their texts are masked in place."""
    for link in links:
        link.args = tuple(mask_secrets(arg, secrets) if isinstance(arg, str) else arg for arg in link.args)
        if isinstance(message := getattr(link, "message", None), str):
            link.message = mask_secrets(message, secrets)  # type: ignore[attr-defined]  # set by litellm and openai


def _package_of(error: BaseException) -> str:
    """The package in whose code the error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0] if trace is not None else ""
