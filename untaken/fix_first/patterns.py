"""Failures that are alike across tasks, for logs in which every task has its own plan graph.

Sub-goals that fail first go together where their checks (else their rules) name the same tool, else where
their titles are the same but for numbers and names in quotes; and where they failed in the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import fsum
from typing import Final

import msgspec

from untaken import stats
from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.fix_first.blame import First
from untaken.fix_first.findings import FailurePattern, Often, Way
from untaken.ledger import Run
from untaken.plans import SubGoal

WAYS: Final[Mapping[bool | None, Way]] = {
    False: "never attempted",
    True: "attempted without success",
    None: "attempts unknown",
}
SPECIFIC: Final = re.compile(
    r"[\"'`\u2018\u201c][^\"'`\u2018-\u201d]*+[\"'`\u2019\u201d]|(?<!\w)[^\W\d]*+\d\w*+"
)
"""What differs between titles of one kind: words in quotes, and words with digits."""
NUMBERED: Final = re.compile(r"\.\d+(?=\.|$)")
"""A place in a list: items of one list are one argument."""
MOST_ARGUMENTS: Final = 5


@dataclass(slots=True)
class _Alike:
    """What belongs to one pattern, while it is gathered."""

    keys: set[tuple[str, str]] = field(default_factory=set)
    much: dict[str, list[float]] = field(default_factory=dict)
    goals: dict[str, str] = field(default_factory=dict)
    attempted: list[tuple[str, str]] = field(default_factory=list)
    critical: bool = False


def failure_patterns(
    corpus: Corpus, hits: Mapping[tuple[str, str], Mapping[str, First]], sample: stats.TaskSample
) -> tuple[FailurePattern, ...]:
    """Groups of sub-goals of two plan graphs or more that fail alike in two tasks or more."""
    nodes = {(graph.id, node.id): node for graph in corpus.graphs.graphs for node in graph.sub_goals}
    alike: dict[tuple[str, Way], _Alike] = {}
    for key, found in hits.items():
        subject = subject_of(nodes[key])
        for digest, first in found.items():
            one = alike.setdefault((subject, WAYS[first.node.attempted]), _Alike())
            one.keys.add(key)
            one.much.setdefault(digest, []).append(first.much)
            one.goals.setdefault(digest, key[1])
            one.critical |= first.node.critical
            if first.node.attempted:
                one.attempted.append((digest, key[1]))
    units = {graph.id for graph in corpus.graphs.graphs if any(node.critical for node in graph.sub_goals)}
    made = [_pattern(corpus, name, one, sample, units) for name, one in alike.items()]
    gains = [one for one in made if one is not None]
    return tuple(sorted(gains, key=lambda one: (-one.gain, -one.often.count, one.title or "")))


def subject_of(node: SubGoal) -> str:
    """What a sub-goal is about: a tool, or its title without what is special to one task."""
    if node.check is not None and node.check.tool_call is not None:
        return node.check.tool_call.name
    tools = {str(rule.tool) for rule in node.rules if rule.tool is not None}
    if node.check is None and len(tools) == 1:
        return tools.pop()
    title = node.title or node.id
    shared = SPECIFIC.sub("…", title)
    if not any(map(str.isalpha, shared)):  # all of it is special to one task
        shared = title
    words = " ".join(shared.split()).casefold().rstrip(".")
    return f"{words[:1].upper()}{words[1:]}"


def _pattern(
    corpus: Corpus, name: tuple[str, Way], one: _Alike, sample: stats.TaskSample, units: set[str]
) -> FailurePattern | None:
    subject, way = name
    runs = {digest: corpus.runs[digest] for digest in one.much}
    tasks = {run.task_id for run in runs.values()}
    graphs = {graph for graph, _ in one.keys}
    if len(tasks) < 2 or len(graphs) < 2:
        return None
    values = {digest: min(1.0, fsum(some)) for digest, some in one.much.items()}
    total, often = fsum(values.values()), often_of(values, sample)
    low, high = sample.interval(values)
    ordered = largest_first(runs, values)
    arguments = _arguments(corpus, one.attempted)
    return FailurePattern(
        kind="sub_goal",
        digest=sha256(msgspec.json.encode([subject, way])).hexdigest()[:16],
        title=f"{subject}: {way}",
        critical=one.critical,
        often=often,
        required=often.n,
        much=total / len(values),
        gain=total / sample.n,
        low=low,
        high=high,
        unit="critical completion" if graphs <= units else "completion",
        reason=f"{subject} fails first in {often.count} of {often.n} scored runs ({way}), over "
        f"{len(tasks)} tasks and {len(one.keys)} sub-goals{_unmet(arguments)}",
        runs=ordered,
        agents=dict(Counter(sorted(run.agent for run in runs.values())).most_common()),
        subject=subject,
        way=way,
        tasks=len(tasks),
        sub_goals=len(one.keys),
        goals=tuple(one.goals[digest] for digest in ordered),
        arguments=arguments,
    )


def _arguments(corpus: Corpus, attempted: Iterable[tuple[str, str]]) -> dict[str, int]:
    """How many attempts had an unexpected value, for each argument; the most frequent first."""
    met: Counter[str] = Counter()
    for digest, sub_goal in attempted:
        score = corpus.scores[digest]
        parts = () if isinstance(score, Unscored) else score.node(sub_goal).differences
        met.update({NUMBERED.sub("", part.field) for part in parts if not part.met})
    return dict(sorted(met.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ARGUMENTS])


def _unmet(arguments: Mapping[str, int]) -> str:
    named = ", ".join(f"{name} ({runs})" for name, runs in arguments.items())
    return f"; not as expected: {named}" if named else ""


def largest_first(runs: Mapping[str, Run], weight: Mapping[str, float]) -> tuple[str, ...]:
    """Runs of equal weight, taking each agent in turn, so that the first few are of several agents."""
    ordered = sorted(runs, key=lambda d: (runs[d].agent, runs[d].task_id, runs[d].run_id, d))
    met: Counter[tuple[float, str]] = Counter()
    turn: dict[str, int] = {}
    for digest in ordered:
        key = weight[digest], runs[digest].agent
        turn[digest] = met[key]
        met[key] += 1
    return tuple(sorted(ordered, key=lambda d: (-weight[d], turn[d])))


def often_of(hits: Mapping[str, object], sample: stats.TaskSample) -> Often:
    """The share of the runs that are in `hits`."""
    low, high = sample.interval(dict.fromkeys(hits, 1.0))
    return Often(count=len(hits), n=sample.n, low=low, high=high)
