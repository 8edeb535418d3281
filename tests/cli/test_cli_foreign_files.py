"""A file that is no ledger is named for what it is, and never called a broken ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from foreign_files import tau_record

from untaken.errors import UntakenError
from untaken.ledger import read_ledger

TAU = json.dumps([tau_record()]).encode()


def test_reading_a_file_that_is_no_ledger_says_so(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(TAU)
    with pytest.raises(UntakenError) as refused:
        read_ledger(file)
    assert refused.value.code == "not-a-ledger"
    runs, findings = read_ledger(file, strict=False)
    assert (runs, [finding.code for finding in findings]) == ([], ["not-a-ledger"])
