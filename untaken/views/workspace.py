"""The documents of a workspace: its backup, what was restored, whether it is well, its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from untaken.errors import Finding
from untaken.views.documents import Count, DocumentPart


class WorkspaceBackupDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.workspace-backup/1"):
    """The archive that was written."""

    file: str
    bytes: Count
    files: Count
    rows: Count
    findings: Sequence[Finding]


class WorkspaceRestoreDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.workspace-restore/1"):
    """The workspace made of a backup."""

    folder: str
    made_at: str
    files: Count
    rows: Count


class RebuiltWorkspace(DocumentPart, frozen=True, kw_only=True):
    """The workspace made of the files of a damaged one."""

    folder: str
    ledgers: Count
    graphs: Count
    findings: Sequence[Finding]


class HealthCheckEntry(DocumentPart, frozen=True, kw_only=True):
    """What one check found."""

    name: str
    state: Literal["ok", "note", "fault"]
    message: str
    hint: str
    files: Sequence[str]


class WorkspaceDoctorDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.workspace-doctor/1"):
    """What each check found."""

    healthy: bool
    checks: Sequence[HealthCheckEntry]
    rebuilt: RebuiltWorkspace | None


class ReportDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.report/1"):
    """Which report was written, and from what."""

    file: str
    bytes: Count
    sha256: str
    full: bool
    runs: Count
    digest: str
    findings: Sequence[Finding]
