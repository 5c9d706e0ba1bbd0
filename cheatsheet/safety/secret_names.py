"""Secrets that are known by the name before them: `password: …`, `API_KEY=…`, `--token …`, "the password is …"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from cheatsheet.safety.secret_forms import Found, Kind, holds_one
from cheatsheet.safety.secret_values import is_password, is_token

_JUDGED_CHARS: Final = 256  # of a value; the rest of a longer one is not looked at
_LONGEST_QUOTED: Final = 512

_PASSWORD: Final = r"pass(?:word|wd|phrase|code)|(?<![^\W_])pwd|(?<=[_-])(?:pwd|pass)"
_KEY: Final = (
    r"(?:api|access|secret|private|encryption|signing|account|auth|master|storage|license|shared[ _-]?access)[ _-]?key"
    r"|apikey|secret|token|credentials?|phpsessid|jsessionid"
)
_NAME: Final = rf"(?:(?P<password>{_PASSWORD})|(?:{_KEY}))"
_ASSIGNED: Final = re.compile(rf"(?i){_NAME}[\"'`\\\]]{{0,4}}\s{{0,4}}(?:=>|:=|={{1,3}}|:)\s{{0,4}}")
_OPTION: Final = re.compile(rf"(?i)(?<![\w-])--?(?:[a-z]{{1,20}}-){{0,3}}{_NAME}[ \t]{{1,4}}")
_SPOKEN: Final = re.compile(rf"(?i)(?<![^\W_])(?:{_NAME}|pin|passcode)[ \t]+(?:is|was|are)[ \t]*:?[ \t]+")
_LOGIN: Final = re.compile(r"(?<!\S)(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}+:(?P<password>)")

_QUOTE: Final = re.compile(r"\\{0,4}[\"'`“‘]")
_CLOSING: Final = {"“": "”", "‘": "’"}
_RUN: Final = re.compile(r"[^\s\"'`,;<>(){}\[\]|&\\“”‘’…]{1,}+")


Judge = Callable[[str, Kind, bool], bool]


def named_secrets(text: str) -> Iterator[Found]:
    """Values that stand behind the name of a secret and look like one."""
    lower = text.lower()
    # Some letters that are not ASCII count as ASCII ones where case does not matter.
    named = not text.isascii() or holds_one(lower, _IN_NAMES)
    for pattern, signs, is_secret in _PATTERNS if named else _UNNAMED:
        if holds_one(text, signs):
            yield from _behind(text, pattern, is_secret)


def _behind(text: str, pattern: re.Pattern[str], is_secret: Judge) -> Iterator[Found]:
    runs_to = 0  # the end of the run of characters that was met last: names within it are not read to its end again
    found_to = 0
    for name in pattern.finditer(text):
        if name.start() < found_to:
            continue
        kind: Kind = "password" if name["password"] is not None else "token"
        quoted = _quoted(text, name.end())
        if quoted is not None:
            start, end = quoted
        else:
            start = name.end()
            if start >= runs_to:
                run = _RUN.match(text, start)
                runs_to = run.end() if run else start
            end = _without_stop(text, start, runs_to)
            if text[end : end + 1] in ("(", "[") or end <= start:
                continue
        if is_secret(text[start : min(end, start + _JUDGED_CHARS)], kind, quoted is not None):
            found_to = end
            yield kind, start, end


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """Where the text between quotes stands that begins here, on one line; None where there is none."""
    opening = _QUOTE.match(text, at)
    if opening is None:
        return None
    quote = opening[0]
    end = text.find(_CLOSING.get(quote, quote), opening.end(), opening.end() + _LONGEST_QUOTED)
    if end < 0 or "\n" in text[opening.end() : end]:
        return None
    return opening.end(), end


def _without_stop(text: str, start: int, end: int) -> int:
    """The end without what ends a sentence."""
    while end > start and text[end - 1] in ".:?":
        end -= 1
    return end


def _is_secret(value: str, kind: Kind, quoted: bool) -> bool:
    return is_password(value, quoted=quoted) if kind == "password" else is_token(value)


def _is_login(value: str, kind: Kind, quoted: bool) -> bool:
    """Numbers alone are those of a user and a group."""
    return not value.isdecimal() and _is_secret(value, kind, quoted)


def _is_said(value: str, kind: Kind, quoted: bool) -> bool:
    """In a sentence any word may follow: "the password is case-sensitive", "the token is base64"."""
    return len(value) >= 6 and _is_secret(value, kind, quoted)


# One of the signs is in all that the pattern can find, so that most texts need not be searched.
_PATTERNS: Final[tuple[tuple[re.Pattern[str], tuple[str, ...], Judge], ...]] = (
    (_ASSIGNED, (":", "="), _is_secret),
    (_OPTION, ("-",), _is_secret),
    (_SPOKEN, ("",), _is_said),
    (_LOGIN, ("-u",), _is_login),
)
_UNNAMED: Final = _PATTERNS[-1:]
_IN_NAMES: Final = ("pass", "pwd", "key", "secret", "token", "credential", "sessid", "sessionid", "pin")
