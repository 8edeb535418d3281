"""Issues: a failure mode and a rule that finds it in new runs (§9)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from untaken import limits

IssueStatus = Literal["open", "fixed"]
IssueState = Literal["open", "fixed", "reopened"]
IssueId = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^\w[\w.-]*$")]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
Glob = Annotated[str, Meta(max_length=1_000)]
Instant = Annotated[datetime, Meta(tz=True)]


class IssueRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What finds an issue in a run; both parts must hold, and an empty one always does.

    Attributes:
        expr: a CEL expression over the facts of a run, ``state.NAME``.
        text: a glob over what was said, called or answered in the run, each text on its own.
    """

    expr: Annotated[str, Meta(max_length=limits.EXPRESSION_CHARS)] = ""
    text: Glob = ""

    def __str__(self) -> str:
        parts = [self.expr, f"text {self.text!r}" if self.text else ""]
        return " and ".join(part for part in parts if part)


class IssueChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who made an issue what it is, and when."""

    status: IssueStatus
    by: Title
    at: Instant
    note: Annotated[str, Meta(max_length=2_000)] = ""


class Issue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A failure mode to get rid of. What a person says of it is kept; whether it came back is computed.

    Attributes:
        mode: id of its failure mode in the taxonomy; empty for a rule alone.
        rule: without one, the runs with the mode match.
        sub_goals: ids of the sub-goals it is about, for links.
        history: every change of its status, oldest first; the first one opened it.
    """

    id: IssueId
    title: Title
    mode: Annotated[str, Meta(max_length=80)] = ""
    rule: IssueRule = IssueRule()
    sub_goals: list[Annotated[str, Meta(max_length=limits.NAME_CHARS)]] = []
    history: Annotated[list[IssueChange], Meta(min_length=1, max_length=10_000)]

    @property
    def ruled(self) -> bool:
        """Whether a rule finds it; else people do."""
        return bool(self.rule.expr or self.rule.text)

    @property
    def last(self) -> IssueChange:
        """The latest change of its status."""
        return self.history[-1]

    @property
    def fixed_at(self) -> datetime | None:
        """When it was last called fixed; ``None`` while it is open."""
        return self.last.at if self.last.status == "fixed" else None


class IssueList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The issues of a workspace."""

    schema: Literal["untaken.issues/1"] = "untaken.issues/1"
    issues: Annotated[list[Issue], Meta(max_length=1_000)] = []

    def issue(self, issue_id: str) -> Issue | None:
        """The issue of an id."""
        return next((one for one in self.issues if one.id == issue_id), None)
