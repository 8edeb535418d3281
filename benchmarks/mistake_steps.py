"""What the engine says of public records, and whether its marks fall on the step that people blame.

1. τ-bench, τ²-bench and the Hand-Crafted runs of Who&When, converted and evaluated: runs, decision points,
   alternatives, and how many of these are known, better, worse, supported. Once as of each run's start, as
   the program does it, and once with all the other runs (leave one run out), whenever they began.
2. Who&When: is the decision that covers the blamed step marked more often than chance? It is the latest
   decision point at or before the labelled event; a run labelled before its first one is left out. Marked
   is a decision with an alternative that (a) has a delta above 0.1, (b) has a supported advantage above 0.
   Chance picks one of the run's decision points, each as likely: the number of hits is then a sum of
   independent draws with known chances, whose distribution is exact (no simulation). Given are the one-sided
   p of as many hits or more, and the odds ratio of being marked on the blamed decision, with the exact 95%
   interval, run by run. Runs in which all or none are marked say nothing. Second, chance among the decision
   points alone that have a known alternative, the only ones that can be marked.
3. Who&When again, with coarser contexts than the importer's: what can be known, and whether 2 depends on it.

    python benchmarks/mistake_steps.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from untaken.counterfactual import Alternative, Decision, RunEvaluation, evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Run, SkillSelection, Verdict, context_hash, read_ledger
from untaken.traces import convert

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SOURCES = (
    ("τ-bench", "tau-bench", "tau_bench"),
    ("τ²-bench", "tau2-bench", "tau2_bench"),
    ("Who&When", "who-and-when", "who_and_when/Hand-Crafted"),
)
LABELLED = "Who&When"
AFTER_ALL = datetime(9000, 1, 1, tzinfo=UTC)
FLAGS = ("is_request_satisfied", "is_in_loop", "is_progress_being_made")
CONTEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("flags and last speaker", (*FLAGS, "last_speaker")),
    ("flags", FLAGS),
    ("last speaker", ("last_speaker",)),
    ("none", ()),
)
COUNTED = (
    "records|memory|runs|evaluated|skipped|decisions|alternatives|unknown|known|better|worse|equivalent"
    "|supported above 0|supported below 0"
)
MARKED = "on the blamed one|telling runs|hits|by chance|p|odds ratio, 95%"
TAIL = 0.025
ODDS = 1e9

Mark = Callable[[Alternative], bool]
Evaluate = Callable[[Run, PolicyMemory], RunEvaluation]


@dataclass(frozen=True)
class Draw:
    """One run: of `points` decision points `marked` are marked; is the blamed one?"""

    points: int
    marked: int
    hit: bool


def runs_of(format: str, folder: Path) -> list[Run]:
    with TemporaryDirectory() as out:
        return [run for ledger in convert(format, [folder], out).ledgers for run in read_ledger(ledger)]


def as_of(run: Run, memory: PolicyMemory) -> RunEvaluation:
    return evaluate_run(run, memory)


def left_out(run: Run, memory: PolicyMemory) -> RunEvaluation:
    """Compared with all other runs, as if this one had started after they had ended."""
    started = msgspec.structs.replace(run.started, ts=AFTER_ALL)
    return evaluate_run(replace(run, events=(started, *run.events[1:])), memory)


def regrouped(run: Run, keys: Sequence[str]) -> Run:
    """The run with contexts that hold these keys alone."""
    events = tuple(
        msgspec.structs.replace(e, context_hash=context_hash({key: e.context[key] for key in keys}))
        if isinstance(e, SkillSelection)
        else e
        for e in run.events
    )
    return replace(run, events=events)


WAYS: tuple[tuple[str, Evaluate], ...] = (("as of the start", as_of), ("all other runs", left_out))


def better(branch: Alternative) -> bool:
    return branch.verdict == "alternative_may_be_better"


def supported(branch: Alternative) -> bool:
    above = not isinstance(branch.advantage, Unscored) and branch.advantage > 0
    return branch.support == "supported" and above


def supported_below(branch: Alternative) -> bool:
    return branch.support == "supported" and not supported(branch)


MARKS: tuple[tuple[str, Mark], ...] = (("delta > 0.1", better), ("supported advantage > 0", supported))


def counts(name: str, way: str, evaluations: Sequence[RunEvaluation]) -> list[object]:
    evaluated = [e for e in evaluations if e.status == "evaluated"]
    codes = Counter(str(e.code) for e in evaluations if e.status != "evaluated")
    branches = [b for e in evaluated for d in e.decisions for b in d.branches]
    verdicts = Counter(branch.verdict for branch in branches)
    return [
        *(name, way, len(evaluations), len(evaluated)),
        ", ".join(f"{code} {n}" for code, n in sorted(codes.items())) or "-",
        sum(len(e.decisions) for e in evaluated),
        *(len(branches), verdicts["unknown"], len(branches) - verdicts["unknown"]),
        *(verdicts["alternative_may_be_better"], verdicts["actual_was_better"], verdicts["equivalent"]),
        *(sum(map(supported, branches)), sum(map(supported_below, branches))),
    ]


def blamed(run: Run, decisions: Sequence[Decision]) -> Decision | None:
    """The latest decision at or before the event that people label."""
    labels = [evidence.seq for verdict in run.of(Verdict) for evidence in verdict.evidence or ()]
    before = [decision for decision in decisions if labels and decision.decision_point <= labels[0]]
    return before[-1] if before else None


def draws(
    runs: Iterable[Run], evaluations: Sequence[RunEvaluation], mark: Mark, *, known: bool = False
) -> list[Draw]:
    """A draw for each run with a blamed decision; `known`: among those with a known alternative."""
    found = []
    for run, evaluation in zip(runs, evaluations, strict=True):
        points = [d for d in evaluation.decisions if not known or any(b.known for b in d.branches)]
        on = blamed(run, evaluation.decisions)
        if on in points and on is not None:
            marked = [any(map(mark, point.branches)) for point in points]
            found.append(Draw(len(points), sum(marked), marked[points.index(on)]))
    return found


def chances(draws: Iterable[Draw], odds: float) -> list[float]:
    """Probability of 0, 1, 2 … hits where a marked decision is `odds` times as likely to be blamed."""
    found = [1.0]
    for draw in draws:
        weight = odds * draw.marked
        hit = weight / (weight + draw.points - draw.marked)
        found = [a * (1 - hit) + b * hit for a, b in zip([*found, 0.0], [0.0, *found], strict=True)]
    return found


def bound(draws: Sequence[Draw], hits: int, *, upper: bool) -> float:
    """The odds ratio at which as few (upper bound) or as many (lower) hits have a probability of 2.5%."""

    def tail(odds: float) -> float:
        spread = chances(draws, odds)
        return math.fsum(spread[: hits + 1] if upper else spread[hits:])

    if hits == (len(draws) if upper else 0):
        return math.inf if upper else 0.0
    low, high = -math.log(ODDS), math.log(ODDS)
    for _ in range(100):
        middle = (low + high) / 2
        if (tail(math.exp(middle)) > TAIL) == upper:
            low = middle
        else:
            high = middle
    return math.exp(low)


def hits(name: str, draws: Sequence[Draw]) -> list[object]:
    informative = [draw for draw in draws if 0 < draw.marked < draw.points]
    n = sum(draw.hit for draw in informative)
    if not informative:
        every = f"{sum(d.hit for d in draws)}/{len(draws)}"
        return [
            name,
            sum(d.points for d in draws),
            sum(d.marked for d in draws),
            every,
            0,
            "-",
            "-",
            "-",
            "-",
        ]
    return [
        name,
        sum(draw.points for draw in draws),
        sum(draw.marked for draw in draws),
        f"{sum(draw.hit for draw in draws)}/{len(draws)}",
        len(informative),
        n,
        f"{math.fsum(draw.marked / draw.points for draw in informative):.2f}",
        f"{math.fsum(chances(informative, 1.0)[n:]):.3f}",
        f"{bound(informative, n, upper=False):.2f} to {bound(informative, n, upper=True):.2f}",
    ]


def show(head: str, rows: Sequence[Sequence[object]]) -> None:
    table = [head.split("|"), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def granularity(runs: Sequence[Run], name: str, keys: Sequence[str]) -> list[object]:
    """How much is known in such contexts, and where the marks of a delta above 0.1 fall."""
    coarse = [regrouped(run, keys) for run in runs]
    memory = PolicyMemory.build(coarse)
    evaluations = [left_out(run, memory) for run in coarse]
    branches = [b for e in evaluations for d in e.decisions for b in d.branches]
    known = sum(branch.known for branch in branches)
    contexts = {selection.context_hash for run in coarse for selection in run.selections}
    beyond = sum(b.support == "supported" for b in branches)
    return [
        *(name, len(contexts), len(branches), known, f"{known / len(branches):.0%}", beyond),
        *hits("", draws(coarse, evaluations, better))[3:],
    ]


def main() -> None:
    if not RECORDS.is_dir():
        print(f"no records at {RECORDS}; set UNTAKEN_REAL_DATA to the folder that holds them")
        return
    rows: list[list[object]] = []
    for name, format, folder in SOURCES:
        if not (RECORDS / folder).is_dir():
            print(f"no {name} records at {RECORDS / folder}")
            continue
        runs = runs_of(format, RECORDS / folder)
        memory = PolicyMemory.build(runs)
        found = [(way, [evaluate(run, memory) for run in runs]) for way, evaluate in WAYS]
        rows += [counts(name, way, evaluations) for way, evaluations in found]
    show(COUNTED, rows)
    if rows and rows[-1][0] == LABELLED:
        labelled(runs, found)


def labelled(runs: Sequence[Run], found: Sequence[tuple[str, Sequence[RunEvaluation]]]) -> None:
    """Where the marks fall, beside where people put the mistake."""
    rows = [
        hits(f"{way}, {what}{', known alone' if known else ''}", draws(runs, evaluations, mark, known=known))
        for way, evaluations in found
        for what, mark in MARKS
        for known in (False, True)
    ]
    show(f"marked|decisions|marked|{MARKED}", rows)
    coarse = [granularity(runs, name, keys) for name, keys in CONTEXTS]
    show(f"context|contexts|alternatives|known|share|supported|{MARKED}", coarse)


if __name__ == "__main__":
    main()
