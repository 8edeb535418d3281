"""What to fix first: where failed runs fail first, why, and what a fix would gain (§5)."""

from untaken.scoring import Way as Way
from untaken.analysis.fix_first.advice import (
    Advice as Advice,
    CheaperChoice as CheaperChoice,
    ChoiceAdvice as ChoiceAdvice,
    Often as Often,
    Saving as Saving,
    SkillTakers as SkillTakers,
    advice as advice,
    statement_parts as statement_parts,
)
from untaken.analysis.fix_first.findings import ITEMS_SHOWN as ITEMS_SHOWN, Triage as Triage
from untaken.analysis.fix_first.items import (
    FixItem as FixItem,
    InfrastructureGroup as InfrastructureGroup,
    Kind as Kind,
    LeftSubGoal as LeftSubGoal,
)
from untaken.analysis.fix_first.listing import triage as triage
