"""What facts cost and save, by turns in one process: CPU seconds, and what questions to them take.

    python benchmarks/facts.py [runs] [turns]            reading and scoring, with and without writing facts
    python benchmarks/facts.py --generated RUNS FOLDER   questions to generated facts of eight sub-goals a
                                                         run, and the ranking of their agents

The runs are those of `benchmarks/corpus.py`, in files of 250.
"""

from __future__ import annotations

import gc
import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import duckdb
import msgspec
from corpus import a_ledger
from workers import write

from untaken import facts
from untaken.analysis.corpus import evaluate_corpus, score_runs
from untaken.analysis.ranking import METRICS, rank_facts
from untaken.facts.opened import read_manifest
from untaken.facts.parts import MANIFEST
from untaken.facts.scaling.ledger_record import Scoring
from untaken.facts.scaling.places import find_ledgers
from untaken.facts.scaling.reading import read_ledgers
from untaken.plans import GraphSet, load_graphs
from untaken.views import runs_table, sub_goals_table

SUB_GOALS = 8
AGENTS, TASKS = 20, 500
PART_RUNS = 250_000
REASONS = ", ".join(
    f"NULL::VARCHAR AS {name}_reason" for name in (*METRICS, "score") if name != "success_rate"
)
QUESTIONS = {
    "agent × task sums": """SELECT agent, task_id, count(*), sum(completed::INT),
        sum((critical AND completed)::INT)
        FROM results WHERE counts GROUP BY ALL ORDER BY ALL""",
    "sub-goal rates": """SELECT sub_goal, status, count(*) FROM results GROUP BY ALL ORDER BY ALL""",
    "agents": """SELECT agent, count(*), sum(success::INT), sum(required), sum(completed)
        FROM runs GROUP BY agent ORDER BY agent""",
}


def seconds(work: object) -> float:
    """CPU seconds of one call."""
    gc.collect()
    gc.disable()
    began = process_time()
    work()  # type: ignore[operator]
    spent = process_time() - began
    gc.enable()
    return spent


def by_turns(runs: int, turns: int) -> None:
    """Prints the median of each, and of their ratio in each turn."""
    with TemporaryDirectory() as name:
        folder, out = Path(name) / "in", Path(name) / "facts"
        folder.mkdir()
        write(folder, runs)
        graphs = load_graphs(folder)
        scoring = Scoring(graphs=graphs)
        places, others = find_ledgers([folder])

        def today() -> None:
            score_runs(read_ledgers(places, others, scoring=scoring).every_run, graphs)

        def with_facts() -> None:
            facts.write_facts(out, places, others, scoring=scoring)

        today()
        with_facts()
        pairs = [(seconds(today), seconds(with_facts)) for _ in range(turns)]
        print(f"{runs:,} runs, median of {turns} turns, CPU seconds")
        print(f"read and score         {median(a for a, _ in pairs):8.2f}")
        print(f"read, score and write  {median(b for _, b in pairs):8.2f}")
        print(f"ratio                  {median(b / a for a, b in pairs):8.2f}")
        corpus = evaluate_corpus([folder], graphs, resamples=0)
        opened = facts.open(out)
        for table, held in (("runs", runs_table), ("results", sub_goals_table)):
            seconds(lambda table=table: opened.table(table))
            from_facts = median(seconds(lambda table=table: opened.table(table)) for _ in range(turns))
            from_runs = seconds(lambda held=held: held(corpus))
            print(f"table {table:8} from facts {from_facts:6.3f}   from runs held {from_runs:6.3f}")


def generated(runs: int, folder: Path) -> None:
    """Writes facts of random runs with DuckDB, asks, and prints wall and CPU seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    facts.write_facts(folder, [], [], scoring=Scoring(graphs=GraphSet.of([])))  # the tables, empty
    database = duckdb.connect(":memory:", config={"threads": "2", "memory_limit": "2GB"})
    for first in range(0, runs, PART_RUNS):
        last = min(runs, first + PART_RUNS)
        who = f"""'agent-' || (n % {AGENTS}) AS agent, 'task-' || (n // {AGENTS} % {TASKS}) AS task_id,
            md5(n::VARCHAR) || md5((n + 1)::VARCHAR) AS digest"""
        database.execute(f"""COPY (SELECT {who}, hash(n) % 10 < 6 AS success, NULL::VARCHAR AS success_reason,
            {SUB_GOALS} AS required, (hash(n * 3) % {SUB_GOALS + 1})::BIGINT AS completed,
            2 AS critical, least(completed, 2) AS critical_completed,
            greatest(completed, hash(n * 7) % {SUB_GOALS + 1}) / required AS coverage,
            completed / required AS completion, completion AS completion_weighted,
            critical_completed / critical AS critical_completion,
            completed AS completed_with_deps, completed AS completed_with_deps_all,
            {REASONS} FROM range({first}, {last}) t(n))
            TO '{folder}/runs/{first:09}.parquet' (FORMAT parquet, COMPRESSION zstd)""")
        database.execute(f"""COPY (SELECT {who}, 'goal-' || g AS sub_goal, true AS counts, g < 2 AS critical,
            1.0::DOUBLE AS weight, hash(n * 17 + g) % 10 < 7 AS completed,
            CASE WHEN hash(n * 17 + g) % 10 < 7 THEN 'completed' ELSE 'skipped' END AS status
            FROM range({first}, {last}) t(n), range({SUB_GOALS}) s(g))
            TO '{folder}/results/{first:09}.parquet' (FORMAT parquet, COMPRESSION zstd)""")
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"{runs:,} runs × {SUB_GOALS} sub-goals, {size / 1e9:.2f} GB")
    for table in ("runs", "results"):
        files = sorted(map(str, (folder / table).glob("*.parquet")))
        database.execute(f"CREATE VIEW {table} AS FROM read_parquet({files})")
    for name, text in QUESTIONS.items():
        began, cpu = perf_counter(), process_time()
        rows = len(database.execute(text).fetchall())
        print(
            f"{name:20} {rows:7,} rows {perf_counter() - began:7.2f} s wall {process_time() - cpu:7.2f} s CPU"
        )
    made = read_manifest(folder)
    parts = dict(made.parts)
    for table in ("runs", "results"):
        parts[table] = tuple(f"{table}/{first:09}.parquet" for first in range(0, runs, PART_RUNS))
    manifest = msgspec.structs.replace(made, runs=runs, parts=parts)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    with facts.open(folder) as opened:
        began, cpu = perf_counter(), process_time()
        report = rank_facts(opened)
        what = f"{len(report.metrics)} rankings of {AGENTS} agents over {len(report.shared_tasks)} tasks"
        print(
            f"{what}, 10,000 resamples {perf_counter() - began:7.2f} s wall {process_time() - cpu:7.2f} s CPU"
        )
    status = Path("/proc/self/status")
    peak = [line for line in status.read_text().splitlines() if "VmHWM" in line] if status.exists() else []
    print(*peak)


if __name__ == "__main__":
    assert a_ledger
    if sys.argv[1:2] == ["--generated"]:
        generated(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        by_turns(*(int(word) for word in sys.argv[1:] or ["5000", "5"]))
