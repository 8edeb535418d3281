"""Issue files: strict YAML, in one fixed layout; the one that a workspace keeps, and changes to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from untaken.analysis.failure_modes.facts import FACTS
from untaken.analysis.failure_modes.files import plain_yaml
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueList, IssueStatus
from untaken.atomic_file import change_file
from untaken.errors import UntakenError, Where
from untaken.plans import check_expression, decode, read_source, read_yaml

ISSUES: Final = "issues.yaml"
"""The file of a workspace that keeps its issues."""
IssueEdit = Callable[[IssueList], IssueList]


def load_issues(path: str | Path) -> IssueList:
    """The issues in a file.

    Raises:
        UntakenError: ``issues-missing``; as `parse_issues`.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        where = Where(file=str(file))
        hint = "Add one with `untaken issues --add`, or name another file."
        raise UntakenError("issues-missing", "no issues found", where=where, hint=hint) from error
    return parse_issues(data, name=file.name)


def parse_issues(data: bytes | str, *, name: str = ISSUES) -> IssueList:
    """Issues from YAML.

    Raises:
        UntakenError: ``issues-invalid``, with file and line where known.
    """
    try:
        document = read_yaml(decode(data, name), name)
    except UntakenError as error:
        raise UntakenError("issues-invalid", error.message, where=error.where, hint=error.hint) from error
    try:
        found = msgspec.convert(document.value, IssueList)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), Where(file=name)) from error
    for at, issue in enumerate(found.issues):
        _check(issue, found, document.where(("issues", at)))
    return found


def issues_yaml(issues: IssueList) -> str:
    """The text of an issue file."""
    return plain_yaml(issues)


def kept_issues(folder: Path) -> IssueList:
    """The issues of the workspace in `folder`; none where no file is there.

    Raises:
        UntakenError: ``issues-invalid`` for a file changed by hand.
    """
    file = folder / ISSUES
    return load_issues(file) if file.exists() else IssueList()


def change_issues(file: Path, edit: IssueEdit) -> IssueList:
    """Changes an issue file in one step, safe against concurrent changes.

    Raises:
        UntakenError: ``issue-invalid`` for a change that cannot be; as `edit` and `load_issues`. Then nothing
            is written.
    """
    return change_file(
        file,
        lambda: load_issues(file) if file.exists() else IssueList(),
        lambda before: _changed(before, edit),
        lambda issues: issues_yaml(issues).encode(),
    )


def _changed(before: IssueList, edit: IssueEdit) -> IssueList:
    text = issues_yaml(edit(before))
    try:
        return parse_issues(text)
    except UntakenError as error:
        # Without its place: lines of a text that nobody has written would mislead.
        raise UntakenError("issue-invalid", error.message, hint=error.hint) from error


def adding(issue: Issue) -> IssueEdit:
    """Adds an issue."""

    def edit(issues: IssueList) -> IssueList:
        return structs.replace(issues, issues=[*issues.issues, issue])

    return edit


def setting(issue_id: str, status: IssueStatus, *, by: str, at: datetime, note: str = "") -> IssueEdit:
    """Marks an issue as fixed, or open again; a fixed issue counts as fixed from `at` on."""

    def edit(issues: IssueList) -> IssueList:
        found = issues.issue(issue_id)
        if found is None:
            known = ", ".join(one.id for one in issues.issues[:20]) or "none"
            raise UntakenError(
                "issue-unknown", f"there is no issue {issue_id!r}", hint=f"There are: {known}."
            )
        change = IssueChange(status=status, by=by, at=at, note=note)
        changed = structs.replace(found, history=[*found.history, change])
        return structs.replace(issues, issues=[changed if one is found else one for one in issues.issues])

    return edit


def _check(issue: Issue, issues: IssueList, where: Where) -> None:
    if sum(one.id == issue.id for one in issues.issues) > 1:
        raise _invalid(f"two issues have the id {issue.id!r}", where)
    if not (issue.mode or issue.ruled):
        raise _invalid(f"issue {issue.id!r} has neither a mode nor a rule", where)
    if issue.rule.expr:
        try:
            check_expression(issue.rule.expr)
            _check_facts(issue.rule.expr)
        except UntakenError as error:
            message = f"the rule of issue {issue.id!r}: {error.message}"
            raise UntakenError("issues-invalid", message, where=where, hint=error.hint) from error


def _check_facts(expression: str) -> None:
    """Without a fact a rule says the same of every run, with an unknown one nothing of any."""
    paths = [path.segments for path in read_source(expression).paths]
    strange = next((path[0] for path in paths if path and path[0] not in FACTS), None)
    if strange is not None or not paths:
        message = f"there is no fact {strange!r}" if strange else f"{expression!r} names no fact of a run"
        raise UntakenError("issues-invalid", message, hint=f"Facts: state.{', state.'.join(FACTS)}.")


def _invalid(message: str, where: Where) -> UntakenError:
    hint = "An issue is {id, title, mode, rule: {expr, text}, history}; docs/formats.md describes the file."
    return UntakenError("issues-invalid", message, where=where, hint=hint)
