"""The documents of a workspace: its backup, what was restored, whether it is well, its report."""

from __future__ import annotations

from typing import Final, Literal

from untaken.errors import Finding
from untaken.views.documents import Count, Keys

# By types of their own: what these documents show is made with the database library, which is slow to load.
BACKUP_DOCUMENT: Final = Keys.given(
    schema="untaken.workspace-backup/1", file=str, bytes=Count, files=Count, rows=Count, findings=[Finding]
)
"""The archive that was written."""
RESTORE_DOCUMENT: Final = Keys.given(
    schema="untaken.workspace-restore/1", folder=str, made_at=str, files=Count, rows=Count
)
"""The workspace made of a backup."""
REBUILT_WORKSPACE: Final = Keys.given(folder=str, ledgers=Count, graphs=Count, findings=[Finding])
"""The workspace made of the files of a damaged one."""
_CHECK: Final = Keys.given(name=str, state=Literal["ok", "note", "fault"], message=str, hint=str, files=[str])
DOCTOR_DOCUMENT: Final = Keys.given(
    schema="untaken.workspace-doctor/1", healthy=bool, checks=[_CHECK], rebuilt=REBUILT_WORKSPACE | None
)
"""What each check found."""
REPORT_DOCUMENT: Final = Keys.given(
    schema="untaken.report/1",
    file=str,
    bytes=Count,
    sha256=str,
    full=bool,
    runs=Count,
    digest=str,
    findings=[Finding],
)
"""Which report was written, and from what."""
