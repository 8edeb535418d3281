"""The canonical plan graph: a versioned DAG of sub-goals with checks and mapping rules (§4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from untaken import limits

Id = Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]
Pattern = Annotated[str, Meta(min_length=1, max_length=limits.PATTERN_CHARS)]
Match = Literal["exact", "subset", "call_keys"]
When = Literal["final", "step"]
Answered = Literal["ok", "any"]
Evidence = Literal["message"]
Times = Annotated[int, Meta(ge=1, le=limits.TIMES)]


# `dict=True`: what is worked out of it once, such as compiled patterns, is kept on the object.
class AnswerSpec(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True
):
    """What the recorded answer of a call must say: all that is given.

    `ok`: its flag. `contains`, `glob`, `regex`: its text (`untaken.plans.patterns`).
    """

    ok: bool | None = None
    contains: str | None = None
    glob: str | None = None
    regex: str | None = None


class ToolCallSpec(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True
):
    """A call that must have been made, and not have failed.

    `arguments` are literals or patterns (`untaken.plans.patterns`). `match` says how they compare with the
    call's: ``exact`` (equal), ``subset`` (each expected one is in the call, nested mappings too),
    ``call_keys`` (compared only on the call's own keys, or on `compare_args` if given). A call whose recorded
    answer says ``ok: false`` does not count, unless `answered` is ``any`` or `answer` says which `ok` it
    must have.
    """

    name: Id
    arguments: dict[str, Any] = {}
    match: Match = "subset"
    compare_args: list[str] | None = None
    answered: Answered = "ok"
    answer: AnswerSpec | None = None


class VerdictSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A recorded verdict is needed; `by` restricts whose, as globs over VERDICT.by."""

    by: list[Pattern] = []


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A success check: exactly one of `expr`, `tool_call`, `verdict`, `outcome` (validated on load)."""

    expr: str | None = None
    tool_call: ToolCallSpec | None = None
    verdict: VerdictSpec | bool | None = None
    outcome: bool | None = None
    on: When = "final"


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """Maps an action to the sub-goal that holds the rule; all parts given must hold.

    `tool` is a glob over the tool's name, `arguments` a subset of the call's arguments, literals or patterns
    (`untaken.plans.patterns`), `answer` what its recorded answer says, `text` a case-insensitive glob over a
    message the agent wrote.
    """

    tool: Pattern | None = None
    arguments: dict[str, Any] | None = None
    text: Pattern | None = None
    answer: AnswerSpec | None = None


class SubGoal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A node: what must be achieved, after what, and how one can tell.

    `when`, an expression over the state, makes it required only in runs where that holds: at the end
    (`when_at` ``final``) or after any step (``step``). With `needs_action` false, a check that passes
    completes it without a mapped action. `times` is how many different calls its tool-call check asks for;
    without it, one call may serve several sub-goals. `evidence` says where a judge finds it: in what the
    agent writes (``message``). `weight` is its share of `completion_weighted`, relative to the other
    sub-goals.
    """

    id: Id
    title: str = ""
    description: str = ""
    deps: list[Id] = []
    critical: bool = False
    weight: Annotated[float, Meta(ge=0, le=limits.WEIGHT)] = 1.0
    check: Check | None = None
    when: str | None = None
    when_at: When = "final"
    needs_action: bool = True
    times: Times | None = None
    evidence: Evidence | None = None
    rules: Annotated[list[Rule], Meta(max_length=limits.RULES_PER_SUB_GOAL)] = []
    any_of: list[Id] = []
    kind: Literal["action", "subgoal"] = "subgoal"
    metadata: dict[str, Any] = {}

    @property
    def anchored(self) -> bool:
        """Whether a rule, a check or `evidence` says which events a judge's quote must be from (§6)."""
        check = self.check
        reads = check is not None and (check.expr is not None or check.tool_call is not None)
        return bool(self.rules) or reads or self.evidence == "message"


class PlanGraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """A canonical plan graph; field order is the order in a written file.

    A graph made by `load_graph` or `parse_graph` is valid: acyclic, ids unique, every dependency known.
    `mutates` names the tools that change something, `hand_over` those that pass the task to a person, as
    globs: plan decisions (§2d) are silent where no tool is said to change anything.
    """

    schema: Literal["untaken.plan/1"] = "untaken.plan/1"
    id: Id
    version: int = 1
    title: str = ""
    tasks: list[Pattern] = []
    mutates: Annotated[list[Pattern], Meta(max_length=limits.TOOL_PATTERNS)] = []
    hand_over: Annotated[list[Pattern], Meta(max_length=limits.TOOL_PATTERNS)] = []
    sub_goals: Annotated[list[SubGoal], Meta(max_length=limits.SUB_GOALS)]
    metadata: dict[str, Any] = {}
