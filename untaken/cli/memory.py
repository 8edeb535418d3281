"""``untaken memory``: policy memory built from ledgers, and its weak signals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import Parser, Verbs, group, verb
from untaken.cli.inputs import moment, read_ledgers, weights_of
from untaken.counterfactual import (
    PolicyMemory,
    Signal,
    Snapshot,
    ValueRange,
    apply_signals,
    collect_signals,
    evaluate_runs,
    preview,
    queue_signals,
    read_queue,
    rebuild_memory,
    verify_memory,
    waiting_signals,
)
from untaken.errors import Score, number
from untaken.facts import Ledgers
from untaken.numbers import counted, interval, significant
from untaken.views import (
    PREVIEW_DOCUMENT,
    QUEUE_DOCUMENT,
    VERIFY_MEMORY_DOCUMENT,
    memory_apply_document,
    memory_document,
)
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
    _add_signals(inner)


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


WORDS = {"none": "", "against": "! against", "no_effect": "= no effect", "no_outcome": "? no outcome"}
"""The symbol and word of each flag."""


def _add_signals(verbs: Verbs) -> None:
    """Adds the verbs to those of ``untaken memory``."""
    parser = verb(verbs, "queue", queue, "queue the weak signals of ledgers and list the pending ones")
    _takes_file(parser)
    parser.takes_ledgers(few="*")
    parser.takes_weights()
    parser = verb(verbs, "preview", show_preview, "show how each pending signal changes its estimate")
    _takes_file(parser)
    parser = verb(verbs, "apply", apply, "apply the supported pending signals that move as meant, once only")
    _takes_file(parser)
    parser.takes_flag("--all", "also signals without support, and those against their stated direction")
    parser.takes_one("--at", "TIME", "time from which they are known (RFC 3339); default: now")
    parser = verb(verbs, "verify", verify, "rebuild a memory from its log and ledgers and compare")
    _takes_file(parser)
    parser.takes_ledgers(few="*")


def _takes_file(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a *.memory.jsonl file; its queue is next to it")


def queue(args: argparse.Namespace, console: Console) -> int:
    """Evaluates the ledgers given, queues their signals and lists what waits; 1 where a ledger is broken."""
    memory = PolicyMemory.load(args.file)
    ledgers = _ledgers(args.paths, console)
    every = evaluate_runs(ledgers.every_run, memory, weights=weights_of(args)).values()
    evaluations = [evaluation for evaluation in every if evaluation.status == "evaluated"]
    evaluated = [evaluation.run_id for evaluation in evaluations]
    # With nothing evaluated, the queue is left as it is.
    new = queue_signals(args.file, collect_signals(evaluations), evaluated=evaluated) if evaluated else 0
    waiting = waiting_signals(memory, read_queue(args.file))
    applied = sum(observed.kind == "weak" for observed in memory.log)
    if waiting:
        console.columns(
            waiting,
            "run=run_id, at=decision_point, skill, context=context_hash:.12",
            ("claims", lambda signal: f"{signal.outcome:g}"),
            "meant=direction, delta:+, supported",
        )
        console.say()
    console.say(f"{counted(new, 'signal')} queued; {_waiting(waiting)}; {applied} applied before")
    console.document(QUEUE_DOCUMENT(waiting=waiting, queued=new, applied=applied, findings=ledgers.findings))
    return 1 if ledgers.broken else 0


def show_preview(args: argparse.Namespace, console: Console) -> int:
    """Lists what each waiting signal would do; nothing is written."""
    memory = PolicyMemory.load(args.file)
    snapshot = memory.snapshot()
    effects = preview(snapshot, waiting_signals(memory, read_queue(args.file)))
    if effects:
        console.columns(
            effects,
            "skill=signal.skill, context=signal.context_hash:.12, meant=signal.direction",
            ("claims", lambda effect: f"{effect.signal.outcome:g}"),
            "supported=signal.supported, n, now=before, alone=after, all=after_all",
            ("weak", lambda effect: f"{effect.weak_after:g} of {effect.cap:g}"),
            ("advised", lambda effect: "apply" if effect.advised else "leave"),
            ("flag", lambda effect: WORDS[effect.flag]),
        )
        console.say()
    # All but "none", which is no flag.
    flagged = [sum(effect.flag == flag for effect in effects) for flag in list(WORDS)[1:]]
    console.say(
        f"{counted(len(effects), 'signal')}: {flagged[0]} move against their stated direction, "
        f"{flagged[1]} have no effect, {flagged[2]} have no outcome to change; "
        f"untaken memory apply takes the {sum(effect.advised for effect in effects)} advised ones"
    )
    console.document(PREVIEW_DOCUMENT(digest=snapshot.digest, effects=effects))
    return 0


def apply(args: argparse.Namespace, console: Console) -> int:
    """Folds signals in; again, it folds in nothing."""
    done = apply_signals(args.file, everything=args.all, at=moment(args.at))
    console.say(f"{counted(len(done.observations), 'signal')} applied; {_waiting(done.waiting)}")
    console.say(f"digest {done.memory.snapshot().digest[:12]}")
    console.document(memory_apply_document(done))
    return 0


def verify(args: argparse.Namespace, console: Console) -> int:
    """Rebuilds and compares; 1 where anything differs, or a ledger is broken."""
    ledgers = _ledgers(args.paths, console)
    runs = ledgers.every_run if args.paths else None  # without ledgers, its own log has to do
    memory, differences = verify_memory(args.file, runs, identity=settings_of(args.paths).identity)
    if differences:
        console.columns(
            differences,
            "difference=kind, key, what=message",
        )
        console.say()
    what = "its log and its ledgers" if args.paths else "its log"
    same = f"{counted(len(differences), 'difference')} from" if differences else "the same as rebuilt from"
    console.say(f"{counted(len(memory), 'observation')}: {same} {what}")
    console.document(
        VERIFY_MEMORY_DOCUMENT(
            same=not differences,
            digest=memory.snapshot().digest,
            observations=len(memory),
            differences=differences,
            findings=ledgers.findings,
        )
    )
    return 1 if differences or ledgers.broken else 0


def _ledgers(paths: Sequence[str], console: Console) -> Ledgers:
    return read_ledgers(sorted(paths), console) if paths else Ledgers.none()


def _waiting(waiting: Sequence[Signal]) -> str:
    supported = sum(signal.supported for signal in waiting)
    return f"{len(waiting)} pending, {supported} of them supported"
