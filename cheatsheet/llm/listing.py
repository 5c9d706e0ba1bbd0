"""What LiteLLM knows of a model without asking the network: window, abilities, price, key, parameters.

The module `litellm` is handed in by the adapter, which alone imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from cheatsheet.errors import ModelAuthError, SetupError
from cheatsheet.llm.model import Capabilities, Request

# For these litellm calls the model's server to learn about a model that it does not list, and says "free" without one.
_ASK_THEIR_SERVER: Final = frozenset({"ollama", "ollama_chat"})
_KEY_ENDINGS: Final = ("_API_KEY", "_API_TOKEN", "_AUTH_TOKEN")  # cloud accounts (AWS_…) may log in by other means


def listed_capabilities(litellm: ModuleType, model: str, context_window: int | None) -> Capabilities:
    """From litellm's list; a model that is not on it has no known window and no enforced formats."""
    info = _listed(litellm, model)
    bounded = info is not None and bool(litellm.supports_response_schema(model))
    return Capabilities(
        context_window=context_window or (info or {}).get("max_input_tokens"),
        continuation=(info or {}).get("mode") == "completion" or model.startswith("text-completion-openai/"),
        choices=bounded,
        json_schema=bounded,
    )


def price(litellm: ModuleType, model: str, body: Mapping[str, Any]) -> float | None:
    """What the call cost in US dollars; None when it is not known.

    Args:
        model: its LiteLLM name.
        body: the answer in OpenAI's form; `usage` and `model` are read.
    """
    if _listed(litellm, model) is None or not body.get("usage"):
        return None
    try:
        return float(litellm.completion_cost(completion_response=dict(body), model=model))
    except Exception:  # litellm raises bare exceptions here, and no price is worth losing an answer that is paid for
        return None


def is_priced(litellm: ModuleType, model: str) -> bool:
    """Whether the list says what a call costs, by the token, the second or the picture."""
    info = _listed(litellm, model)
    entry: Mapping[str, Any] = litellm.model_cost.get((info or {}).get("key", model), {})
    return any("_cost_per_" in name and value is not None for name, value in entry.items())


def check_key(litellm: ModuleType, model: str) -> None:
    """Make sure that the name has a provider and its key is in the environment.

    Raises:
        SetupError: litellm knows no such provider.
        ModelAuthError: none of the environment variables that may hold the key is set.
    """
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError as error:
        raise SetupError(
            f"{model} has no provider that litellm knows: write provider/name, such as openai/gpt-4o-mini."
        ) from error
    missing = [name for name in litellm.validate_environment(model)["missing_keys"] if name.endswith(_KEY_ENDINGS)]
    if missing:
        names = " or ".join(missing)
        raise ModelAuthError(
            f"{model} needs a key: set the environment variable {names}, or choose another model. "
            "A server of your own that wants no key takes any text as one."
        )


def left_out(litellm: ModuleType, model: str, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    """A note for every parameter that litellm will not send to this model, or not as it stands.

    Found by asking litellm for the provider's parameters with and without each one: names differ from provider to
    provider, and whether one is dropped can depend on its value.
    """
    name, provider, _, _ = litellm.get_llm_provider(model)

    def sent(parameters: Mapping[str, Any]) -> dict[str, Any]:
        mapped: dict[str, Any] = litellm.utils.get_optional_params(
            model=name, custom_llm_provider=provider, drop_params=True, **parameters
        )
        return mapped

    everything = sent(wanted)
    notes = [
        f"{name} takes no {parameter}: it was left out"
        for parameter in wanted
        if sent({key: value for key, value in wanted.items() if key != parameter}) == everything
    ]
    if "max_completion_tokens" in everything:
        notes.append("max_tokens was sent as max_completion_tokens, which counts hidden reasoning too")
    return tuple(notes)


def prompt_tokens(litellm: ModuleType, request: Request) -> int:
    """About how many tokens the request's texts are, by the tokenizer that litellm carries."""
    texts = [request.prompt or "", *(message["content"] for message in request.messages)]
    return sum(litellm.token_counter(model="", text=text) for text in texts)


def _listed(litellm: ModuleType, model: str) -> Mapping[str, Any] | None:
    provider, _, name = model.partition("/")
    if provider in _ASK_THEIR_SERVER:
        entry: Mapping[str, Any] | None = litellm.model_cost.get(model) or litellm.model_cost.get(f"ollama/{name}")
        return entry
    try:
        info: Mapping[str, Any] = litellm.get_model_info(model)
    except litellm.ModelNotMappedError:
        return None
    return info
