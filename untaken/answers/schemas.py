"""JSON Schemas of the files and documents, derived from the types they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from untaken.answers.audit import GraphAuditDocument
from untaken.answers.causes import CausesDocument
from untaken.answers.compare import CompareDocument
from untaken.answers.counterfactuals import CounterfactualDocument
from untaken.answers.crafter import (
    CrafterAblationDocument,
    CrafterRunDocument,
    CrafterScoreDocument,
    CrafterWinDocument,
)
from untaken.answers.criteria import CriteriaDocument, CriteriaVerifyDocument
from untaken.answers.documents import DocumentPart
from untaken.answers.formats import ConvertDocument, ExportDocument, FormatsDocument
from untaken.answers.issues import IssuesDocument
from untaken.answers.judging import AgreeDocument, JudgeDocument
from untaken.answers.mappings import MappingCheckDocument
from untaken.answers.memory import (
    MemoryApplyDocument,
    MemoryDocument,
    MemoryPreviewDocument,
    MemoryQueueDocument,
    MemoryVerifyDocument,
)
from untaken.answers.mode_agreement import ModesAgreeDocument
from untaken.answers.mode_analysis import ModesDocument
from untaken.answers.modes import ModesNotesDocument, ModesOverview, ModesSuggestDocument
from untaken.answers.packets import PacketDocument
from untaken.answers.plans import (
    GraphCheckDocument,
    GraphDiffDocument,
    GraphDiscoverDocument,
    GraphDrawDocument,
)
from untaken.answers.proposing import CriteriaProposalDocument
from untaken.answers.rankings import RankDocument
from untaken.answers.reviewing import ReviewDocument
from untaken.answers.scores import GateDocument, ScoreDocument, VerifyDocument
from untaken.answers.shapes import Schema, shape
from untaken.answers.triage import TriageDocument
from untaken.answers.versions import VersionsDocument
from untaken.answers.workspace import (
    ReportDocument,
    WorkspaceBackupDocument,
    WorkspaceDoctorDocument,
    WorkspaceRestoreDocument,
)
from untaken.crafter.record import PlanningRecord
from untaken.errors import UntakenError
from untaken.judging.passport_file import Passports
from untaken.ledger import AnyEvent, Head
from untaken.ledger.events import Name
from untaken.memory import Observed, Signal
from untaken.plans import PlanGraph

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
        raise UntakenError("schema-unknown", f"no schema {name!r}", hint=f"One of: {', '.join(SCHEMAS)}.")
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
