"""Where each failed run counts, and the items that follow from it (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf

import msgspec

from untaken.analysis.corpus import Corpus
from untaken.analysis.fix_first.gains import figures_of
from untaken.analysis.fix_first.items import FixItem, LeftSubGoal
from untaken.analysis.fix_first.recommending import recommended
from untaken.analysis.fix_first.subjects import Subject
from untaken.analysis.fix_first.tally import FailureTally, Miss, one_of_two
from untaken.errors import Unscored
from untaken.plans import SubGoal
from untaken.scoring import BlamedRun, Cause, PassedRun, Undone, Way, brief_cause, causes_of, commonest


def items_of(tally: FailureTally) -> tuple[tuple[FixItem, ...], tuple[Cause, ...]]:
    """The items of a tally, most failed runs first, and the causes found over all of them."""
    first, clean = _first_failures(tally)
    found: list[FixItem] = []
    causes: list[Cause] = []
    for subject, runs in first.items():
        blamed, passed = _looked_at(tally, subject, runs)
        mine = causes_of(subject.name, blamed, passed)
        causes += mine
        found += _of_subject(tally, subject, (blamed, passed), runs, mine)
    found += _of_clean(tally, clean)
    found = _with_missed(tally, found)
    found = recommended(found, tally)
    causes += _skips(found, tally)
    causes.sort(key=lambda cause: (-len(cause.runs), cause.sub_goal, brief_cause(cause)))
    named = (replace(item, first_run=tally.runs[item.runs[0]].run_id) for item in found if item.runs)
    return tuple(sorted(named, key=_order)), tuple(causes)


def _order(item: FixItem) -> tuple[object, ...]:
    return (
        -item.failed_runs,
        not item.recommended,
        -item.critical_gain,
        -item.missed,
        item.title,
        item.digest,
    )


def left_out(tally: FailureTally, items: Sequence[FixItem]) -> tuple[LeftSubGoal, ...]:
    """What failed runs leave uncompleted and no item names: doubts about the plan first."""
    named = {(member, one_of_two(item.way)) for item in items for member in item.members}
    harmless = {
        (f.subject, one_of_two(f.undone.way)): tally.harmless(f)
        for d in tally.counted
        for f in tally.undone[d]
    }
    found = []
    for (subject, way), doubt in harmless.items():
        if (subject.members[0], way) in named:
            continue
        runs, required = tally.ways[subject, way], tally.required[subject]
        found.append(
            LeftSubGoal(
                graph=subject.graph,
                sub_goal=subject.sub_goal,
                title=subject.name,
                way=way,
                failed_runs=tally.failures(runs),
                of_failed=tally.failures(required),
                successes=tally.successes(runs),
                of_successes=tally.successes(required),
                doubt=doubt,
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.doubt, -one.failed_runs, one.title, one.way)))


def _first_failures(tally: FailureTally) -> tuple[dict[Subject, dict[str, Undone]], list[str]]:
    """The failed runs of each subject at which they fail first; and those that left nothing that counts."""
    first: dict[Subject, dict[str, Undone]] = {}
    clean: list[str] = []
    for digest in tally.counted:
        for failure in tally.undone[digest]:
            if not tally.harmless(failure):
                first.setdefault(failure.subject, {})[digest] = failure.undone
                break
        else:
            clean.append(digest)
    return first, clean


def _looked_at(
    tally: FailureTally, subject: Subject, runs: Mapping[str, Undone]
) -> tuple[list[BlamedRun], list[PassedRun]]:
    blamed = [
        BlamedRun(
            run=tally.runs[digest],
            node=_node(tally, digest, one.node.sub_goal),
            events=one.events,
            moment=one.place + 0.5,  # its last attempt may be the cause
        )
        for digest, one in runs.items()
    ]
    passed = []
    for digest in tally.passed.get(subject, ()):
        events = tally.attempts(digest, subject)
        first, last = (events[0], events[-1]) if events else (inf, inf)
        # Of the failed runs, those that had failed before are not here: no more may they be of the others.
        if not any(f.undone.place < first and not tally.harmless(f) for f in tally.undone[digest]):
            passed.append(PassedRun(run=tally.runs[digest], first=first, last=last))
    return blamed, passed


def _node(tally: FailureTally, digest: str, sub_goal: str) -> SubGoal:
    score = tally.corpus.scores[digest]
    if isinstance(score, Unscored):
        raise TypeError("a run that counts is scored")
    return next(node for node in tally.graph(score).sub_goals if node.id == sub_goal)


def _of_subject(
    tally: FailureTally,
    subject: Subject,
    looked_at: tuple[Sequence[BlamedRun], Sequence[PassedRun]],
    runs: Mapping[str, Undone],
    causes: Sequence[Cause],
) -> Iterator[FixItem]:
    left, (blamed, passed) = dict(runs), looked_at
    for cause in causes:
        mine = {digest: left.pop(digest) for digest in cause.runs}  # no run is in two causes
        ways_of = Counter(one.way for one in mine.values())
        way = min(ways_of, key=lambda one: (-ways_of[one], one))  # whatever the order of the runs
        yield _item(tally, subject, way, mine, cause)
    ways: dict[Way, dict[str, Undone]] = {}
    for digest, one in left.items():
        ways.setdefault(one.way, {})[digest] = one
    for way, mine in ways.items():
        often = commonest([one for one in blamed if one.run.digest in mine], passed)
        yield replace(_item(tally, subject, way, mine, None), commonest=often)


def _item(
    tally: FailureTally, subject: Subject, way: Way, runs: Mapping[str, Undone], cause: Cause | None
) -> FixItem:
    passed = tally.passed.get(subject, ())
    named = (
        way,
        subject.members,
        cause and (cause.kind, cause.tool, cause.error, cause.argument, cause.value),
    )
    ordered = in_turn(tally.corpus, runs)
    return FixItem(
        kind="sub_goal" if cause is None else "cause",
        way=way,
        digest=digest_of(named),  # without counts: links stay good as runs are added
        graph=subject.graph,
        sub_goal=subject.sub_goal,
        title=subject.name,
        members=subject.members,
        critical=subject.critical,
        cause=cause,
        **figures_of(tally, runs, passed),
        missed=len(runs),
        runs=ordered,
        goals=tuple(runs[digest].node.sub_goal for digest in ordered),
        seqs=tuple(next(reversed(runs[digest].events), None) for digest in ordered),
    )


def _of_clean(tally: FailureTally, clean: Sequence[str]) -> Iterator[FixItem]:
    """Failed runs that left nothing uncompleted that goes with failure."""
    if not clean:
        return
    changes = _first_unplanned(tally.corpus, [*tally.failed, *tally.succeeded])
    tools = {digest: tool for digest, (tool, _) in changes.items()}
    groups: dict[str, list[str]] = {}
    for digest in clean:
        groups.setdefault(tools.get(digest, ""), []).append(digest)
    for tool, runs in groups.items():
        alike = [
            digest
            for digest, failures in tally.undone.items()
            # Without such a tool, all runs that completed everything are compared with.
            if not failures and not (tool and tools.get(digest) == tool)
        ]
        ordered = in_turn(tally.corpus, runs)
        way: Way = "everything completed"
        yield FixItem(
            kind="sub_goal",
            way=way,
            digest=digest_of((way, tool)),
            graph=None,
            sub_goal=None,
            title=f"Everything completed, then {tool}" if tool else "Everything completed",
            unplanned=tool,
            **figures_of(tally, runs, alike),
            runs=ordered,
            seqs=tuple(changes[digest][1] if digest in changes else None for digest in ordered),
        )


def _first_unplanned(corpus: Corpus, digests: Collection[str]) -> dict[str, tuple[str, int]]:
    """The first accepted change that no sub-goal expects, with its `seq`, of each run that made one."""
    found = {}
    for digest, run in corpus.plans.runs.items():
        unplanned = [one for one in run.path.decisions if one.option.kind == "unplanned"]
        if digest in digests and unplanned:
            found[digest] = unplanned[0].option.name, unplanned[0].seq
    return found


def _with_missed(tally: FailureTally, items: Sequence[FixItem]) -> list[FixItem]:
    """Each critical sub-goal that any run missed is on the list, and each miss counts in one item."""
    found = list(items)
    for subject, missed in tally.missed.items():
        own = [at for at, item in enumerate(found) if subject.members == item.members]
        failing = {digest: at for at in own for digest in found[at].runs}
        parts: dict[int, list[str]] = {}
        rest: dict[Way, list[str]] = {}
        for digest, (way, *_) in missed.items():
            alike = [at for at in own if one_of_two(found[at].way) == one_of_two(way)]
            # The item at which the run fails first, else one with the same way of failing, or nearly.
            near = min(alike, key=lambda at: (found[at].way != way, at), default=None)
            at = failing.get(digest, near)
            if at is None:
                rest.setdefault(one_of_two(way), []).append(digest)
            else:
                parts.setdefault(at, []).append(digest)
        for at, runs in parts.items():
            found[at] = _missing(tally, found[at], missed, runs)
        for way, runs in rest.items():
            bare = replace(_item(tally, subject, way, {}, None), runs=in_turn(tally.corpus, runs))
            agents = Counter(sorted(tally.runs[digest].agent for digest in runs))
            bare = replace(
                bare,
                goals=_goals(tally, subject, bare.runs),
                agents=dict(agents.most_common()),
                seqs=(None,) * len(bare.runs),
            )
            found.append(_missing(tally, bare, missed, runs))
    return found


def _goals(tally: FailureTally, subject: Subject, runs: Sequence[str]) -> tuple[str, ...]:
    """The member of a subject that each run missed first."""
    goals = []
    for digest in runs:
        score = tally.corpus.scores[digest]
        if isinstance(score, Unscored):
            raise TypeError("a run that missed a sub-goal is scored")
        names = {name for graph, name in subject.members if graph == score.graph_id}
        goals.append(
            next(n.sub_goal for n in score.counted if n.sub_goal in names and n.completed is not True)
        )
    return tuple(goals)


def _missing(tally: FailureTally, item: FixItem, missed: Mapping[str, Miss], runs: Sequence[str]) -> FixItem:
    often = item.commonest
    few = often is not None and len(often.runs) < len({*item.runs, *runs}) / 2  # now it counts more runs
    return replace(
        item,
        commonest=None if few else often,
        critical_gain=sum(missed[digest].times for digest in runs) / tally.critical,
        missed=len(runs),
        missed_successes=tally.successes(runs),
    )


def _skips(items: Sequence[FixItem], tally: FailureTally) -> Iterator[Cause]:
    """Recommended items of a sub-goal that is never attempted, as causes beside the others."""
    for item in items:
        fails = item.recommended and item.failed_runs and item.cause is None
        if fails and item.way == "never attempted":
            subject = tally.subjects[item.members[0]]
            required = tally.required[subject]
            yield Cause(
                kind="skipped",
                sub_goal=item.title,
                critical=item.critical,
                runs=item.runs,
                n=tally.failures(required),
                elsewhere_k=tally.successes(tally.ways.get((subject, "never attempted"), ())),
                elsewhere_n=tally.successes(required),
                p=item.p,
            )


def in_turn(corpus: Corpus, digests: Collection[str]) -> tuple[str, ...]:
    """Runs, taking each agent in turn, so that the first few are of several agents."""
    runs = corpus.runs
    ordered = sorted(digests, key=lambda d: (runs[d].agent, runs[d].task_id, runs[d].run_id, d))
    met: Counter[str] = Counter()
    turn: dict[str, int] = {}
    for digest in ordered:
        turn[digest] = met[runs[digest].agent]
        met[runs[digest].agent] += 1
    return tuple(sorted(ordered, key=turn.__getitem__))


def digest_of(named: object) -> str:
    """A short content digest of what an item names."""
    return sha256(msgspec.json.encode(named)).hexdigest()[:16]
