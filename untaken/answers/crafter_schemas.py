"""JSON Schemas of the Crafter documents (§7)."""

from __future__ import annotations

import msgspec

from untaken.answers.shapes import (
    COUNT,
    TEXT,
    Schema,
    document,
    entry_shape,
    findings,
    list_of,
    or_null,
    values_of,
)
from untaken.crafter.ablation import AblationArm, ArmDifference
from untaken.crafter.calibration import Bin, CalibrationPair, Figure, Measure, Settings
from untaken.crafter.loop import Episode, WinSettings
from untaken.crafter.record import PlanningRecord
from untaken.crafter.simulator import MethodScore, SeedScore
from untaken.crafter.simulator.playing import Setup
from untaken.crafter.win import Mistakes, Term, Watched, Watching, WhatIfNot, WinSummary

PAIR = CalibrationPair.__struct_fields__
"""Columns of a calibration's pairs."""


def score() -> Schema:
    """``untaken.crafter-score/1``."""
    percent = values_of({"type": "number"})
    seed = entry_shape(SeedScore, success_percent=percent)
    return document(
        "untaken.crafter-score/1",
        budget_steps=COUNT,
        methods=list_of(entry_shape(MethodScore, success_percent=percent, by_seed=list_of(seed))),
        findings=findings(),
    )


def run() -> Schema:
    """``untaken.crafter-run/1``."""
    episode = entry_shape(
        Episode, run_id=TEXT, success={"type": "boolean"}, unlocked=values_of(COUNT), kept=values_of(COUNT)
    )
    return document(
        "untaken.crafter-run/1",
        setup=_setup(),
        success=TEXT,
        summary=_arm(),
        episodes=list_of(episode),
        ledgers=list_of(TEXT),
    )


def ablation() -> Schema:
    """``untaken.crafter-ablation/1``."""
    number = {"type": "number"}
    return document(
        "untaken.crafter-ablation/1",
        optional={"unanswered": COUNT},
        setup=_setup(),
        seeds=list_of({"type": "integer"}),
        causes_matter={"type": "boolean"},
        arms=list_of(_arm(published=number, published_sd=number)),
        differences=list_of(entry_shape(ArmDifference)),
        remarks=list_of(TEXT),
    )


def win() -> Schema:
    """``untaken.crafter-win/1``."""
    step, found = (
        entry_shape(Watched),
        entry_shape(WhatIfNot, terms=list_of(entry_shape(Term)), left_out=values_of(TEXT)),
    )
    found["properties"] |= step["properties"]
    found["required"] += step["required"]
    return document(
        "untaken.crafter-win/1",
        settings=entry_shape(Watching),
        summary=entry_shape(WinSummary),
        mistakes=entry_shape(Mistakes),
        steps=list_of(found),
    )


def _setup() -> Schema:
    win = entry_shape(WinSettings, interventions=list_of(TEXT))
    return entry_shape(Setup, options=values_of({"type": ["number", "string"]}), win=or_null(win))


def _arm(**more: Schema) -> Schema:
    return entry_shape(AblationArm, success_percent=values_of({"type": "number"}), **more)


def planning() -> Schema:
    """``untaken.planning/1``, a record of planning."""
    return msgspec.json.schema(PlanningRecord)


def calibration() -> Schema:
    """``untaken.calibration/1``, whose pairs are rows."""
    figure = entry_shape(Figure)
    figures = dict.fromkeys(("three_way", "sign", "spearman", "rmse", "coverage"), figure)
    row = {"type": "array", "items": {"type": ["string", "number", "null"]}, "minItems": len(PAIR)}
    return document(
        "untaken.calibration/1",
        settings=entry_shape(Settings, options=values_of({"type": "number"})),
        measures=list_of(entry_shape(Measure, **figures)),
        curve=list_of(entry_shape(Bin)),
        pairs=list_of(row | {"maxItems": len(PAIR)}),
        threshold={"type": "number"},
    )
