"""Secrets are found and masked; what only looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.safety.cleaner import Cleaner
from cheatsheet.safety.secrets import MASK, find_secrets, mask_secrets, masked

BLOCK = "\n".join(
    (
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEAx1y2z3",
        "QWERTYUIOPASDFGHJKLZ1234",
        "ab==",
        "-----END RSA PRIVATE KEY-----",
    )
)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("401 Incorrect API key provided: sk-abc...xyz", "abc"),  # Y06
        ("Incorrect API key provided: sk-proj-Ab12_cd34-ef56. You can find it", "Ab12"),
        ("key sk-ant-api03-AAAABBBB is revoked", "AAAABBBB"),
        ("Incorrect API key provided: sk-abc1****************9xyz.", "9xyz"),
        ("token hf_abcdefghijklmnop", "hf_abcdefgh"),
        ("gsk_abcdefghijklmnop expired", "gsk_"),
        ("AKIAIOSFODNN7ABCDEFG", "AKIA"),
        ("clone with ghp_abcdefghijklmnop1234", "ghp_"),
        ("glpat-abcdefghij1234567890 and xoxb-123456789012-abcdef", "abcdef"),
        ("sk_live_abcdefghij1234", "abcdefghij"),
        ("AIzaSyA1234567890abcdefg", "SyA123"),
        ("https://hooks.slack.com/services/T00000000/B00000000/abcdEFGH1234", "abcdEFGH"),
        ("bot 123456789:AAabcdefghijklmnopqrstuvwxyz0123456 answers", "abcdefgh"),
        (f"cookie {JWT}", "dozjg"),
        (BLOCK, "QWERTY"),
        ('"private_key": "' + BLOCK.replace("\n", "\\n") + '"', "QWERTY"),
        (BLOCK.rpartition("\nab==")[0], "QWERTY"),  # it was cut before its end
        ("Authorization: Bearer abcdef.123-456", "abcdef"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNl"),
        ("send `Bearer abcdef1234567890` with it", "abcdef"),
        ("GET https://host/v1?alt=sse&key=AIzaSyA123456789 failed", "AIzaSyA"),
        ("https://blob.example/x?sig=abCD1234%2Bxyz%3D&se=2026", "abCD1234"),
        ("proxy http://user:hunter2@host:8080 refused", "hunter2"),
        ("postgres://app:p@ssw0rd@db/x", "ssw0rd"),
        ("redis://:s3cr3t@cache:6379/0", "s3cr3t"),
        ('{"api_key": "0123456789abcdef"}', "0123456789abcdef"),
        ('"{\\"password\\": \\"hunter2x\\"}"', "hunter2x"),
        ("x-api-key=0123456789abcdef", "0123456789abcdef"),
        ("export OPENAI_API_KEY=abcd1234efgh", "abcd1234"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz", "K7MDENG"),
        ("Server=x;Password=P@ssw0rd123;", "P@ss"),
        ("AccountKey=abcd1234EFGH5678==;EndpointSuffix", "abcd1234"),
        ("api key: abc123def456", "abc123"),
        ("password: hunter2", "hunter2"),
        ("The password is hunter2.", "hunter2"),
        ('password = "correct-horse-battery"', "correct-horse"),
        ("token: 550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("Cookie: PHPSESSID=abcd1234efgh", "abcd1234"),
        ("mysql --password hunter2 -h db", "hunter2"),
        ("login --token abcd1234efgh5678", "abcd1234"),
        ("curl -u admin:s3cret! https://x", "s3cret"),
    ],
)
def test_secrets_of_many_forms(text: str, secret: str) -> None:
    shown = mask_secrets(text)
    assert secret not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "No API key is needed for the health check.",  # Y05
        "token = os.environ['APP_TOKEN']",  # Y05
        "a risk-averse, task-based approach",
        "The api_key: message is missing",
        "https://docs.example.org/keys?page=2",
        "Bearer of bad news, bearer authentication and bearer tokens2",
        "429 Too many requests: 40000 tokens per minute",
        "sk-learn and sk-learn-based pipelines; the locale sk-SK",
        "api_key: YOUR_API_KEY and sk-your-key-here and sk-xxxxxxxxxxxxxxxx and sk-...",
        "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "password: ********",
        "https://user:password@host/ postgres://USER:PASSWORD@localhost/db postgres://${DB_USER}:${DB_PASS}@db/x",
        "see https://host:8080/a@b",
        "hf_hub_download(repo_id) with hf_transfer_enabled_flag and npm_config_registry_url_value",
        "fixed in 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f01234",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "password: must be 12 characters",
        "The token is base64 encoded; the password is case-sensitive; password is sha256-hashed",
        "PWD=/home/user1/dir",
        "max_tokens=4096, token: 2024-01-05T10:00",
        "token = get_token_v2(client); token = settings.API_TOKEN_2; api_key=api_key; token: str = Field(...)",
        'api_key=os.getenv("X1"); password=$DB_PASSWORD1; password: {{ vault_password1 }}',
        "secret: db-creds-v2; secret: arn:aws:secretsmanager:us-east-1:123:secret:db1",
        "A file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
        "Use Authorization: Bearer <token>",
        '{"password": "string", "token": "string"} {"password": "This field is required."}',
        "docker run -u 1000:1000 image --password-file /run/secrets/db1 --token-count 100000",
        "if password == '': raise",
        "HTTP basic auth uses user:pass",
        "primary_key: user_id_2",
        "the secret is to start early in 2024",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Y05 and its kind: a mask in the wrong place ruins what was learnt."""
    assert mask_secrets(text) == text


def test_known_secrets_go_wherever_they_stand() -> None:
    assert mask_secrets("no: hunter22hunter22!", ("hunter22",)) == f"no: {MASK}{MASK}!"
    assert mask_secrets("a card", ("car",)) == "a card", "too short: it would tear up words"


def test_kinds_are_counted() -> None:
    text = f"{BLOCK} password: hunter2 Authorization: Bearer abc123def456 gsk_abcdefghijklmnop1 gsk_abcdefghijklmnop2"
    assert dict(masked(text)[1]) == {"private key": 1, "password": 1, "token": 1, "key": 2}


def test_a_name_tells_a_secret_in_data_too() -> None:
    cleaner = Cleaner()
    data = {
        "password": "hunter2",
        "note": "hunter2",
        "args": '{"api_key": "abcd1234efgh"}',
        "deep": [{"token": 7}, None],
    }
    assert cleaner.value(data) == {
        "password": MASK,
        "note": "hunter2",
        "args": f'{{"api_key": "{MASK}"}}',
        "deep": [{"token": 7}, None],
    }
    assert cleaner.notes == ("Secrets masked before they were stored: password 1, token 1.",)


# What rules of this kind meet at their joints.
_PARTS = (
    "sk-", "sk-abc", "token=", "token", "=", ": ", "password: ", "secret", "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----", "\nABCDEFGHIJKLMNOP1\n", "://u:", "://", "@h", "@", "a", "-", "_", "hf_", "eyJ", ".",
    "...", "'", '"', "\\", "bearer ", "*", "/", "\n", " ", "x" * 5, "Ab1/", "?key=", "-u a:", "…", "authorization: ",
    "1", "--token ", "AKIA", "0:", MASK, "[", "]", "abcdefgh12345678", "hunter2", "is ", "Basic ", "123456789:AA", "#",
    "%", "$", "(", "ABCDEFGHIJKLMNOPQR",
)  # fmt: skip
pieces = st.lists(st.sampled_from(_PARTS) | st.text(max_size=3), max_size=14).map("".join)


@given(pieces, st.lists(st.sampled_from(["hunter2", "abcd", "a-b-c"])))
def test_masking_twice_is_masking_once(text: str, known: list[str]) -> None:
    once = mask_secrets(text, known)
    assert mask_secrets(once, known) == once


@given(pieces, st.text(alphabet="abcdefgh12345678", min_size=12, max_size=20))
def test_no_text_around_it_hides_a_key(text: str, key: str) -> None:
    assert f"{key}7f" not in mask_secrets(f"{text} sk-{key}7f {text}")


@given(pieces)
def test_secrets_are_in_order_and_apart(text: str) -> None:
    ends = [place for secret in find_secrets(text) for place in (secret.start, secret.end)]
    assert ends == sorted(ends)
    assert all(secret.start < secret.end for secret in find_secrets(text))


@pytest.mark.parametrize(
    "part",
    ["token=", "sk-", "Ab1/token=", "://u:", "-----BEGIN PRIVATE KEY-----\n", "eyJa-", 'password="', "a: ", "--a-"],
)
def test_no_text_takes_long(part: str) -> None:
    """The work grows with the text: were it the square of it, this would reach the time limit."""
    find_secrets(part * (200_000 // len(part)))
