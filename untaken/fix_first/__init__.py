"""What to fix first: sub-goals and decisions by expected gain, each with its runs (§5)."""

from untaken.fix_first.advice import (
    Advice as Advice,
    CheaperChoice as CheaperChoice,
    ChoiceAdvice as ChoiceAdvice,
    Saving as Saving,
    SkillTakers as SkillTakers,
    advice as advice,
)
from untaken.fix_first.listing import (
    no_decision as no_decision,
    triage as triage,
    triage_by_agent as triage_by_agent,
)
from untaken.fix_first.findings import (
    ITEMS_SHOWN as ITEMS_SHOWN,
    FailurePattern as FailurePattern,
    FixFirst as FixFirst,
    Kind as Kind,
    Often as Often,
    Triage as Triage,
)
from untaken.fix_first.plan_changes import BetterWay as BetterWay, better_ways as better_ways
