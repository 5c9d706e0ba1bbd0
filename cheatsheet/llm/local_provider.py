"""The embedded models as a LiteLLM provider named "local".

`litellm.completion(model="local/smollm2-135m", …)` and `litellm.text_completion(…)` reach llama.cpp in this process.
litellm hands a custom provider every keyword that it does not know itself in `optional_params`, unchanged; these are
understood here besides OpenAI's own (temperature, max_tokens, stop, response_format, seed):

    choices   list of texts; the answer is one of them, enforced by a grammar
    grammar   a GBNF grammar, instead of `choices`
    n_ctx     context window in tokens
    threads   CPU threads

litellm gives a text completion to a custom provider as one user message and sets `litellm_params["text_completion"]`:
the text is then continued as it stands. `timeout` does not apply; a call ends at `max_tokens`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cheatsheet.errors import SetupError
from cheatsheet.llm.gguf_files import resolve_gguf
from cheatsheet.llm.grammar import choices_grammar, continued
from cheatsheet.llm.litellm_model import load_litellm
from cheatsheet.llm.llama_server import server_for
from cheatsheet.tokens.gguf_counter import GGUFCounter

if TYPE_CHECKING:
    from litellm import ModelResponse

__all__ = ["PROVIDER", "register_local_provider", "resolve_gguf"]

PROVIDER = "local"
_PASSED_ON = frozenset({"temperature", "max_tokens", "stop", "response_format", "seed", "grammar", "top_p", "top_k"})
_USUAL_BIAS = 100.0  # added to a logit: far above any difference between two tokens
_registering = threading.Lock()


def register_local_provider() -> None:
    """Make "local/…" known to litellm; once per process, however often it is called."""
    litellm = load_litellm()
    from litellm.llms.custom_llm import CustomLLM

    class LocalProvider(CustomLLM):
        """Answers with llama.cpp."""

        def completion(self, *args: Any, **call: Any) -> ModelResponse:
            return _complete(call)

    with _registering:
        if not any(entry["provider"] == PROVIDER for entry in litellm.custom_provider_map):
            litellm.custom_provider_map.append({"provider": PROVIDER, "custom_handler": LocalProvider()})
            litellm.utils.custom_llm_setup()


def _complete(call: Mapping[str, Any]) -> ModelResponse:
    """One call as litellm describes it: model, messages, optional_params, litellm_params, model_response."""
    options: Mapping[str, Any] = call["optional_params"]
    path = resolve_gguf(call["model"])
    server = server_for(path, n_ctx=options.get("n_ctx"), threads=options.get("threads"))
    if (call.get("litellm_params") or {}).get("text_completion"):
        result = server.complete(_continuation(call["messages"], options, path))
    else:
        result = server.chat({"messages": call["messages"], **_settings(options, path)})
    _raise_error(result, call["model"])
    return _fill(call["model_response"], result, call["model"])


def _continuation(messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any], path: Path) -> dict[str, Any]:
    prompt = str(messages[0]["content"])
    body = {"prompt": prompt, **_settings(options, path, after=prompt)}
    if response_format := body.pop("response_format", None):
        body["json_schema"] = response_format["json_schema"]["schema"]  # llama.cpp's name for it in text completions
    return body


def _settings(options: Mapping[str, Any], path: Path, *, after: str = "") -> dict[str, Any]:
    settings: dict[str, Any] = {"temperature": 0.0, "seed": 0, "cache_prompt": True}
    settings |= {name: value for name, value in options.items() if name in _PASSED_ON}
    if options.get("choices"):
        settings["grammar"] = choices_grammar(options["choices"], after=after)
        settings["logit_bias"] = _as_usually_spelt(options["choices"], path, after)
    return settings


def _as_usually_spelt(choices: Sequence[str], path: Path, after: str) -> list[tuple[int, float]]:
    """A bias by which choices are compared as the tokens that they are usually read as.

    A grammar alone also lets the model begin with " " or " i" instead of " indigo", which is likely for reasons that
    have nothing to do with the answer, and is then spelt out letter by letter. Empty where the tokenizer of the file
    is of a kind that is not known.
    """
    counter = GGUFCounter(path)
    try:
        tokens = {number for choice in continued(choices, after) for number in counter.encode(choice)}
    except SetupError:
        return []
    return [(number, _USUAL_BIAS) for number in sorted(tokens)]


def _raise_error(result: Mapping[str, Any], model: str) -> None:
    error = result.get("error")
    if not error:
        return
    litellm = load_litellm()
    message = str(error.get("message"))
    if error.get("type") == "exceed_context_size_error":
        raise litellm.ContextWindowExceededError(message=message, model=model, llm_provider=PROVIDER)
    from litellm.llms.custom_llm import CustomLLMError

    raise CustomLLMError(  # type: ignore[no-untyped-call]  # litellm gives its __init__ no types
        status_code=int(error.get("code") or 500), message=message
    )


def _fill(response: ModelResponse, result: Mapping[str, Any], model: str) -> ModelResponse:
    litellm = load_litellm()
    choice = result["choices"][0]
    message = choice.get("message") or {"role": "assistant", "content": choice.get("text")}
    response.id = result["id"]
    response.model = f"{PROVIDER}/{model}"
    response.choices = [litellm.Choices(finish_reason=choice["finish_reason"], message=litellm.Message(**message))]
    setattr(response, "usage", litellm.Usage(**result["usage"]))  # noqa: B010  # litellm declares no such attribute
    return response
