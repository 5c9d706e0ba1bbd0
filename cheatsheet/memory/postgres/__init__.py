"""The memory in a PostgreSQL database, for several machines.

Raises:
    MissingExtraError: on import, where psycopg is not installed.
"""

from __future__ import annotations

from importlib.util import find_spec

from cheatsheet.errors import MissingExtraError

_missing = [name for name in ("psycopg", "psycopg_pool") if find_spec(name) is None]
if _missing:
    raise MissingExtraError(
        f"A memory on PostgreSQL needs {' and '.join(_missing)}: pip install 'cheatsheet[postgres]'"
    )
