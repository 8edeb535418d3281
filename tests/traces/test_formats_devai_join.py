"""Verdicts reach the requirement they judge, by id and text; what cannot be joined is unscored and named."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from foreign_files import converted, put

from untaken.ledger import Verdict

PLAN = ["load the data", "train the model", "finetune it", "save it"]
Row = tuple[str, bool]


class Sheet(NamedTuple):
    desc: str
    rows: list[Row]
    want: dict[str, bool]
    codes: set[str]


SHEETS = [
    Sheet(
        "the same rows",
        [(text, text == "save it") for text in PLAN],
        {"R0": False, "R1": False, "R2": False, "R3": True},
        set(),
    ),
    Sheet(
        "case and white space",
        [("Load  the data", True), *[(t, False) for t in PLAN[1:]]],
        {"R0": True, "R1": False, "R2": False, "R3": False},
        {"criteria-differ"},
    ),
    Sheet(
        "one row more, in the middle",
        [(PLAN[0], False), (PLAN[1], False), ("an extra row", True), (PLAN[2], False), (PLAN[3], True)],
        {"R0": False, "R1": False, "R2": False, "R3": True},
        {"joined-by-text", "verdict-without-sub-goal"},
    ),
    Sheet(
        "one row less, in the middle",
        [(PLAN[0], True), (PLAN[2], True), (PLAN[3], False)],
        {"R0": True, "R2": True, "R3": False},
        {"joined-by-text", "missing-verdicts"},
    ),
    Sheet(
        "another order",
        [(text, text == "save it") for text in reversed(PLAN)],
        {"R0": False, "R1": False, "R2": False, "R3": True},
        {"joined-by-text"},
    ),
    Sheet(
        "one row worded otherwise",
        [(PLAN[0], True), ("fit the model", True), (PLAN[2], False), (PLAN[3], False)],
        {"R0": True, "R1": True, "R2": False, "R3": False},
        {"criteria-differ"},
    ),
    Sheet(
        "one row more and another worded otherwise",
        [
            (PLAN[0], True),
            ("an extra row", True),
            ("fit the model", True),
            (PLAN[2], False),
            (PLAN[3], False),
        ],
        {"R0": True, "R2": False, "R3": False},
        {"joined-by-text", "verdict-not-joined", "missing-verdicts", "verdict-without-sub-goal"},
    ),
    Sheet(
        "a row more at the end, all the same before",
        [*[(text, True) for text in PLAN], ("an extra row", True)],
        {"R0": True, "R1": True, "R2": True, "R3": True},
        {"verdict-without-sub-goal"},
    ),
    Sheet(
        "a row more, every text another",
        [(f"other {n}", True) for n in range(5)],
        {},
        {"verdict-not-joined", "missing-verdicts", "verdict-without-sub-goal"},
    ),
    Sheet(
        "texts left out",
        [("", True)] * 4,
        {"R0": True, "R1": True, "R2": True, "R3": True},
        {"criteria-differ"},
    ),
]


def record(rows: list[tuple[str, bool | None]]) -> dict[str, object]:
    return {
        "name": "01_Boat",
        "requirements": [
            {"requirement_id": n, "prerequisites": [], "criteria": text, "satisfied": passed}
            for n, (text, passed) in enumerate(rows)
        ],
    }


@pytest.mark.parametrize("case", SHEETS, ids=lambda case: case.desc)
def test_a_verdict_reaches_the_requirement_it_judges(case: Sheet, tmp_path: Path) -> None:
    put(tmp_path / "in" / "instances" / "01_Boat.json", record([(text, None) for text in PLAN]))
    put(tmp_path / "in" / "judgment" / "Crew" / "human_as_a_judge" / "01_Boat.json", record(list(case.rows)))
    conversion, [run] = converted("devai", tmp_path / "out", tmp_path / "in")
    verdicts = {event.sub_goal: event.passed for event in run.events if isinstance(event, Verdict)}
    assert verdicts == case.want
    about = {
        "joined-by-text",
        "verdict-not-joined",
        "missing-verdicts",
        "verdict-without-sub-goal",
        "criteria-differ",
    }
    assert {finding.code for finding in conversion.findings} & about == case.codes
