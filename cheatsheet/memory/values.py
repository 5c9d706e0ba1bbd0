"""Texts and times in the form in which they can be stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator


def storable(text: Any) -> Any:
    """Replace lone surrogates, halves of characters that no encoding can hold, by U+FFFD; leave all else as it is."""
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(text, str) and not _encodes(text)
        else text
    )


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Text = Annotated[str, BeforeValidator(storable)]
"""A string without lone surrogates."""


def in_utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(in_utc)]
"""A time in UTC."""
