"""Where each failed run counts, and the items that follow from it (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from math import inf

import msgspec
from msgspec.structs import replace

from untaken.analysis.corpus import Corpus
from untaken.analysis.fix_first.gains import Passed, agents_of
from untaken.analysis.fix_first.items import FixItem, LeftSubGoal
from untaken.analysis.fix_first.recommending import recommended
from untaken.analysis.fix_first.subjects import Subject
from untaken.analysis.fix_first.tally import Failure, FailureTally, Miss, one_of_two
from untaken.scoring import BlamedRun, Cause, PassedRun, Way, attempts_at, brief_cause, causes_of, commonest


def items_of(tally: FailureTally) -> tuple[tuple[FixItem, ...], tuple[Cause, ...]]:
    """The items of a tally, most failed runs first, and the causes found over all of them."""
    first, clean = _first_failures(tally)
    found: list[FixItem] = []
    causes: list[Cause] = []
    for subject, runs in first.items():
        items, mine = _of_subject(tally, subject, runs)
        found += items
        causes += mine
    found += _of_clean(tally, clean)
    found = _with_missed(tally, found)
    found = recommended(found, tally)
    causes += _skips(found, tally)
    causes.sort(key=lambda cause: (-len(cause.runs), cause.sub_goal, brief_cause(cause)))
    named = (replace(item, first_run=tally.corpus.runs[item.runs[0]].run_id) for item in found if item.runs)
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
    left = {
        failure.compared: failure for digest in tally.counted for failure in tally.placed[digest].failures
    }
    found = []
    for (subject, way), failure in left.items():
        if (subject.members[0], way) in named:
            continue
        (failed, succeeded), (of_failed, of_succeeded) = tally.often(subject, way), tally.often(subject)
        found.append(
            LeftSubGoal(
                graph=subject.graph,
                sub_goal=subject.sub_goal,
                title=subject.name,
                way=way,
                failed_runs=failed,
                of_failed=of_failed,
                successes=succeeded,
                of_successes=of_succeeded,
                doubt=tally.harmless(failure),
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.doubt, -one.failed_runs, one.title, one.way)))


def _first_failures(tally: FailureTally) -> tuple[dict[Subject, dict[str, Failure]], list[str]]:
    """The failed runs of each subject at which they fail first; and those that left nothing that counts."""
    first: dict[Subject, dict[str, Failure]] = {}
    clean: list[str] = []
    for digest in tally.counted:
        for failure in tally.placed[digest].failures:
            if not tally.harmless(failure):
                first.setdefault(failure.subject, {})[digest] = failure
                break
        else:
            clean.append(digest)
    return first, clean


def _passed(tally: FailureTally, subject: Subject, digests: Sequence[str]) -> list[PassedRun]:
    ends: dict[int, tuple[float, float] | None] = {}
    for ending in {id(one): one for one in map(tally.placed.__getitem__, digests)}.values():
        names = [name for graph, name in subject.members if graph == ending.score.graph_id]
        events = attempts_at(ending.score, tally.graph(ending.score), names)
        first, last = (events[0], events[-1]) if events else (inf, inf)
        # Of the failed runs, those that had failed before are not here: no more may they be of the others.
        late = any(f.undone.place < first and not tally.harmless(f) for f in ending.failures)
        ends[id(ending)] = None if late else (first, last)
    return [
        PassedRun(run=tally.corpus.runs[digest], first=at[0], last=at[1])
        for digest in digests
        if (at := ends[id(tally.placed[digest])])
    ]


def _of_subject(
    tally: FailureTally, subject: Subject, runs: Mapping[str, Failure]
) -> tuple[list[FixItem], tuple[Cause, ...]]:
    """The items of the runs that fail first at one subject, and the causes."""
    blamed = {
        digest: BlamedRun(
            run=tally.corpus.runs[digest],
            node=failure.goal,
            events=failure.undone.events,
            moment=failure.undone.place + 0.5,  # its last attempt may be the cause
        )
        for digest, failure in runs.items()
    }
    here = Passed(tally, tally.passed.get(subject, ()))
    passed = _passed(tally, subject, here.runs)
    causes = causes_of(subject.name, list(blamed.values()), passed)
    items, left = [], dict(runs)
    for cause in causes:
        mine = {digest: left.pop(digest) for digest in cause.runs}  # no run is in two causes
        ways_of = Counter(one.undone.way for one in mine.values())
        way = min(ways_of, key=lambda one: (-ways_of[one], one))  # whatever the order of the runs
        items.append(_item(here, subject, way, mine, cause))
    ways: dict[Way, dict[str, Failure]] = {}
    for digest, one in left.items():
        ways.setdefault(one.undone.way, {})[digest] = one
    for way, mine in ways.items():
        often = commonest([blamed[digest] for digest in mine], passed)
        items.append(replace(_item(here, subject, way, mine), commonest=often))
    return items, causes


def _item(
    here: Passed, subject: Subject, way: Way, runs: Mapping[str, Failure], cause: Cause | None = None
) -> FixItem:
    named = (
        way,
        subject.members,
        cause and (cause.kind, cause.tool, cause.error, cause.argument, cause.value),
    )
    ordered = in_turn(here.tally.corpus, runs)
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
        **here.figures(runs),
        missed=len(runs),
        runs=ordered,
        goals=tuple(runs[digest].goal.id for digest in ordered),
        seqs=tuple(next(reversed(runs[digest].undone.events), None) for digest in ordered),
    )


def _of_clean(tally: FailureTally, clean: Sequence[str]) -> Iterator[FixItem]:
    """Failed runs that left nothing uncompleted that goes with failure."""
    if not clean:
        return
    # The first accepted change that no sub-goal expects, with its `seq`.
    changes: dict[str, tuple[str, int | None]] = dict.fromkeys(tally.placed, ("", None))
    for digest, run in tally.corpus.plans.runs.items():
        for one in run.path.decisions:
            if one.option.kind == "unplanned":
                changes[digest] = one.option.name, one.seq
                break
    groups: dict[str, list[str]] = {}
    for digest in clean:
        groups.setdefault(changes[digest][0], []).append(digest)
    for tool, runs in groups.items():
        alike = [
            digest
            for digest, ending in tally.placed.items()
            # Without such a tool, all runs that completed everything are compared with.
            if not ending.failures and not (tool and changes[digest][0] == tool)
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
            **Passed(tally, alike).figures(runs),
            runs=ordered,
            seqs=tuple(changes[digest][1] for digest in ordered),
        )


def _with_missed(tally: FailureTally, items: Sequence[FixItem]) -> list[FixItem]:
    """Each critical sub-goal that any run missed is on the list, and each miss counts in one item."""
    found = list(items)
    for subject, missed in tally.missed.items():
        own = [at for at, item in enumerate(found) if subject.members == item.members]
        failing = {digest: at for at in own for digest in found[at].runs}
        parts: dict[int, dict[str, Miss]] = {}
        rest: dict[Way, dict[str, Miss]] = {}
        for digest, miss in missed.items():
            alike = [at for at in own if one_of_two(found[at].way) == one_of_two(miss.way)]
            # The item at which the run fails first, else one with the same way of failing, or nearly.
            near = min(alike, key=lambda at: (found[at].way != miss.way, at), default=None)
            at = failing.get(digest, near)
            if at is None:
                rest.setdefault(one_of_two(miss.way), {})[digest] = miss
            else:
                parts.setdefault(at, {})[digest] = miss
        for at, runs in parts.items():
            found[at] = _missing(tally, found[at], runs)
        for way, runs in rest.items():
            ordered = in_turn(tally.corpus, runs)
            bare = replace(
                _item(Passed(tally, tally.passed.get(subject, ())), subject, way, {}),
                runs=ordered,
                goals=tuple(runs[digest].goal for digest in ordered),
                agents=agents_of(tally, runs),
                seqs=(None,) * len(ordered),
            )
            found.append(_missing(tally, bare, runs))
    return found


def _missing(tally: FailureTally, item: FixItem, runs: Mapping[str, Miss]) -> FixItem:
    often = item.commonest
    few = often is not None and len(often.runs) < len({*item.runs, *runs}) / 2  # now it counts more runs
    return replace(
        item,
        commonest=None if few else often,
        critical_gain=sum(miss.times for miss in runs.values()) / tally.critical,
        missed=len(runs),
        missed_successes=len(tally.succeeded.keys() & runs.keys()),
    )


def _skips(items: Sequence[FixItem], tally: FailureTally) -> Iterator[Cause]:
    """Recommended items of a sub-goal that is never attempted, as causes beside the others."""
    for item in items:
        fails = item.recommended and item.failed_runs and item.cause is None
        if fails and item.way == "never attempted":
            subject = tally.subjects[item.members[0]]
            n, elsewhere = tally.often(subject)
            yield Cause(
                kind="skipped",
                sub_goal=item.title,
                critical=item.critical,
                runs=item.runs,
                n=n,
                elsewhere_k=tally.often(subject, item.way)[1],
                elsewhere_n=elsewhere,
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
