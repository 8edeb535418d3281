"""What holds for every test of the app."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import desk
import pytest
from streamlit.components.v2 import manifest_scanner

from components.shared.panels import LOG
from untaken.workspace import Workspace


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """AppTest looks through every installed package for each session, a server does so once."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(autouse=True)
def no_part_of_a_page_failed(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A part that fails is a sentence on the page and a traceback in the log: here it fails the test."""
    yield
    assert [record for record in caplog.get_records("call") if record.name == LOG.name] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with the desk's runs."""
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in desk.builders()))
    return tmp_path
