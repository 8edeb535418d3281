"""``untaken triage``: what to fix first, and which runs contradict themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from untaken.answers import triage_document
from untaken.answers.plan_words import option_words, situation_words
from untaken.cli.console import NOTHING, Console, decimal, plain, signed, span
from untaken.cli.grammar import Verbs, verb
from untaken.cli.score import evaluated_paths, print_rules
from untaken.corpus import Corpus
from untaken.fix_first import (
    BetterWay,
    FailurePattern,
    FixFirst,
    Kind,
    Triage,
    better_ways,
    no_decision,
    triage,
)
from untaken.present.numbers import counted, p_value

TOP = 10


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "triage", run_triage)
    parser.takes_graphs()
    parser.takes_compared()
    parser.takes_memory()
    parser.takes_each("--agent", "NAME", "only runs of this agent; repeatable")
    parser.takes_top(TOP)


def run_triage(args: argparse.Namespace, console: Console) -> int:
    """Prints the fix-first list and the contradictory runs; 1 where a ledger or graph is broken."""
    scored, corpus = evaluated_paths(args, console, resamples=0)
    found, top = triage(corpus, agents=args.agent), args.top or None
    ways = better_ways(corpus, [d for d, r in corpus.runs.items() if not args.agent or r.agent in args.agent])
    _print(found, corpus, ways, top, console)
    print_rules(args, scored, console)
    console.document(
        triage_document(
            found,
            corpus.runs,
            missing=args.missing,
            verdicts=args.verdicts,
            top=top,
            better_ways=ways,
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0


def _print(
    found: Triage, corpus: Corpus, ways: Sequence[BetterWay], top: int | None, console: Console
) -> None:
    if found.reason:
        console.say(plain(f"Nothing to fix: {found.reason}."))
    if found.patterns:
        _print_patterns(found.patterns[:top], console)
    if items := found.of_kind("sub_goal"):
        _print_items(items, corpus, top, console)
        over = counted(found.scored, "scored run")
        console.say(f"Gain in completion, at most, over {over}; {found.unscored} more could not be scored")
        if found.harmless:
            what = counted(found.harmless, "other sub-goal")
            console.say(f"{what} also failed first, without critical dependents")
        console.say()
    if items := found.of_kind("decision"):
        _print_items(items, corpus, top, console)
        over = counted(found.evaluated, "evaluated run")
        console.say(f"Gain in score, by association, over {over}; {found.not_evaluated} more not evaluated")
        console.say()
    elif found.items:
        console.say(f"No decision to fix: {no_decision(found.evaluated)}")
        console.say()
    for conflict in found.conflicts:
        console.say(plain(f"Conflict: {conflict.words}."))
    if ways:
        _print_ways(ways, corpus, top, console)
    rows = [
        (c.kind, c.run_id, c.agent, c.task_id, ", ".join(c.sub_goals)) for c in found.contradictions[:top]
    ]
    if rows:
        console.table(("contradiction", "run", "agent", "task", "critical, undone"), rows)
    console.say(f"{len(rows)} of {counted(len(found.contradictions), 'contradictory run')}")


def _print_patterns(patterns: Sequence[FailurePattern], console: Console) -> None:
    console.columns(
        patterns,
        ("gain", lambda one: decimal(one.gain)),
        ("95%", lambda one: span(one.low, one.high)),
        ("runs", lambda one: f"{one.often.count}/{one.often.n}"),
        ("tasks", lambda one: one.tasks),
        ("sub-goals", lambda one: one.sub_goals),
        ("about", lambda one: one.subject),
        ("how", lambda one: one.way),
        (
            "not as expected",
            lambda one: ", ".join(f"{name} {runs}" for name, runs in one.arguments.items()) or NOTHING,
        ),
    )
    console.say("Sub-goals that fail alike in several tasks; each is listed below by itself, too")
    console.say()


def _print_ways(ways: Sequence[BetterWay], corpus: Corpus, top: int | None, console: Console) -> None:
    console.columns(
        ways[:top],
        ("gain", lambda way: decimal(way.gain)),
        ("95%", lambda way: span(way.low, way.high)),
        ("runs", lambda way: f"{way.often.count}/{way.often.n}"),
        ("much", lambda way: signed(way.statement.difference, 2)),
        ("q", lambda way: p_value(way.statement.q, unknown=NOTHING)),
        ("situation", lambda way: situation_words(way.statement.situation)),
        ("taken", lambda way: option_words(way.statement.against)),
        ("other way", lambda way: option_words(way.statement.option)),
        ("look at", lambda way: corpus.runs[way.runs[0][0]].run_id),
    )
    console.say(
        f"Gain in success, by association, over {counted(ways[0].often.n, 'run')} with plan decisions; "
        "each failed run counts once"
    )
    console.say()


_GAIN = ("gain", "95%", "runs", "share", "much")
_HEADINGS: dict[Kind, tuple[str, ...]] = {
    "sub_goal": (*_GAIN, "required", "unit", "sub-goal", "graph", "look at"),
    "decision": (*_GAIN, "q", "taken", "succeeded more", "context", "look at"),
}


def _print_items(items: Sequence[FixFirst], corpus: Corpus, top: int | None, console: Console) -> None:
    rows = [_row(item, corpus.runs[item.runs[0]].run_id) for item in items[:top]]
    console.table(_HEADINGS[items[0].kind], rows)
    if len(rows) < len(items):
        console.say(f"… and {len(items) - len(rows)} more (--top 0 lists all)")


def _row(item: FixFirst, look_at: str) -> tuple[object, ...]:
    often = item.often
    figures = (
        decimal(item.gain),
        span(item.low, item.high),
        f"{often.count}/{often.n}",
        decimal(often.share),
        decimal(item.much),
    )
    if item.kind == "sub_goal":
        title = f"{item.title}{' ★' if item.critical else ''}"
        return (*figures, item.required, item.unit, title, item.graph, look_at)
    also = f" (or {', '.join(item.also)})" if item.also else ""
    context = item.context or item.context_hash or NOTHING
    return (
        *figures,
        p_value(item.q, unknown=NOTHING),
        item.selected,
        f"{item.alternative}{also}",
        context,
        look_at,
    )
