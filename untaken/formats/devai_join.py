"""Which row of a DevAI verdict sheet judges which requirement of the plan: by id and text, never by guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from untaken.formats.devai_model import DevAIRequirement, Sheet
from untaken.formats.losses import Findings, clip


def join_by_id_or_text(plan: Sheet, sheet: Sheet, run_id: str, findings: Findings) -> Sheet:
    """The sheet with its rows under the ids of the plan; rows that judge nothing in the plan keep their own.

    A requirement takes, in this order:

    1. the row of its id, where the text is the same but for case and white space, or missing on one side;
    2. the one row with its text, whatever its id: the numbers have shifted;
    3. the row of its id with another text, where nothing has shifted: no row was joined by rule 2, and the
       sheet has the ids of the plan, neither more nor fewer.

    Otherwise the requirement has no verdict from this sheet (``verdict-not-joined``).
    """
    ours, theirs = plan.requirements, sheet.requirements
    moved = _moved(ours, theirs)
    shifted = bool(moved) or ours.keys() != theirs.keys()
    used = {theirs[row].id for row in moved.values()}
    joined: dict[str, DevAIRequirement] = {}
    lost: list[str] = []
    for key, planned in ours.items():
        row = theirs.get(moved.get(key, key))
        if row is None or (key not in moved and row.id in used):
            continue
        if key in moved or _agree(planned, row) or not shifted:
            joined[key] = replace(row, id=key)
            used.add(row.id)
        else:
            lost.append(key)
    others = {
        f"{key} (in the sheet)" if key in ours else key: row
        for key, row in theirs.items()
        if row.id not in used
    }
    if moved:
        pairs = ", ".join(f"{row} → {key}" for key, row in moved.items())
        findings.add(
            "joined-by-text", f"numbers differ from the plan; joined by text: {clip(pairs)}", run=run_id
        )
    if lost:
        message = (
            f"same number, another text, and the numbers have shifted; unscored: {clip(', '.join(lost))}"
        )
        findings.add("verdict-not-joined", message, run=run_id)
    return replace(sheet, requirements=joined | others)


def _moved(ours: Mapping[str, DevAIRequirement], theirs: Mapping[str, DevAIRequirement]) -> dict[str, str]:
    """Requirements whose text occurs once in the plan and once in the sheet, with different ids."""
    planned, judged = Counter(map(_text, ours.values())), Counter(map(_text, theirs.values()))
    rows = {_text(row): key for key, row in theirs.items()}
    return {
        key: rows[text]
        for key, one in ours.items()
        if (text := _text(one)) and planned[text] == judged[text] == 1 and rows[text] != key
    }


def _agree(one: DevAIRequirement, other: DevAIRequirement) -> bool:
    return not _text(one) or not _text(other) or _text(one) == _text(other)


def _text(one: DevAIRequirement) -> str:
    return " ".join(one.criteria.casefold().split())
