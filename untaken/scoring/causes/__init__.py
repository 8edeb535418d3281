"""What failed runs have in common: errors of tools, argument values, skills in a context (§5)."""

from untaken.scoring.causes.cause import (
    Cause as Cause,
    CauseKind as CauseKind,
    brief_cause as brief_cause,
    cause_words as cause_words,
)
from untaken.scoring.causes.over_runs import (
    BlamedRun as BlamedRun,
    PassedRun as PassedRun,
    StatedCause as StatedCause,
    causes_of as causes_of,
    commonest as commonest,
    stated_causes as stated_causes,
)
from untaken.scoring.causes.places import Undone as Undone, Way as Way, undone_in_order as undone_in_order
