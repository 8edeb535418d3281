"""Recorded scores of Crafter (format ``crafter-scores``), and the Crafter score over them (§7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import expm1, fsum, log1p
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final

from msgspec import Struct

from untaken import limits
from untaken.errors import Finding, Score, Unscored, UntakenError
from untaken.simulator.crafter.names import ACHIEVEMENTS
from untaken.traces import Findings, JsonReader, Source, clip, decode_text, found_sources

BUDGET_STEPS: Final = 1_000_000
"""Environment steps within which episodes count, as published scores have it."""
_KEY: Final = "achievement_"
_MOST: Final = 2**53
"""Largest range in which every whole number is exact."""
_FORM: Final = (
    'Each record is {"method", "seed", "xs" or "length", "achievement_…" × 22}, one number an episode.'
)


class Recording(Struct, frozen=True, kw_only=True):
    """What one seed of one method did: a number an episode.

    Attributes:
        task, method, seed: as recorded; the seed as text, the task empty where it is not.
        ends: environment steps done when each episode ended, over all episodes so far.
        unlocks: times each of the 22 achievements was reached, by episode.
    """

    task: str
    method: str
    seed: str
    ends: tuple[float, ...]
    unlocks: Mapping[str, tuple[float, ...]]


class SeedScore(Struct, frozen=True, kw_only=True):
    """The score of one seed.

    Attributes:
        episodes: episodes that ended within the budget; of `recorded`.
        score: over these, in percent.
        success_percent: share of these that reached each achievement.
    """

    seed: str
    episodes: int
    recorded: int
    score: Score
    success_percent: Mapping[str, float]


class MethodScore(Struct, frozen=True, kw_only=True):
    """The score of a method at a task, over its seeds.

    Attributes:
        seeds: seeds with a score; what the means are over.
        score_mean, score_sd: mean and population standard deviation over seeds.
        success_percent: mean over seeds, by achievement.
        by_seed: every seed, those without a score too.
    """

    method: str
    task: str
    seeds: int
    episodes: int
    score_mean: Score
    score_sd: Score
    success_percent: Mapping[str, float]
    by_seed: tuple[SeedScore, ...]


def crafter_score(percents: Iterable[float]) -> float:
    """exp(mean ln(1 + s)) − 1 over the success rates s of the achievements, all in percent (§7)."""
    # Hafner (2021): near a geometric mean, so that one more rare achievement counts more than a common one.
    logs = [log1p(percent) for percent in percents]
    return expm1(fsum(logs) / len(logs))


def method_scores(
    recordings: Iterable[Recording], *, budget_steps: int = BUDGET_STEPS
) -> tuple[MethodScore, ...]:
    """The score of each method at each task: by seed first, then over seeds; the highest first.

    Args:
        recordings: of any methods, in any order.
        budget_steps: an episode counts if it ended within as many environment steps of its seed.
    """
    grouped: defaultdict[tuple[str, str], list[Recording]] = defaultdict(list)
    for recording in recordings:
        grouped[recording.method, recording.task].append(recording)
    scores = [_method(method, task, found, budget_steps) for (method, task), found in grouped.items()]
    return tuple(sorted(scores, key=_place))


def _place(score: MethodScore) -> tuple[bool, float, str, str]:
    mean = score.score_mean
    if isinstance(mean, Unscored):
        return (True, 0.0, score.method, score.task)
    return (False, -mean, score.method, score.task)


def _method(method: str, task: str, recordings: Sequence[Recording], budget: int) -> MethodScore:
    # By length first: 2 comes before 10.
    by_seed = tuple(_seed(r, budget) for r in sorted(recordings, key=lambda r: (len(r.seed), r.seed)))
    scored = [seed for seed in by_seed if seed.episodes]
    values = [seed.score for seed in scored if not isinstance(seed.score, Unscored)]
    none = Unscored(f"no seed has an episode within {budget:,} steps")
    return MethodScore(
        method=method,
        task=task,
        seeds=len(scored),
        episodes=sum(seed.episodes for seed in scored),
        score_mean=fmean(values) if values else none,
        score_sd=pstdev(values) if values else none,
        success_percent={
            name: fmean(seed.success_percent[name] for seed in scored) for name in ACHIEVEMENTS if scored
        },
        by_seed=by_seed,
    )


def _seed(recording: Recording, budget: int) -> SeedScore:
    episodes = sum(end <= budget for end in recording.ends)
    percent = {
        # Steps never go down: these are first.
        name: 100 * sum(times >= 1 for times in unlocked[:episodes]) / episodes
        for name, unlocked in recording.unlocks.items()
        if episodes
    }
    return SeedScore(
        seed=recording.seed,
        episodes=episodes,
        recorded=len(recording.ends),
        score=crafter_score(percent.values()) if percent else Unscored("no episode ended within the budget"),
        success_percent=percent,
    )


def read_scores(paths: Sequence[str | Path]) -> tuple[tuple[Recording, ...], tuple[Finding, ...]]:
    """Every record of scores in files, folders and archives, compressed or not.

    A record that cannot be used is a finding (``scores-invalid``) and costs only itself. A seed of a method
    that occurs twice counts once; if the two differ, the first counts (``scores-conflict``).

    Raises:
        UntakenError: ``source-not-found``; ``scores-missing`` where there is no record at all.
    """
    general = Findings(None)
    found: dict[tuple[str, str, str], Recording] = {}
    all_findings: list[Finding] = []
    with found_sources([Path(path) for path in paths], (".json", ".jsonl"), general) as sources:
        for source in sources:
            findings = Findings(source.name)
            for recording in _recordings(source, findings):
                _keep(recording, found, findings)
            all_findings.extend(findings.all())
    all_findings.extend(general.all())
    # Else these say why there is none.
    if not found and not any(finding.severity == "error" for finding in all_findings):
        raise UntakenError(
            "scores-missing", f"no record of scores in {', '.join(map(str, paths))}", hint=_FORM
        )
    return tuple(found.values()), tuple(all_findings)


def _keep(recording: Recording, found: dict[tuple[str, str, str], Recording], findings: Findings) -> None:
    first = found.setdefault((recording.method, recording.task, recording.seed), recording)
    seed = f"seed {clip(recording.seed)} of {clip(recording.method)}"
    if first is not recording and first == recording:
        findings.add("scores-twice", f"{seed} was read before; it counts once", severity="note")
    elif first is not recording:
        findings.add(
            "scores-conflict",
            f"{seed} was read before, with other numbers; the first counts",
            hint="Give each run of a method a seed of its own, or leave one file out.",
            severity="error",
        )


def _recordings(source: Source, findings: Findings) -> Iterable[Recording]:
    """The records of one file, one at a time."""
    try:
        text = decode_text(source.read(), findings)
    except UntakenError as error:
        findings.add(error.code, error.message, hint=error.hint, severity="error")
        return
    for element in JsonReader(text, findings).values():
        try:
            yield _recording(element.value, findings)
        except _Invalid as fault:
            findings.add("scores-invalid", f"record {element.index}: {fault}", hint=_FORM, severity="error")


class _Invalid(ValueError):
    """The record holds no usable scores."""


def _recording(record: Any, findings: Findings) -> Recording:
    if not isinstance(record, dict):
        raise _Invalid("it is not an object")
    ends = _ends(record, findings)
    unlocks = {name: _numbers(record, _KEY + name) for name in ACHIEVEMENTS}
    for name, unlocked in unlocks.items():
        if len(unlocked) != len(ends):
            raise _Invalid(f"{_KEY}{name} has {len(unlocked)} episodes, and the steps {len(ends)}")
    others = sorted(key for key in record if key.startswith(_KEY) and key[len(_KEY) :] not in ACHIEVEMENTS)
    if others:
        findings.once("scores-other-achievements", f"not of the 22, left out: {clip(', '.join(others))}")
    return Recording(
        task=_name(record, "task", needed=False),
        method=_name(record, "method"),
        seed=_name(record, "seed"),
        ends=ends,
        unlocks=unlocks,
    )


def _ends(record: Mapping[str, Any], findings: Findings) -> tuple[float, ...]:
    """Steps at the end of each episode: recorded as ``xs``, or summed up from ``length``."""
    lengths = tuple(accumulate(_numbers(record, "length"))) if "length" in record else None
    if "xs" not in record:
        if lengths is None:
            raise _Invalid("neither xs nor length says how many steps an episode took")
        return lengths
    ends = _numbers(record, "xs")
    if any(later < earlier for earlier, later in pairwise(ends)):
        raise _Invalid("xs, the steps so far, goes down")
    if lengths is not None and lengths != ends:
        findings.once("scores-steps-differ", "xs is not the sum of the lengths so far; xs counts")
    return ends


def _numbers(record: Mapping[str, Any], key: str) -> tuple[float, ...]:
    values = record.get(key)
    if not isinstance(values, list):
        raise _Invalid(f"{key} is not a list of numbers")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
            raise _Invalid(f"{key} holds {clip(repr(value))}, not a number from 0 to {_MOST}")
    return tuple(values)


def _name(record: Mapping[str, Any], key: str, *, needed: bool = True) -> str:
    """A name; seeds are recorded as texts and as numbers."""
    value = record.get(key)
    if value is None and not needed:
        return ""
    name = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 0 < len(name) <= limits.NAME_CHARS:
        raise _Invalid(f"{key} is not a name of 1 to {limits.NAME_CHARS} characters")
    return name
