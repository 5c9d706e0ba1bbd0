"""Masking secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.llm.redact import MASK, mask_secrets


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("401 Incorrect API key provided: sk-abc...xyz", "abc"),  # Y06
        ("Incorrect API key provided: sk-proj-Ab12_cd34-ef56. You can find it", "Ab12"),
        ("key sk-ant-api03-AAAABBBB is revoked", "AAAABBBB"),
        ("Incorrect API key provided: sk-abc1****************9xyz.", "9xyz"),
        ("Authorization: Bearer abcdef.123-456", "abcdef"),
        ('{"api_key": "0123456789abcdef"}', "0123456789abcdef"),
        ("x-api-key=0123456789abcdef", "0123456789abcdef"),
        ("GET https://host/v1?alt=sse&key=AIzaSyA123456789 failed", "AIzaSyA"),
        ("proxy http://user:hunter2@host:8080 refused", "hunter2"),
        ("token hf_abcdefghijklmnop", "hf_abcdefgh"),
        ("gsk_abcdefghijklmnop expired", "gsk_"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
    ],
)
def test_keys_of_many_forms(text: str, secret: str) -> None:
    masked = mask_secrets(text)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "a risk-averse, task-based approach",
        "The api_key: message is missing",
        "https://docs.example.org/keys?page=2",
        "Bearer of bad news",
        "429 Too many requests: 40000 tokens per minute",
    ],
)
def test_ordinary_sentences_stay(text: str) -> None:
    assert mask_secrets(text) == text


def test_known_secrets_go_wherever_they_stand() -> None:
    assert mask_secrets("no: hunter22hunter22!", ("hunter22",)) == f"no: {MASK}{MASK}!"


@given(st.text(), st.text(alphabet="abcdefgh12345678", min_size=12, max_size=20))
def test_masking_twice_changes_nothing_more(text: str, key: str) -> None:
    once = mask_secrets(f"{text} sk-{key} {text}")
    assert key not in once or key in text
    assert mask_secrets(once) == once
