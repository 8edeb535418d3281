"""A judge's passport: how far its verdicts agree with people, bound to what they were made with (§12).

A passport is of one judge as it was: its model, prompt and settings, and the sub-goals as it was asked about
them. Where any of these changed since, or the labels themselves, it is stale.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from untaken import stats
from untaken.atomic_file import change_file
from untaken.errors import Score, Unscored, UntakenError, Where, number
from untaken.judging.agreement import VerdictPair, estimate_agreement, independent
from untaken.judging.questions import sub_goal_digest
from untaken.judging.reviewers import EVERYBODY
from untaken.judging.trust import FEWEST_PAIRS, LEAST_KAPPA, judges_of, trust_of
from untaken.ledger import MadeWith, Run, Verdict
from untaken.numbers import counted
from untaken.plans import GraphSet, escape_glob
from untaken.scoring import not_withdrawn, ruling, whose_count

NOT_RECORDED: Final = "not recorded"


class Figure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure with its 95% interval; ``None`` where there is no evidence for it."""

    value: float | None
    low: float | None
    high: float | None


class Confusion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often people and the judge call sub-goals met."""

    both_met: int
    only_people: int
    only_judge: int
    both_not: int


class MeasuredSubGoal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sub-goal that the judge decided when it was measured, with its confusion against people.

    `digests`: of the sub-goal as it was asked about (runs that name no plan may have one of each task); empty
    where neither verdicts nor plans tell.
    """

    graph: str
    sub_goal: str
    digests: list[str]
    confusion: Confusion


class LabelledVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the verdicts that the passport rests on, by the content digest of its run."""

    run: str
    graph: str
    sub_goal: str
    people: bool
    judge: bool


class JudgePassport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judge against people's labels; names are untrusted text.

    Attributes:
        judge: who (VERDICT.by).
        model, prompt, settings: what its verdicts were made with; `NOT_RECORDED` where they do not say.
        date: when it was measured.
        people: whose word was taken for the truth, as globs.
        items, labels, tasks: sub-goals of runs that it was asked about; those it decided that have a label;
            tasks (or runs) with one.
        agents: labels by agent.
        agreement, kappa: with people.
        sensitivity: of what people call met, the share that it calls met; specificity: of what they call not
            met, the share that it calls not met.
        judge_rate: its own rate; rate: corrected by the labels.
        draw: why the labels may be no random draw of what it decided; empty where they look like one.
        labelled: what all this was measured on.
    """

    judge: str
    model: str
    prompt: str
    settings: str
    date: str
    people: list[str]
    items: int
    labels: int
    tasks: int
    agents: dict[str, int]
    confusion: Confusion
    agreement: Figure
    kappa: Figure
    sensitivity: Figure
    specificity: Figure
    judge_rate: float | None
    rate: Figure
    draw: str
    sub_goals: list[MeasuredSubGoal]
    labelled: list[LabelledVerdict]

    @property
    def identity(self) -> Identity:
        """What it is bound to, sub-goals apart."""
        return Identity(self.model, self.prompt, self.settings)

    @property
    def doubt(self) -> str:
        """Why the judge may not speak by what was measured; empty where it may."""
        if self.labels < FEWEST_PAIRS:
            return f"{counted(self.labels, 'label')} of people; {FEWEST_PAIRS} are needed"
        # A file keeps no reason; to decide by, none is needed.
        low, high = (Unscored("") if end is None else end for end in (self.kappa.low, self.kappa.high))
        if trust_of(low, high, self.labels) == "unreliable":
            return f"it agrees too little with people: κ is below {LEAST_KAPPA:g}"
        return ""


class Identity(NamedTuple):
    """What makes one judge: another model, prompt or setting is another one."""

    model: str
    prompt: str
    settings: str

    @classmethod
    def of(cls, made_with: MadeWith | None) -> Identity:
        """Of what a verdict says of itself."""
        if made_with is None:
            return cls(NOT_RECORDED, NOT_RECORDED, NOT_RECORDED)
        return cls(made_with.model, made_with.prompt, made_with.settings)

    def changed(self, since: Identity) -> str:
        """Which parts differ from what was measured, in words."""
        return ", ".join(name for name, new, old in zip(self._fields, self, since, strict=True) if new != old)


def measure_judges(
    runs: Iterable[Run],
    graphs: GraphSet,
    *,
    date: str,
    people: Sequence[str] = EVERYBODY,
    judges: Sequence[str] = ("judge:*",),
) -> tuple[JudgePassport, ...]:
    """The passport of each judge with a verdict: one for each model, prompt and settings behind its name.

    Args:
        runs: broken ones are left out.
        graphs: the plans, which tell what a sub-goal was where verdicts do not.
        date: to write into it.
        people: globs over VERDICT.by whose word is taken for the truth; their labels must be a random draw.
        judges: globs of those to measure.
    """
    sound = [run for run in runs if not run.integrity.broken]
    found = []
    for author in judges_of(sound, judges):
        kinds: dict[Identity, list[JudgedSubGoal]] = defaultdict(list)
        for one in judged_sub_goals(sound, graphs, author, people):
            kinds[Identity.of(one.verdict.made_with)].append(one)
        decided = [kind for kind, some in sorted(kinds.items()) if any(one.decided for one in some)]
        found += [_passport(author, kinds[kind], kind, people, date) for kind in decided]
    return tuple(found)


class JudgedSubGoal(Struct, frozen=True, kw_only=True):
    """A judge's latest verdict on a sub-goal of a run, and what people say there."""

    run: Run
    verdict: Verdict
    people: bool | None
    digest: str | None
    """Of the sub-goal as it is in the plan now."""

    @property
    def decided(self) -> bool:
        """Whether the judge could tell."""
        return self.verdict.passed is not None

    @property
    def place(self) -> tuple[str, str]:
        """The plan that the run names, and the sub-goal."""
        return self.run.started.graph or "", self.verdict.sub_goal


def judged_sub_goals(
    runs: Iterable[Run], graphs: GraphSet, author: str, people: Sequence[str]
) -> list[JudgedSubGoal]:
    """The latest verdict of one judge on each sub-goal of each run."""
    found = []
    for run in runs:
        verdicts = not_withdrawn(run.of(Verdict))
        # In the order of the ledger: the latest stays.
        own = {one.sub_goal: one for one in verdicts if one.by == author}
        if not own:
            continue
        digests = _digests(run, graphs)
        for sub_goal, verdict in own.items():
            ruled = ruling(whose_count([one for one in verdicts if one.sub_goal == sub_goal], [people]))
            met = ruled.passed if ruled is not None and isinstance(ruled.passed, bool) else None
            found.append(JudgedSubGoal(run=run, verdict=verdict, people=met, digest=digests.get(sub_goal)))
    return found


def _digests(run: Run, graphs: GraphSet) -> Mapping[str, str]:
    graph, _ = graphs.for_task(run.task_id, run.started.graph)
    return {} if isinstance(graph, Unscored) else {one.id: sub_goal_digest(one) for one in graph.sub_goals}


def _passport(
    author: str, judged: Sequence[JudgedSubGoal], kind: Identity, people: Sequence[str], date: str
) -> JudgePassport:
    from untaken.judging.labelling import labelled_rates  # noqa: PLC0415 (slow: it loads numpy)

    decided = [one for one in judged if one.decided]
    pairs = [_pair(one, author) for one in decided if one.people is not None]
    whole = estimate_agreement("all", "", pairs, independent(pairs))
    runs = {one.run.digest: one.run for one in judged}.values()
    # A run may hold verdicts of the same judge with another model, prompt or settings.
    own = {(one.run.digest, one.verdict.sub_goal) for one in judged}
    rates = labelled_rates(runs, people, [escape_glob(author)], among=own)  # a name may hold glob signs
    rate = rates.overall
    return JudgePassport(
        judge=author,
        **kind._asdict(),
        date=date,
        people=list(people),
        items=len(judged),
        labels=whole.n,
        tasks=whole.clusters,
        agents=dict(sorted(Counter(pair.agent for pair in pairs).items())),
        confusion=_confusion(pairs),
        agreement=_figure(whole.agreement, whole.low, whole.high),
        kappa=_figure(whole.kappa, whole.kappa_low, whole.kappa_high),
        sensitivity=_right([pair for pair in pairs if pair.a]),
        specificity=_right([pair for pair in pairs if not pair.a]),
        judge_rate=number(rate.judge),
        rate=_figure(rate.value, rate.low, rate.high),
        draw="; ".join(finding.message for finding in rates.findings),
        sub_goals=_sub_goals(decided, author),
        labelled=[
            LabelledVerdict(
                run=pair.digest, graph=pair.graph, sub_goal=pair.sub_goal, people=pair.a, judge=pair.b
            )
            for pair in pairs
        ],
    )


def _pair(one: JudgedSubGoal, author: str) -> VerdictPair:
    return VerdictPair(
        run_id=one.run.run_id,
        digest=one.run.digest,
        agent=one.run.agent,
        task_id=one.run.task_id,
        graph=one.place[0],
        sub_goal=one.place[1],
        a=bool(one.people),
        b=bool(one.verdict.passed),
        a_by=(),
        b_by=(author,),
    )


def _confusion(pairs: Sequence[VerdictPair]) -> Confusion:
    return Confusion(
        both_met=sum(pair.a and pair.b for pair in pairs),
        only_people=sum(pair.a and not pair.b for pair in pairs),
        only_judge=sum(pair.b and not pair.a for pair in pairs),
        both_not=sum(not pair.a and not pair.b for pair in pairs),
    )


def _right(pairs: Sequence[VerdictPair]) -> Figure:
    """The share of one opinion among pairs that people call alike: sensitivity or specificity."""
    clusters: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    tasks = independent(pairs) == "task"
    for pair in pairs:
        clusters[pair.task_id if tasks else pair.digest].append((pair.a, pair.b))
    return _figure(*stats.agreement_share(list(clusters.values())))


def _figure(value: Score, low: Score, high: Score) -> Figure:
    return Figure(value=number(value), low=number(low), high=number(high))


def _sub_goals(judged: Sequence[JudgedSubGoal], author: str) -> list[MeasuredSubGoal]:
    places: dict[tuple[str, str], list[JudgedSubGoal]] = defaultdict(list)
    for one in judged:
        places[one.place].append(one)
    return [
        MeasuredSubGoal(
            graph=graph,
            sub_goal=sub_goal,
            digests=sorted({digest for one in some if (digest := asked_about(one)) is not None}),
            confusion=_confusion([_pair(one, author) for one in some if one.people is not None]),
        )
        for (graph, sub_goal), some in sorted(places.items())
    ]


def asked_about(one: JudgedSubGoal) -> str | None:
    """Digest of the sub-goal as the judge was asked about it; where that is not recorded, as it is now."""
    return one.digest if one.verdict.made_with is None else one.verdict.made_with.sub_goal


FILE: Final = "judge-passports.json"
"""In a workspace, or beside ledgers: there every command and page finds it."""
MOST_BYTES: Final = 64 << 20


class Passports(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="schema",
    tag="untaken.passport/1",
    forbid_unknown_fields=True,
):
    """What a file of passports holds."""

    judges: list[JudgePassport]


def load_passports(path: str | Path) -> tuple[JudgePassport, ...]:
    """The passports in a file.

    Raises:
        UntakenError: ``passport-missing``; ``passport-invalid`` for what `save_passports` never writes.
    """
    file = Path(path)
    where = Where(file=str(file))
    if not file.is_file():
        hint = "`untaken agree PATH --passport FILE` writes one from labels of people."
        raise UntakenError("passport-missing", "no passports of judges found", where=where, hint=hint)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise msgspec.ValidationError("it is too large")
        return tuple(msgspec.json.decode(file.read_bytes(), type=Passports).judges)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        hint = "Write it again with `untaken agree PATH --passport FILE`."
        message = f"this is no file of passports: {error}"
        raise UntakenError("passport-invalid", message, where=where, hint=hint) from error


def save_passports(found: Sequence[JudgePassport], path: str | Path) -> tuple[JudgePassport, ...]:
    """Adds passports to a file; those of the same judges are replaced. All that it holds now.

    Raises:
        UntakenError: ``passport-invalid`` for a file that holds anything else; then nothing is written.
    """
    file, measured = Path(path), {one.judge for one in found}

    def change(kept: tuple[JudgePassport, ...]) -> tuple[JudgePassport, ...]:
        return tuple(
            sorted(
                (*(one for one in kept if one.judge not in measured), *found),
                key=lambda one: (one.judge, one.identity),
            )
        )

    return change_file(file, lambda: load_passports(file) if file.exists() else (), change, _encoded)


def _encoded(found: Sequence[JudgePassport]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(Passports(judges=list(found))), indent=2) + b"\n"


def passports_beside(paths: Iterable[str | Path]) -> tuple[JudgePassport, ...]:
    """Those kept in the first of these folders, or of the workspace that it is the ledgers of, that has any.

    Raises:
        UntakenError: as `load_passports`.
    """
    for path in map(Path, paths):
        for folder in (path, path.parent):
            if (folder / FILE).is_file():
                return load_passports(folder / FILE)
    return ()
