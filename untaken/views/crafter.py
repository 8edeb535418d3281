"""The documents about Crafter: scores, episodes, ablations (§7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import JsonFault, parse_json
from untaken.simulator import (
    PUBLISHED,
    Ablation,
    AblationArm,
    ArmDifference,
    Episode,
    MethodScore,
    Mistakes,
    Setup,
    Term,
    Watched,
    Watching,
    WhatIfNot,
    WinSettings,
    WinSummary,
    found_mistakes,
    remarks,
    succeeded,
    success_rule,
    summarise_wins,
)
from untaken.traces import clip
from untaken.views.documents import Count, DocumentPart, Spread


class CrafterScoreDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.crafter-score/1"):
    """Methods by score, with every seed behind it."""

    budget_steps: Count
    methods: Sequence[MethodScore]
    findings: Sequence[Finding]


class SetupEntry(DocumentPart, frozen=True, kw_only=True):
    """Everything that decides an episode besides its seed."""

    setup: Spread[Setup]
    options: Mapping[str, float | str]
    win: WinSettings | None


class EpisodeEntry(DocumentPart, frozen=True, kw_only=True):
    """An episode, its run id and whether it succeeded."""

    episode: Spread[Episode]
    run_id: str
    success: bool
    unlocked: Mapping[str, Count]
    kept: Mapping[str, Count]


class ArmEntry(DocumentPart, frozen=True, kw_only=True):
    """An arm beside the published figures."""

    arm: Spread[AblationArm]
    published: float
    published_sd: float


class CrafterRunDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.crafter-run/1"):
    """Episodes of one setup, what they reached, and where they are recorded."""

    setup: SetupEntry
    success: str
    summary: AblationArm
    episodes: Sequence[EpisodeEntry]
    ledgers: Sequence[str]


class CrafterAblationDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.crafter-ablation/1"):
    """The four arms in the same worlds, beside the published figures."""

    setup: SetupEntry
    seeds: Sequence[int]
    causes_matter: bool
    arms: Sequence[ArmEntry]
    differences: Sequence[ArmDifference]
    remarks: Sequence[str]
    unanswered: Count | UnsetType = UNSET


class CrafterWinStep(DocumentPart, frozen=True, kw_only=True):
    """A step of an episode, its action beside what else could have been done."""

    step: Spread[Watched]
    found: Spread[WhatIfNot]
    terms: Sequence[Term]


class CrafterWinDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.crafter-win/1"):
    """An episode seen by What-If-Not."""

    settings: Watching
    summary: WinSummary
    mistakes: Mistakes
    steps: Sequence[CrafterWinStep]


def crafter_run_document(
    setup: Setup, arm: AblationArm, episodes: Sequence[Episode], *, ledgers: Sequence[Path] = ()
) -> CrafterRunDocument:
    """The document of `episodes` of one setup."""
    return CrafterRunDocument(
        setup=SetupEntry.of(setup, setup=setup),
        success=success_rule(setup.task),
        summary=arm,
        episodes=[
            EpisodeEntry.of(one, episode=one, run_id=setup.run_id(one.seed), success=succeeded(one))
            for one in episodes
        ],
        ledgers=[str(path) for path in ledgers],
    )


def crafter_ablation_document(found: Ablation) -> CrafterAblationDocument:
    """The document of an ablation."""
    return CrafterAblationDocument.of(
        found,
        setup=SetupEntry.of(found.setup, setup=found.setup),
        arms=[
            ArmEntry(arm=arm, published=mean, published_sd=sd)
            for arm, (mean, sd) in ((arm, PUBLISHED[arm.name]) for arm in found.arms)
        ],
        remarks=remarks(found),
        unanswered=UNSET if found.unanswered is None else found.unanswered,
    )


def crafter_win_document(settings: Watching, steps: Sequence[Watched]) -> CrafterWinDocument:
    """The document of an episode."""
    return CrafterWinDocument(
        settings=settings,
        summary=summarise_wins([step.found for step in steps]),
        mistakes=found_mistakes(steps),
        steps=[CrafterWinStep(step=one, found=one.found, terms=one.found.terms) for one in steps],
    )


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
