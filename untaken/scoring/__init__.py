"""Sub-goal scoring: one run against its plan graph, and the runs of each agent together."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

from untaken.scoring.agents import score_agents as score_agents
from untaken.scoring.differences import FieldDifference as FieldDifference
from untaken.scoring.graph_doubts import (
    DOUBTS as DOUBTS,
    GraphDoubt as GraphDoubt,
    graph_doubts as graph_doubts,
)
from untaken.scoring.run_score import (
    AgentScore as AgentScore,
    Diagnosis as Diagnosis,
    MissingRule as MissingRule,
    NodeResult as NodeResult,
    NodeScore as NodeScore,
    RunScore as RunScore,
    ScoreDetail as ScoreDetail,
    Status as Status,
    Violation as Violation,
)
from untaken.scoring.scoring import (
    recounted as recounted,
    score_outcome as score_outcome,
    score_detail as score_detail,
    score_run as score_run,
    score_together as score_together,
)

# fmt: off
if TYPE_CHECKING:
    from untaken.scoring.causes.cause import (
        Cause as Cause, CauseKind as CauseKind, brief_cause as brief_cause, cause_words as cause_words,
    )
    from untaken.scoring.causes.features import (
        FEATURES as FEATURES, StatedCause as StatedCause, encoded_features as encoded_features,
    )
    from untaken.scoring.causes.over_runs import (
        PassedRun as PassedRun, causes_of as causes_of, commonest as commonest,
    )
    from untaken.scoring.causes.places import (
        Undone as Undone, Way as Way, attempts_at as attempts_at, is_failed as is_failed,
        never_set as never_set, undone_in_order as undone_in_order,
    )
    from untaken.scoring.causes.stated import (
        BlamedRun as BlamedRun, stated_causes as stated_causes, take_features as take_features,
    )
    from untaken.scoring.compiled import (
        CompiledGraph as CompiledGraph, CompiledSubGoal as CompiledSubGoal, check_kind as check_kind,
        compiled_graph as compiled_graph,
    )
    from untaken.scoring.differences import (
        ABSENT as ABSENT, asked_values as asked_values, nearest_call as nearest_call, shown as shown,
        unmet_arguments as unmet_arguments,
    )
    from untaken.scoring.failed_calls import last_failed_call as last_failed_call, unlike as unlike
    from untaken.scoring.graph_doubts import RunEnd as RunEnd
    from untaken.scoring.missed import MissedBy as MissedBy, NEVER as NEVER
    from untaken.scoring.run_score import DetailLater as DetailLater, counted_nodes as counted_nodes
    from untaken.scoring.scoring import AT_ONCE as AT_ONCE
    from untaken.scoring.seen_texts import SeenTexts as SeenTexts, sought as sought
    from untaken.scoring.trace import StateFold as StateFold, merge_patch as merge_patch
    from untaken.scoring.tool_names import alike as alike
    from untaken.scoring.trace import Trace as Trace
    from untaken.scoring.transcript.alignment import align_transcripts as align_transcripts
    from untaken.scoring.transcript.items import Mark as Mark, Transcript as Transcript
    from untaken.scoring.transcript.reading import EventMarks as EventMarks, transcript_of as transcript_of
    from untaken.scoring.unused import (
        MOST_SIBLINGS as MOST_SIBLINGS, UnusedValue as UnusedValue, in_words as in_words,
        unused_fields as unused_fields, unused_values as unused_values, unused_values_of as unused_values_of,
    )
    from untaken.scoring.verdicts import (
        ANCHORED_ONLY as ANCHORED_ONLY, AUTHORITIES as AUTHORITIES, EXCEPT as EXCEPT, PLACE as PLACE,
        not_withdrawn as not_withdrawn, ruling as ruling, settlement as settlement,
        unmatched_authors as unmatched_authors, unmatched_globs as unmatched_globs,
        whose_count as whose_count,
    )
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
