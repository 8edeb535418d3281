"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use
from untaken.workspace.content import (
    LEDGERS as LEDGERS,
    ledgers_and_graphs as ledgers_and_graphs,
    peek as peek,
    sniff as sniff,
)
from untaken.workspace.stored_file import Added as Added, AuditEntry as AuditEntry, StoredFile as StoredFile

# fmt: off
if TYPE_CHECKING:
    from untaken.workspace.adding_many import Incoming as Incoming, KeptTrace as KeptTrace
    from untaken.workspace.app_process import (
        end_with_app as end_with_app, output_to_app as output_to_app, process_for_app as process_for_app,
    )
    from untaken.workspace.confirming import Extension as Extension
    from untaken.workspace.content import (
        GRAPHS as GRAPHS, NOT_LEDGERS as NOT_LEDGERS, PEEK_BYTES as PEEK_BYTES,
    )
    from untaken.workspace.derived import (
        FACTS as FACTS, FOLDER as FOLDER, discard_table as discard_table, has_answer as has_answer,
        keeps_tables as keeps_tables, key_of as key_of, load_answer as load_answer, load_table as load_table,
        own_key_of as own_key_of, save_answer as save_answer, save_table as save_table,
        tidy_tables as tidy_tables,
    )
    from untaken.workspace.graph_store import GraphDraft as GraphDraft
    from untaken.workspace.examining import examine as examine
    from untaken.workspace.file_lists import FileGroup as FileGroup
    from untaken.workspace.intake import PLANNING as PLANNING, UploadResult as UploadResult
    from untaken.workspace.intake_process import take_in_apart as take_in_apart
    from untaken.workspace.mapping_files import (
        own_mappings as own_mappings, remove_mapping as remove_mapping, save_mapping as save_mapping,
    )
    from untaken.workspace.private_area import (
        NOT_SHARED as NOT_SHARED, PrivateArea as PrivateArea, PrivateAreas as PrivateAreas,
    )
    from untaken.workspace.readings import (
        FileReading as FileReading, LedgerContent as LedgerContent, joined as joined,
    )
    from untaken.workspace.rebuilding import rebuild_workspace as rebuild_workspace
    from untaken.workspace.restoring import restore_workspace as restore_workspace
    from untaken.workspace.review_model import (
        Review as Review, ReviewConflict as ReviewConflict, ReviewStatus as ReviewStatus,
        STATUSES as STATUSES,
    )
    from untaken.workspace.schema import is_workspace as is_workspace
    from untaken.workspace.settings import (
        ROLES as ROLES, Role as Role, Roles as Roles, parse_weights as parse_weights,
        read_settings as read_settings, settings_digest as settings_digest, settings_of as settings_of,
    )
    from untaken.workspace.text_drafts import place_of as place_of
    from untaken.workspace.versions import (
        GraphVersion as GraphVersion, SaveConflict as SaveConflict, Saved as Saved,
    )
    from untaken.workspace.workspace import Progress as Progress, Workspace as Workspace
# fmt: on

# They need the database library.
__getattr__, __dir__ = imported_on_first_use(__name__)
