"""The names of files that are made of untrusted names."""

from __future__ import annotations

import pytest

from untaken.traces.output import file_stem

DEVICES = ("con", "prn", "aux", "nul", "com1", "lpt9")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["{}", "{}.json", "{}.tar.gz", "{}.", "{} ", "x/../{}", "{}.a b"])
@pytest.mark.parametrize("upper", [False, True])
def test_no_file_has_the_name_of_a_device_with_or_without_a_suffix(
    device: str, name: str, upper: bool
) -> None:
    text = name.format(device.upper() if upper else device)
    assert file_stem(text).split(".")[0].lower() not in DEVICES


@pytest.mark.parametrize("name", ["auxiliary", "con-1", "run.aux", "nulls", "com10"])
def test_a_name_that_is_no_device_stays(name: str) -> None:
    assert file_stem(name) == name
