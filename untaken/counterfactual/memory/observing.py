"""What a finished run adds to policy memory, and which runs may add nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from untaken.counterfactual.memory.record import Observed, line_of
from untaken.counterfactual.memory.sums import WEIGHTS
from untaken.errors import Finding, Unscored, first_few
from untaken.ledger import Run, RunFinished, trails_of_copies

UNPRICED: Final = "unpriced"
"""The `cost_unit` by which an importer says that the recorded cost is none."""
NAMED: Final = 3


class Left(NamedTuple):
    """Why a run is left out: a finding's code, and the reason in words."""

    code: str
    reason: str


NOTED: Final = frozenset({"memory-run-without-decisions", "runs-identical"})
COPIES: Final = Left(
    "runs-identical",
    "counted once in intervals and tests: did exactly the same as another of the same task and agent",
)
TWICE: Final = Left(
    "memory-run-id-twice", "not in policy memory: another run has the same id and finished earlier"
)


def priced(finished: RunFinished) -> float | None:
    """The run's cost, or ``None`` where it is absent or declared unpriced."""
    return None if finished.cost_unit == UNPRICED else finished.cost


def outcome_key(run_id: str, decision_point: int) -> str:
    """Key of the one outcome of a decision point; sorts by run, then by decision point."""
    return f"outcome/{run_id}/{decision_point:07d}"


def observe(
    run: Run, trail: str | None = None, *, identity: Sequence[str] = ()
) -> tuple[Observed, ...] | Left:
    """One outcome per decision point of a finished, unbroken run with a known success (§3).

    Args:
        run: any run.
        trail: of a run that may have copies.
        identity: names of metadata that can change its agent.
    """
    if run.integrity.broken:
        return Left("memory-run-broken", "not in policy memory: the ledger is broken")
    finished, success = run.finished, run.success
    if finished is None:
        return Left("memory-run-unfinished", "not in policy memory: the run did not finish")
    if isinstance(success, Unscored):
        return Left("memory-run-unscored", "not in policy memory: whether the run succeeded is unknown")
    if not run.selections:
        return Left("memory-run-without-decisions", "not in policy memory: the run has no decision point")
    run_id, task_id, agent, ts = run.run_id, run.task_id, run.agent, finished.ts.astimezone(UTC)
    cost, steps = (None if f is None else float(f) for f in (priced(finished), finished.steps))
    unit, succeeded = "usd" if cost is None else finished.cost_unit, float(success)
    model, version, prompt_version = (part or UNSET for part in run.identity[1:])
    named = run.named(identity)
    started = UNSET if run.started_at is None else run.started_at.astimezone(UTC)
    return tuple(
        [
            Observed(
                key=outcome_key(run_id, selection.seq),
                kind="outcome",
                skill=selection.selected,
                context_hash=selection.context_hash,
                success=succeeded,
                cost=cost,
                steps=steps,
                weight=WEIGHTS["outcome"],
                run_id=run_id,
                ts=ts,
                cost_unit=unit,
                context_layers=selection.context_layers or UNSET,
                task_id=task_id,
                agent=agent,
                model=model,
                version=version,
                prompt_version=prompt_version,
                started=started,
                trail=trail or UNSET,
                named=named or UNSET,
            )
            for selection in run.selections
        ]
    )


def collect(
    runs: Iterable[Run], *, identity: Sequence[str] = ()
) -> tuple[list[Observed], tuple[Finding, ...]]:
    """The observations of many runs in log order, whatever order the runs come in; and what was left out."""
    candidates: dict[str, list[tuple[Observed, ...]]] = {}
    left: dict[Left, set[tuple[str, str]]] = {}
    runs = list(runs)
    trails = trails_of_copies(run for run in runs if not run.integrity.broken and run.selections)
    for run in runs:
        observed = observe(run, trails.get(run.digest), identity=identity)
        if isinstance(observed, Left):
            left.setdefault(observed, set()).add((run.run_id, run.digest))
        else:
            candidates.setdefault(run.run_id, []).append(observed)
    # Two runs with one id cannot be told apart when a run's own outcome must be left out: the first counts.
    # A set: the same run given twice counts once.
    several = {run_id: set(same) for run_id, same in candidates.items() if len(same) > 1}
    chosen = [
        min(several[run_id], key=_first) if run_id in several else same[0]
        for run_id, same in candidates.items()
    ]
    observations, priced_otherwise = _in_one_unit([o for outcomes in chosen for o in outcomes])
    observations.sort(key=lambda o: (o.ts, o.key))
    findings = [_finding(why, [run_id for run_id, _ in runs]) for why, runs in sorted(left.items())]
    copies = _findings_of(COPIES, _copies(observations))
    # All but the one that counts.
    twice = [run_id for run_id, outcomes in several.items() for _ in range(len(outcomes) - 1)]
    return observations, (*findings, *_findings_of(TWICE, twice), *copies, *priced_otherwise)


def _copies(observations: Iterable[Observed]) -> list[str]:
    """The runs that did the same as an earlier one of their stratum."""
    first: dict[tuple[object, ...], str] = {}
    copies: dict[str, None] = {}
    for o in observations:
        if first.setdefault(o.unit, o.run_id) != o.run_id:
            copies[o.run_id] = None
    return list(copies)


def _first(outcomes: tuple[Observed, ...]) -> tuple[object, ...]:
    """Which of two runs under one id counts: the earlier; for one moment, the one whose lines sort first."""
    return outcomes[0].ts, b"".join(map(line_of, outcomes))


def _in_one_unit(observations: list[Observed]) -> tuple[list[Observed], list[Finding]]:
    """Leaves out costs that are not in the unit of the earliest priced run."""
    if len({o.cost_unit for o in observations if o.cost is not None}) < 2:
        return observations, []
    priced_runs = [o for o in observations if o.cost is not None]
    # The earliest, not the most frequent: which unit counts must not depend on what happened later.
    unit = min(priced_runs, key=lambda o: (o.ts, o.key)).cost_unit
    foreign = {o.run_id for o in priced_runs if o.cost_unit != unit}
    kept = [
        msgspec.structs.replace(o, cost=None, cost_unit="usd") if o.run_id in foreign else o
        for o in observations
    ]
    why = Left(
        "memory-cost-unit-left-out",
        f"counted without cost: unit is not {unit!r} like that of the earliest priced run",
    )
    return kept, _findings_of(why, foreign)


def _findings_of(why: Left, runs: Collection[str]) -> list[Finding]:
    return [_finding(why, runs)] if runs else []


def _finding(why: Left, runs: Collection[str]) -> Finding:
    named = first_few(sorted(set(runs)), NAMED)
    return Finding(
        code=why.code,
        message=f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} {why.reason} ({named})",
        severity="note" if why.code in NOTED else "warning",
    )
