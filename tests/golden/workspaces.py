"""The workspaces that visitors of pages look at, each in the folder `w` of its world."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import desk
from builders import RunBuilder, a_run
from histories import lines_of

from components.shared.demo import SAMPLES, open_demo
from untaken.analysis.failure_modes import (
    FailureMode,
    Taxonomy,
    assignment_draft,
    change_taxonomy,
    create_mode,
    note_draft,
    save_taxonomy,
)
from untaken.ledger import ModeAssignment, ReviewNote, SkillSelection, heads_path
from untaken.ledger.events import Evidence, Verdict
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

ANN, BOB = "human:ann", "human:bob"
JUDGED = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, rules: [{tool: look}], check: {verdict: true}}
- {id: pay, title: Pay back, critical: true, deps: [look], check: {verdict: true}}
"""


def holding(
    folder: Path, runs: Iterable[RunBuilder], graph: bytes | Mapping[str, Any] | None = desk.GRAPH
) -> None:
    """A workspace with these runs, one a file, and a plan graph."""
    with Workspace(folder / "w") as store:
        if isinstance(graph, bytes):
            store.add("desk.plan.yaml", graph)
        elif graph:
            store.add("desk.plan.json", json.dumps(graph).encode())
        for run in runs:
            store.add(f"{run.run_id}.jsonl", run.ledger())


def demo(folder: Path) -> None:
    """The workspace of ``untaken app --demo``."""
    open_demo(folder / "w").close()


def nothing(folder: Path) -> None:
    """An empty workspace."""
    holding(folder, [], None)


def team(folder: Path) -> None:
    """The desk's runs."""
    holding(folder, desk.builders())


def planless(folder: Path) -> None:
    """The desk's runs without their plan."""
    holding(folder, desk.builders(), None)


def days(folder: Path) -> None:
    """The desk's runs, day after day: later ones have something to learn from."""
    with Workspace(folder / "w") as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        lines = [line for day, run in enumerate(desk.builders()) for line in lines_of(run, day)]
        store.add("runs.jsonl", b"".join(lines))


def ranked(folder: Path) -> None:
    """The desk's agents without the stray one, and a diligent one that does all and fails."""
    runs = desk.builders()[:-1]
    for task in (1, 2):
        for n in (1, 2):
            about: dict[str, Any] = {"agent": "diligent", "task": f"refund-{task}", "task_repeat": n}
            run = a_run(f"diligent-refund-{task}-{n}", **about)
            run.call("search", ok=True).call("read", ok=True).state(read=True).call("pay", ok=True)
            runs.append(run.verdict("polite", True).finish(False))
    holding(folder, runs)


def kinds(folder: Path) -> None:
    """A workflow that reads and an agent that pays."""
    runs = [
        a_run(f"{kind}{n}", agent=kind, task=f"refund-{n}", kind=kind).call(tool).finish(True)
        for kind, tool in (("workflow", "read"), ("agent", "pay"))
        for n in range(4)
    ]
    holding(folder, runs)


def labelled(folder: Path) -> None:
    """Two agents on 16 tasks; the judge is wrong on every eighth, people labelled the first 12."""
    runs = []
    for agent, bar in (("x", 3), ("y", 6)):
        for i in range(16):
            met = i % 8 >= bar
            run = a_run(f"{agent}{i}", agent=agent, task=f"t{i}").finish(met)
            run.verdict("s", met != (i % 8 == 0), "judge:m")
            runs.append(run.verdict("s", met, ANN) if i < 12 else run)
    holding(folder, runs, None)


def history(folder: Path) -> None:
    """``bad`` fails in 8 runs, ``good`` succeeds in 8, in one readable context; ``new`` was never taken."""
    runs = []
    for n in range(8):
        for taken, left, success in (("bad", "good", False), ("good", "bad", True)):
            agent = "calm" if success and n > 3 else "eager"
            run = a_run(f"{taken}{n}", agent=agent, task="ferry", task_repeat=n, metadata={"seed": n})
            for others in ([left], [left, "new"]):
                where = {"context_hash": "7a3f", "context": {"step": "boarding"}}
                run.add(SkillSelection, selected=taken, alternatives=others, **where)
            runs.append(run.finish(success, cost=1.0 + n % 3, steps=3))
    holding(folder, runs, None)


def clerks(folder: Path, tasks: int = 5, mutates: bytes = b'mutates: ["write_*"]\n') -> None:
    """In each task, two trials refund and succeed, two make another change and fail."""
    graph = b'schema: untaken.plan/1\nid: desk\ntasks: ["ticket-*"]\n%ssub_goals:\n' % mutates
    runs = []
    for task in range(tasks):
        for trial in range(4):
            did = "write_refund" if trial % 2 else "write_other"
            about = {"task_repeat": trial, "metadata": {"seed": trial}}  # no run is a copy of another
            run = a_run(f"{task}-{trial}", agent="clerk", task=f"ticket-{task}", **about)
            runs.append(run.call(did).finish(did == "write_refund"))
    holding(folder, runs, graph + b"  - {id: refund, check: {tool_call: {name: write_refund}}}\n")


def few(folder: Path) -> None:
    """The same in one task."""
    clerks(folder, tasks=1)


def unmarked(folder: Path) -> None:
    """The same where the plan names no tool that changes something."""
    clerks(folder, mutates=b"")


def faxes(folder: Path) -> None:
    """Runs that asked by fax mostly failed, those by number mostly succeeded."""
    holding(folder, desk.with_faxes())


def judged(folder: Path) -> None:
    """Failing runs of two agents over two tasks, judged by a test as looked up and not paid."""
    runs = []
    for i in range(4):
        about: dict[str, Any] = {"metadata": {"shift": "night" if i else "day"}}
        run = a_run(f"r{i}", agent=f"agent {i % 2}", task=f"t{i // 2}", **about).call("look")
        runs.append(run.verdict("look", True, "test").verdict("pay", False, "judge:m").finish(False))
    holding(folder, runs, JUDGED)


def noted(folder: Path) -> None:
    """The same with two failure modes, and a run that has one of them and a note."""
    judged(folder)
    for name in ("Paid twice", "Lost the thread"):
        change_taxonomy(folder / "w", lambda known, name=name: create_mode(known, name, by=BOB)[0])
    with Workspace(folder / "w") as store:
        run = next(run for run in store.read_runs()[0] if run.run_id == "r0")
        drafts = [note_draft("the order was paid twice", author=BOB), assignment_draft("paid-twice", by=BOB)]
        store.append_events(run, drafts)


def reviewers(folder: Path) -> None:
    """Four people on four runs: two differ once, and two always say the same."""
    told = {"ann": (1, 1, 0, 0), "bob": (1, 0, 0, 0), "cy": (1, 1, 1, 1), "dee": (1, 1, 1, 1)}
    runs = [a_run(f"r{i}", task=f"t{i}").call("look").finish(success=False) for i in range(4)]
    for i, run in enumerate(runs):
        for name, words in told.items():
            run.verdict("pay", bool(words[i]), f"human:{name}")
    holding(folder, runs, JUDGED)


def judges(folder: Path) -> None:
    """A judge that agrees with a person on three of four runs, without a plan."""
    runs = [a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", True, ANN) for i in range(4)]
    holding(folder, [run.verdict("s", i != 2, "judge:m") for i, run in enumerate(runs)], None)


def unreliable(folder: Path) -> None:
    """A judge that always says the contrary of a person, and one run that the judge alone has seen."""
    runs = [a_run(f"r{i}", agent="x", task=f"t{i}").finish() for i in range(12)]
    for i, run in enumerate(runs):
        if i:
            run.verdict("s", i % 2 == 0, ANN)
        run.verdict("s", i % 2 > 0, "judge:m")
    holding(
        folder,
        runs,
        b'schema: untaken.plan/1\nid: g\ntasks: ["*"]\nsub_goals: [{id: s, check: {verdict: true}}]\n',
    )


def failing(folder: Path, *, read: bool = True) -> None:
    """Two tasks, each with two failed runs (with a mode where `read`) and one success with a note."""
    runs = []
    for n in range(6):
        ok = n % 3 == 2
        run = a_run(f"r{n}", agent=f"agent {n % 2}", task=f"t{n // 3}", metadata={"version": f"1.{n // 3}"})
        run.call("look").observe(f"no order {n}", ok=False).finish(ok)
        if read and ok:
            run.add(ReviewNote, author=ANN, text="fine")
        elif read:
            run.add(ModeAssignment, mode="loop", by=ANN)
        runs.append(run)
    holding(folder, runs, None)
    save_taxonomy(
        Taxonomy(modes=[FailureMode(id="loop", name="<b>Loop</b>")]), folder / "w" / "failure_modes.yaml"
    )


def unread(folder: Path) -> None:
    """The same, before anybody has read a run."""
    failing(folder, read=False)


def benchmarks(folder: Path) -> None:
    """Agents of two benchmarks, in each of which runs failed; one run of each was read."""
    runs = [desk.careful(1), desk.lucky(1), desk.failing(1), desk.stray()]
    runs += [a_run(f"lost-{n}", agent="stray", task="other").finish(False) for n in (1, 2)]
    for run in runs:
        if run.run_id in ("lost-1", "failing-1"):
            run.add(ReviewNote, author=ANN, text="it went wrong")
    holding(folder, runs)


def tickets(folder: Path) -> None:
    """A run that does all, one that fails at once, a lucky one, and one with quotes of a judge."""
    goals = [
        {"id": "order", "title": "Look up order", "check": {"tool_call": {"name": "search"}}},
        {"id": "policy", "title": "Check the policy", "critical": True, "deps": ["order"],
         "check": {"tool_call": {"name": "read_policy"}}},
        {"id": "refund", "title": "Refund", "deps": ["policy"], "check": {"tool_call": {"name": "refund"}}},
    ]  # fmt: skip
    fine = a_run("fine", agent="careful", task="ticket-1").call("search").call("read_policy").call("refund")
    failed = a_run("failed", agent="lost", task="ticket-1").call("search", ok=False).finish(False)
    lucky = a_run("lucky", agent="eager", task="ticket-1").select("search", "ask").call("search")
    lucky.select("refund", "read_policy").call("refund").finish()
    quoted = a_run("quoted", agent="judged", task="ticket-1").plan("order").call("search", ok=False)
    quoted.observe("order 17 was found", call_id="c1").say("I looked.").finish(False)
    quotes = [Evidence(seq=4, quote="order 17 was found"), Evidence(seq=4, quote="order 18 was refunded")]
    quoted.add(Verdict, sub_goal="policy", passed=True, by="judge:m", evidence=quotes, reason="seen <b>")
    quoted.verdict("policy", False, ANN, reason="never read")
    blamed = a_run("blamed", agent="judged", task="elsewhere").say("I clicked.").finish(False)
    blamed.verdict("work of X", False, by=ANN, evidence=(1,), reason="the wrong link")
    graph = {"schema": "untaken.plan/1", "id": "desk", "title": "Desk", "tasks": ["ticket-*"]}
    holding(folder, [fine.finish(), failed, lucky, quoted, blamed], graph | {"sub_goals": goals})


def trips(folder: Path) -> None:
    """A run that used a value which it was never shown, and one that was shown it."""
    runs = []
    for name, currency, ok in (("good", "EUR", True), ("bad", "CHF", False)):
        run = a_run(name, task="trip").say("A flight to SEA, HAT201 is fine", "user")
        if ok:
            run.call("search", to="SEA").observe("HAT276 at nine", ok=True, call_id="c1")
        run.call("book", flight="HAT276" if ok else "HAT201", ok=True).call("pay", currency=currency)
        run.observe("done" if ok else "<b>window closed</b>", ok=ok, call_id="c3" if ok else "c2")
        runs.append(run.state(paid=ok).finish(ok))
    book = {"id": "book", "check": {"tool_call": {"name": "book", "arguments": {"flight": "HAT276"}}}}
    pay = {"id": "pay", "check": {"expr": "state.paid"}, "rules": [{"tool": "pay"}]}
    holding(
        folder, runs, {"schema": "untaken.plan/1", "id": "desk", "tasks": ["trip"], "sub_goals": [book, pay]}
    )


def misspelled(folder: Path) -> None:
    """A plan with a tool that no run calls."""
    check = {"tool_call": {"name": "serch_orders"}}
    graph = {"schema": "untaken.plan/1", "id": "refund", "tasks": ["task"]}
    runs = [a_run(f"r{n}").call("search_orders").finish() for n in range(5)]
    holding(folder, runs, graph | {"sub_goals": [{"id": "order", "check": check}]})


def deaf(folder: Path) -> None:
    """A run that never changed its failing plan, and one that did."""
    deaf = a_run("deaf", agent="deaf").plan("pay").call("pay", ok=False).finish(False)
    alert = a_run("alert", agent="alert").plan("pay").call("pay", ok=False).plan("ask", "pay").finish(False)
    check = {"tool_call": {"name": "pay", "arguments": {"amount": 3}}}
    graph = {
        "schema": "untaken.plan/1",
        "id": "g",
        "tasks": ["*"],
        "sub_goals": [{"id": "pay", "check": check}],
    }
    holding(folder, [deaf, alert], graph)


def crossing(folder: Path) -> None:
    """Two runs without a plan that went different ways."""
    runs = [
        a_run(name, agent=name, task="cross").call("look", ok=True).call(tool, ok=True).finish(name == "a")
        for name, tool in (("a", "walk"), ("b", "swim"))
    ]
    holding(folder, runs, None)


def planned(folder: Path) -> None:
    """A run of Crafter with its planning record, and runs without."""
    ledger = SAMPLES / "crafter" / "ledgers" / "noisy+sce+win.jsonl.gz"
    record = SAMPLES / "crafter" / "planning" / "noisy+sce+win.crafter-collect_iron-seed1.planning.json.zst"
    with Workspace(folder / "w") as store:
        take_in(store, [(path.name, path) for path in (ledger, heads_path(ledger), record)])
