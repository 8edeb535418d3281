"""Regenerates everything in this folder except code and documentation."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from sample_runs.refund_desk.hostile import write_hostile
from sample_runs.refund_desk.runner import write_ledgers
from sample_runs.refund_desk.tampering import write_tampered
from sample_runs.refund_desk.team import write_team

PACKED = "echo-agent"
"""One ledger is packed, to show that readers take it so."""
SPOILED = ("full-workflow", "full-workflow.refund-01.1")


def generate(folder: Path) -> None:
    """Write `ledgers/`, `tampered/` and `team/` into a folder: the same bytes every time."""
    ledgers, tampered = folder / "ledgers", folder / "tampered"
    for stale in (ledgers, tampered):
        shutil.rmtree(stale, ignore_errors=True)
    write_ledgers(ledgers)
    agent, run_id = SPOILED
    write_tampered(ledgers / f"{agent}.jsonl", run_id, tampered)
    write_hostile(tampered / "hostile-text.jsonl")
    pack(ledgers / f"{PACKED}.jsonl")
    write_team(folder)
    for lock in folder.glob("*/.*.lock"):
        lock.unlink()


def pack(ledger: Path) -> None:
    """Replace a ledger by its `.gz`, without the time of packing in it."""
    packed = ledger.with_name(ledger.name + ".gz")
    with packed.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
        stream.write(ledger.read_bytes())
    heads = ledger.with_name(ledger.name + ".heads.json")
    heads.replace(packed.with_name(packed.name + ".heads.json"))
    ledger.unlink()
