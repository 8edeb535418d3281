"""What some failed runs have in common, with how often it is seen elsewhere (§5)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from untaken.numbers import counted, p_value
from untaken.scoring.differences import ABSENT

CauseKind = Literal["tool_error", "argument", "missing_information", "skill", "agent", "skipped"]


class Cause(Struct, frozen=True, kw_only=True):
    """One cause of failing at one sub-goal. All texts come from ledgers and graphs and are untrusted.

    Attributes:
        kind: ``tool_error`` (a tool refused a call that held every expected value), ``argument`` (a value of
            an argument: a wrong one, or one that goes with failing here), ``missing_information`` (an
            expected value was never shown to the agent; without an argument, `tool` was never called),
            ``skill`` (chosen in a context, or in any), ``agent``, ``skipped`` (a critical step, or one that
            goes with failure).
        tool: that was called, or the skill; empty for an agent.
        error: the tool's words without ids, numbers and quoted values; empty where no error is meant.
        argument, value: of a tool error, the value that goes with it, where one does; `value` is empty where
            runs used different values.
        sub_goal: title of the sub-goal that fails, `critical`: whether it is.
        wrong: whether `value` (or each run's own) differs from what the plan expects.
        runs: content digests of the failed runs; `n`: of so many that failed here and called the tool.
        with_value: of a tool error with a value that goes with it, the runs that had this value.
        others: whether `n` leaves out runs of the causes named before it.
        elsewhere_k, elsewhere_n: of the runs that passed the sub-goal and called the tool, those with it.
        p: one-sided exact, adjusted by Holm; ``None`` where the plan itself says that the value is wrong.
    """

    kind: CauseKind
    tool: str = ""
    error: str = ""
    argument: str = ""
    value: str = ""
    sub_goal: str = ""
    critical: bool = False
    wrong: bool = False
    runs: tuple[str, ...]
    n: int
    elsewhere_k: int = 0
    elsewhere_n: int = 0
    p: float | None = None
    with_value: int | None = None
    others: bool = False

    @property
    def k(self) -> int:
        """Of the `n`, the runs that are compared with `elsewhere_k`."""
        return len(self.runs) if self.with_value is None else self.with_value


def cause_words(cause: Cause) -> str:
    """The cause in one sentence without its end; texts in it are untrusted."""
    k = counted(len(cause.runs), "run")
    if cause.kind == "tool_error":
        where = f"; {_pair(cause)} {_elsewhere(cause)}" if cause.argument else ""
        return f"{cause.tool} failed with “{cause.error}” in {k}{where}"
    if cause.kind == "missing_information" and not cause.argument:
        return f"{cause.tool} was not called before {_elsewhere(cause)}"
    if cause.kind == "missing_information":
        return f"the expected {cause.argument} of {cause.tool} was never shown to the agent in {k}"
    if cause.kind == "skipped":
        return f"{cause.sub_goal} was skipped in {k}, and in {_of(cause)} that succeeded"
    if cause.kind == "agent":
        return f"agent {cause.value} {_elsewhere(cause)}"
    if cause.kind == "skill":
        where = f" with {_pair(cause)}" if cause.argument else ""
        return f"skill {cause.tool}{where} {_elsewhere(cause)}"
    if cause.wrong and cause.value == ABSENT:
        return f"{cause.tool} was called without {cause.argument} in {k}"
    if cause.wrong:
        value = f" = {cause.value}" if cause.value else ""
        return f"{cause.tool} was called with a wrong {cause.argument}{value} in {k}"
    if cause.error:
        return f"{cause.tool} failed with “{cause.error}” {_elsewhere(cause)}"
    return f"{cause.tool} was called with {_pair(cause)} {_elsewhere(cause)}"


def brief_cause(cause: Cause) -> str:
    """The cause in a few words, without how often; untrusted."""
    pair = f", {_pair(cause)}" if cause.argument else ""
    if cause.kind == "tool_error":
        return f"{cause.tool}: “{cause.error}”{pair}"
    if cause.kind == "missing_information":
        return f"{cause.tool}: {cause.argument} never shown" if cause.argument else f"{cause.tool} not called"
    if cause.kind in ("skill", "agent"):
        return f"skill {cause.tool}{pair}" if cause.tool else f"agent {cause.value}"
    if cause.kind == "skipped":
        return f"{cause.sub_goal} skipped"
    return f"{cause.tool}: {'wrong ' * cause.wrong}{_pair(cause) if cause.value else cause.argument}"


def _pair(cause: Cause) -> str:
    return f"{cause.argument} = {cause.value}"


def _of(cause: Cause) -> str:
    return f"{cause.elsewhere_k:,} of {cause.elsewhere_n:,}"


def _elsewhere(cause: Cause) -> str:
    p = "" if cause.p is None else f" ({p_value(cause.p, 'p')})"
    n = f"{cause.n:,} runs that failed here{' with no other cause' if cause.others else ''}"
    if cause.with_value is not None:  # the runs with the error, which were just named
        n = f"{cause.n:,}"
    return f"in {cause.k:,} of {n}, {_of(cause)} elsewhere{p}"
