"""The document of a mapping file that is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from untaken.errors import Finding
from untaken.traces import FieldCount, ListCount, MappingCheck
from untaken.views.documents import Count, DocumentPart
from untaken.views.frame import Columns, count, frame, text
from untaken.visible import one_line

if TYPE_CHECKING:
    import pandas as pd

CONTENT_CHARS: Final = 300
_PARTS: Final = ("role", "tool", "agent", "task_id", "success")
_CONTENT: Final = ("content", "arguments", "sub_goals", "metadata", "metrics")


class MappingCheckDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.mapping_check/1"):
    """What a mapping makes of data, beside what is in the data."""

    format: str
    records: Count
    runs: Count
    with_outcome: Count
    with_agent: Count
    with_task: Count
    with_tokens: Count
    with_cost: Count
    events: Mapping[str, Count]
    unnamed_calls: Count
    unanswered_calls: Count
    stray_answers: Count
    lists: Sequence[ListCount]
    unread: Sequence[FieldCount]
    findings: Sequence[Finding]
    first_run: Sequence[Mapping[str, Any]]


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
