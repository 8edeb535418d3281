"""Which criteria deserve trust: stable, telling good from bad, and not saying what another says (§8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import QuantifierRun
from untaken.judging.criteria.discrimination import (
    ALPHA,
    AttackTest,
    Separation,
    attack_tests,
    separation,
    subject_means,
)
from untaken.judging.criteria.disturb import ATTACK_WORDS, DROP
from untaken.judging.criteria.means import tasks_of_subjects
from untaken.judging.criteria.stability import Stability, stability
from untaken.numbers import counted, interval, p_value, percent

NOT_DONE: Final = Unscored("not done: no values of disturbed runs were given")
ALONE: Final = Unscored("no kept criterion says the same")
KEPT: Final = "kept: "


class VerifierThresholds(Struct, frozen=True, kw_only=True):
    """What a criterion must meet; all of it is a choice, the defaults are documented (§8).

    Attributes:
        cv: most that the mean coefficient of variation over passes may be.
        sd_share: most that the mean sd may be, as a share of the scale, where means are near 0.
        near_zero: mean level below which a subject's spread is judged by its sd.
        correlation: rank correlation (absolute) with a kept criterion from which on it is redundant.
        similarity: likeness of names and descriptions from which on it is redundant, where it is given.
        subjects: fewest tasks with common subjects for a rank correlation over these to count.
    """

    cv: float = 0.5
    sd_share: float = 0.15
    near_zero: float = 0.5
    correlation: float = 0.9
    similarity: float = 0.85
    subjects: int = 8


class Discrimination(Struct, frozen=True, kw_only=True):
    """What a criterion discriminates.

    Attributes:
        separation: successes against failures.
        attacks: every disturbance that was tried.
        discriminates: ``None`` where nothing could be tested; never true where failures score higher.
        note: what decided, with the numbers.
    """

    separation: Separation
    attacks: tuple[AttackTest, ...]
    discriminates: bool | None
    note: str

    @property
    def drop(self) -> AttackTest | Unscored:
        """The paper's test, a quarter of the sentences left out; unscored where it was not done."""
        return next((test for test in self.attacks if test.attack == DROP.name), NOT_DONE)


class CriterionCheck(Struct, frozen=True, kw_only=True):
    """One criterion, verified.

    Attributes:
        redundant_with: the kept criterion that says the same, and `correlation` with it (or `similarity`).
        keep: stable and discriminating and not redundant; what was not measured is not kept.
        reason: why, in words with the numbers.
    """

    name: str
    stability: Stability
    discrimination: Discrimination
    redundant_with: str | None
    correlation: Score
    similarity: Score
    keep: bool
    reason: str


class Verification(Struct, frozen=True, kw_only=True):
    """What the verifier found, criterion by criterion in the order given.

    Attributes:
        attacks: the disturbances that were tried, in order.
        thresholds: what was asked for.
    """

    criteria: tuple[CriterionCheck, ...]
    passes: int
    subjects: int
    attacks: tuple[str, ...]
    thresholds: VerifierThresholds

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the criteria to keep."""
        return tuple(check.name for check in self.criteria if check.keep)


def verify_criteria(
    passes: Sequence[QuantifierRun],
    *,
    disturbed: Mapping[str, Sequence[QuantifierRun]] | None = None,
    thresholds: VerifierThresholds | None = None,
    similarities: Mapping[tuple[str, str], float] | None = None,
) -> Verification:
    """Decides which criteria to keep, with a reason for each.

    Args:
        passes: of one quantifier over the same runs; two or more unless it is deterministic.
        disturbed: by attack, passes over the same runs made worse (`quantify_disturbed`); their subjects are
            the originals'. Without, the drop test is "not done", and said to be.
        thresholds: what to ask for; `VerifierThresholds()` by default.
        similarities: likeness of two criteria by their words, by pair of names in either order.

    Returns:
        Every criterion of the passes: its stability, its discrimination, and whether to keep it (§8).
    """
    asked, attacked = thresholds or VerifierThresholds(), disturbed or {}
    names = dict.fromkeys(c.name for run in passes for c in run.criteria)
    checks = [_measure(passes, attacked, name, asked) for name in names]
    kept: list[CriterionCheck] = []
    twins: dict[str, CriterionCheck] = {}
    means = {name: subject_means(passes, name) for name in names}
    task_of = tasks_of_subjects(passes)
    # Of two that say the same, the stronger one stays.
    for one in sorted((check for check in checks if check.keep), key=lambda check: -_strength(check)):
        pairs = ((k.name, _correlation(means[one.name], means[k.name], task_of)) for k in kept)
        found = (_as_twin(one, other, rho, asked, similarities) for other, rho in pairs)
        twin = next((each for each in found if each), None)
        if twin is None:
            kept.append(one)
        else:
            twins[one.name] = twin
    return Verification(
        criteria=tuple(twins.get(one.name, one) for one in checks),
        passes=len(passes),
        subjects=len({item.subject for run in passes for item in run.items}),
        attacks=tuple(attacked),
        thresholds=asked,
    )


def _measure(
    passes: Sequence[QuantifierRun],
    disturbed: Mapping[str, Sequence[QuantifierRun]],
    name: str,
    asked: VerifierThresholds,
) -> CriterionCheck:
    """A criterion by itself, whatever others say."""
    steady = stability(passes, name, cv=asked.cv, sd_share=asked.sd_share, near_zero=asked.near_zero)
    tests = attack_tests(passes, disturbed, name)
    found = separation(passes, name)
    note, verdict = _discriminates(found, tests)
    keep = bool(steady.stable and verdict)
    stable = {True: "stable", False: "not stable", None: "stability unknown"}[steady.stable]
    verdicts = {True: "discriminates", False: "does not discriminate", None: "discrimination unknown"}
    return CriterionCheck(
        name=name,
        stability=steady,
        discrimination=Discrimination(separation=found, attacks=tests, discriminates=verdict, note=note),
        redundant_with=None,
        correlation=ALONE,
        similarity=ALONE,
        keep=keep,
        reason=f"{KEPT if keep else 'rejected: '}{stable} ({steady.note}); {verdicts[verdict]} ({note})",
    )


def _strength(check: CriterionCheck) -> float:
    """Stronger criteria are kept first: by separation, then by the attacks they detect."""
    theta = check.discrimination.separation.superiority
    detected = sum(test.detected for test in check.discrimination.attacks)
    # Attacks decide between those that separate alike.
    return (-inf if isinstance(theta, Unscored) else theta) + detected / 1_000


def _discriminates(found: Separation, tests: Sequence[AttackTest]) -> tuple[str, bool | None]:
    apart = _separation_words(found)
    detected = [test for test in tests if test.detected]
    tested = [test for test in tests if test.n]
    if found.reversed:  # whatever else it notices
        return f"failed runs score higher: {apart}", False
    by = [apart] if found.separates else []
    by += [f"notices {_attack_words(test)}" for test in detected]
    rewarded = [f"rewards {_attack_words(test)}" for test in tests if test.rewarded]
    if by:
        return "; ".join([*by, *(f"but {words}" for words in rewarded)]), True
    # In fewer tasks even a loss in each of them could be chance.
    why = "too few tasks to tell disturbed runs apart" if tested else "no disturbed run has a value"
    if found.separates is None and not any(0.5**test.n <= ALPHA / len(tests) for test in tested):
        return f"{apart}; and {why}", None
    notices = f"notices none of {len(tested)} disturbances" if tested else "disturbed runs: not done"
    return "; ".join([apart, notices, *rewarded]), False


def _separation_words(found: Separation) -> str:
    theta, low, high, p = found.superiority, found.low, found.high, found.p
    if isinstance(theta, Unscored):
        return theta.reason
    over = f"{counted(found.success_n, 'task')} with a success, {found.failed_n} with a failure"
    sure = f"95% {interval(low, high, percent)}, {p_value(p, 'p')}, {over}"
    return f"a success scores above a failure in {percent(theta)} of pairs ({sure})"


def _attack_words(test: AttackTest) -> str:
    what = ATTACK_WORDS.get(test.attack, test.attack)
    return f"{what} ({test.wins} worse, {test.ties} equal, {test.losses} better of {counted(test.n, 'task')})"


def _as_twin(
    one: CriterionCheck,
    other: str,
    correlation: tuple[Score, int, int],
    asked: VerifierThresholds,
    similarities: Mapping[tuple[str, str], float] | None,
) -> CriterionCheck | None:
    """The criterion rejected, where it says what a kept one says."""
    rho, runs, n = correlation
    alike = (similarities or {}).get((one.name, other), (similarities or {}).get((other, one.name)))
    # What goes down whenever the other goes up says no more than that one.
    together = not isinstance(rho, Unscored) and abs(rho) >= asked.correlation and n >= asked.subjects
    if together:
        over = f"{runs} runs of {counted(n, 'task')}"
        words = f"rank correlation {rho:+.2f} over {over}, {asked.correlation:g} is the most"
    elif alike is not None and alike >= asked.similarity:
        words = f"likeness of its words {alike:.2f}, {asked.similarity:g} is the most"
    else:
        return None
    similarity = Unscored("no likeness of names and descriptions was given") if alike is None else alike
    return replace(
        one,
        redundant_with=other,
        correlation=rho,
        similarity=similarity,
        keep=False,
        reason=f"rejected: says what {other!r} says ({words}); {one.reason.removeprefix(KEPT)}",
    )


def _correlation(
    first: Mapping[str, float], second: Mapping[str, float], task_of: Mapping[str, str]
) -> tuple[Score, int, int]:
    """Of two criteria over runs; with the runs, and the tasks that they are of."""
    common = [subject for subject in first if subject in second]
    rho = stats.spearman([first[s] for s in common], [second[s] for s in common])
    return rho, len(common), len({task_of[subject] for subject in common})
