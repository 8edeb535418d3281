"""What holds for every test of the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components.panels import LOG


@pytest.fixture(autouse=True)
def no_part_of_a_page_failed(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A part that fails is a sentence on the page and a traceback in the log: here it fails the test."""
    yield
    assert [record for record in caplog.get_records("call") if record.name == LOG.name] == []
