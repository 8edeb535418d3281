"""JSON Schemas of the files and documents, derived from the types they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from untaken.counterfactual import Observed, Signal
from untaken.errors import UntakenError, one_of
from untaken.judging import Passports
from untaken.ledger import AnyEvent, Head, Name
from untaken.plans import PlanGraph
from untaken.simulator import PlanningRecord
from untaken.views.audit import GraphAuditDocument
from untaken.views.causes import CausesDocument
from untaken.views.compare import CompareDocument
from untaken.views.counterfactuals import CounterfactualDocument
from untaken.views.crafter import (
    CrafterAblationDocument,
    CrafterRunDocument,
    CrafterScoreDocument,
    CrafterWinDocument,
)
from untaken.views.criteria import CriteriaDocument, CriteriaVerifyDocument
from untaken.views.documents import DocumentPart
from untaken.views.formats import ConvertDocument, ExportDocument, FormatsDocument
from untaken.views.issues import IssuesDocument
from untaken.views.judging import AgreeDocument, JudgeDocument
from untaken.views.mappings import MappingCheckDocument
from untaken.views.memory import (
    MemoryApplyDocument,
    MemoryDocument,
    MemoryPreviewDocument,
    MemoryQueueDocument,
    MemoryVerifyDocument,
)
from untaken.views.mode_agreement import ModesAgreeDocument
from untaken.views.mode_analysis import ModesDocument
from untaken.views.modes import ModesNotesDocument, ModesOverview, ModesSuggestDocument
from untaken.views.packets import PacketDocument
from untaken.views.plans import (
    GraphCheckDocument,
    GraphDiffDocument,
    GraphDiscoverDocument,
    GraphDrawDocument,
)
from untaken.views.proposing import CriteriaProposalDocument
from untaken.views.rankings import RankDocument
from untaken.views.reviewing import ReviewDocument
from untaken.views.scores import GateDocument, ScoreDocument, VerifyDocument
from untaken.views.shapes import Schema, shape
from untaken.views.triage import TriageDocument
from untaken.views.versions import VersionsDocument
from untaken.views.workspace import (
    ReportDocument,
    WorkspaceBackupDocument,
    WorkspaceDoctorDocument,
    WorkspaceRestoreDocument,
)

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class SchemasDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.schemas/1"):
    """The names that `json_schema` knows."""

    names: Sequence[str]


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
    document = isinstance(kind, type) and issubclass(kind, DocumentPart)
    return shape(kind) if document else dict(msgspec.json.schema(kind))


SCHEMAS: Final[Mapping[str, Any]] = {
    "event": AnyEvent,
    "heads": dict[Name, Head],
    "graph": PlanGraph,
    "observation": Observed,
    "signal": Signal,
    "passport": Passports,
    "score": ScoreDocument,
    "verify": VerifyDocument,
    "counterfactual": CounterfactualDocument,
    "rank": RankDocument,
    "triage": TriageDocument,
    "causes": CausesDocument,
    "compare": CompareDocument,
    "versions": VersionsDocument,
    "packet": PacketDocument,
    "gate": GateDocument,
    "judge": JudgeDocument,
    "agree": AgreeDocument,
    "review": ReviewDocument,
    "modes": ModesDocument,
    "issues": IssuesDocument,
    "modes-list": ModesOverview,
    "modes-notes": ModesNotesDocument,
    "modes-suggest": ModesSuggestDocument,
    "modes-agree": ModesAgreeDocument,
    "criteria": CriteriaDocument,
    "criteria-verify": CriteriaVerifyDocument,
    "criteria-proposal": CriteriaProposalDocument,
    "crafter-score": CrafterScoreDocument,
    "crafter-run": CrafterRunDocument,
    "crafter-ablation": CrafterAblationDocument,
    "crafter-win": CrafterWinDocument,
    "planning": PlanningRecord,
    "report": ReportDocument,
    "export": ExportDocument,
    "formats": FormatsDocument,
    "convert": ConvertDocument,
    "graph-audit": GraphAuditDocument,
    "mapping-check": MappingCheckDocument,
    "graph-check": GraphCheckDocument,
    "graph-diff": GraphDiffDocument,
    "graph-discover": GraphDiscoverDocument,
    "graph-draw": GraphDrawDocument,
    "memory": MemoryDocument,
    "memory-queue": MemoryQueueDocument,
    "memory-preview": MemoryPreviewDocument,
    "memory-apply": MemoryApplyDocument,
    "memory-verify": MemoryVerifyDocument,
    "workspace-backup": WorkspaceBackupDocument,
    "workspace-restore": WorkspaceRestoreDocument,
    "workspace-doctor": WorkspaceDoctorDocument,
    "schemas": SchemasDocument,
}
"""By name, the type of ledger lines, heads sidecars, plan graphs, lines of memories and queues, passports;
then of the ``--json`` documents."""
