"""Text as no model should write it."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = [
    *"{}[]\"':,\\\n `",
    *("```", "```json\n", "~~~", '{"a": 1}', '{"operations": [', '"answer":', '{"id": "sai-1", "tag": "helpful"}'),
    *("<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "FINAL ANSWER:", "Used:", "sai-1", "not amber"),
    *("\ud83d", "\\ud83d", "\\u12", "\\f", "é", "amber", "\x00", "\u2028"),
]

messy_text = st.text() | st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)

# Repeated to 200 kB, each makes a careless search take the square of that.
NONSENSE = [
    *("{", "[", "}", "{}", "{]", "{\n", "{x} [1] ", '{"', '{"a":', '{"a":["', '"', '\\"', "\\", ", "),
    *("`", "```\n", "~", "<", "<think", "<think>", "</think>", '"<think>', "<answer>", "\\boxed{", "FINAL ANSWER:"),
    *("not ", "amber", "used ", "used:\n", "a-", "0", "[sai-1", " ", "\n"),
]
