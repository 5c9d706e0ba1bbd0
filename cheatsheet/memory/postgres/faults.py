"""What psycopg raises, in the words of this memory; and what passes when the same is tried again."""

from __future__ import annotations

from psycopg import errors

from cheatsheet.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from cheatsheet.memory.postgres.address import Address

# Transactions that PostgreSQL gave up so that others could go on: nothing of them was stored.
_GIVEN_UP = (errors.SerializationFailure, errors.DeadlockDetected)
_LOST_STATES = ("08", "57P")  # connection exceptions; the server is stopped, has crashed, or is starting
_IDLE_TOO_LONG = "25P03"
_DAMAGED = (
    errors.DataCorrupted,
    errors.IndexCorrupted,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.InvalidSchemaName,
)


def is_lost(error: errors.Error) -> bool:
    """Whether the connection is gone, so that another one may do."""
    if not isinstance(error, (errors.OperationalError, errors.InternalError)):
        return False
    state = error.sqlstate
    return state is None or state.startswith(_LOST_STATES) or state == _IDLE_TOO_LONG


def is_passing(error: errors.Error) -> bool:
    """Whether the same transaction may succeed when it is tried again."""
    return isinstance(error, _GIVEN_UP) or is_lost(error)


def translated(error: errors.Error, address: Address, timeout_s: float) -> StoreError | errors.Error:
    """The error that tells what is wrong and what to do; one that is our own mistake stays as it is."""
    where, said = address.shown, address.masked(_sentence(error))
    if isinstance(error, errors.LockNotAvailable):
        return StoreBusyError(
            f"The memory {where} is held by others ({said}). Nothing of this was stored; try again, or raise "
            f"busy_timeout_s, which is {timeout_s:g}."
        )
    if isinstance(error, errors.QueryCanceled):
        return StoreBusyError(
            f"The server of the memory {where} did not let this go on ({said}). Nothing of this was stored; try again, "
            f"or let statement_timeout be raised: ALTER ROLE … SET statement_timeout."
        )
    if isinstance(error, _GIVEN_UP):
        return StoreBusyError(
            f"The memory {where} had too many changes at once for {timeout_s:g} s ({said}). Nothing of this was "
            f"stored; try again."
        )
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreReadOnlyError(
            f"Cannot write the memory {where} ({said}). It can be read; to learn, connect to the primary server, "
            f"with a role that may write."
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreReadOnlyError(
            f"The role may not do this in the memory {where} ({said}). To recall, it needs USAGE of the schema and "
            f"SELECT on its tables; to learn, INSERT, UPDATE and DELETE as well. Let the owner of the schema grant "
            f"them, or connect with another role."
        )
    if isinstance(error, _DAMAGED):
        return StoreCorruptError(
            f"The memory {where} is damaged ({said}). It was left as it is: restore a backup, or name another schema."
        )
    if isinstance(error, errors.ProgramLimitExceeded):
        return StoreError(f"PostgreSQL cannot keep this ({said}). Nothing of it was stored; use shorter names.")
    if isinstance(error, errors.OperationalError):
        return StoreUnavailableError(
            f"The PostgreSQL server of the memory {where} cannot be reached or used: {said}. Nothing is lost of what "
            f"was stored; see that the server runs and that the address is right."
        )
    return error


def _sentence(error: errors.Error) -> str:
    """The server's own sentence, on one line."""
    text = error.diag.message_primary or str(error) or type(error).__name__
    return " ".join(text.split()).rstrip(".?")
