"""The documented example of an instrumented agent records a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import ROOT, blocks, page

from untaken.ledger import read_ledger

pytest.importorskip("opentelemetry.sdk", reason="the extra untaken[otel] is not installed")


def test_the_documented_exporter_records_a_run(tmp_path: Path) -> None:
    (example,) = [b for b in blocks(page("docs/your-own-runs.md")) if b.title == "instrumented.py"]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, "-c", example.text], cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, check=True
    )
    (ledger,) = tmp_path.glob("runs/ledgers/*.jsonl")
    (run,) = read_ledger(ledger)
    assert (run.agent, run.task_id, run.success) == ("desk", "refund-17", True)
    assert [call.tool for call in run.actions] == ["pay"]
