"""What other tools get is what the ledger says, and it reads back."""

from __future__ import annotations

import csv
import json
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import desk
import pandas as pd
import pytest
from builders import RunBuilder, a_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from untaken.analysis.corpus import evaluate_corpus
from untaken.cli import export as export_verb
from untaken.cli import main
from untaken.csv_export import restored
from untaken.errors import Unscored, UntakenError
from untaken.facts import TABLES, parts, write_frames
from untaken.ledger import Message, Plan, Run, read_ledger
from untaken.scoring import score_run
from untaken.traces import convert
from untaken.views import decisions_in_parts, decisions_table, statements_table
from untaken.views.exporting import (
    EvaluatedRun,
    atif_documents,
    csv_table,
    evaluated_run,
    otlp_lines,
    xes_log,
)

XES = "{http://www.xes-standard.org/}"
[GRAPH] = desk.graphs().graphs
TEXT = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["]]></trace>", '"/><evil a="', "=1+1", "a\r\nb", "\x00\x1b\ufffe", "&amp;&#0;", "\u202e'"]
)


def scored(built: RunBuilder) -> EvaluatedRun:
    run = built.run()
    return evaluated_run(run, score_run(run, GRAPH))


def results(each: EvaluatedRun) -> dict[str, tuple[float | None, str]]:
    return {result.name: (result.value, result.label) for result in each.evaluations}


def talking() -> RunBuilder:
    """Says things before, between and after its calls, and fails once."""
    run = a_run("talk 1", agent="clerk", task="refund-1", model="m1")
    run.say("Be brief.", "system").say("Refund order 17.", "user").say("I look.")
    run.plan("order", "refund").call("search", ok=False, order=17).say("Which one?")
    run.say("The red one.", "user").call("search", ok=True, order=18).say("Done.")
    return run.verdict("polite", None).finish(False, cost=0.25, steps=9)


def read_back(to: str, folder: Path, *each: EvaluatedRun) -> list[Run]:
    source = folder / "exported"
    source.mkdir(parents=True)
    if to == "otel":
        (source / "runs.jsonl").write_text("\n".join(otlp_lines(each)), encoding="utf-8")
    else:
        for name, content in atif_documents(each):
            (source / name).write_bytes(content)
    done = convert(None, [source], folder / "back")
    assert done.format == to
    return [run for ledger in done.ledgers for run in read_ledger(ledger)]


def account(run: Run) -> Any:
    """What must survive: who, what, how it ended; calls, answers, words."""
    calls = [(c.tool, c.arguments, (a := run.answers.get(c.seq)) and (a.content, a.ok)) for c in run.actions]
    said = [(m.role, m.content) for m in run.of(Message)]
    end = run.finished
    outcome = None if isinstance(run.success, Unscored) else run.success
    return run.run_id, run.agent, run.task_id, outcome, end and end.cost, calls, said


def test_results_are_the_outcome_the_rates_the_sub_goals_and_the_verdicts() -> None:
    assert results(scored(desk.lucky(1))) == {
        "success": (1.0, "pass"),
        "completion": (0.5, ""),
        "critical_completion": (0.0, ""),
        "diagnosis": (None, "violation"),
        "sub_goal:order": (1.0, "completed"),
        "sub_goal:policy": (0.0, "skipped"),
        "sub_goal:refund": (1.0, "completed"),
        "sub_goal:polite": (0.0, "attempted"),
        "verdict:polite": (0.0, "fail"),
    }


def test_what_is_unscored_has_a_reason_and_no_number_in_any_format() -> None:
    run = a_run("r", task="refund-1").call("search", ok=True).finish(None).run()
    each = evaluated_run(run, Unscored("no graph"))
    assert results(each) == {"success": (None, "unscored"), "completion": (None, "unscored")}
    assert all(result.explanation for result in each.evaluations)
    assert "score.value" not in "".join(otlp_lines([each]))
    rows = csv.DictReader(StringIO(csv_table([each]).decode(), newline=""))
    assert [row["value"] for row in rows] == ["", ""]
    log = ElementTree.fromstring("".join(xes_log([each])))
    assert not [e for e in log.iter(f"{XES}float") if e.get("key") != "untaken:cost"]


def test_each_author_is_listed_with_the_latest_verdict() -> None:
    run = a_run("r", task="refund-1").verdict("polite", True).verdict("polite", False)
    run.verdict("polite", True, "judge:m").finish(True)
    verdicts = [r for r in scored(run).evaluations if r.name == "verdict:polite"]
    assert [(r.by, r.label) for r in verdicts] == [("human:ann", "fail"), ("judge:m", "pass")]


@pytest.mark.parametrize("to", ["otel", "atif"])
def test_an_exported_run_reads_back(to: str, tmp_path: Path) -> None:
    each = scored(talking())
    (back,) = read_back(to, tmp_path, each)
    assert account(back) == account(each.run)


@pytest.mark.parametrize("to", ["otel", "atif"])
@pytest.mark.parametrize("version", ["1.4", 7, None])
def test_the_version_of_an_agent_reads_back(to: str, version: str | int | None, tmp_path: Path) -> None:
    run = a_run(agent="clerk", version=version, prompt_version="p2").say("Done.").finish(True)
    (back,) = read_back(to, tmp_path, scored(run))
    assert back.started.version == (version and str(version))
    if to == "otel":  # ATIF has no place for that of the prompt
        assert back.started.prompt_version == "p2"


def test_steps_and_plans_read_back_from_spans(tmp_path: Path) -> None:
    (back,) = read_back("otel", tmp_path, scored(talking()))
    assert back.finished.steps == 9
    assert [plan.sub_goals for plan in back.of(Plan)] == [["order", "refund"]]
    assert back.finished.metrics["evaluation:sub_goal:refund"] == 0.0


def test_results_are_evaluation_events_on_the_root_span() -> None:
    (line,) = otlp_lines([scored(desk.careful(1))])
    spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (root,) = [span for span in spans if not span["parentSpanId"]]
    assert {event["name"] for event in root["events"]} == {"gen_ai.evaluation.result"}
    keys = {a["key"] for event in root["events"] for a in event["attributes"]}
    assert {f"gen_ai.evaluation.{name}" for name in ("name", "score.value", "score.label")} <= keys
    assert len({span["spanId"] for span in spans}) == len(spans)


def test_an_event_log_has_a_trace_a_run_and_an_event_an_action_with_its_sub_goal() -> None:
    log = ElementTree.fromstring("".join(xes_log([scored(desk.careful(1)), scored(desk.lucky(1))])))
    activities = [
        [{a.get("key"): a.get("value") for a in event} for event in trace.iter(f"{XES}event")]
        for trace in log.iter(f"{XES}trace")
    ]
    names = [[event["concept:name"] for event in trace] for trace in activities]
    assert names == [["search", "read", "pay"], ["search", "pay"]]
    assert [event["untaken:sub_goal"] for event in activities[0]] == ["order", "policy", "refund"]


@given(st.lists(TEXT, min_size=6, max_size=6))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_hostile_text_breaks_no_format(words: list[str]) -> None:
    name, task, tool, said, goal, why = (word or "x" for word in words)
    run = a_run(name, agent=name, task=task).say(said).call(tool, goal, ok=True, argument=said)
    each = scored(run.verdict(goal, True, reason=why).finish(False, error=why))
    log = ElementTree.fromstring("".join(xes_log([each])))
    assert len(list(log.iter(f"{XES}event"))) == 1
    rows = list(csv.DictReader(StringIO(csv_table([each]).decode(), newline="")))
    assert len(rows) == len(each.evaluations)
    assert {restored(row["run_id"]) for row in rows} == {name}
    (line,) = otlp_lines([each])
    assert "\n" not in line
    assert json.loads(line)
    [(file, content)] = atif_documents([each])
    assert Path(file).name == file
    assert json.loads(content)["session_id"] == name


def export(folder: Path, to: str, *more: str) -> int:
    where = [str(folder / "ledgers"), "--graphs", str(folder / "graphs"), "--to", to]
    return main(["export", *where, *more])


def test_the_verb_writes_each_format_and_says_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = desk.write_folder(tmp_path)
    for to in ("otel", "atif", "csv", "parquet", "xes"):
        assert export(folder, to, "-o", str(tmp_path / to), "--json") == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["to"], document["runs"]) == (to, 13)
        assert len(document["files"]) == {"atif": 13, "parquet": 1 + len(TABLES)}.get(to, 1)
        assert all(Path(file).stat().st_size for file in document["files"])


def test_the_verb_writes_text_to_stdout_and_asks_for_a_file_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = desk.write_folder(tmp_path)
    assert export(folder, "xes") == 0
    assert ElementTree.fromstring(capsys.readouterr().out.encode()) is not None
    assert export(folder, "parquet") == 2
    assert "export-needs-out" in capsys.readouterr().err


@pytest.mark.parametrize("part", [1, 5, 2_000])
def test_decisions_and_statements_are_the_tables_of_the_same_names(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, files = desk.write_folder(tmp_path), [str(tmp_path / name) for name in ("r", "d", "s")]
    monkeypatch.setattr(export_verb, "decisions_in_parts", partial(decisions_in_parts, runs=part))
    more = ["--decisions", files[1], "--statements", files[2], "--json"]
    assert export(folder, "parquet", "-o", files[0], *more) == 0
    assert json.loads(capsys.readouterr().out)["files"][-2:] == [Path(file).as_posix() for file in files[1:]]
    corpus = evaluate_corpus(folder / "ledgers", folder / "graphs")
    decisions, statements = map(pd.read_parquet, files[1:])
    pd.testing.assert_frame_equal(decisions, decisions_table(corpus))
    pd.testing.assert_frame_equal(statements, statements_table(corpus.plans))
    assert len(decisions)


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    nothing = evaluate_corpus([], desk.graphs())
    file = tmp_path / "d.parquet"
    assert write_frames(file, decisions_in_parts(nothing)) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(file), decisions_table(nothing))


@pytest.mark.parametrize("what", ["table", "decisions"])
def test_what_stops_an_export_leaves_what_was_there_before(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out, more = desk.write_folder(tmp_path), tmp_path / "facts", tmp_path / "d.parquet"
    assert export(folder, "parquet", "-o", str(out), "--decisions", str(more)) == 0
    before = {path: path.read_bytes() for path in (*out.rglob("*.*"), more)}
    copy, left = parts._copy, [3 if what == "table" else len(TABLES)]

    def full(*given: object) -> None:
        copy(*given)  # type: ignore[arg-type]
        left[0] -= 1
        if left[0] < 0:
            raise UntakenError("disk-full", "No space left on device")

    monkeypatch.setattr(parts, "_copy", full)
    assert export(folder, "parquet", "-o", str(out), "--decisions", str(more)) == 2
    assert "No space left" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (*out.rglob("*.*"), more)} == before
    assert not [path.name for path in tmp_path.iterdir() if path.suffix in (".new", ".old")]


def test_a_folder_with_other_files_is_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, own = desk.write_folder(tmp_path / "in"), tmp_path / "thesis"
    own.mkdir()
    (own / "chapter.md").write_text("years of work")
    assert export(folder, "parquet", "-o", str(own)) == 2
    assert "output-not-facts" in capsys.readouterr().err
    assert export(folder, "parquet", "-o", str(own / "chapter.md")) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "thesis"]
    assert (own / "chapter.md").read_text() == "years of work"


def test_a_broken_run_is_in_no_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = desk.write_folder(tmp_path)
    broken = desk.careful(77).ledger().splitlines(keepends=True)
    (folder / "ledgers" / "broken.jsonl").write_bytes(b"".join(broken[:2] + broken[3:]))
    assert export(folder, "csv") == 0
    assert "careful-77" not in capsys.readouterr().out


@pytest.mark.parametrize("to", ["csv", "xes", "otel", "atif", "parquet"])
def test_of_broken_runs_alone_no_file_is_made_and_the_reason_is_said(
    to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = desk.careful(77).ledger().splitlines(keepends=True)
    (tmp_path / "l.jsonl").write_bytes(b"".join(lines[:2] + lines[3:]))
    assert main(["export", str(tmp_path / "l.jsonl"), "--to", to, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert "nothing could be written: " in said.err
    assert said.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["l.jsonl"]


def test_runs_are_exported_without_plan_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "l.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in talking().lines))
    assert main(["export", str(path), "--to", "csv"]) == 0
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    labels = {row["name"]: row["label"] for row in rows}
    assert (labels["success"], labels["completion"]) == ("fail", "unscored")
    assert main(["export", str(path), "--to", "parquet", "-o", str(tmp_path / "t")]) == 0
