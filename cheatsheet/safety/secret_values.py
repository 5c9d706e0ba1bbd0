"""Whether a value is a secret, or a placeholder, a variable, a word."""

from __future__ import annotations

import re
from typing import Final

# Words that stand in the place of a secret in documentation and in code.
_STAND_IN: Final = re.compile(
    r"your|example|placeholder|dummy|change[-_ ]?(?:me|it|this)|replace|insert|redacted|masked|hidden|removed|todo"
    r"|x{4}|\*{4}|\.{3}|…",
    re.IGNORECASE,
)
_SAME_CHARACTER: Final = re.compile(r"\W*+(?:(\w)\W*+(?:\1\W*+){2,})?")
# "password", "MY_API_KEY", "secret-token": a value that only names what belongs there.
_NAMES_ONE: Final = re.compile(
    r"(?:(?:the|my|some|db|app|api|user|access|secret|private|client|auth|service|account|admin|root|login)[-_ ]?)*"
    r"(?:password|passwd|pass(?:phrase|code)?|pwd|pw|secret|token|key|apikey|credentials?|value|string|none|null|true|false)s?"
    r"[-_]?\d{0,2}",
    re.IGNORECASE,
)
# Algorithms, encodings and protocols with a number: "sha256", "base64", "oauth2".
_TECHNICAL: Final = re.compile(
    r"(?:sha|md|base|utf|oauth|http|tls|ssl|aes|des|rsa|hs|rs|es|ps|ecdsa|ed|argon|pbkdf|hmac|latin|ascii|ipv|iso|rfc|x|v"
    r"|python|py|node|java|win|arm|int|uint|float|char|varchar|k)[-_]?\d{1,6}\w{0,8}",
    re.IGNORECASE,
)
_WORD: Final = r"(?:[A-Za-z]++\d{0,3}|\d{1,4})"
_WORDS: Final = re.compile(rf"{_WORD}?(?:[-_./:]++{_WORD})+[-_./:]*+")
_PLACE: Final = re.compile(
    r"(?:https?|ftp|file|arn|urn|vault|op|ssm|env|keyring|secretsmanager):|[~.]{0,2}[/\\]|[A-Za-z]:\\"
)
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]*)?")
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[A-Za-z]")
_SYMBOL: Final = re.compile(r"[!@#$%^&*+=?~]")
_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/]{24,}+")


def stands_in(value: str) -> bool:
    """A placeholder: what documentation writes where a secret belongs."""
    return bool(_STAND_IN.search(value) or _SAME_CHARACTER.fullmatch(value) or _NAMES_ONE.fullmatch(value))


def refers(value: str) -> bool:
    """What says where a secret is kept, or how it is made: a variable, a path, an address, a name of several words."""
    return bool(
        _PLACE.match(value)
        or value.startswith(("$", "%"))
        or _WORDS.fullmatch(value)
        or _TECHNICAL.fullmatch(value)
        or _MOMENT.fullmatch(value)
    )


def is_random(value: str) -> bool:
    """What nobody writes by hand: letters and digits mixed, or a long run of small and capital letters."""
    if _DIGIT.search(value) and _LETTER.search(value):
        return True
    return any(not run.islower() and not run.isupper() for run in _LONG_RUN.findall(value))


def is_token(value: str) -> bool:
    """A value that a program made, such as a key or a token."""
    return len(value) >= 8 and is_random(value) and not stands_in(value) and not refers(value)


def is_password(value: str, *, quoted: bool) -> bool:
    """A value that a person may have chosen; one word of letters alone could be any word of a sentence."""
    if len(value) < 4 or any(map(str.isspace, value)) or stands_in(value) or _PLACE.match(value):
        return False
    if value.startswith(("$", "%")) and not _DIGIT.search(value):
        return False
    if quoted:
        return bool(_DIGIT.search(value) or _SYMBOL.search(value)) or len(value) >= 12
    return not refers(value) and (bool(_DIGIT.search(value)) or bool(_SYMBOL.search(value) and len(value) >= 6))
