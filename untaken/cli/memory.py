"""``untaken memory``: policy memory built from ledgers (its weak signals: `untaken.cli.memory_signals`)."""

from __future__ import annotations

import argparse
from pathlib import Path

from untaken.cli import memory_signals
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import Verbs, group, verb
from untaken.cli.inputs import moment, read_ledgers
from untaken.counterfactual import PolicyMemory, Snapshot, ValueRange, rebuild_memory
from untaken.errors import Score, number
from untaken.numbers import counted, interval, significant
from untaken.views import memory_document
from untaken.workspace import settings_of


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "memory")
    parser = verb(inner, "build", build, "build policy memory from finished, unbroken runs")
    parser.takes_ledgers()
    parser.takes_out("FILE", "a *.memory.jsonl file; replaced atomically", required=True)
    parser = verb(inner, "show", show, "show the policy memory of each skill in each context")
    parser.add_argument("file", metavar="FILE", help="a *.memory.jsonl")
    parser.takes_one("--as-of", "TIME", "state at this time (RFC 3339, e.g. 2026-01-31T12:00:00Z)")
    memory_signals.add_to(inner)


def build(args: argparse.Namespace, console: Console) -> int:
    """Writes a memory file; 1 where a ledger is broken (its runs are left out)."""
    ledgers = read_ledgers(args.paths, console)
    # Signals that were applied to the file that is there stay in it.
    memory = rebuild_memory(args.out, ledgers.every_run, identity=settings_of(args.paths).identity)
    findings = (*ledgers.findings, *memory.findings)
    snapshot = memory.snapshot()
    _sum_up(snapshot, len(list(snapshot.records())), console)
    console.document(memory_document(snapshot, findings=findings))
    return 1 if ledgers.broken else 0


def show(args: argparse.Namespace, console: Console) -> int:
    """Prints the records of a memory file."""
    snapshot = PolicyMemory.load(Path(args.file)).snapshot(moment(args.as_of))
    records = list(snapshot.records())
    console.columns(
        records,
        "skill, context=context_hash:.12, n, success=success_rate",
        ("avg cost", lambda record: _figure(record.avg_cost)),
        ("avg steps", lambda record: _figure(record.avg_steps)),
    )
    console.say()
    _sum_up(snapshot, len(records), console)
    console.document(memory_document(snapshot))
    return 0


def _sum_up(snapshot: Snapshot, records: int, console: Console) -> None:
    unit = f" ({plain(snapshot.cost_unit)})" if snapshot.cost_unit else ""
    known = counted(snapshot.observations, "observation")
    console.say(f"{known} of {counted(snapshot.runs, 'run')}, {counted(records, 'record')}")
    console.say(
        f"cost{unit} {_span(snapshot.costs)}, steps {_span(snapshot.steps)}; digest {snapshot.digest[:12]}"
    )


def _figure(value: Score) -> str:
    known = number(value)
    return significant(known, 6, unknown=NOTHING)


def _span(span: ValueRange | None) -> str:
    return "not recorded" if span is None else interval(span.low, span.high, significant, 6)
