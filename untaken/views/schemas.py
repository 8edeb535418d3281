"""JSON Schemas of the files and documents, derived from the types they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, Final

import msgspec

from untaken.counterfactual import Observed, Signal
from untaken.errors import UntakenError, one_of
from untaken.judging import Passports
from untaken.ledger import AnyEvent, Head, Name
from untaken.plans import PlanGraph
from untaken.simulator import PlanningRecord
from untaken.views.audit import AUDIT_DOCUMENT
from untaken.views.compare import COMPARE_DOCUMENT
from untaken.views.counterfactuals import COUNTERFACTUAL_DOCUMENT
from untaken.views.crafter import (
    CRAFTER_ABLATION_DOCUMENT,
    CRAFTER_RUN_DOCUMENT,
    CRAFTER_SCORE_DOCUMENT,
    CRAFTER_WIN_DOCUMENT,
)
from untaken.views.criteria import CRITERIA_DOCUMENT, CRITERIA_VERIFY_DOCUMENT, PROPOSAL_DOCUMENT
from untaken.views.documents import Keys
from untaken.views.formats import CONVERT_DOCUMENT, EXPORT_DOCUMENT, FORMATS_DOCUMENT, MAPPING_CHECK_DOCUMENT
from untaken.views.issues import ISSUES_DOCUMENT
from untaken.views.judging import AGREE_DOCUMENT, JUDGE_DOCUMENT
from untaken.views.memory import (
    APPLY_DOCUMENT,
    MEMORY_DOCUMENT,
    PREVIEW_DOCUMENT,
    QUEUE_DOCUMENT,
    VERIFY_MEMORY_DOCUMENT,
)
from untaken.views.mode_analysis import MODES_DOCUMENT
from untaken.views.modes import (
    MODES_AGREE_DOCUMENT,
    MODES_NOTES_DOCUMENT,
    MODES_OVERVIEW,
    MODES_SUGGEST_DOCUMENT,
)
from untaken.views.packets import PACKET_DOCUMENT
from untaken.views.plans import (
    GRAPH_CHECK_DOCUMENT,
    GRAPH_DIFF_DOCUMENT,
    GRAPH_DISCOVER_DOCUMENT,
    GRAPH_DRAW_DOCUMENT,
)
from untaken.views.rankings import RANK_DOCUMENT
from untaken.views.reviewing import REVIEW_DOCUMENT
from untaken.views.scores import GATE_DOCUMENT, SCORE_DOCUMENT, VERIFY_DOCUMENT
from untaken.views.shapes import Schema, shape
from untaken.views.triage import CAUSES_DOCUMENT, TRIAGE_DOCUMENT
from untaken.views.versions import VERSIONS_DOCUMENT
from untaken.views.workspace import (
    BACKUP_DOCUMENT,
    DOCTOR_DOCUMENT,
    REPORT_DOCUMENT,
    RESTORE_DOCUMENT,
)

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


SCHEMAS_DOCUMENT: Final = Keys.given(schema="untaken.schemas/1", names=[str])
"""The names that `json_schema` knows."""


def json_schema(name: str) -> Schema:
    """The JSON Schema (draft 2020-12) of a file or document.

    Args:
        name: one of `SCHEMAS`.

    Raises:
        UntakenError: ``schema-unknown``.
    """
    if name not in SCHEMAS:
        raise UntakenError("schema-unknown", f"no schema {name!r}", hint=one_of(name, SCHEMAS))
    return {"$schema": DIALECT, "title": f"untaken {name}"} | _derived(SCHEMAS[name])


def _derived(kind: Any) -> Schema:
    if isinstance(kind, FunctionType):
        made: Schema = kind()
        return made
    return shape(kind) if isinstance(kind, Keys) else dict(msgspec.json.schema(kind))


def _plan_graph() -> Schema:
    """A plan graph as files may write it, with the short forms of a check."""
    schema = dict(msgspec.json.schema(PlanGraph))
    parts = schema["$defs"]
    globs = parts["VerdictSpec"]["properties"]["by"]
    parts["SubGoal"]["properties"]["check"]["anyOf"].append({"enum": ["outcome", "verdict"]})
    parts["Check"]["properties"]["verdict"]["anyOf"] += [globs["items"], globs]
    return schema


SCHEMAS: Final[Mapping[str, Any]] = {
    "event": AnyEvent,
    "heads": dict[Name, Head],
    "graph": _plan_graph,
    "observation": Observed,
    "signal": Signal,
    "passport": Passports,
    "score": SCORE_DOCUMENT,
    "verify": VERIFY_DOCUMENT,
    "counterfactual": COUNTERFACTUAL_DOCUMENT,
    "rank": RANK_DOCUMENT,
    "triage": TRIAGE_DOCUMENT,
    "causes": CAUSES_DOCUMENT,
    "compare": COMPARE_DOCUMENT,
    "versions": VERSIONS_DOCUMENT,
    "packet": PACKET_DOCUMENT,
    "gate": GATE_DOCUMENT,
    "judge": JUDGE_DOCUMENT,
    "agree": AGREE_DOCUMENT,
    "review": REVIEW_DOCUMENT,
    "modes": MODES_DOCUMENT,
    "issues": ISSUES_DOCUMENT,
    "modes-list": MODES_OVERVIEW,
    "modes-notes": MODES_NOTES_DOCUMENT,
    "modes-suggest": MODES_SUGGEST_DOCUMENT,
    "modes-agree": MODES_AGREE_DOCUMENT,
    "criteria": CRITERIA_DOCUMENT,
    "criteria-verify": CRITERIA_VERIFY_DOCUMENT,
    "criteria-proposal": PROPOSAL_DOCUMENT,
    "crafter-score": CRAFTER_SCORE_DOCUMENT,
    "crafter-run": CRAFTER_RUN_DOCUMENT,
    "crafter-ablation": CRAFTER_ABLATION_DOCUMENT,
    "crafter-win": CRAFTER_WIN_DOCUMENT,
    "planning": PlanningRecord,
    "report": REPORT_DOCUMENT,
    "export": EXPORT_DOCUMENT,
    "formats": FORMATS_DOCUMENT,
    "convert": CONVERT_DOCUMENT,
    "graph-audit": AUDIT_DOCUMENT,
    "mapping-check": MAPPING_CHECK_DOCUMENT,
    "graph-check": GRAPH_CHECK_DOCUMENT,
    "graph-diff": GRAPH_DIFF_DOCUMENT,
    "graph-discover": GRAPH_DISCOVER_DOCUMENT,
    "graph-draw": GRAPH_DRAW_DOCUMENT,
    "memory": MEMORY_DOCUMENT,
    "memory-queue": QUEUE_DOCUMENT,
    "memory-preview": PREVIEW_DOCUMENT,
    "memory-apply": APPLY_DOCUMENT,
    "memory-verify": VERIFY_MEMORY_DOCUMENT,
    "workspace-backup": BACKUP_DOCUMENT,
    "workspace-restore": RESTORE_DOCUMENT,
    "workspace-doctor": DOCTOR_DOCUMENT,
    "schemas": SCHEMAS_DOCUMENT,
}
"""By name, the type of ledger lines, heads sidecars, plan graphs, lines of memories and queues, passports;
then of the ``--json`` documents."""
