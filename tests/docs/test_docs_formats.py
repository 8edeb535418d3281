"""The page of formats: every importer has its section, the loss report its keys, the limits are true."""

from __future__ import annotations

import json
from pathlib import Path

import foreign_files
from doc_pages import listed_keys, names, occurring_keys, page, rows, section

from untaken.errors import Unscored
from untaken.plans import GRAPH_FORMATS, load_graphs
from untaken.scoring import score_run
from untaken.traces import formats

TEXT = page("docs/formats.md")


def test_every_format_has_a_row_and_a_section_and_no_other_has() -> None:
    told = [name for cells in rows(TEXT, "kind") for name in names(cells[1])]
    assert sorted(told) == sorted(info.name for info in formats())
    headings = [line[3:].lower() for line in TEXT.splitlines() if line.startswith("## ")]
    assert [name for name in told if name not in headings] == []


def test_every_graph_format_has_a_row_and_no_other_has() -> None:
    told = [name for cells in rows(TEXT, "graph format") for name in names(cells[0])]
    assert set(told) == set(GRAPH_FORMATS)


def test_every_key_of_the_loss_report_is_listed_and_no_other(tmp_path: Path) -> None:
    source = foreign_files.put(tmp_path / "in" / "robot-airline.json", [foreign_files.tau_record()])
    conversion, _ = foreign_files.converted("tau-bench", tmp_path / "out", source)
    report = json.loads(conversion.loss_report.read_text("utf-8"))
    found = dict(
        occurring_keys(report, free=("fields", "defaulted", "defaulted_at", "synthesised", "synthesised_at"))
    )
    found.pop("conversions[].files[].findings[]")
    assert found == listed_keys(section(TEXT, "## The loss report"))
    assert f"(`{report['schema']}`)" in TEXT


def test_calls_written_as_text_are_no_actions(tmp_path: Path) -> None:
    said = 'Thought: a ticket.\nAction:\n{"name": "buy", "arguments": {"seat": 3}}'
    record = foreign_files.tau_record(traj=[{"role": "assistant", "content": said}])
    source = foreign_files.put(tmp_path / "in" / "react-airline.json", [record])
    conversion, [run] = foreign_files.converted("tau-bench", tmp_path / "out", source)
    assert (run.actions, run.selections) == ((), ())
    [graph] = load_graphs(list(conversion.graphs)).graphs
    score = score_run(run, graph)
    assert [node.status for node in score.nodes] == ["unscored"]
    assert isinstance(score.coverage, Unscored)


def test_a_simulation_in_a_file_of_its_own_is_planned_by_its_checks(tmp_path: Path) -> None:
    whole = foreign_files.tau2_document()
    [simulation] = whole.pop("simulations")
    foreign_files.put(tmp_path / "in" / "results.json", whole)
    foreign_files.put(tmp_path / "in" / "simulations" / "s-1.json", simulation)
    conversion, [run] = foreign_files.converted(
        "tau2-bench", tmp_path / "out", tmp_path / "in", agent="gpt-9"
    )
    assert {"plan-from-verdicts", "no-simulations"} <= set(foreign_files.codes(conversion))
    assert run.agent == "gpt-9"
    assert run.task_id == "tau2-bench-unknown-7"
