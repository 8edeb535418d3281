"""Is one sub-goal completed? By its check first, then by recorded verdicts (§4, §6)."""

from __future__ import annotations

from collections import abc
from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import Struct, structs

from untaken.caching import cached_property
from untaken.errors import Unscored
from untaken.ledger import Observation, RunFinished, ToolCall, Verdict, cut
from untaken.plans import Mapping, ToolCallSpec, VerdictSpec, call_counts, call_matches
from untaken.scoring.attempts import Attempt
from untaken.scoring.compiled import CompiledSubGoal, Conditions
from untaken.scoring.differences import (
    FieldDifference,
    answer_differences,
    differences_in_words,
    nearest_call,
    shown,
)
from untaken.scoring.expressions import ExpressionResults
from untaken.scoring.failed_calls import failed_in_words, last_failed_call
from untaken.scoring.missed import NEVER, MissedBy, Unserved, why_missed
from untaken.scoring.trace import Trace
from untaken.scoring.verdicts import EXCEPT, RECORDED, ruling, whose_count

NEAR_MISSES: Final = 20
"""Calls of the right tool with other arguments that are shown as evidence."""


class NodeDecision(Struct, frozen=True, kw_only=True, gc=False):
    """Whether a sub-goal is completed, who says so, in words, and what that rests on (as in `NodeScore`)."""

    completed: bool | None
    by: str
    reason: str
    evidence: tuple[int, ...] = ()
    at: int | None = None
    differences: tuple[FieldDifference, ...] = ()
    nearest: int | None = None
    missed: MissedBy | None = None
    holds: bool = False
    left_out: bool = False
    unanchored: bool = False


DecisionsById = abc.Mapping[str, NodeDecision]
# Made once: nearly every decision of nearly every run is one of these.
_PLAIN: Final = {
    completed: NodeDecision(completed=completed, by="", reason="") for completed in (True, False, None)
}
"""Decisions that are not put in words, and rest on no moment."""
_HOLDS: Final = NodeDecision(completed=False, by="", reason="", holds=True)
"""Its check holds, but no mapped action was seen; not put in words."""
_LEFT_OUT: Final = NodeDecision(completed=None, by="", reason="", left_out=True)
"""A verdict that would decide it is left out; not put in words."""


def _plain(completed: bool | Unscored | None, at: int | None = None) -> NodeDecision:
    """A decision that is not put in words."""
    if completed is True and at is not None:
        return NodeDecision(completed=True, by="", reason="", at=at)
    return _PLAIN[None if isinstance(completed, Unscored) else completed]


class CheckRunner:
    """Decides sub-goals of one run, one after the other, options before their groups.

    Args:
        verdicts: globs over VERDICT.by; empty lets everybody speak. With the literal ``test`` among them,
            recorded test verdicts replace expression and tool-call checks.
        required: whether each conditional sub-goal is required.
        in_words: whether decisions say who decided what, and why; else only what is completed, and since
            when.
    """

    def __init__(
        self,
        trace: Trace,
        success: bool | Unscored,
        expressions: ExpressionResults,
        mapping: Mapping,
        verdicts: Sequence[str],
        *,
        required: Conditions,
        in_words: bool,
    ) -> None:
        self.decisions: dict[str, NodeDecision] = {}
        self._trace = trace
        self._success = success
        self._expressions = expressions
        self._mapping = mapping
        self._required = required
        self._verdicts = (verdicts,) if isinstance(verdicts, str) else tuple(verdicts)  # not its letters
        self._recorded = RECORDED in self._verdicts
        self._in_words = in_words

    def decide(self, criterion: CompiledSubGoal, attempt: Attempt) -> None:
        """Decide one sub-goal; the check's answer counts before any verdict.

        One that may not be required in this run is decided by its condition alone.
        """
        required = self._required.get(criterion.node.id, True)
        if required is not True:
            self.decisions[criterion.node.id] = self._not_required(criterion, required)
            return
        checked = self._by_check(criterion, attempt)
        if checked is not None and checked.completed is not None:
            decision = checked
        else:
            ruled = self._by_verdicts(criterion, attempt, checked)
            decision = ruled or checked or self._no_evidence(criterion, attempt)
            if decision.completed and checked is not None and self._fails(criterion, attempt):
                decision = self._contradicted(checked)
        if decision.completed is None and self._left_out(criterion):
            decision = structs.replace(decision, left_out=True) if self._in_words else _LEFT_OUT
        # A group's reason speaks of its options.
        if self._in_words and decision.completed is False and not criterion.options:
            decision = self._quoting(criterion, attempt, decision)
        self.decisions[criterion.node.id] = decision

    def _left_out(self, criterion: CompiledSubGoal) -> bool:
        """Whether a verdict on it, or on an option of it, has an opinion and is left out by a ``!`` glob."""
        if not any(glob.startswith(EXCEPT) for glob in self._verdicts):
            return False
        if any(name in self.decisions and self.decisions[name].left_out for name in criterion.options):
            return True
        spoken = [one for one in self._trace.verdicts.get(criterion.node.id, ()) if one.passed is not None]
        named = [glob for glob in self._verdicts if not glob.startswith(EXCEPT)]
        wanted = whose_count(spoken, (named,))  # as many as there would be without the exceptions
        return len(wanted) > len(self._heard(criterion, spoken, (self._verdicts,)))

    def _heard(
        self, criterion: CompiledSubGoal, spoken: Sequence[Verdict], choices: Sequence[Sequence[str]]
    ) -> list[Verdict]:
        return whose_count(spoken, choices, graph=self._trace.graph, anchored=criterion.node.anchored)

    def _by_check(self, criterion: CompiledSubGoal, attempt: Attempt) -> NodeDecision | None:
        kind = criterion.kind
        if kind == "any_of":
            return self._by_options(criterion)
        # With `RECORDED`, recorded results stand in for checks; the outcome is recorded anyway.
        if kind in ("none", "verdict") or (self._recorded and kind != "outcome"):
            return None
        if attempt.made is False and criterion.needs_action:
            return self._missed(criterion)
        if kind == "outcome":
            return self._by_outcome()
        if attempt.made is None and criterion.needs_action:
            if not self._in_words:
                return _PLAIN[None]
            return NodeDecision(completed=None, by="none", reason=f"attempts are unknown: {attempt.unknown}")
        if criterion.call is not None:
            return self._by_call(criterion, criterion.call)
        return self._by_expression(criterion, attempt)

    def _quoting(self, criterion: CompiledSubGoal, attempt: Attempt, decision: NodeDecision) -> NodeDecision:
        """The reason after the words of the tool that failed last, where one did."""
        failed = last_failed_call(self._trace, attempt.events)
        if failed is None:
            return decision
        quoted = failed_in_words(failed, criterion.call, self._trace)
        evidence = tuple(sorted({*decision.evidence, failed.call.seq, failed.answer}))
        return structs.replace(decision, reason=f"{quoted}; {decision.reason}", evidence=evidence)

    def _fails(self, criterion: CompiledSubGoal, attempt: Attempt) -> bool:
        """Whether its expression is false where attempts are unknown: no verdict makes up for that."""
        return criterion.kind == "expr" and attempt.made is None and self._expressions.fails(criterion)

    def _contradicted(self, checked: NodeDecision) -> NodeDecision:
        if not self._in_words:
            return _PLAIN[None]
        why = "the final state does not meet its check, and no verdict outweighs that"
        return structs.replace(checked, reason=f"{checked.reason}; {why}")

    @cached_property
    def _unserved(self) -> Unserved:
        return Unserved(self._trace.calls, self._mapping)

    def _not_required(self, criterion: CompiledSubGoal, required: bool | Unscored) -> NodeDecision:
        """Its condition does not hold, or cannot be decided: no check and no verdict says more."""
        if not self._in_words:
            return _PLAIN[None]
        if isinstance(required, Unscored):
            why = f"whether it is required could not be decided: {required.reason}"
        else:
            when = "at the end" if criterion.node.when_at == "final" else "at any step"
            why = f"not required: {cut(criterion.when)} does not hold {when}"
        return NodeDecision(completed=None, by="none", reason=why)

    def _missed(self, criterion: CompiledSubGoal) -> NodeDecision:
        """The result without a mapped action, with the likelier cause."""
        if self._expressions.holds(criterion):
            if not self._in_words:
                return _HOLDS
            return NodeDecision(
                completed=False,
                by="expr",
                reason="its check holds, but no mapped action was seen",
                missed="plan",
                holds=True,
            )
        if not self._in_words:
            return _PLAIN[False]
        if criterion.call is not None and self._trace.calls_of(criterion.call.name):
            # Its tool was called, but for other sub-goals: what these calls lack is the reason.
            other = self._by_call(criterion, criterion.call)
            reason = f"{NEVER}, likely the agent's mistake: {other.reason}"
            return structs.replace(other, reason=reason, evidence=(), missed="agent")
        found = why_missed(criterion.node, self._unserved)
        return NodeDecision(
            completed=False,
            by=criterion.kind,
            reason=f"{NEVER}, {found.why}",
            differences=found.differences,
            missed=found.cause,
        )

    def _no_evidence(self, criterion: CompiledSubGoal, attempt: Attempt) -> NodeDecision:
        """Not completed where an action was needed and none was made, else unscored."""
        if criterion.kind == "none" and attempt.made is False:
            return self._missed(criterion)
        if not self._in_words:
            return _PLAIN[None]
        what = "no success check and no verdict" if criterion.kind == "none" else "no recorded verdict"
        return NodeDecision(completed=None, by="none", reason=f"no evidence: it has {what}")

    def _by_options(self, criterion: CompiledSubGoal) -> NodeDecision:
        options = {
            name: self.decisions[name]
            for name in criterion.options
            # What this run does not require is no option in it.
            if name in self.decisions and self._required.get(name, True) is not False
        }
        done = {name: decision for name, decision in options.items() if decision.completed}
        at = min([d.at for d in done.values() if d.at is not None], default=None)
        if not self._in_words:
            found = [decision.completed for decision in options.values()]
            return _plain(True if done else None if None in found or not found else False, at)
        if done:
            return NodeDecision(
                completed=True,
                by="any_of",
                reason=f"completed through {_quoted(done)}",
                evidence=tuple(sorted({seq for decision in done.values() for seq in decision.evidence})),
                at=at,
            )
        unknown = {name: decision for name, decision in options.items() if decision.completed is None}
        if unknown or not options:
            why = (
                f"no option is completed, and {_quoted(unknown)} unscored"
                if unknown
                else "no option is required"
            )
            return NodeDecision(completed=None, by="none", reason=why)
        return NodeDecision(
            completed=False,
            by="any_of",
            reason=f"none of {_quoted(options)} is completed",
            differences=tuple(
                FieldDifference(field=name, expected="completed", actual=decision.reason)
                for name, decision in options.items()
            ),
        )

    def _by_outcome(self) -> NodeDecision:
        finished = self._trace.finished
        if not self._in_words:
            return _plain(self._success, finished.seq if finished is not None else None)
        if isinstance(self._success, Unscored) or finished is None:
            why = self._success.reason if isinstance(self._success, Unscored) else "the run did not finish"
            return NodeDecision(completed=None, by="none", reason=f"its check is the run's outcome: {why}")
        words = "succeeded" if self._success else "failed"
        return NodeDecision(
            completed=self._success,
            by="outcome",
            reason=f"the run {words}",
            evidence=(finished.seq,),
            at=finished.seq if self._success else None,
            differences=() if self._success else _outcome_difference(finished),
        )

    def _by_expression(self, criterion: CompiledSubGoal, attempt: Attempt) -> NodeDecision:
        result = self._expressions.result(criterion, attempt)
        if not self._in_words:
            return _plain(result.passed, result.at)
        if isinstance(result.passed, Unscored):
            return NodeDecision(
                completed=None, by="none", reason=f"its check could not be decided: {result.passed.reason}"
            )
        return NodeDecision(
            completed=result.passed,
            by="expr",
            reason=result.reason,
            evidence=result.evidence,
            at=result.at if result.passed else None,
            differences=result.differences,
        )

    def _by_call(self, criterion: CompiledSubGoal, spec: ToolCallSpec) -> NodeDecision:
        """Enough calls as expected, after those that earlier sub-goals with the same call need."""
        if not self._trace.affords(spec):
            if not self._in_words:
                return _PLAIN[None]
            return NodeDecision(
                completed=None, by="none", reason="the run has too many calls to compare them all"
            )
        calls = self._trace.calls_of(spec.name)
        after = criterion.after(self._required)
        enough = after + criterion.times
        clear: list[ToolCall] = []
        unclear: list[ToolCall] = []
        refused: list[ToolCall] = []
        for call in filter(partial(call_matches, spec), self._trace.calls_like(spec)):
            counts = call_counts(spec, self._trace.answer(call))
            (clear if counts else unclear if counts is None else refused).append(call)
            if len(clear) == enough:  # later calls take nothing back
                return self._called(spec, clear[after:])
        if len(clear) + len(unclear) >= enough:
            made = (clear + unclear)[after:enough]  # those that surely count go first
            return self._called(spec, made, doubt=_doubt(self._trace.answer(unclear[0])))
        if clear or unclear:
            return self._too_few(criterion, after, clear + unclear)
        return self._refused(spec, refused) if refused else self._other_arguments(spec, calls)

    def _too_few(self, criterion: CompiledSubGoal, after: int, made: Sequence[ToolCall]) -> NodeDecision:
        """Called as expected, but not as often."""
        if not self._in_words:
            return _PLAIN[False]
        wanted = _times(criterion.times)
        beside = f" after {_times(after)} for other sub-goals" if after else ""
        return NodeDecision(
            completed=False,
            by="tool_call",
            reason=f"{made[0].tool} was called as expected {_times(len(made))}; "
            f"it must be called {wanted}{beside}",
            evidence=self._exchanges(made[:NEAR_MISSES]),
        )

    def _refused(self, spec: ToolCallSpec, refused: Sequence[ToolCall]) -> NodeDecision:
        """Called as expected, but not answered so: the last such call is the nearest."""
        if not self._in_words:
            return _PLAIN[False]
        what = "its result is `ok: false`" if spec.answer is None else "its result is not the expected one"
        times = "" if len(refused) == 1 else f" {len(refused)} times"
        return NodeDecision(
            completed=False,
            by="tool_call",
            reason=f"{spec.name} was called as expected{times}, but {'each time ' if times else ''}{what}",
            evidence=self._exchanges(refused[:NEAR_MISSES]),
            differences=answer_differences(spec, self._trace.answer(refused[-1])),
            nearest=refused[-1].seq,
        )

    def _other_arguments(self, spec: ToolCallSpec, calls: Sequence[ToolCall]) -> NodeDecision:
        """Never called as expected: what the nearest call says instead."""
        if not self._in_words:
            return _PLAIN[False]
        found = nearest_call(spec, calls)
        if found is None:
            return NodeDecision(completed=False, by="tool_call", reason=f"{spec.name} was never called")
        nearest, differences = found
        times = _times(len(calls))
        described = differences_in_words(differences)
        place = f" (nearest: event {nearest.seq})" if len(calls) > 1 else ""
        return NodeDecision(
            completed=False,
            by="tool_call",
            reason=f"{spec.name} was called {times}, never with the expected arguments{place}: {described}",
            evidence=tuple(call.seq for call in calls[:NEAR_MISSES]),
            differences=differences,
            nearest=nearest.seq,
        )

    def _called(self, spec: ToolCallSpec, made: Sequence[ToolCall], *, doubt: str = "") -> NodeDecision:
        """The calls were made as expected. A doubt about an answer is named; where the check asks for what an
        answer says, nothing is decided by a call without it.
        """
        at = max(call.seq for call in made)
        if not self._in_words:
            return _plain(None if doubt and spec.answer is not None else True, at)
        times = "" if len(made) == 1 else f" {_times(len(made))}"
        described = f"{spec.name} was called as expected{times}" + (f"; {doubt}" if doubt else "")
        if doubt and spec.answer is not None:
            return NodeDecision(completed=None, by="none", reason=described, evidence=self._exchanges(made))
        seqs = tuple(sorted(call.seq for call in made))
        evidence = seqs if spec.answer is None else self._exchanges(made)
        return NodeDecision(completed=True, by="tool_call", reason=described, evidence=evidence, at=at)

    def _exchanges(self, calls: Sequence[ToolCall]) -> tuple[int, ...]:
        """The calls with the answers to them."""
        answers = [answer.seq for call in calls if (answer := self._trace.answer(call)) is not None]
        return tuple(sorted([*(call.seq for call in calls), *answers]))

    def _by_verdicts(
        self, criterion: CompiledSubGoal, attempt: Attempt, checked: NodeDecision | None
    ) -> NodeDecision | None:
        """The verdicts' decision; the check's own reason for being undecided is kept beside theirs."""
        every = self._trace.verdicts.get(criterion.node.id)
        if not every:
            return None
        check = criterion.node.check
        named = check.verdict.by if check is not None and isinstance(check.verdict, VerdictSpec) else ()
        ruled = ruling(self._heard(criterion, every, (self._verdicts, named)))
        silent = ruled is None or all(verdict.passed is None for verdict in ruled.verdicts)
        if silent and criterion.kind == "none" and attempt.made is False:
            return None  # never attempted, whatever the verdicts
        unanchored = ruled is not None and ruled.met_by_judges and not criterion.node.anchored
        if not self._in_words and ruled is not None:
            plain = _plain(ruled.passed, self._verdict_moment(ruled.verdicts))
            return structs.replace(plain, unanchored=True) if unanchored else plain
        if ruled is None:
            if checked is not None:
                return None
            others = ", ".join(sorted({verdict.by for verdict in every}))
            return NodeDecision(
                completed=None, by="none", reason=f"no counted verdict; others are by {others}"
            )
        if isinstance(ruled.passed, Unscored):
            before = f"{checked.reason}; " if checked is not None else ""
            return NodeDecision(
                completed=None,
                by="none",
                reason=before + ruled.passed.reason,
                evidence=tuple(sorted(verdict.seq for verdict in ruled.verdicts)),
            )
        return NodeDecision(
            completed=ruled.passed,
            by="verdict:" + ", ".join(verdict.by for verdict in ruled.verdicts),
            reason=_spoken(ruled.verdicts, passed=ruled.passed, unanchored=unanchored),
            unanchored=unanchored,
            evidence=self._cited(ruled.verdicts),
            at=self._verdict_moment(ruled.verdicts) if ruled.passed else None,
            differences=() if ruled.passed else _verdict_differences(ruled.verdicts),
        )

    def _cited(self, verdicts: Sequence[Verdict]) -> tuple[int, ...]:
        """The verdicts and the events they cite, as far as those exist."""
        cited = {
            item.seq for verdict in verdicts for item in verdict.evidence or () if item.seq <= self._trace.end
        }
        return tuple(sorted(cited | {verdict.seq for verdict in verdicts}))

    def _verdict_moment(self, verdicts: Sequence[Verdict]) -> int | None:
        """When a judged sub-goal was met: at the last event cited, else when it was judged."""
        cited = [
            item.seq
            for verdict in verdicts
            for item in verdict.evidence or ()
            if item.seq <= self._trace.last
        ]
        # One that was given after the run does not say when.
        during = [verdict.seq for verdict in verdicts if verdict.seq <= self._trace.last]
        return max(cited, default=None) if cited else min(during, default=None)


def _times(count: int) -> str:
    """``once``, ``3 times``."""
    return "once" if count == 1 else f"{count} times"


def _spoken(verdicts: Sequence[Verdict], *, passed: bool, unanchored: bool) -> str:
    names = ", ".join(verdict.by for verdict in verdicts)
    reason = next((verdict.reason for verdict in verdicts if verdict.reason), None)
    answer = ("met, unanchored" if unanchored else "met") if passed else "not met"
    return f"{names} judged it {answer}" + (f": {reason}" if reason else "")


def _outcome_difference(finished: RunFinished) -> tuple[FieldDifference, ...]:
    why = finished.error or finished.limit
    because = f": {shown(why)}" if why else ""
    return (FieldDifference(field="outcome", expected="success", actual=f"failure{because}"),)


def _verdict_differences(verdicts: Sequence[Verdict]) -> tuple[FieldDifference, ...]:
    return tuple(
        FieldDifference(
            field=f"verdict of {verdict.by}",
            expected="met",
            actual="not met" + (f": {shown(verdict.reason)}" if verdict.reason else ""),
        )
        for verdict in verdicts
    )


def _doubt(answer: Observation | None) -> str:
    return "no result of the call is recorded" if answer is None else "its result does not record `ok`"


def _quoted(names: abc.Mapping[str, NodeDecision]) -> str:
    return ", ".join(repr(name) for name in names)
