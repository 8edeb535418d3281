"""``untaken triage``: what to fix first, what choices succeed more often, and contradictory runs."""

from __future__ import annotations

import argparse

from untaken.analysis import Corpus, Triage, triage
from untaken.cli.console import NOTHING, Console, decimal, plain
from untaken.cli.grammar import Verbs, verb
from untaken.cli.packet import print_packet
from untaken.cli.score import evaluated_paths, print_rules
from untaken.errors import Unscored
from untaken.numbers import counted, money, percent
from untaken.views import STAR, Advised, CheaperOption, advised, fix_packet, nth, run_packet, triage_document

TOP = 10
NAMED = 5


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "triage", run_triage)
    parser.takes_graphs()
    parser.takes_compared()
    parser.takes_memory()
    parser.takes_weights()
    parser.takes_each("--agent", "NAME", "only runs of this agent; repeatable")
    parser.takes_top(TOP)
    parser.takes_packet("item N")
    parser.takes_one("--run", "ID", "print where this run failed first, as such a packet", dest="of_run")


def run_triage(args: argparse.Namespace, console: Console) -> int:
    """Prints the fix-first list and what belongs beside it; 1 where a ledger or graph is broken."""
    scored, corpus = evaluated_paths(args, console)
    # 0 lists all: a slice up to None does.
    found, top = triage(corpus, agents=args.agent), args.top or None
    if args.packet is not None:
        return print_packet(fix_packet(corpus, nth(found.items, args.packet)), console)
    if args.of_run is not None:
        return print_packet(run_packet(corpus, args.of_run), console)
    whose = [d for d, run in corpus.runs.items() if not args.agent or run.agent in args.agent]
    choices = advised(corpus, whose)
    _print(found, choices, corpus, top, console)
    print_rules(args, scored, console)
    console.document(
        triage_document(
            found,
            choices,
            corpus.runs,
            missing=args.missing,
            verdicts=args.verdicts,
            top=top,
            findings=scored.findings,
        )
    )
    # What could be read is advised on; a pipeline must still hear that a ledger is not to be trusted.
    return 1 if scored.broken else 0


def _print(found: Triage, choices: Advised, corpus: Corpus, top: int | None, console: Console) -> None:
    console.say(f"{found.headline}.")
    console.say()
    _print_items(found, corpus, top, console)
    _print_apart(found, corpus, top, console)
    _print_choices(choices, corpus, top, console)
    shown = found.contradictions[:top]
    if shown:
        console.columns(
            shown,
            "contradiction=kind, run=run_id, agent, task=task_id",
            ("critical, undone", lambda one: ", ".join(one.sub_goals)),
        )
    console.say(f"{len(shown)} of {counted(len(found.contradictions), 'contradictory run')}")


def _print_items(found: Triage, corpus: Corpus, top: int | None, console: Console) -> None:
    shown = found.items[:top]
    if not shown:
        return
    console.columns(
        shown,
        ("fix", lambda item: "✓" if item.recommended else NOTHING),
        "failed=failed_runs",
        ("share", lambda item: NOTHING if isinstance(item.share, Unscored) else percent(item.share)),
        "gain, 95%=low…high",
        ("critical", lambda item: decimal(item.critical_gain) if item.critical_gain else NOTHING),
        ("sub-goal", lambda item: f"{item.title}{f' {STAR}' if item.critical else ''}"),
        "what is wrong=reason",
        ("look at", lambda item: corpus.runs[item.runs[0]].run_id if item.runs else NOTHING),
    )
    if len(shown) < len(found.items):
        console.say(f"… and {len(found.items) - len(shown)} more (--top 0 lists all)")
    console.say(
        "✓ recommended; failed: failed runs that fail first here; gain: success gained if they succeeded as "
        "often as the runs that passed here; critical: critical completion lost here"
    )
    # The reason is a sentence: a column of it would push the figures off a terminal.
    for item in shown:
        if item.recommended:
            console.say(plain(f"Fix “{item.title}” ({item.reason}): {item.why}."))
    # Without a word on why, no recommendation reads as nothing to fix.
    if not any(item.recommended for item in found.items):
        console.say(plain(f"None is recommended. “{shown[0].title}”: {shown[0].why}."))
    console.say()


def _print_apart(found: Triage, corpus: Corpus, top: int | None, console: Console) -> None:
    """What no item counts, each by name."""
    for group in found.infrastructure:
        unknown = f", {group.no_outcome:,} without an outcome" if group.no_outcome else ""
        kind = group.kind.replace("_", " ")
        # A limit of steps is reached by runs that go round in circles as well as by long tasks.
        loops = " (they may be looping)" if group.kind == "step_limit" else ""
        failed = counted(group.failed_runs, "failed run")
        console.say(plain(f"Ended by {kind}{loops}: {failed}{unknown}; see {_runs(group.runs, corpus)}"))
    if found.unscored_failed_runs:
        many = counted(len(found.unscored_failed_runs), "failed run")
        console.say(plain(f"Not scored: {many}; read {_runs(found.unscored_failed_runs, corpus)}"))
        if not found.without_plan:
            console.say("They have a plan, but record no action or verdict that it asks for")
        elif found.succeeded:
            console.say("untaken graph discover drafts a plan from runs that succeeded")
        else:
            console.say("No run succeeded, so no plan can be drafted: write one")
    for one in found.left_out:
        if one.doubt:
            console.say(plain(f"Not counted as a failure: {one.doubt_words}"))
    # Named all the same: a sub-goal that nobody lists looks as if it were always completed.
    if others := [one for one in found.left_out if not one.doubt]:
        shown = others[:top]
        named = ", ".join(f"“{one.title}” ({one.way}, {one.failed_runs})" for one in shown)
        more = (
            f", and {len(others) - len(shown):,} more (--top 0 lists all)" if len(others) > len(shown) else ""
        )
        console.say(f"Also not completed in failed runs, after something else failed: {named}{more}")
    if found.infrastructure or found.unscored_failed_runs or found.left_out:
        console.say()


def _runs(digests: tuple[str, ...], corpus: Corpus) -> str:
    named = ", ".join(corpus.runs[digest].run_id for digest in digests[:NAMED])
    return f"{named}, …" if len(digests) > NAMED else named


def _print_choices(choices: Advised, corpus: Corpus, top: int | None, console: Console) -> None:
    if choices.choices:
        console.columns(
            choices.choices[:top],
            ("follow", lambda one: "✓" if one.recommended else NOTHING),
            "success=difference:+.2, 95%=low…high, q:p, runs=often.count/often.n",
            "taken=selected, succeeded more often=alternative",
            ("where", lambda one: one.context or one.context_hash or NOTHING),
            ("caution", lambda one: one.cautions or one.reason or NOTHING),
            ("look at", lambda one: corpus.runs[one.runs[0][0]].run_id),
        )
        console.say("Choices, by success alone; an association")
    else:
        console.say(f"No choice to change: {choices.silent}")
    if choices.cheaper:
        console.say()
        console.columns(
            choices.cheaper[:top],
            "taken=selected, cheaper at the same success=alternative",
            ("where", lambda one: one.context or one.context_hash),
            ("saves a run", _saved),
            ("runs", lambda one: len(one.runs)),
        )
    if choices.skipping:
        many = counted(choices.skipping, "cheaper or shorter choice")
        console.say(f"{many} not listed: a critical sub-goal is completed less often there")
    console.say()


def _saved(one: CheaperOption) -> str:
    cost = "" if one.cost is None else money(one.cost.per_run, one.cost_unit)
    steps = "" if one.steps is None else f"{decimal(one.steps.per_run, 1)} steps"
    return ", ".join(part for part in (cost, steps) if part)
