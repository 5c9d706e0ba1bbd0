"""Secrets that are known by their own form: keys of providers, tokens, private key blocks, passwords in addresses.

The forms are those that the providers publish for scanners of secrets. Every pattern takes a run of characters as a
whole and never gives back what it took (`++`), so that the time grows with the text and no longer text hides in a mask.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from cheatsheet.safety.secret_values import is_password, is_random, is_token, stands_in

Kind = Literal["key", "token", "password", "private key"]
Found = tuple[Kind, int, int]

_JUDGED_CHARS: Final = 256  # of a value, and a multiple of the 4 characters that base64 takes together


def holds_one(text: str, signs: Iterable[str]) -> bool:
    """Whether one of the signs is in a text."""
    for sign in signs:  # noqa: SIM110  # every text comes by here, and `any` takes three times as long
        if sign in text:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Form:
    """One form of secrets.

    Attributes:
        pattern: its group `secret` is the secret.
        is_secret: whether what the pattern found is one, and no placeholder.
        signs: one of them is in all that the pattern can find, so that most texts need not be searched.
    """

    kind: Kind
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]
    signs: tuple[str, ...] = ("",)

    def find(self, text: str) -> Iterator[Found]:
        """Each secret of this form with its place, in order."""
        for match in self.pattern.finditer(text):
            if self.is_secret(match["secret"]):
                yield self.kind, match.start("secret"), match.end("secret")


def _real(value: str) -> bool:
    return not stands_in(value)


def _prefixed(value: str) -> bool:
    """A key behind `sk-` and the like, which are also beginnings of words: "sk-learn", "rk-systems"."""
    if stands_in(value):
        return False
    _, _, body = value.partition("-")
    parts = re.split(r"[-_]", body)
    mixed = [part for part in parts if is_random(part)]
    long = any(len(part) >= (8 if part in mixed else 16) for part in parts)
    named = re.match(r"(?:ant|proj|svcacct|admin|or|lf)-", body) is not None
    return long or (named and len(body) >= 10) or (len(mixed) > 1 and len(body) >= 16)


_KEY_BLOCK: Final = re.compile(
    r"""
    (?P<secret>
      -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      (?:(?:\s|\\[nr])*+ [A-Z][A-Za-z-]{1,30}:[ ][^\n\\]{0,200}+)*+       # Proc-Type: 4,ENCRYPTED
      (?:(?:\s|\\[nr])++ [A-Za-z0-9+/]{16,}+={0,2}+)++
      (?:(?:\s|\\[nr])++ [A-Za-z0-9+/]{1,15}+={0,2}+ (?=(?:\s|\\[nr])*+(?:=|-----END)))?+
      (?:(?:\s|\\[nr])++ =[A-Za-z0-9+/]{4})?+                             # the check sum of OpenPGP
      (?:(?:\s|\\[nr])*+ -----END[ ][A-Z0-9 ]{0,50}-----)?+
    )
    """,
    re.VERBOSE,
)

# Not behind a letter or a digit, where it would be the middle of a word.
_START: Final = r"(?<![^\W_])"
_END: Final = r"(?![\w-])"

# Prefixes that mean a key and nothing else; behind them a run that is too long for a word.
_KEYS: Final = re.compile(
    rf"""{_START}(?P<secret>
      AIza[\w-]{{12,}}+                                              # Google
    | GOCSPX-[\w-]{{16,}}+ | ya29\.[\w-]{{20,}}+
    | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{12,}}+{_END}                  # Amazon
    | gh[opusr]_[A-Za-z0-9]{{16,}}+ | github_pat_\w{{20,}}+          # GitHub
    | gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat)-[\w-]{{16,}}+            # GitLab
    | xox[abeoprs]-[\w-]{{10,}}+ | xapp-[\w-]{{16,}}+                # Slack
    | (?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{{10,}}+ | whsec_[A-Za-z0-9+/]{{16,}}+   # Stripe
    | (?:gsk|hf|r8|npm|fw|jina|sbp|ntn|pcsk)_[A-Za-z0-9]{{16,}}+{_END}
    | secret_[A-Za-z0-9]{{40,}}+{_END}                               # Notion
    | (?:tvly|pplx|nvapi|xai|csk)-[\w-]{{8,}}+
    | lsv2_(?:pt|sk)_\w{{16,}}+ | lin_(?:api|oauth)_[A-Za-z0-9]{{16,}}+
    | do[opr]_v1_[a-f0-9]{{32,}}+ | dapi[a-f0-9]{{32}}{_END} | dckr_(?:pat|oat)_[\w-]{{16,}}+
    | pypi-[\w-]{{50,}}+ | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{24,}}+ | sq0[a-z]{{3}}-[\w-]{{16,}}+
    | SG\.[\w-]{{16,}}+\.[\w-]{{16,}}+ | SK[a-f0-9]{{32}}{_END} | key-[a-f0-9]{{32}}{_END}
    | hv[sbr]\.[\w-]{{16,}}+ | ATATT3[\w=-]{{16,}}+ | AGE-SECRET-KEY-1[A-Z0-9]{{40,}}+
    )""",
    re.VERBOSE,
)

_IN_KEYS: Final = ("-", "_", "AIza", "AKIA", "ASIA", "ABIA", "ACCA", "ya29.", "dapi", "SG.", "SK", "hv", "ATATT3")

# OpenAI and those who write their keys like it; also as providers echo them: "sk-abc...xyz", "sk-abc1*****9xyz".
_LIKE_OPENAI: Final = re.compile(rf"{_START}(?P<secret>(?:sk|pk|rk)-[\w-]{{8,}}+)")
_ECHOED: Final = re.compile(
    rf"{_START}(?P<secret>(?:sk|pk|rk|gsk|xai|pplx|nvapi|hf|AIza)[-_]?[\w-]{{0,60}}+(?:\*{{2,}}|\.{{3,}}|…)+[\w-]{{2,}}+)"
)

_JWT: Final = re.compile(r"(?<![\w-])(?P<secret>eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?+)")
_BEARER: Final = re.compile(r"(?i)(?<![^\W_])bearer\s{1,4}(?P<secret>[A-Za-z0-9][\w\-.~+/]{7,}+=*+)")
_AUTHORIZATION: Final = re.compile(
    r"(?i)authorization[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}(?:(?:basic|bearer|token|digest|apikey|key)\s{1,4})?"
    r"(?P<secret>[A-Za-z0-9][\w\-.~+/]{7,}+=*+)"
)

# Name and password together: the name is half of a login.
_IN_ADDRESS: Final = re.compile(r"://(?P<secret>[^\s/?#@:\"'<>`]{0,128}+:[^\s/?#\"'<>`]{1,256})@(?=[\w\[])")
_IN_QUERY: Final = re.compile(
    r"(?i)[?&;](?:amp;)?(?:api[_-]?key|key|(?:access|auth|id|refresh)?[_-]?token|sig|signature|x-amz-(?:signature"
    r"|security-token)|(?:client[_-]?)?secret|password|passwd|pwd|auth|subscription-key)="
    r"(?P<secret>[\w\-.~+/%!*=:@$]{6,}+)"
)
_WEBHOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/\d{1,32}/|api\.telegram\.org/bot)"
    r"(?P<secret>[\w:/-]{16,}+)"
)
_BOT: Final = re.compile(r"(?<![\w:])(?P<secret>\d{8,10}:AA[\w-]{32,34})(?![\w-])")  # Telegram


def _authorizes(value: str) -> bool:
    """What a program sends to prove who it is; "tokens" and "authentication" are words of a sentence."""
    if stands_in(value):
        return False
    return is_token(value) or (is_random(value) and sum(map(str.isdecimal, value)) > 3) or _is_basic(value)


def _is_basic(value: str) -> bool:
    """Name and password as HTTP's basic authentication sends them (RFC 7617)."""
    try:
        return b":" in base64.b64decode(value[:_JUDGED_CHARS], validate=True)
    except ValueError:
        return False


def _in_address(value: str) -> bool:
    """Whatever stands in the place of a password is one, unless it is a placeholder or filled in later."""
    password = value.partition(":")[2]
    return not stands_in(password) and not password.startswith(("$", "{", "%")) and password.strip("*.") != ""


def _in_query(value: str) -> bool:
    return is_token(value) or is_password(value, quoted=False)


FORMS: Final = (
    Form("private key", _KEY_BLOCK, lambda value: True, ("-----BEGIN",)),
    Form("key", _KEYS, _real, _IN_KEYS),
    Form("key", _LIKE_OPENAI, _prefixed, ("k-",)),
    Form("key", _ECHOED, lambda value: True, ("**", "...", "…")),
    Form("token", _JWT, _real, ("eyJ",)),
    Form("token", _BEARER, _authorizes),
    Form("token", _AUTHORIZATION, _authorizes, (":", "=")),
    Form("password", _IN_ADDRESS, _in_address, ("://",)),
    Form("token", _IN_QUERY, _in_query, ("=",)),
    Form("token", _WEBHOOK, _real, ("/",)),
    Form("token", _BOT, _real, (":AA",)),
)
