"""What a run's ledger holds already is not written again."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_run

from untaken.ledger import Draft, ModeAssignment, ReviewNote, Verdict, without_repeats

MET = (Verdict, {"sub_goal": "x", "by": "human:ann", "passed": True})
UNMET = (Verdict, MET[1] | {"passed": False})
NOTE = (ReviewNote, {"author": "human:ann", "text": "odd"})
MODE = (ModeAssignment, {"mode": "m", "by": "human:ann", "status": "accepted", "event": 1})

CASES: list[tuple[str, list[tuple[Any, dict[str, Any]]], tuple[Any, dict[str, Any]], bool]] = [
    # desc, what the ledger holds, what is to be written, whether that is new
    ("the first word", [], MET, True),
    ("a verdict again", [MET], MET, False),
    ("a verdict changed", [MET], UNMET, True),
    ("a verdict changed back", [MET, UNMET], MET, True),
    ("of another person", [MET], (Verdict, MET[1] | {"by": "human:bob"}), True),
    ("of another sub-goal", [MET], (Verdict, MET[1] | {"sub_goal": "y"}), True),
    ("said with what need not be said", [MET], (Verdict, MET[1] | {"rationale": None, "seq": 9}), False),
    ("said with a reason", [MET], (Verdict, MET[1] | {"rationale": "read it"}), True),
    ("a note again", [NOTE, (ReviewNote, NOTE[1] | {"text": "more"})], NOTE, False),
    ("a note taken back", [NOTE, (ReviewNote, {"author": "human:ann", "withdraws": 2})], NOTE, True),
    ("by somebody else", [NOTE, (ReviewNote, {"author": "human:bob", "withdraws": 2})], NOTE, False),
    ("a mode again", [MODE], MODE, False),
    ("at another event", [MODE], (ModeAssignment, MODE[1] | {"event": 0}), True),
    ("withdrawn", [MODE], (ModeAssignment, MODE[1] | {"status": "withdrawn"}), True),
    ("accepted again", [MODE, (ModeAssignment, MODE[1] | {"status": "withdrawn"})], MODE, True),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "held", "draft", "new"), CASES, ids=[case[0] for case in CASES])
def test_a_word_is_written_where_it_is_new(desc: str, held: list[Any], draft: Any, new: bool) -> None:
    run = a_run("r").call("look")
    for event, fields in held:
        run.add(event, **fields)
    assert without_repeats(run.run(), [Draft(*draft)] * 2) == [Draft(*draft)] * new
