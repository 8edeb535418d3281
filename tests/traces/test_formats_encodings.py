"""Files as other systems save them, with a byte-order mark or in UTF-16: read, or refused by name."""

from __future__ import annotations

import codecs
from pathlib import Path

import msgspec
import pytest
from builders import a_run

from untaken.errors import UntakenError
from untaken.ledger.chain import parse_heads
from untaken.plans import read_graph
from untaken.traces.outcomes import read_outcomes
from untaken.workspace import Workspace
from untaken.workspace.intake import UploadResult, take_in

RUN = a_run("r1").call("look").finish()
LEDGER = RUN.ledger().decode()
HEADS = msgspec.json.encode({"r1": RUN.head}).decode()
GRAPH = "schema: untaken.plan/1\nid: desk\nsub_goals:\n  - {id: look, rules: [{tool: look}]}\n"
OUTCOMES = "run_id,success\nr1,true\n"
TRACE = (
    '{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}, '
    '"steps": [{"step_id": 1, "source": "user", "message": "hi"}]}'
)

MARKED = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
UTF_16 = ("utf-16-le", "utf-16-be")


def saved(text: str, encoding: str) -> bytes:
    return MARKED[encoding] + text.encode(encoding)


def added(folder: Path, name: str, data: bytes) -> UploadResult:
    with Workspace(folder / "workspace") as workspace:
        (row,) = take_in(workspace, [(name, data)])
    return row


@pytest.mark.parametrize("encoding", MARKED)
def test_a_trace_is_read(tmp_path: Path, encoding: str) -> None:
    row = added(tmp_path, "trace.json", saved(TRACE, encoding))
    assert (row.kind, row.runs) == ("atif", 1)


@pytest.mark.parametrize(
    ("encoding", "why"), [("utf-8", "byte order mark"), *((one, "UTF-16") for one in UTF_16)]
)
def test_a_ledger_is_refused_for_its_encoding(tmp_path: Path, encoding: str, why: str) -> None:
    row = added(tmp_path, "a.jsonl", saved(LEDGER, encoding))
    assert row.kind == "ledger"
    assert {verdict.verdict for verdict in row.integrity} == {"MALFORMED"}
    assert why in row.findings[0].message


@pytest.mark.parametrize(
    ("encoding", "why"), [("utf-8", "byte order mark"), *((one, "UTF-16") for one in UTF_16)]
)
def test_heads_are_refused_for_their_encoding(encoding: str, why: str) -> None:
    with pytest.raises(UntakenError, match=why) as refused:
        parse_heads(saved(HEADS, encoding), name="a.jsonl.heads.json")
    assert refused.value.code == "ledger-heads"


@pytest.mark.parametrize("encoding", UTF_16)
def test_plan_graphs_and_outcomes_in_utf_16_are_refused_by_name(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UntakenError, match="not UTF-8") as refused:
        read_graph(saved(GRAPH, encoding), name="g.plan.yaml")
    assert refused.value.code == "plan-not-utf8"
    table = tmp_path / "outcomes.csv"
    table.write_bytes(saved(OUTCOMES, encoding))
    with pytest.raises(UntakenError, match="not UTF-8") as refused:
        read_outcomes(table)
    assert refused.value.code == "outcomes-invalid"


def test_plan_graphs_and_outcomes_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    assert read_graph(saved(GRAPH, "utf-8"), name="g.plan.yaml")[0].id == "desk"
    table = tmp_path / "outcomes.csv"
    table.write_bytes(saved(OUTCOMES, "utf-8"))
    assert set(read_outcomes(table).by_run) == {"r1"}
