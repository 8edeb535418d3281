"""The part of ``untaken counterfactual`` that needs plan graphs: what runs of the same task did instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from untaken.analysis import score_runs
from untaken.cli.console import Console, decimal, rate, signed, span
from untaken.counterfactual import CalibrationCard, PlanEvaluation, calibration_card, plan_evaluation
from untaken.errors import Finding, Unscored
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import GraphSet
from untaken.views import (
    LABELS,
    Part,
    distinct,
    groups_words,
    option_words,
    plan_document,
    situation_words,
)

SHOWN: Final = 12
"""Statements of the table; the JSON document has all of them."""


def plan_part(
    whole: Mapping[str, Run],
    shown: Collection[str],
    graphs: GraphSet,
    console: Console,
    *,
    card: bool,
    identity: Sequence[str],
) -> tuple[Part, tuple[Finding, ...]]:
    """Prints the statements about the runs shown; gives its part of the document, and what was noticed."""
    # Of all runs, and then narrowed: what the others did is what the runs shown are compared with.
    scores, score_findings = score_runs(whole.values(), graphs)
    evaluation = plan_evaluation(whole.values(), graphs, scores, identity=identity)
    if len(shown) < len(whole):
        evaluation = evaluation.among(shown)
    _print_statements(evaluation, console)
    made = calibration_card(evaluation) if card else None
    if made is not None:
        _print_card(made, console)
    return plan_document(evaluation, made), (*graphs.findings, *score_findings)


def _print_statements(evaluation: PlanEvaluation, console: Console) -> None:
    console.say()
    console.columns(
        distinct(evaluation.statements)[:SHOWN],
        ("situation", lambda s: situation_words(s.situation)),
        ("option", lambda s: option_words(s.option)),
        ("", lambda s: f"{s.k1} of {s.n1}"),
        ("against", lambda s: option_words(s.against)),
        ("", lambda s: f"{s.k0} of {s.n0}"),
        ("tasks", lambda s: f"{s.informative_tasks} of {s.tasks}"),
        ("difference (95%)", lambda s: f"{signed(s.difference)} ({span(s.low, s.high, 2)})"),
        "p:p, q:p",
        ("support", lambda s: "supported" if s.supported else "no"),
        ("label", lambda s: LABELS[s.label]),
    )
    console.say()
    console.say(
        f"{counted(evaluation.decisions, 'plan decision')}, "
        f"{counted(evaluation.alternatives, 'alternative')} chosen by other runs of the task; supported "
        f"share {rate(evaluation.supported_share)}; with shuffled outcomes it would be "
        f"{rate(evaluation.shuffled_supported_share)}; association, not effect"
    )
    console.say(f"supported: {groups_words(evaluation)}; shuffled outcomes show chance, not confounding")
    for reason, count in evaluation.silent_alternatives:
        console.say(f"  {count} without support: {reason}")
    for reason, count in evaluation.silent_runs.items():
        console.say(f"  {counted(count, 'run')} without plan decisions: {reason}")


def _print_card(card: CalibrationCard | Unscored, console: Console) -> None:
    console.say()
    if isinstance(card, Unscored):
        console.say(f"No calibration card: {card.reason}")
        return

    console.columns(
        card.bins,
        "forecast=above…up_to:.1, mean=predicted:.2",
        ("observed (95%)", lambda b: f"{decimal(b.observed, 2)} ({span(b.low, b.high, 2)})"),
        "n, runs, tasks",
    )
    console.say(
        f"{counted(card.n, 'forecast')} at plan changes of {counted(card.runs, 'run')}, "
        f"{counted(card.tasks, 'task')}: "
        f"Brier {decimal(card.brier)}, skill {signed(card.skill)} over the mean of all, "
        f"{signed(card.skill_over_task)} over the mean of the own task"
    )
    if card.hindsight is not None:
        late = card.hindsight
        console.say(
            f"  hindsight, at the end of runs, not counted above: n {late.n}, Brier "
            f"{decimal(late.brier)}, skill {signed(late.skill)}"
        )
    for each in card.by_support:
        console.say(f"  {each.support}: n {each.n}, Brier {decimal(each.brier)}, skill {signed(each.skill)}")
