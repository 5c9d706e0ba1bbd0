"""Time zones: by name, or the one that this machine is set to. For the doors; the core is given moments with a zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cheatsheet.errors import SettingsError

_LOCALTIME: Final = Path("/etc/localtime")


def time_zone(name: str) -> ZoneInfo:
    """The zone of that name, such as `Europe/Berlin`.

    Raises:
        SettingsError: it is not known here.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: the name of a folder of zones
        raise SettingsError(
            f"The time zone {name!r} is not known here. Use a name such as 'Europe/Berlin' or 'UTC'; where the system "
            f"has no time zones, `pip install tzdata` brings them."
        ) from error


def local_zone(environment: Mapping[str, str], *, localtime: Path = _LOCALTIME) -> tzinfo:
    """The zone that TZ names, or else the one that the system is set to; UTC where neither tells.

    An offset, as `datetime.astimezone()` gives, would not do: it does not know when clocks change.
    """
    name = environment.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
        folder, found, key = str(localtime.resolve()).rpartition("/zoneinfo/")
        if found and folder:
            return ZoneInfo(key)
        with localtime.open("rb") as file:
            return ZoneInfo.from_file(file, key="local time")
    except (ZoneInfoNotFoundError, ValueError, OSError, RuntimeError):  # none, a rule as text, no file, a loop of links
        return UTC
