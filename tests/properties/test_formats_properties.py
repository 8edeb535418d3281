"""Whatever a foreign file holds, importing it raises nothing and writes only what a strict reader accepts."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from foreign_files import devai_human, devai_step, tau2_document, tau_record
from hypothesis import given
from hypothesis import strategies as st

from untaken.ledger import context_hash, heads_path, load_heads, read_ledger
from untaken.plans import load_graphs
from untaken.traces import convert, importers, sniff
from untaken.traces.jsontext import JsonReader
from untaken.traces.losses import Findings
from untaken.traces.recording import decision_context
from untaken.traces.tidy import Places, Tidier

SEEDS: dict[str, tuple[str, Any]] = {
    "devai": ("judgment/Crew/human_as_a_judge/01_Boat.json", devai_human(True, False, True)),
    "devai steps": ("trajectories/Crew/01_Boat.json", [devai_step(0, "Running command: ls", "a")]),
    "tau-bench": ("gpt-9-airline.json", [tau_record(), tau_record(trial=1)]),
    "tau2-bench": ("results.json", tau2_document()),
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["assistant", "tool", "user", "true", "1.0", "2025-08-01T10:00:00", "[*]", "\ud800", "x" * 700]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))]


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place."""
    if not path:
        return value
    whole = copy.deepcopy(document)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return whole


def check(format: str, name: str, content: bytes) -> None:
    """Imports one file, and reads back all that was written."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in", name)
        source.parent.mkdir(parents=True)
        source.write_bytes(content)
        conversion = convert(format, [Path(folder, "in")], Path(folder, "out"))
        runs = [
            r for path in conversion.ledgers for r in read_ledger(path, heads=load_heads(heads_path(path)))
        ]
        assert len(runs) == conversion.runs
        assert all(run.integrity.verdict == "INTACT" for run in runs)
        graphs = load_graphs(Path(folder, "out", "graphs"))
        assert not [finding for finding in graphs.findings if finding.severity == "error"]
        assert {graph.id for graph in graphs.graphs} >= {r.started.graph for r in runs if r.started.graph}
        json.loads(conversion.loss_report.read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", SEEDS)
@given(data=st.data())
def test_any_value_at_any_place_is_survived(seed: str, data: st.DataObject) -> None:
    name, document = SEEDS[seed]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(document)))
        document = replaced(document, path, data.draw(VALUES))
    check(seed.split(maxsplit=1)[0], name, json.dumps(document).encode())


@pytest.mark.parametrize("seed", SEEDS)
@given(data=st.data())
def test_damaged_bytes_are_survived(seed: str, data: st.DataObject) -> None:
    name, document = SEEDS[seed]
    content = bytearray(json.dumps(document).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    check(seed.split(maxsplit=1)[0], name, bytes(content[: data.draw(st.integers(0, len(content)))]))


@given(content=st.binary(max_size=200), format=st.sampled_from(sorted(importers())))
def test_any_bytes_are_survived(content: bytes, format: str) -> None:
    check(format, "x.jsonl", content)


@given(name=st.text(), start=st.binary(max_size=300))
def test_sniffing_survives_anything(name: str, start: bytes) -> None:
    assert sniff(name, start) in {None, *importers()}
    for magic in (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"):
        assert sniff(name, magic + start) is None


@given(values=st.lists(VALUES, max_size=4))
def test_what_is_read_from_whole_json_is_what_was_written(values: list[Any]) -> None:
    findings = Findings(None)
    read = [element.value for element in JsonReader(json.dumps(values), findings).values()]
    assert json.dumps(read) == json.dumps(json.loads(json.dumps(values), parse_constant=lambda _: None))


@given(value=VALUES)
def test_tidied_values_can_be_written_and_tidying_again_changes_nothing(value: Any) -> None:
    tidier = Tidier(Places([]), Findings(None))
    tidied, _ = tidier.record(value, "x")
    json.dumps(tidied, allow_nan=False, ensure_ascii=False).encode()
    assert tidier.record(tidied, "x")[0] == tidied


@given(
    task=st.text(st.characters(exclude_categories=["Cs"])), tools=st.lists(st.sampled_from("abc"), max_size=6)
)
def test_the_order_of_what_succeeded_makes_no_other_context(task: str, tools: list[str]) -> None:
    counts = {tool: tools.count(tool) for tool in tools}
    turned = dict(reversed(counts.items()))
    assert context_hash(decision_context(task, counts)) == context_hash(decision_context(task, turned))
    more = {**counts, "a": counts.get("a", 0) + 1}
    assert context_hash(decision_context(task, counts)) != context_hash(decision_context(task, more))
