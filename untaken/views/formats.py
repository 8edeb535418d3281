"""Formats, conversions, exports and mapping files: their documents, and the tables of a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from untaken.errors import Finding
from untaken.traces import Conversion, FieldCount, FileLoss, FormatInfo, ListCount, MappingCheck
from untaken.views.documents import Count, Keys
from untaken.views.frame import Columns, count, frame, text
from untaken.visible import one_line

if TYPE_CHECKING:
    import pandas as pd


FORMATS_DOCUMENT: Final = Keys.given(schema="untaken.formats/1", formats=[FormatInfo])
"""Every importer."""
_FILE: Final = Keys(FileLoss, "file=name records runs kept held")
CONVERT_DOCUMENT: Final = Keys(
    Conversion,
    "format runs ledgers graphs loss_report files=losses findings",
    schema="untaken.convert/1",
    files=[_FILE],
)
"""What a conversion wrote; of each source file, how many of its values were kept."""
EXPORT_DOCUMENT: Final = Keys.given(
    schema="untaken.export/1", to=str, files=[str], runs=Count, results=Count, findings=[Finding]
)
"""Which files were written, of how many runs and results."""


CONTENT_CHARS: Final = 300
_PARTS: Final = ("role", "tool", "agent", "task_id", "success")
_CONTENT: Final = ("content", "arguments", "sub_goals", "metadata", "metrics")


MAPPING_CHECK_DOCUMENT: Final = Keys(
    MappingCheck,
    "format records runs with_outcome with_agent with_task with_tokens with_cost events unnamed_calls"
    " unanswered_calls stray_answers lists unread findings first_run",
    schema="untaken.mapping_check/1",
    events={str: Count},
)
"""What a mapping makes of data, beside what is in the data."""
LISTS: Final[Columns[ListCount]] = {
    "list in the file": text("the place of a list", lambda each: each.place or "(the file)"),
    "elements": count("elements in all lists at that place", "elements"),
    "read": text("whether a rule reads in it", lambda each: "yes" if each.read else "no"),
}
UNREAD: Final[Columns[FieldCount]] = {
    "not read": text("the place of a value that no rule reads", "path"),
    "values": count("values there", "dropped"),
}
EVENTS: Final[Columns[Mapping[str, Any]]] = {
    "event": text("the type of an event of the first run", lambda event: event["type"]),
    "who or what": text(
        "role, tool, agent, task or outcome",
        lambda event: ", ".join(str(event[part]) for part in _PARTS if event.get(part) is not None),
    ),
    "content": text(
        "what was said, asked or given",
        lambda event: one_line(
            str(next((event[part] for part in _CONTENT if event.get(part) is not None), "")), CONTENT_CHARS
        ),
    ),
}


def mapping_tables(check: MappingCheck) -> dict[str, pd.DataFrame]:
    """What a mapping makes of a file, as tables by name: its lists, what is not read, the first run."""
    return {
        "Lists in the file": frame(LISTS, check.lists),
        "Not read": frame(UNREAD, check.unread),
        "First run": frame(EVENTS, check.first_run),
    }
