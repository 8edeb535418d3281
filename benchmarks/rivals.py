"""The same runs in pandas, DuckDB and polars: what they cost, as a multiple of the floor of `corpus.py`.

Each reads the same lines and computes, in its own idiom: per run the share of the six sub-goals completed;
per path not taken the score of its history as of the run's start, minus the run's own. None of them verifies
a chain or a line, or has intervals, support, reasons, rankings or objects; Untaken is measured with all of
that. Their figures must agree with Untaken's, or the script stops.

What is not installed is left out, and said. `benchmarks/rivals.json` keeps the result, and
`docs/performance.md` its table.

    python benchmarks/rivals.py [runs] [rounds]
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from math import fsum, isclose
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from corpus import HERE, PAGE, a_ledger, whole_of
from scoring import GRAPH, cpu, floor

from untaken.analysis.corpus import evaluate_corpus
from untaken.errors import Unscored
from untaken.ledger import read_ledger
from untaken.plans import GraphSet, parse_graph

TABLE = "<!-- benchmarks/rivals.py writes from here -->", "<!-- to here, rivals -->"
SUB_GOALS = 6
"""Required ones: the two options of a group count through it."""


class Answer(NamedTuple):
    """What all must agree on: mean completion, paths with a history, the sum of their deltas."""

    completion: float
    known: int
    deltas: float


def with_pandas(path: Path) -> Answer:
    """Joins, groups and cumulative sums over data frames."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    events = pd.read_json(path, lines=True, engine="pyarrow", dtype_backend="pyarrow")
    calls, ends = events[events.type == "TOOL_CALL"], events[events.type == "RUN_FINISHED"]
    runs = ends.set_index("run_id")[["success", "cost", "steps"]].astype("float64").sort_index()

    def called(some: pd.DataFrame) -> pd.Series:
        return runs.index.isin(some.run_id)

    orders = calls[calls.tool == "search_orders"]
    answered = orders.merge(
        events[events.type == "OBSERVATION"][["run_id", "call_id", "ok"]], on=["run_id", "call_id"]
    )
    seven = answered.arguments.struct.field("order") == 7
    states = events[events.type == "STATE"]

    def stated(field: str) -> pd.Series:
        return called(states[states.state.struct.field(field).notna()])

    done = (
        (called(calls[calls.tool == "read_ticket"]) & stated("intent")).astype(int)
        + called(answered[seven & answered.ok_y.astype(bool)])
        + (called(calls[calls.tool == "read_policy"]) & stated("policy_read"))
        + (called(calls[calls.tool == "decide"]) & stated("decision"))
        + (called(calls[calls.tool == "issue_refund"]) & stated("refunded"))
        + (called(calls[calls.tool == "send_mail"]) & (runs.success == 1))
    )
    spans = runs[["cost", "steps"]].agg(["cummin", "cummax"]).shift(1)
    place = {name: (spans[name, "cummin"], spans[name, "cummax"]) for name in ("cost", "steps")}

    def score(success: Any, cost: Any, steps: Any, rows: pd.Index) -> Any:
        def norm(value: Any, name: str) -> Any:
            low, high = (side.reindex(rows).to_numpy() for side in place[name])
            return np.where(high > low, (value - low) / np.where(high > low, high - low, 1), 0).clip(0, 1)

        return 0.5 * success + 0.3 * (1 - norm(cost, "cost")) + 0.2 * (1 - norm(steps, "steps"))

    actual = score(runs.success.to_numpy(), runs.cost.to_numpy(), runs.steps.to_numpy(), runs.index)
    picked = events.loc[
        events.type == "SKILL_SELECTION", ["run_id", "seq", "selected", "alternatives", "context_hash"]
    ]
    outcomes = picked.join(runs, on="run_id").sort_values(["run_id", "seq"])
    by = outcomes.groupby(["selected", "context_hash"])
    history = by[["success", "cost", "steps"]].cumsum().assign(n=by.cumcount() + 1)
    history[["selected", "context_hash", "run_id"]] = outcomes[["selected", "context_hash", "run_id"]]
    number = pd.Series(range(len(runs)), index=runs.index)
    history["at"] = history.run_id.map(number).astype("int64")
    paths = picked.explode("alternatives")
    paths = paths[paths.alternatives != paths.selected].assign(
        at=lambda t: t.run_id.map(number).astype("int64")
    )
    found = pd.merge_asof(
        paths.sort_values("at"), history.drop(columns="run_id").sort_values("at", kind="stable"), on="at",
        left_by=["alternatives", "context_hash"], right_by=["selected", "context_hash"],
        allow_exact_matches=False,
    ).dropna(subset="n")  # fmt: skip
    mean = found[["success", "cost", "steps"]].div(found.n, axis=0)
    index = pd.Index(found.run_id)
    delta = score(mean.success.to_numpy(), mean.cost.to_numpy(), mean.steps.to_numpy(), index)
    delta = delta - pd.Series(actual, index=runs.index).reindex(index).to_numpy()
    return Answer(float(done.mean()) / SUB_GOALS, len(found), float(delta.sum()))


SQL = """
CREATE MACRO norm(value, low, high) AS
  CASE WHEN high > low THEN least(1, greatest(0, (value - low) / (high - low))) ELSE 0 END;
CREATE TABLE ev AS SELECT * FROM read_json('{path}', format='newline_delimited', columns={{
  run_id:'VARCHAR', seq:'INTEGER', type:'VARCHAR', tool:'VARCHAR', call_id:'VARCHAR',
  arguments:'STRUCT("order" INTEGER)', ok:'BOOLEAN',
  state:'STRUCT(intent VARCHAR, policy_read BOOLEAN, decision VARCHAR, refunded BOOLEAN)',
  selected:'VARCHAR', alternatives:'VARCHAR[]', context_hash:'VARCHAR',
  success:'BOOLEAN', cost:'DOUBLE', steps:'INTEGER'}});
CREATE TABLE runs AS SELECT run_id, row_number() OVER (ORDER BY run_id) AS num, success::INT::DOUBLE AS x,
  cost AS c, steps::DOUBLE AS s FROM ev WHERE type = 'RUN_FINISHED';
CREATE TABLE facts AS SELECT run_id,
  (bool_or(tool = 'read_ticket') AND count(state.intent) > 0)::INT
  + (bool_or(tool = 'read_policy') AND count(state.policy_read) > 0)::INT
  + (bool_or(tool = 'decide') AND count(state.decision) > 0)::INT
  + (bool_or(tool = 'issue_refund') AND count(state.refunded) > 0)::INT
  + (bool_or(tool = 'send_mail') AND bool_or(success))::INT AS done FROM ev GROUP BY run_id;
CREATE TABLE ordered AS SELECT DISTINCT a.run_id FROM ev a JOIN ev o ON o.run_id = a.run_id
  AND o.call_id = a.call_id AND o.type = 'OBSERVATION' AND o.ok
  WHERE a.tool = 'search_orders' AND a.arguments."order" = 7;
CREATE TABLE spans AS SELECT *, min(c) OVER w AS c0, max(c) OVER w AS c1,
  min(s) OVER w AS s0, max(s) OVER w AS s1
  FROM runs WINDOW w AS (ORDER BY num ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
CREATE TABLE picked AS SELECT ev.run_id, seq, selected, alternatives, context_hash, num, x, c, s
  FROM (SELECT run_id, seq, selected, alternatives, context_hash FROM ev WHERE type = 'SKILL_SELECTION') ev
  JOIN runs USING (run_id);
CREATE TABLE hist AS SELECT skill, context_hash, num, max(n) AS n, arg_max(x, n) AS x, arg_max(c, n) AS c,
  arg_max(s, n) AS s FROM (SELECT selected AS skill, context_hash, num, count(*) OVER w AS n,
  sum(x) OVER w AS x,
  sum(c) OVER w AS c, sum(s) OVER w AS s FROM picked WINDOW w AS (PARTITION BY selected, context_hash
  ORDER BY num, seq ROWS UNBOUNDED PRECEDING)) GROUP BY ALL;
CREATE TABLE paths AS SELECT * FROM (SELECT run_id, num - 1 AS before, selected, context_hash,
  unnest(alternatives) AS skill FROM picked) WHERE skill <> selected;
"""
DELTAS = """
SELECT count(*), sum(0.5*(h.x/h.n - r.x) - 0.3*(norm(h.c/h.n, r.c0, r.c1) - norm(r.c, r.c0, r.c1))
  - 0.2*(norm(h.s/h.n, r.s0, r.s1) - norm(r.s, r.s0, r.s1)))
FROM paths p ASOF JOIN hist h ON p.skill = h.skill AND p.context_hash = h.context_hash AND p.before >= h.num
JOIN spans r USING (run_id)
"""


def with_duckdb(path: Path) -> Answer:
    """SQL with window functions and an as-of join."""
    duckdb = import_module("duckdb")
    base = duckdb.connect()
    base.execute(SQL.format(path=path))
    done = base.execute("SELECT avg(done) FROM facts").fetchone()[0]
    ordered = base.execute("SELECT count(*) / (SELECT count(*) FROM runs) FROM ordered").fetchone()[0]
    known, deltas = base.execute(DELTAS).fetchone()
    base.close()
    return Answer((done + ordered) / SUB_GOALS, known, deltas)


def with_polars(path: Path) -> Answer:
    """Lazy expressions, and an as-of join."""
    pl = import_module("polars")
    col = pl.col
    texts = ("run_id", "type", "tool", "call_id", "selected", "context_hash")
    schema = dict.fromkeys(texts, pl.String) | {
        "seq": pl.Int64, "ok": pl.Boolean, "alternatives": pl.List(pl.String), "success": pl.Boolean,
        "cost": pl.Float64, "steps": pl.Float64, "arguments": pl.Struct({"order": pl.Int64}),
        "state": pl.Struct(
            {"intent": pl.String, "policy_read": pl.Boolean, "decision": pl.String, "refunded": pl.Boolean}
        ),
    }  # fmt: skip
    events = pl.read_ndjson(path, schema=schema, ignore_errors=True)
    runs = events.filter(col("type") == "RUN_FINISHED").select(
        "run_id", col("success").cast(pl.Float64).alias("x"), col("cost").alias("c"), col("steps").alias("s")
    ).sort("run_id").with_row_index("num").with_columns(col("num").cast(pl.Int64))  # fmt: skip
    runs = runs.with_columns(
        *(col(k).cum_min().shift(1).alias(f"{k}0") for k in "cs"),
        *(col(k).cum_max().shift(1).alias(f"{k}1") for k in "cs"),
    )

    def both(tool: str, field: str) -> Any:
        return ((col("tool") == tool).any() & col("state").struct.field(field).is_not_null().any()).cast(
            pl.Int64
        )

    done = events.group_by("run_id").agg(
        both("read_ticket", "intent") + both("read_policy", "policy_read") + both("decide", "decision")
        + both("issue_refund", "refunded")
        + ((col("tool") == "send_mail").any() & col("success").any()).cast(pl.Int64)
    )["tool"].mean()  # fmt: skip
    answers = events.filter((col("type") == "OBSERVATION") & col("ok")).select("run_id", "call_id")
    wanted = (col("tool") == "search_orders") & (col("arguments").struct.field("order") == 7)
    ordered = events.filter(wanted).join(answers, on=["run_id", "call_id"])["run_id"].n_unique()
    picked = (
        events.filter(col("type") == "SKILL_SELECTION")
        .select("run_id", "seq", "selected", "alternatives", "context_hash")
        .join(runs, on="run_id")
        .sort("num", "seq")
    )
    place = ["selected", "context_hash"]
    history = picked.select(
        *place, "num", *(col(k).cum_sum().over(place).alias(f"h{k}") for k in "xcs"),
        pl.int_range(1, pl.len() + 1).over(place).alias("n"),
    ).sort("num", maintain_order=True)  # fmt: skip
    paths = picked.explode("alternatives").filter(col("alternatives") != col("selected")).drop("selected")
    found = (
        paths.rename({"alternatives": "selected"})
        .sort("num")
        .join_asof(history, on="num", by=place, allow_exact_matches=False, check_sortedness=False)
        .drop_nulls("n")
    )

    def norm(value: Any, k: str) -> Any:
        span = col(f"{k}1") - col(f"{k}0")
        return pl.when(span > 0).then(((value - col(f"{k}0")) / span).clip(0, 1)).otherwise(0.0)

    delta = 0.5 * (col("hx") / col("n") - col("x"))
    for k, weight in (("c", 0.3), ("s", 0.2)):
        delta = delta - weight * (norm(col(f"h{k}") / col("n"), k) - norm(col(k), k))
    total = found.select(delta.sum()).item()
    return Answer((done + ordered / runs.height) / SUB_GOALS, found.height, total)


RIVALS: dict[str, Callable[[Path], Answer]] = {
    "pandas": with_pandas,
    "duckdb": with_duckdb,
    "polars": with_polars,
}


def measure(runs: int, rounds: int) -> None:
    """Print the table, and write it."""
    lines, heads = a_ledger(runs)
    data = b"".join(line + b"\n" for line in lines)
    text = GRAPH.replace(b"id: refund\n", b'id: refund\ntasks: ["*"]\n', 1)
    graphs = GraphSet.of([parse_graph(text, name="bench", format="yaml")])
    missing = [name for name in RIVALS if find_spec(name) is None]
    for name in missing:
        print(f"{name} is not installed: left out")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_bytes(data)
        ours = evaluate_corpus(read_ledger(BytesIO(data), heads=heads), graphs)
        deltas = [
            branch.delta for e in ours.evaluations.values() for d in e.decisions for branch in d.branches
        ]
        known = [delta for delta in deltas if not isinstance(delta, Unscored)]
        completion = fsum(s.completion for s in ours.scores.values() if not isinstance(s, Unscored)) / runs
        expected = Answer(completion, len(known), fsum(known))
        del ours, deltas, known
        work: dict[str, Callable[[], object]] = {
            "untaken": lambda: whole_of(evaluate_corpus(read_ledger(BytesIO(data), heads=heads), graphs))
        }
        for name, compute in RIVALS.items():
            if name not in missing:
                check(name, compute(path), expected)
                work[name] = lambda compute=compute: compute(path)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
        for _ in range(rounds):
            for name, one in work.items():
                base = cpu(lambda: floor(lines))
                taken[name].append((cpu(one), base))
                gc.collect()
    ratios = {name: median(a / b for a, b in pairs) for name, pairs in taken.items()}
    for name, ratio in ratios.items():
        print(f"{name:10} {ratio:6.2f} × floor")
    versions = {name: version(name) for name in ratios if name != "untaken"}
    found = {"runs": runs, "rounds": rounds, "versions": versions, "ratio_to_floor": ratios}
    (HERE / "rivals.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if versions:
        write_page(found)


def check(name: str, got: Answer, expected: Answer) -> None:
    """Stop where a rival computes something else: then it is no comparison."""
    if not all(isclose(a, b, rel_tol=1e-9) for a, b in zip(got, expected, strict=True)):
        raise SystemExit(f"{name} computes something else: {got}, not {expected}")


def write_page(found: dict[str, Any]) -> None:
    """The table of `docs/performance.md`."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE[0])
    after = rest.partition(TABLE[1])[2]
    names = {"untaken": "Untaken, everything"} | {n: f"{n} {v}" for n, v in found["versions"].items()}
    rows = [f"| {names[name]} | {ratio:.2f} |" for name, ratio in found["ratio_to_floor"].items()]
    table = ["", f"{found['runs']:,} runs.", "", "| | × floor |", "|---|---|", *rows, ""]
    PAGE.write_text(before + TABLE[0] + "\n".join(table) + "\n" + TABLE[1] + after, encoding="utf-8")


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
