"""Crafter scores as a document (§7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from untaken import limits
from untaken.answers.documents import Document, entry, finding_entries
from untaken.crafter.ablation import PUBLISHED, Ablation, AblationArm, remarks
from untaken.crafter.loop import Episode
from untaken.crafter.simulator import MethodScore
from untaken.crafter.simulator.playing import Setup
from untaken.crafter.simulator.recording import succeeded, success_rule
from untaken.errors import Finding, UntakenError, Where
from untaken.formats.losses import clip
from untaken.ledger.strict_json import JsonFault, parse_json


def crafter_score_document(
    scores: Sequence[MethodScore], *, budget_steps: int, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.crafter-score/1``: methods by score, with every seed behind it."""
    return {
        "schema": "untaken.crafter-score/1",
        "budget_steps": budget_steps,
        "methods": [_method(score) for score in scores],
        "findings": finding_entries(findings),
    }


def _method(score: MethodScore) -> Document:
    return entry(score) | {
        "success_percent": dict(score.success_percent),
        "by_seed": [entry(s) | {"success_percent": dict(s.success_percent)} for s in score.by_seed],
    }


def crafter_run_document(
    setup: Setup, arm: AblationArm, episodes: Sequence[Episode], *, ledgers: Sequence[Path] = ()
) -> Document:
    """``untaken.crafter-run/1``: episodes of one setup, what they reached, and where they are recorded."""
    return {
        "schema": "untaken.crafter-run/1",
        "setup": _setup(setup),
        "success": success_rule(setup.task),
        "summary": _arm(arm),
        "episodes": [
            entry(episode)
            | {
                "run_id": setup.run_id(episode.seed),
                "success": succeeded(episode),
                "unlocked": dict(episode.unlocked),
                "kept": dict(episode.kept),
            }
            for episode in episodes
        ],
        "ledgers": [str(path) for path in ledgers],
    }


def crafter_ablation_document(found: Ablation) -> Document:
    """``untaken.crafter-ablation/1``: the four arms in the same worlds, beside the published figures."""
    return {
        "schema": "untaken.crafter-ablation/1",
        "setup": _setup(found.setup),
        "seeds": list(found.seeds),
        "causes_matter": found.causes_matter,
        "arms": [
            _arm(arm) | dict(zip(("published", "published_sd"), PUBLISHED[arm.name], strict=True))
            for arm in found.arms
        ],
        "differences": [entry(difference) for difference in found.differences],
        "remarks": list(remarks(found)),
        **({} if found.unanswered is None else {"unanswered": found.unanswered}),
    }


def read_ablation(path: str | Path) -> Ablation:
    """What `crafter_ablation_document` wrote, so that it can be shown without the simulator.

    Raises:
        UntakenError: ``ablation-missing``, ``ablation-invalid``.
    """
    file = Path(path)
    where = Where(file=str(file))
    hint = "`untaken crafter run --ablation --json` writes one."
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UntakenError("ablation-missing", "no such file", where=where, hint=hint) from error
    try:
        if len(data) > limits.PLANNING_BYTES:
            raise ValueError("it is too large")
        return msgspec.convert(_with_reasons(parse_json(data)), Ablation)
    except (JsonFault, ValueError) as error:
        raise UntakenError(
            "ablation-invalid", f"no ablation: {clip(error)}", where=where, hint=hint
        ) from error


def _with_reasons(value: Any) -> Any:
    """A document in which unscored values carry their reason."""
    if isinstance(value, list):
        return [_with_reasons(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {"reason": value[f"{name}_reason"]} if f"{name}_reason" in value else _with_reasons(item)
        for name, item in value.items()
    }


def _setup(setup: Setup) -> Document:
    win = setup.win
    win_options = None if win is None else asdict(win) | {"interventions": list(win.interventions)}
    return entry(setup) | {"options": dict(setup.options), "win": win_options}


def _arm(arm: AblationArm) -> Document:
    return entry(arm) | {"success_percent": dict(arm.success_percent)}
