"""Recorded verdicts: whose count, which authority goes first, and what several say together (§4, §6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from untaken.errors import Finding, Unscored
from untaken.ledger import Run, Verdict
from untaken.plans import matches_glob

RECORDED: Final = "test"
"""Chooses the benchmark's own recorded results instead of recomputed checks."""
EXCEPT: Final = "!"
"""Prefix of a glob in a choice of verdicts: all but these."""
PLACE: Final = "#"
"""Separates an author from the graph and sub-goal at which it is left out."""
NOT_ANCHORED: Final = "unanchored"
"""The place, after `PLACE`, of every sub-goal that is not anchored (`SubGoal.anchored`)."""
ANCHORED_ONLY: Final = f"{EXCEPT}judge:*{PLACE}{NOT_ANCHORED}"
"""Leaves judges out at such sub-goals: `untaken gate` counts nothing that rests on them alone."""
NAMED: Final = 5
"""Kinds of authors that a hint names."""
COMPARED: Final = 200
"""Authors that a glob without a match is compared with."""
AUTHORITIES: Final = (
    ("recorded checks", ("test", "rule")),
    ("reviewers", ("human:",)),
    ("judges", ("judge:",)),
)
"""Authorities by prefix of VERDICT.by and in words, the highest first."""


class Ruling(Struct, frozen=True, kw_only=True):
    """What the verdicts of the highest authority that spoke say together.

    Attributes:
        passed: unscored where they contradict each other, or where nobody could tell.
        verdicts: the verdicts behind it.
    """

    passed: bool | Unscored
    verdicts: tuple[Verdict, ...]

    @property
    def met_by_judges(self) -> bool:
        """Whether it is met, and no higher authority than judges spoke."""
        return self.passed is True and all(verdict.by.startswith("judge:") for verdict in self.verdicts)


def not_withdrawn(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a run, in its order, that their authors did not withdraw later."""
    withdrawn = {(verdict.sub_goal, verdict.by): verdict.seq for verdict in verdicts if verdict.withdrawn}
    # Nor the withdrawal.
    return [one for one in verdicts if one.seq > withdrawn.get((one.sub_goal, one.by), -1)]


def whose_count(
    verdicts: Iterable[Verdict], choices: Sequence[Sequence[str]], *, graph: str = "", anchored: bool = True
) -> list[Verdict]:
    """The verdicts whose `by` fits a glob of every choice; an empty choice lets everybody speak.

    A glob after ``!`` leaves authors out: everywhere; in one place, as in ``!judge:m#graph/sub_goal``; or,
    as in ``!judge:*#unanchored``, at each sub-goal that is not `anchored`.
    """
    more = () if anchored else (NOT_ANCHORED,)
    return [
        verdict
        for verdict in verdicts
        if all(not g or _counts(verdict, g, (f"{graph}/{verdict.sub_goal}", *more)) for g in choices)
    ]


def _counts(verdict: Verdict, globs: Sequence[str], places: Sequence[str]) -> bool:
    named = [glob for glob in globs if not glob.startswith(EXCEPT)]
    if named and not any(matches_glob(glob, verdict.by) for glob in named):
        return False
    at = [f"{verdict.by}{PLACE}{place}" for place in places]
    return not any(
        matches_glob(glob[1:], name)
        for glob in globs
        if glob.startswith(EXCEPT)
        for name in (at if PLACE in glob else [verdict.by])
    )


def unmatched_authors(globs: Sequence[str], runs: Iterable[Run]) -> Iterator[Finding]:
    """A warning for each glob that fits no author of a verdict: a typo leaves verdicts out unseen."""
    if any(glob != RECORDED for glob in globs):
        yield from unmatched_globs(globs, {verdict.by for run in runs for verdict in run.of(Verdict)})


def unmatched_globs(globs: Sequence[str], authors: Collection[str]) -> Iterator[Finding]:
    """`unmatched_authors`, of the authors of all verdicts."""
    wanted = [glob for glob in dict.fromkeys(globs) if glob not in (RECORDED, ANCHORED_ONLY)]
    groups = sorted({f"{by.partition(':')[0]}:*" if ":" in by else by for by in authors})
    for glob in wanted:
        author = glob.removeprefix(EXCEPT).partition(PLACE)[0] if glob.startswith(EXCEPT) else glob
        if any(matches_glob(author, by) for by in authors):
            continue
        near = get_close_matches(glob, [*groups, *sorted(authors)[:COMPARED]], n=1)
        suggestion = f"Did you mean {near[0]!r}? " if near else ""
        there = f"Verdicts are by {', '.join(groups[:NAMED])}." if groups else "The runs have no verdicts."
        yield Finding(
            code="verdicts-unmatched",
            message=f"no recorded verdict is by {glob!r}. {suggestion}{there}",
            hint="--verdicts takes author globs, e.g. 'human:*' or 'judge:*'.",
        )


def ruling(verdicts: Iterable[Verdict]) -> Ruling | None:
    """The ruling of the highest authority with an opinion, or ``None`` where there is no verdict.

    The majority decides, unless reviewers settled the question since.
    """
    given = list(verdicts)
    latest = {verdict.by: verdict for verdict in given if not verdict.settles}  # one voice each, the last
    settled = settlement(given)
    if not latest and settled is None:
        return None
    for title, prefixes in AUTHORITIES:
        if settled is not None and settled.by.startswith(prefixes):
            return Ruling(passed=bool(settled.passed), verdicts=(settled,))
        # ``passed: null`` is "could not tell": no opinion.
        opinions = [v for by, v in latest.items() if by.startswith(prefixes) and v.passed is not None]
        if opinions:
            return _majority(title, opinions)
    silent = tuple(latest.values())
    return Ruling(passed=Unscored(f"{_names(silent)} could not tell"), verdicts=silent)


def settlement(verdicts: Iterable[Verdict]) -> Verdict | None:
    """What reviewers of a sub-goal agreed on, where none of them has spoken again since (§9)."""
    opinions = [verdict for verdict in verdicts if verdict.by.startswith("human:")]
    return opinions[-1] if opinions and opinions[-1].settles and opinions[-1].passed is not None else None


def _majority(title: str, verdicts: Sequence[Verdict]) -> Ruling:
    passed = [verdict for verdict in verdicts if verdict.passed]
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if len(passed) == len(failed):
        split = Unscored(f"{title} disagree: {_names(passed)} say met, {_names(failed)} say not met")
        return Ruling(passed=split, verdicts=tuple(verdicts))
    winners = max(passed, failed, key=len)
    return Ruling(passed=winners is passed, verdicts=tuple(winners))


def _names(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(verdict.by for verdict in verdicts)
