"""Addresses of memories on PostgreSQL servers: `postgresql://user@host/database?schema=cheatsheet`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from cheatsheet.errors import SettingsError

DEFAULT_SCHEMA = "cheatsheet"
_UNESCAPED = re.compile(r"://[^/]*[@/].*@")  # libpq would take a part of the password for a host or a database
_SOCKETS = ("/", "@")  # how the folder of a Unix socket begins, or its name
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,47}")

_Known: TypeAlias = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Address:
    """Which memory on which server.

    Attributes:
        conninfo: what libpq connects by; it may hold a password.
        schema: in which all tables of the memory are.
        shown: the address as messages name it, without a password.
        secrets: passwords and the like, which no message may hold.
    """

    conninfo: str = field(repr=False)
    schema: str
    shown: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        """The text without what is secret."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_address(url: str, *, timeout_s: float) -> Address:
    """Take an address apart.

    What libpq understands in an address goes to it as it is, such as several hosts with `target_session_attrs`. What is
    not said there is bounded by `timeout_s`: how long connecting, and sending to a server that is gone, may take.

    Raises:
        SettingsError: it is no such address; the message does not repeat it.
    """
    place, _, rest = url.partition("?")
    query = parse_qsl(rest, keep_blank_values=True)
    asked = [(name, value) for name, value in query if name != "schema"]
    plain = f"{place}?{urlencode(asked, quote_via=quote)}" if asked else place
    known = _taken_apart(plain)
    schema = dict(query).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise SettingsError(
            f"?schema={schema} cannot be used. Take up to 48 lower-case letters, digits and underscores, "
            f"such as schema={DEFAULT_SCHEMA}."
        )
    conninfo, secrets = make_conninfo(plain, **_bounds(known, timeout_s)), _secrets(known)
    return Address(conninfo, schema, _shown(known, schema), secrets)


def _taken_apart(url: str) -> _Known:
    """What an address says, in libpq's names."""
    try:
        if not _UNESCAPED.search(url.partition("?")[0]):
            return conninfo_to_dict(url)
    except (psycopg.ProgrammingError, ValueError):
        pass  # libpq's own sentence may quote the password
    raise SettingsError(
        "The address of the PostgreSQL database cannot be read. Write postgresql://USER:PASSWORD@HOST/DATABASE, with "
        "%-escapes for special characters in the password, or leave the password to PGPASSFILE or PGPASSWORD."
    )


def _bounds(known: _Known, timeout_s: float) -> dict[str, int | str]:
    bounds: dict[str, int | str] = {
        "connect_timeout": max(2, round(timeout_s)),  # libpq takes whole seconds, and less than two as two
        "tcp_user_timeout": round(timeout_s * 1000),
        "keepalives_idle": max(1, round(timeout_s)),
        "application_name": "cheatsheet",
    }
    return {name: value for name, value in bounds.items() if name not in known}


def _secrets(known: _Known) -> tuple[str, ...]:
    """What libpq itself would not show on a screen."""
    hidden = (option.keyword.decode() for option in Conninfo.get_defaults() if option.dispchar == b"*")
    return tuple(str(known[name]) for name in hidden if known.get(name))


def _shown(known: _Known, schema: str) -> str:
    """An address that leads to the same place, given the password."""
    user = f"{known['user']}@" if "user" in known else ""
    host, port = str(known.get("host", "")), str(known.get("port", ""))
    query = {"schema": schema} if schema != DEFAULT_SCHEMA else {}
    if host.startswith(_SOCKETS):
        host, query = "", {"host": host, **query}
    hosts, ports = host.split(","), port.split(",")
    if len(hosts) == len(ports):
        host = ",".join(f"{name}:{number}" if number else name for name, number in zip(hosts, ports, strict=True))
    elif port:
        host = f"{host}:{port}"
    asked = f"?{urlencode(query, quote_via=quote, safe='/@')}" if query else ""
    return f"postgresql://{user}{host}/{known.get('dbname', '')}{asked}"
