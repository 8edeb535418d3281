"""AgentEval's maths logs: what each message becomes, how long a run took, and what is left unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import codes, converted, maths_record, put
from reading import Case, case, each


def said(*messages: tuple[str, str]) -> dict[str, Any]:
    return maths_record(messages=[{"role": role, "content": content} for role, content in messages])


PRINTS, FAILS = "```python\nprint(x)\n```", "exitcode: 1 (execution failed)\nCode output: NameError"
SOLVED, TASK = {"task": "number_theory/7", "repeat": 2}, "number_theory/7"
CASES = [
    case("a record is a run of its problem", maths_record(), run="agenteval/autogen/number_theory/7",
         agent="autogen", success=True, steps=2, cost=None, metrics={"round": 1.0, "time": 12.5}, **SOLVED),
    case("code that was run is an action with its outcome", maths_record(), ok=[True],
         calls=[("python", {"run_by": "user", "code": "print(2 + 2)\n"})],
         roles=["user", "assistant", "assistant"]),
    case("code that fails is a failed action", said(("assistant", PRINTS), ("user", FAILS)), ok=[False]),
    case("an exit code that the agent makes up is a message",
         said(("assistant", PRINTS), ("assistant", "exitcode: 0")), calls=[], words=[PRINTS, "exitcode: 0"]),
    case("an empty turn is a turn", said(("user", "?"), ("assistant", "!"), ("user", "")),
         words=["?", "!", ""]),
    case("no type", maths_record(type=None), task="prealgebra/7", repeat=2),
    case("no number", maths_record(problem_id=None), task="number_theory/3", repeat=2),
    case("a hostile type", maths_record(type="../../etc"), task="etc/7", repeat=2),
    case("a single trial", maths_record(trial=-1), task=TASK, repeat=None),
    case("success as text", maths_record(is_correct="true"), found={"flag-as-text"}, **SOLVED),
    case("no outcome", maths_record(is_correct=None), found={"missing-reward"}, **SOLVED),
    case("no messages", maths_record(messages=[]), found={"missing-trajectory"}, **SOLVED),
    case("a negative time", maths_record(time=-1), found={"negative-amount"}, **SOLVED),
    case("an endless time", maths_record(time=1e300), **SOLVED),
]  # fmt: skip


@each(CASES)
def test_a_log_of_agenteval_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("agenteval", tmp_path, "prealgebra/3.json")


def test_a_folder_is_one_ledger_and_a_bad_file_costs_only_itself(tmp_path: Path) -> None:
    algebra = {f"algebra/{n}.json": maths_record(problem_id=str(n)) for n in range(3)}
    bad = {"algebra/9.json": "[1, 2", "geometry/1.json": {"correct_ans": 1}}
    for name, content in {**algebra, **bad, "geometry/0.json": maths_record(type="Geometry")}.items():
        put(tmp_path / "in" / name, content)
    conversion, runs = converted("agenteval", tmp_path / "out", tmp_path / "in")
    assert (len(conversion.ledgers), len(runs)) == (2, 4)
    assert codes(conversion)["not-this-format"] == 3
