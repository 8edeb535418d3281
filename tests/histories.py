"""Histories for tests: finished runs on given days, each with the choices it made."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from builders import EPOCH, RunBuilder, a_run

from untaken.counterfactual.memory import WEIGHTS, Observed
from untaken.ledger.events import GENESIS
from untaken.ledger.run import IntegrityVerdict, Run


def moment(day: float) -> datetime:
    """So many days after the builder's epoch."""
    return EPOCH + timedelta(days=day)


def on_day(run: Run, day: float) -> Run:
    """The same run, started this many days after the builder's epoch."""
    shifted = tuple(msgspec.structs.replace(e, ts=e.ts + timedelta(days=day)) for e in run.events)
    return replace(run, events=shifted)


def lines_of(builder: RunBuilder, day: int) -> list[bytes]:
    """The run's lines, were it made so many days later."""
    lines, prev = [], GENESIS
    for event in on_day(builder.run(), day).events:
        lines.append(msgspec.json.encode(msgspec.structs.replace(event, prev=prev)) + b"\n")
        prev = sha256(lines[-1][:-1]).hexdigest()
    return lines


def past(
    run_id: str,
    *choices: str,
    day: float,
    success: bool | None = True,
    cost: float | None = 1.0,
    steps: int | None = 1,
    verdict: IntegrityVerdict = "INTACT",
    context: str = "ctx",
    **finished: Any,
) -> Run:
    """A finished run. A choice is ``selected`` or ``selected|alternative|alternative`` (+ ``@context``)."""
    builder = a_run(run_id, metadata={"seed": run_id})
    for choice in choices:
        skills, _, where = choice.partition("@")
        builder.select(*skills.split("|"), context=where or context)
    builder.finish(success, cost=cost, steps=steps, **finished)
    return on_day(replace(builder.run(verdict), source=f"{run_id}.jsonl"), day)


def seen(
    run_id: str,
    skill: str = "a",
    *,
    day: float = 0.0,
    success: float = 1.0,
    cost: float | None = 1.0,
    steps: float | None = 1.0,
    context: str = "ctx",
    kind: str = "outcome",
    key: str | None = None,
    **fields: Any,
) -> Observed:
    """One observation; of one task and agent unless given."""
    if kind == "outcome":
        fields = {"task_id": "task", "agent": "agent"} | fields
    return Observed(
        key=key or f"{kind}/{run_id}/{skill}/{context}",
        kind=kind,  # type: ignore[arg-type]
        skill=skill,
        context_hash=context,
        success=success,
        cost=cost if kind == "outcome" else None,
        steps=steps if kind == "outcome" else None,
        weight=fields.pop("weight", WEIGHTS[kind]),
        run_id=run_id,
        ts=moment(day),
        **fields,
    )


def weak(run_id: str, skill: str = "a", success: float = 0.6, **fields: Any) -> Observed:
    """One weak signal."""
    return seen(run_id, skill, success=success, kind="weak", **fields)
