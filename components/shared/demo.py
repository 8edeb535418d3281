"""The demo: the sample runs, and what a team of two samples wrote about them (`sample_runs/team`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from untaken.analysis import FILE as MODES
from untaken.analysis import ISSUES
from untaken.ledger import Draft, ModeAssignment, ReviewNote, Verdict
from untaken.workspace import Review, Workspace

SAMPLES: Final = Path(__file__).parents[2] / "sample_runs"
TEAM: Final = SAMPLES / "team"
PLAN_ID: Final = "refund-desk"
PLAN: Final = f"{PLAN_ID}.plan.yaml"
PARTS: Final = ("crafter/graphs", "crafter/ledgers", "ledgers")
"""Without tampered ledgers, and without the plan of the desk: it has two versions here."""
WRITTEN: Final = {"VERDICT": Verdict, "REVIEW_NOTE": ReviewNote, "FAILURE_MODE": ModeAssignment}
REVIEW: Final = "REVIEW"
ANN, BEN = "sample: Ann", "sample: Ben"


def open_demo(folder: str | Path) -> Workspace:
    """A workspace of the samples; where it is one already, what was changed in it stays."""
    store = Workspace.open_folder(*(SAMPLES / part for part in PARTS), at=folder)
    if store.newest_version(PLAN_ID) is None:
        _save_plans(store)
        for name in (MODES, ISSUES):
            (store.path / name).write_bytes((TEAM / name).read_bytes())
        with store.one_connection():
            _write_reviews(store)
    return store


def _save_plans(store: Workspace) -> None:
    """Two versions of the plan of the desk; the second is the samples' own."""
    store.save_graph(
        (TEAM / PLAN).read_bytes(), author=ANN, message="Steps of the desk's handbook", based_on=None
    )
    store.save_graph(
        (SAMPLES / "graphs" / PLAN).read_bytes(),
        author=BEN,
        message="Eligibility needs the policy and is critical; calls that change something are named",
        based_on=1,
    )


def _write_reviews(store: Workspace) -> None:
    """Append what the two wrote to the ledgers of their runs, at the times that they wrote it."""
    lines = [msgspec.json.decode(line) for line in (TEAM / "reviews.jsonl").read_bytes().splitlines()]
    by_run: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_run[line.pop("run_id")].append(line)
    for run in store.read_runs()[0]:
        written = by_run.get(run.run_id, ())
        if drafts := [_draft(line) for line in written if line["type"] in WRITTEN]:
            store.append_events(run, drafts)
        for line in written:
            if line["type"] == REVIEW:
                seen = Review(run=run.digest, run_id=run.run_id)
                store.reviews.change(
                    [seen], author=line["by"], status=line["status"], assignee=line["assignee"]
                )


def _draft(line: Mapping[str, Any]) -> Draft:
    fields = {name: value for name, value in line.items() if name not in ("type", "ts")}
    return Draft(WRITTEN[line["type"]], fields, datetime.fromisoformat(line["ts"]))
