"""Time zones by name, and the one that a machine is set to."""

from __future__ import annotations

import zoneinfo
from datetime import UTC
from pathlib import Path

import pytest

from cheatsheet.context.providers.zones import local_zone, time_zone
from cheatsheet.errors import SettingsError


@pytest.mark.parametrize("name", ["Europe/Berlin", "UTC"])
def test_zones_by_name(name: str) -> None:
    assert str(time_zone(name)) == name


@pytest.mark.parametrize("name", ["Europe/Berln", "", "Europe", "../../etc/passwd", "CET-1CEST"])
def test_zones_that_are_not_known_are_told(name: str) -> None:
    with pytest.raises(SettingsError, match="is not known here"):
        time_zone(name)


def test_the_zone_of_the_machine(tmp_path: Path) -> None:
    berlin = next(
        Path(folder) / "Europe/Berlin" for folder in zoneinfo.TZPATH if (Path(folder) / "Europe/Berlin").is_file()
    )
    link, copy, loop = tmp_path / "link", tmp_path / "copy", tmp_path / "loop"
    link.symlink_to(berlin)
    copy.write_bytes(berlin.read_bytes())
    loop.symlink_to("loop")
    (tmp_path / "noise").write_bytes(b"noise")
    assert str(local_zone({}, localtime=link)) == "Europe/Berlin"
    assert str(local_zone({}, localtime=copy)) == "local time"
    assert str(local_zone({"TZ": ":Asia/Kolkata"}, localtime=link)) == "Asia/Kolkata"
    assert local_zone({"TZ": "CET-1CEST"}, localtime=link) is UTC
    for broken in (loop, tmp_path / "absent", tmp_path / "noise"):
        assert local_zone({}, localtime=broken) is UTC
