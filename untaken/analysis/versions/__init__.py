"""What changed between two versions of an agent: sub-goals, outcome and cost, paired by task (§11)."""

from untaken.analysis.versions.comparison import (
    CostChange as CostChange,
    FirstSuspect as FirstSuspect,
    OutcomeChange as OutcomeChange,
    Power as Power,
    SubGoalChange as SubGoalChange,
    VersionComparison as VersionComparison,
    compare_versions as compare_versions,
)
from untaken.analysis.versions.discordant import DiscordantRuns as DiscordantRuns
from untaken.analysis.versions.sides import (
    FIELDS as FIELDS,
    Field as Field,
    most_paired as most_paired,
    versions_of as versions_of,
)
