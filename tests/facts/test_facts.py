"""Facts are what scoring says of each run, in tables that keep their types and refuse what is not theirs."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from random import Random
from shutil import rmtree
from threading import Thread

import desk
import msgspec
import pandas as pd
import pytest
from builders import RunBuilder, a_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from untaken import facts
from untaken.analysis.corpus import evaluate_corpus
from untaken.errors import Finding, Unscored, UntakenError, Where
from untaken.facts import FACTS_VERSION, TABLES, Facts, RunWithScore, facts_of
from untaken.facts.opened import read_manifest
from untaken.facts.parts import MANIFEST, FactWriter, replacing_folder, writing_database
from untaken.facts.tables import SHARED
from untaken.ledger import GENESIS, Run, RunFinished, RunStarted, SkillSelection, Verdict, read_ledger
from untaken.ledger.run import Head, Integrity
from untaken.plans import GraphSet, parse_graph
from untaken.scoring import NodeResult, score_run
from untaken.scoring.run_score import Tally
from untaken.workspace import Workspace

STEPS = st.lists(
    st.sampled_from(
        ["search", "search refused", "read", "state", "pay", "met", "not met", "who knows", "plan"]
    ),
    max_size=10,
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
GOLDEN = {1: "f56d9f628cda3d68", 6: "1bfdb35db6229ef1", 7: "1bfdb35db6229ef1"} | dict.fromkeys(
    (2, 3, 4, 5), "b60164187bffdbf1"
)
"""By `FACTS_VERSION`, a digest of the facts of some runs: who changes facts, changes the version."""


def made_of(
    *runs: RunBuilder, graphs: GraphSet | None = None, verdicts: tuple[str, ...] = ()
) -> list[RunWithScore]:
    found = graphs or desk.graphs()
    some = []
    for built in runs:
        run = built.run()
        plan, _ = found.for_task(run.task_id)
        score = plan if isinstance(plan, Unscored) else score_run(run, plan, verdicts=verdicts)
        some.append(RunWithScore(run=run, score=score, plan=plan, verdicts=verdicts))
    return some


def written(folder: Path, some: list[RunWithScore], findings: tuple[Finding, ...] = ()) -> Facts:
    folder.mkdir()
    with writing_database() as database:
        writer = FactWriter(folder, database)
        for rows in facts_of(some):
            writer.take(rows)
        writer.finish(findings, missing="fail", verdicts=())
    return Facts(folder, read_manifest(folder))


def a_desk_run(steps: list[str], success: bool | None) -> RunBuilder:
    run = a_run("r", task="refund-1")
    for step in steps:
        tool, _, refused = step.partition(" ")
        if step in ("search", "search refused", "read", "pay"):
            run.call(tool, ok=not refused)
        elif step == "state":
            run.state(read=True)
        elif step == "plan":
            run.plan("order", "policy")
        else:
            run.verdict("polite", {"met": True, "not met": False}.get(step))
    return run.finish(success)


def column(made: dict[str, list[list[object]]], table: str, name: str) -> list[object]:
    own = [key for key in TABLES[table].columns if key not in SHARED[table]]
    return made[table][own.index(name)] if table in made else []


@given(STEPS, st.sampled_from([True, False, None]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_rows_are_what_scoring_says_and_tally_to_its_figures_under_both_rules(
    steps: list[str], success: bool | None
) -> None:
    [one] = made_of(a_desk_run(steps, success))
    [made], score = facts_of([one]), one.score
    assert not isinstance(score, Unscored)
    names = ("sub_goal", "title", "status", "attempted", "completed", "critical", "weight")
    rows = list(zip(*(column(made, "results", name) for name in names), strict=True))
    assert rows == [tuple(getattr(node, name) for name in names) for node in score.results]
    assert column(made, "runs", "success") == [success]
    counts, status = column(made, "results", "counts"), column(made, "results", "status")
    for rule in ("fail", "drop"):
        counted = [c and (rule == "fail" or s != "unscored") for c, s in zip(counts, status, strict=True)]
        critical = column(made, "results", "critical_counts")
        tally = Tally.of(score.results, rule)  # type: ignore[arg-type]
        done = column(made, "results", "completed")
        assert sum(counted) == tally.required
        assert sum(bool(c and d) for c, d in zip(counted, done, strict=True)) == tally.completed
        assert sum(bool(c and k) for c, k in zip(counted, critical, strict=True)) == tally.critical
    assert len(column(made, "violations", "message")) == len(score.violations)
    assert len(column(made, "actions", "seq")) == len(one.run.actions)
    assert len(column(made, "verdicts", "seq")) == len(one.run.of(Verdict))


def test_the_same_runs_in_any_order_give_the_same_rows(tmp_path: Path) -> None:
    some = made_of(*desk.builders())
    shuffled = Random(1).sample(some, len(some))
    one, other = written(tmp_path / "a", some), written(tmp_path / "b", shuffled)
    for name, table in TABLES.items():
        order = ", ".join(table.key) or "ALL"
        assert one.rows(f"FROM {name} ORDER BY {order}") == other.rows(f"FROM {name} ORDER BY {order}")
        if table.key:
            [(rows, keys)] = one.rows(f"SELECT count(*), count(DISTINCT ({order})) FROM {name}")
            assert rows == keys, f"{table.key} is no key of {name}"


HOSTILE = [
    "",
    "a\x00b",
    "\u202egnp.exe",
    "=1+1",
    "'; DROP TABLE runs; --",
    "</script>",
    "\ufffe",
    '["x"]',
    "{}",
]


def test_hostile_values_come_back_as_they_were(tmp_path: Path) -> None:
    clock = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    some = [
        a_run(text or "x", agent=text or "x", task="refund-1", task_repeat=2**63 - 1)
        .call(text or "x", ok=False, argument=text)
        .select(text or "x", "x", text or "x", context=text or "x")
        .verdict("polite", True, reason=text)
        .finish(
            False,
            cost=5e-324 if text else -0.0,
            error=text,
            metrics={"total_tokens": 2.0**63 if text else 2.0**63 - 1024},
        )
        for text in HOSTILE
    ]
    some[0].events[0] = msgspec.structs.replace(some[0].events[0], ts=clock)
    found = Finding(code="x", message="a\x00b", where=Where(file="bad-\udcff.jsonl"))
    read = written(tmp_path / "f", made_of(*some), (found,))
    runs, points = read.table("runs"), read.table("points")
    assert list(runs["error"]) == HOSTILE
    assert list(runs["agent"]) == [text or "x" for text in HOSTILE]
    assert list(runs["task_repeat"]) == [2**63 - 1] * len(HOSTILE)
    assert [repr(float(cost)) for cost in runs["cost"]] == ["-0.0"] + ["5e-324"] * (len(HOSTILE) - 1)
    assert list(runs["total_tokens"].dropna()) == [2**63 - 1024], "no table holds more"
    assert pd.isna(runs["started"][0]), "no instant before the year 1"
    assert runs["started_offset"][0] == 14 * 60
    assert [list(names) for names in points["alternatives"]] == [["x", text or "x"] for text in HOSTILE]
    assert list(read.table("verdicts")["reason"]) == HOSTILE
    assert list(read.table("findings")["file"]) == ["bad-\\udcff.jsonl"]


def test_a_table_without_rows_has_its_columns_with_their_types(tmp_path: Path) -> None:
    read = written(tmp_path / "f", [])
    for name, table in TABLES.items():
        empty = read.table(name)
        assert {key: str(dtype) for key, dtype in empty.dtypes.items()} == {
            key: one.dtype for key, one in table.columns.items()
        }
        assert not len(empty)


def test_other_programs_read_the_parts_with_their_types(tmp_path: Path) -> None:
    read = written(tmp_path / "f", made_of(desk.careful(1), a_run("u", task="refund-2")))
    part = pd.read_parquet(tmp_path / "f" / "runs" / "00000.parquet")
    own = read.table("runs")
    for moment in ("started", "finished"):
        own[moment] = own[moment].dt.tz_localize(None)
    pd.testing.assert_frame_equal(part, own)
    assert part["success"].tolist() == [True, pd.NA]


def test_what_is_unscored_is_missing_with_its_reason_and_never_a_number(tmp_path: Path) -> None:
    runs = written(tmp_path / "f", made_of(desk.stray())).table("runs")
    assert runs["completion"].isna().all()
    assert runs["score_reason"].notna().all()
    figures = [name for name in runs if f"{name}_reason" in runs and name != "diagnosis"]
    assert len(figures) > 5


REFUSED = [
    "COPY runs TO 'x.parquet'",
    "CREATE TABLE t (a INT)",
    "DROP VIEW runs",
    "SELECT 1; SELECT 2",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM read_csv('../secret.csv')",
    "SELECT * FROM some_variable",
    "SET threads = 9",
    "INSTALL httpfs",
    "ATTACH 'other.db'",
    "",
    "SELECT",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_question_reads_the_tables_and_nothing_else(text: str, tmp_path: Path) -> None:
    some_variable = pd.DataFrame({"a": [1]})
    read = written(tmp_path / "f", made_of(desk.careful(1)))
    with pytest.raises(UntakenError) as refused:
        read.sql(text)
    assert refused.value.code == "facts-query"
    assert len(some_variable) == 1


def test_threads_can_ask_at_the_same_time(tmp_path: Path) -> None:
    read = written(tmp_path / "f", made_of(*desk.builders()))
    wrong: list[object] = []

    def ask(number: int) -> None:
        for _ in range(20):
            got = read.rows("SELECT count(*) + ? FROM results", [number])
            if got != [(48 + number,)]:
                wrong.append(got)

    threads = [Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("what", ["cut", "gone", "outside", "of another version", "no manifest", "not JSON"])
def test_a_folder_that_is_not_as_it_was_written_is_refused_by_name(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "f"
    written(folder, made_of(desk.careful(1))).close()
    manifest, part = folder / MANIFEST, folder / "runs" / "00000.parquet"
    says = json.loads(manifest.read_bytes())
    if what == "cut":
        part.write_bytes(part.read_bytes()[:-9])
    elif what == "gone":
        part.unlink()
    elif what == "outside":
        (tmp_path / "other.parquet").write_bytes(part.read_bytes())
        says["parts"]["runs"] = ["runs/../../other.parquet"]
        manifest.write_text(json.dumps(says))
    elif what == "of another version":
        manifest.write_text(json.dumps(says | {"version": FACTS_VERSION + 1}))
    elif what == "no manifest":
        manifest.unlink()
    else:
        manifest.write_bytes(b"{")
    with pytest.raises(UntakenError) as refused:
        facts.open(folder)
    assert refused.value.code == ("facts-version" if what == "of another version" else "facts-not-found")


def test_the_facts_of_a_workspace_are_those_of_its_ledgers(tmp_path: Path) -> None:
    folder = desk.write_folder(tmp_path / "in")
    workspace = Workspace.open_folder(folder, at=tmp_path / "w")
    workspace.close()
    with facts.open(tmp_path / "w") as read:
        [(runs, scored)] = read.rows("SELECT count(*), count(completion) FROM runs")
        assert (runs, scored) == (13, 12)
        agents = dict(read.rows("SELECT agent, count(*) FROM runs GROUP BY agent"))
    assert agents == Counter(built.events[0].agent for built in desk.builders())  # type: ignore[union-attr]
    with pytest.raises(UntakenError) as unknown:
        facts.open(tmp_path)
    assert unknown.value.code == "facts-not-found"


def test_who_changes_facts_changes_their_version(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(b"".join(built.ledger() for built in desk.builders()))
    read = written(tmp_path / "f", made_of(*desk.builders()))
    assert len(read_ledger(file)) == len(read.table("runs"))
    content = [
        (name, [(key, one.dtype) for key, one in table.columns.items()], read.rows(f"FROM {name}"))
        for name, table in TABLES.items()
    ]
    assert GOLDEN[FACTS_VERSION] == sha256(repr(content).encode()).hexdigest()[:16]


def rebuilt(read: Facts) -> list[Run]:
    """The runs as far as their decisions and outcomes go, from two tables."""
    points: dict[str, list[SkillSelection]] = {}
    names = "digest, run_id, seq, selected, alternatives, context_hash, layers"
    for digest, run_id, seq, selected, alternatives, context, layers in read.rows(
        f"SELECT {names} FROM points ORDER BY digest, seq"
    ):
        points.setdefault(digest, []).append(
            SkillSelection(
                run_id=run_id,
                seq=seq,
                ts=NOON,
                prev=GENESIS,
                selected=selected,
                alternatives=alternatives,
                context_hash=context,
                context_layers=tuple(layers) if len(layers) > 1 else None,
            )
        )
    runs = []
    names = (
        "digest, run_id, agent, task_id, task_repeat, model, started, finished, success, cost, steps, events"
    )
    for digest, run_id, agent, task, repeat, model, began, ended, success, cost, steps, events in read.rows(
        f"SELECT {names} FROM runs"
    ):
        start = RunStarted(
            run_id=run_id,
            seq=0,
            ts=began.replace(tzinfo=UTC),
            prev=GENESIS,
            agent=agent,
            task_id=task,
            task_repeat=repeat,
            model=model,
        )
        end = RunFinished(
            run_id=run_id,
            seq=events - 1,
            ts=ended.replace(tzinfo=UTC),
            prev=GENESIS,
            success=success,
            cost=cost,
            steps=steps,
        )
        integrity = Integrity(
            run_id=run_id, verdict="INTACT", reason="", head=Head(events=events, sha256=digest)
        )
        runs.append(Run(events=(start, *points.get(digest, ()), end), integrity=integrity))
    return runs


def hour_by_hour() -> list[RunBuilder]:
    """Runs that choose differently and do not succeed equally, each after the one before; one is refused."""
    random = Random(2)
    runs = []
    for number in range(24):
        run = a_run(f"run-{number}", agent="one", task=f"refund-{number % 3}")
        for context in ("c1", "c2"):
            run.select(random.choice(["a", "b"]), "a", "b", context=context).call("search", ok=True)
        run.finish(random.random() < 0.5, cost=random.choice([None, 0.1, 1 / 3]), steps=random.randint(1, 9))
        later = timedelta(hours=number)
        run.events = [msgspec.structs.replace(event, ts=event.ts + later) for event in run.events]
        runs.append(run)
    return [*runs, a_run("short", agent="one", task="refund-1").select("a", "b").finish(True)]


def test_decisions_evaluated_from_tables_are_those_of_the_ledgers(tmp_path: Path) -> None:
    """What runs say of each other can be worked out without them."""
    some = hour_by_hour()
    whole = evaluate_corpus([built.run() for built in some], [], resamples=0)
    again = evaluate_corpus(rebuilt(written(tmp_path / "f", made_of(*some))), [], resamples=0)
    assert list(again.runs) == list(whole.runs)
    assert again.memory.snapshot().digest == whole.memory.snapshot().digest
    insights = [
        [(one.insights, one.signals, one.actual_score, one.decisions) for one in corpus.evaluations.values()]
        for corpus in (again, whole)
    ]
    assert insights[0] == insights[1]
    assert sum(len(found) for found, *_ in insights[0]) > 5


def test_a_failure_says_where_how_and_by_what_its_calls_say(tmp_path: Path) -> None:
    graph = desk.GRAPH.replace(b"{name: search}}", b"{name: search, arguments: {order: 18}}}", 1)
    graphs = GraphSet.of([parse_graph(graph, name="desk.plan.yaml")])
    wrong = a_run("wrong", task="refund-1").say("Order 18, please.", "user").call("search", ok=True, order=17)
    refused = (
        a_run("refused", task="refund-1")
        .call("search", ok=True, order=18)
        .call("pay")
        .observe("Error: order 18 is closed", ok=False, call_id="c2")
    )
    won = a_run("won", task="refund-1").call("search", ok=True, order=17).finish(True)
    some = made_of(wrong.finish(False), refused.finish(False), won, graphs=graphs)
    read = written(tmp_path / "f", some).table("failures")
    assert set(read["run_id"]) == {"wrong", "refused"}, "runs that succeeded have no failures"
    first = read[read["run_id"] == "wrong"].set_index("sub_goal").loc["order"]
    assert (first["order"], first["way"], first["cause"], first["tool"]) == (
        1,
        "attempted",
        "argument",
        "search",
    )
    assert (list(first["arguments"]), list(first["values"])) == (["order"], ["17"])
    assert (list(first["unused"]), list(first["unused_knowledge"])) == (["order"], ["shown"])
    assert (list(first["unused_shown_at"]), list(first["used_shown_at"])) == (["1"], [""])
    paid = read[read["run_id"] == "refused"].set_index("sub_goal").loc["refund"]
    assert (paid["cause"], paid["error"]) == ("tool_error", "order … is closed")
    never = read[read["run_id"] == "refused"].set_index("sub_goal").loc["policy"]
    assert (never["way"], never["place"]) == ("never attempted", 2.5)
    assert pd.isna(never["cause"])


def test_a_result_row_has_every_field_of_a_result() -> None:
    known = {"counts", "holds", "left_out"}  # in `counts`, or of a plan and not of a run
    assert set(NodeResult.__struct_fields__) - known <= set(TABLES["results"].columns)


def test_facts_stay_where_new_ones_cannot_take_their_place(tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    (folder / MANIFEST).write_text("{}")
    with pytest.raises(FileNotFoundError), replacing_folder(folder) as fresh:
        rmtree(fresh)
    assert (folder / MANIFEST).read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["facts"]
