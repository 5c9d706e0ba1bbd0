"""Masking secrets in texts that are shown, logged or stored.

Providers echo the key in their errors ("Incorrect API key provided: sk-…"), and such errors end in result files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "[redacted]"

_SECRET = re.compile(
    r"""
    \b(?:sk|pk|rk|gsk|xai|tvly|pplx|nvapi)-[\w*\-]{3,}(?:\.+[\w*\-]+)*  # OpenAI and its followers; "sk-abc...xyz"
    | \bgsk_\w{8,} | \bhf_\w{8,} | \br8_\w{8,}              # Groq, Hugging Face, Replicate
    | \bAIza[\w\-]{8,}                                      # Google
    | \bAKIA[0-9A-Z]{12,}                                   # Amazon
    | \bgh[pousr]_\w{16,}                                   # GitHub
    | \beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*                  # JSON web tokens
    | (?<=[Bb]earer\s)[\w\-.~+/]{6,}=*
    | (?<=://)[^/\s:@]+:[^/\s:@]+(?=@)                      # user:password@host
    | (?<=[?&]key=)[^&\s"']+
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"(?i)\b((?:x-)?api[_-]?key|auth[_-]?token|access[_-]?token|secret|password)"
    r"([\"']?\s*[:=]\s*[\"']?)"
    r"((?=\S*\d|\S{16})[^\s\"',;}\[]{6,})"  # with a digit or long: not the word of a sentence
)


def mask_secrets(text: str, known: Iterable[str] = ()) -> str:
    """`text` with everything that looks like a key replaced by "[redacted]"; `known` secrets go wherever they stand.

    Masking twice changes nothing more.
    """
    for secret in known:
        if len(secret) >= 4 and secret not in MASK:  # a shorter one would tear up ordinary words
            text = text.replace(secret, MASK)
    return _NAMED.sub(rf"\1\2{MASK}", _SECRET.sub(MASK, text))
