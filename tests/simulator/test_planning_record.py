"""A record of planning is read as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from crafter_worlds import SEED, walked

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.simulator.loop import Turn, WinSettings, play
from untaken.simulator.players import policy_named
from untaken.simulator.record import (
    PlanningRecord,
    parse_planning,
    planned_step,
    planning_bytes,
    read_planning,
    write_planning,
)
from untaken.simulator.state_causality import SymbolicCausality

STEPS = 40


@pytest.fixture(scope="module")
def turns() -> list[Turn]:
    turns: list[Turn] = []
    play(
        walked(),
        policy_named("noisy", epsilon=0.5),
        task=None,
        steps=STEPS,
        causality=SymbolicCausality(),
        win=WinSettings(),
        seed=SEED,
        record=turns.append,
    )
    return turns


@pytest.fixture(scope="module")
def record(turns: list[Turn]) -> PlanningRecord:
    return PlanningRecord(
        run_id="r",
        agent="noisy",
        task=None,
        seed=SEED,
        settings={"steps": STEPS},
        steps=tuple(map(planned_step, turns)),
    )


def test_a_record_is_read_as_it_was_written(record: PlanningRecord, tmp_path: Path) -> None:
    write_planning(record, tmp_path / "r.planning.json.zst")
    assert read_planning(tmp_path / "r.planning.json.zst") == record
    (tmp_path / "plain.json").write_bytes(planning_bytes(record))
    assert read_planning(tmp_path / "plain.json") == record


def changed(record: PlanningRecord, where: list[Any], to: Any) -> bytes:
    """The record with one value replaced; ``None`` removes it."""
    document = json.loads(planning_bytes(record))
    at = document
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = to
    return json.dumps(document).encode()


SPOILED = [
    ("another schema", ["schema"], "untaken.planning/2"),
    ("no run", ["run_id"], ""),
    ("a name too long", ["agent"], "a" * 600),
    ("a field that there is not", ["more"], 1),
    ("a step's field that there is not", ["steps", 0, "more"], 1),
    ("an action that there is not", ["steps", 0, "action"], "<script>"),
    ("a view too short", ["steps", 0, "view"], "a" * 62),
    ("a letter that is no field", ["steps", 0, "view"], "a" * 62 + "z"),
    ("a view with a line's end", ["steps", 0, "view"], "a" * 63 + "\n"),
    ("an amount below nothing", ["steps", 0, "items"], {"wood": -1}),
    ("too many items", ["steps", 0, "items"], {str(n): 1 for n in range(65)}),
    ("daylight beyond the day", ["steps", 0, "daylight"], 1.5),
    ("a proposed action that there is not", ["steps", 0, "asked", "action"], "fly"),
    ("an other action that there is not", ["steps", 0, "asked", "terms", 0, "action"], "fly"),
    ("a reward in words", ["steps", 0, "asked", "reward"], "much"),
    ("a verdict that there is not", ["steps", 0, "asked", "verdict"], "good"),
    ("an edge from nowhere", ["steps", 0, "causes", "edges", 0, "cause"], "nowhere"),
    ("a kept variable that there is not", ["steps", 0, "causes", "kept"], ["nowhere"]),
]


@pytest.mark.parametrize(("desc", "where", "to"), SPOILED, ids=[case[0] for case in SPOILED])
def test_a_spoiled_record_is_refused(record: PlanningRecord, desc: str, where: list[Any], to: Any) -> None:
    with pytest.raises(UntakenError) as refused:
        parse_planning(changed(record, where, to), where=Where(file="f"))
    assert (refused.value.code, refused.value.where.file) == ("planning-invalid", "f")
    assert refused.value.hint


NOT_JSON = [
    ("nothing", b""),
    ("half of it", b'{"schema": '),
    ("a key twice", b'{"seed": 1, "seed": 2}'),
    ("no number", b'{"seed": NaN}'),
    ("too deep", b"[" * 5000),
    ("not UTF-8", b'"\xff"'),
    ("a list", b"[]"),
]


@pytest.mark.parametrize(("desc", "data"), NOT_JSON, ids=[case[0] for case in NOT_JSON])
def test_what_is_no_record_is_refused(desc: str, data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.planning.json"
    file.write_bytes(data)
    with pytest.raises(UntakenError, match="planning-invalid"):
        read_planning(file)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "x.planning.json.zst"
    bomb.write_bytes(zstandard.compress(b" " * (limits.PLANNING_BYTES + 1)))
    with pytest.raises(UntakenError) as refused:
        read_planning(bomb)
    assert refused.value.code in ("compression-ratio", "file-too-large")
