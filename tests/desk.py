"""A small world for tests of everything above the engine rooms: one graph, and every kind of run."""

from __future__ import annotations

from pathlib import Path

import msgspec
from builders import RunBuilder, a_run

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.ledger.run import Run
from untaken.plans import GraphSet, parse_graph
from untaken.workspace import Workspace

GRAPH = b"""schema: untaken.plan/1
id: desk
title: Refund desk
tasks: ["refund-*"]
sub_goals:
- id: order
  title: Look up order
  rules: [{tool: search}]
  check: {tool_call: {name: search}}
- id: policy
  title: Check policy
  deps: [order]
  critical: true
  rules: [{tool: read}]
  check: {expr: "state.read == true"}
- id: refund
  title: Refund
  deps: [policy]
  rules: [{tool: pay}]
  check: {tool_call: {name: pay}}
- id: polite
  title: Be polite
  check: {verdict: true}
"""


def graphs() -> GraphSet:
    """The desk's graph."""
    return GraphSet.of([parse_graph(GRAPH, name="desk.plan.yaml")])


def careful(n: int, *, task: str = "refund-1") -> RunBuilder:
    """Does everything, and succeeds."""
    run = a_run(f"careful-{n}", agent="careful", task=task, task_repeat=n, model="m1")
    run.plan("order", "policy", "refund")
    run.select("by_number", "by_mail", context="find").call("search", ok=True, order=17)
    run.select("read_policy", "guess", context="policy").call("read", ok=True).state(read=True)
    return run.call("pay", ok=True).verdict("polite", True).finish(True, cost=0.2)


def lucky(n: int, *, task: str = "refund-1") -> RunBuilder:
    """Skips the policy, and succeeds all the same."""
    run = a_run(f"lucky-{n}", agent="lucky", task=task, task_repeat=n)
    run.select("by_mail", "by_number", context="find").call("search", ok=True)
    run.select("guess", "read_policy", context="policy").call("pay", ok=True)
    return run.verdict("polite", False).finish(True, cost=0.1)


def failing(n: int, *, task: str = "refund-1") -> RunBuilder:
    """Fails at the first step; nobody judged its manners."""
    run = a_run(f"failing-{n}", agent="failing", task=task, task_repeat=n)
    run.select("by_mail", "by_number", context="find").call("search", ok=False)
    return run.select("guess", "read_policy", context="policy").finish(False, cost=0.4, error="no such order")


def stray() -> RunBuilder:
    """Works on a task that no graph speaks of."""
    return a_run("stray", agent="stray", task="other").call("dance").finish(True)


def builders() -> list[RunBuilder]:
    """Two tasks, two repeats, and the stray."""
    many = [
        make(n, task=f"refund-{task}")
        for make in (careful, lucky, failing)
        for task in (1, 2)
        for n in (task * 10, task * 10 + 1)
    ]
    return [*many, stray()]


def runs() -> list[Run]:
    """As a reader gives them, and one that is broken."""
    broken = lucky(99).run("ALTERED")
    return [*(builder.run() for builder in builders()), broken]


def corpus() -> Corpus:
    """All of them, evaluated."""
    return evaluate_corpus(runs(), graphs(), resamples=200)


def add_to(store: Workspace, *, graph: bytes | None = GRAPH) -> None:
    """All runs in one ledger, and the graph unless it is None."""
    if graph is not None:
        store.add("desk.plan.yaml", graph)
    store.add("runs.jsonl", b"".join(run.ledger() for run in builders()))


def write_folder(folder: Path) -> Path:
    """The runs as ledgers with heads, and the graph, on disk."""
    (folder / "ledgers").mkdir(parents=True)
    (folder / "graphs").mkdir()
    for built in builders():
        path = folder / "ledgers" / f"{built.run_id}.jsonl"
        path.write_bytes(built.ledger())
        path.with_name(path.name + ".heads.json").write_bytes(msgspec.json.encode({built.run_id: built.head}))
    (folder / "graphs" / "desk.plan.yaml").write_bytes(GRAPH)
    return folder


def with_faxes() -> list[RunBuilder]:
    """The desk's, and runs that asked by fax and mostly failed, or by number and mostly succeeded."""
    runs = builders()[:-1]
    for skill, wins in (("by_fax", 2), ("by_number", 18)):
        for n in range(20):
            run = a_run(f"{skill}-{n}", agent="lucky", task="refund-1", metadata={"seed": n})
            run.select(skill, *({"by_fax", "by_number"} - {skill}), context="ask")
            runs.append(run.select("stop", "go", context="end").finish(n < wins, cost=0.3, steps=2))
    return runs
