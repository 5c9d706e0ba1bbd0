"""Addresses: what goes to libpq, what is ours, and what no message may hold."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from cheatsheet.errors import SettingsError
from cheatsheet.memory.postgres.address import read_address


def test_a_schema_is_ours_and_all_else_goes_to_libpq() -> None:
    address = read_address(
        "postgresql://ann:s%40cret@one,two:5433/notes?schema=team_1&target_session_attrs=read-write", timeout_s=7
    )
    known = conninfo_to_dict(address.conninfo)
    assert (address.schema, known["dbname"], known["host"]) == ("team_1", "notes", "one,two")
    assert known["target_session_attrs"] == "read-write"
    assert (known["password"], known["connect_timeout"], known["tcp_user_timeout"]) == ("s@cret", "7", "7000")


def test_what_an_address_says_of_time_holds() -> None:
    address = read_address("postgresql://host/db?connect_timeout=3", timeout_s=30)
    assert conninfo_to_dict(address.conninfo)["connect_timeout"] == "3"


def test_an_address_is_shown_without_its_password() -> None:
    address = read_address("postgresql://ann:s%40cret@host:5433/notes?schema=team", timeout_s=7)
    assert address.shown == "postgresql://ann@host:5433/notes?schema=team"
    assert address.masked("no entry for s@cret") == "no entry for ***"


@pytest.mark.parametrize(
    "shown",
    [
        "postgresql:///",
        "postgresql:///notes",
        "postgresql://ann@/notes?host=/var/run/postgresql",
        "postgresql://ann@/notes?host=/run&schema=team",
        "postgresql://one,two:5433/notes",
        "postgresql://one:5432,two:5433/notes?schema=team",
    ],
)
def test_what_is_shown_leads_to_the_same_place(shown: str) -> None:
    address = read_address(shown, timeout_s=7)
    assert (address.shown, address.secrets) == (shown, ())


def test_no_secret_of_an_address_is_shown() -> None:
    address = read_address("postgresql://host/notes?password=s3cret&sslpassword=s4cret", timeout_s=7)
    assert address.shown == "postgresql://host/notes"
    assert address.masked("s3cret and s4cret") == "*** and ***"
    assert "cret" not in repr(address)


@pytest.mark.parametrize("schema", ["Notes", "pg_notes", "a-b", "", "a" * 49, 'a"; DROP SCHEMA public; --'])
def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(SettingsError, match="lower-case letters"):
        read_address(f"postgresql://host/notes?schema={schema}", timeout_s=7)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@host/notes?colour=red",
        "postgresql://ann:s3cret@[host/x",
        "postgresql://a:s3cret%zz@h/x",
        "postgresql://a:pa/s3cret@h/x",
        "postgresql://a:pa@s3cret@h/x",
        "postgresql://a:pa?s3cret@h/x",
    ],
)
def test_an_address_that_cannot_be_read_is_told_without_repeating_it(url: str) -> None:
    with pytest.raises(SettingsError, match="cannot be read") as told:
        read_address(url, timeout_s=7)
    assert "s3cret" not in str(told.value)
    assert told.value.__cause__ is None
