"""Planning in a simulator (§7): worlds that can be cloned faithfully, so that alternatives can be tried.

The one room that steps an environment. What is found here is never mixed with what the ledgers of runs say.
"""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off
if TYPE_CHECKING:
    from untaken.simulator.ablation_analysis import ablation as ablation, summarise as summarise
    from untaken.simulator.ablation_runs import (
        Ablation as Ablation, AblationArm as AblationArm, ArmDifference as ArmDifference, FULL as FULL,
        PUBLISHED as PUBLISHED, arms_of as arms_of, remarks as remarks,
    )
    from untaken.simulator.crafter.names import ACHIEVEMENTS as ACHIEVEMENTS
    from untaken.simulator.crafter.playing import (
        EpisodeJob as EpisodeJob, START as START, Setup as Setup, play_all as play_all,
    )
    from untaken.simulator.crafter.recording import succeeded as succeeded, success_rule as success_rule
    from untaken.simulator.crafter.scores import (
        BUDGET_STEPS as BUDGET_STEPS, MethodScore as MethodScore, method_scores as method_scores,
        read_scores as read_scores,
    )
    from untaken.simulator.crafter.tech_tree import GRAPH_ID as GRAPH_ID, tech_tree as tech_tree
    from untaken.simulator.crafter.world import CrafterWorld as CrafterWorld, VIEW as VIEW
    from untaken.simulator.loop import Episode as Episode, WinSettings as WinSettings
    from untaken.simulator.players.registry import POLICIES as POLICIES, policy_named as policy_named
    from untaken.simulator.record import (
        PlannedStep as PlannedStep, PlanningRecord as PlanningRecord, RecordIndex as RecordIndex,
        fields_of as fields_of, index_records as index_records, looks_like_planning as looks_like_planning,
        parse_planning as parse_planning, read_planning as read_planning, records_under as records_under,
    )
    from untaken.simulator.scm import (
        StructuralCausalModel as StructuralCausalModel, planning_model as planning_model,
    )
    from untaken.simulator.state_causality.causal_state import (
        CausalState as CausalState, EdgeKind as EdgeKind,
    )
    from untaken.simulator.state_causality.evaluator import StateCausality as StateCausality
    from untaken.simulator.win.episode import (
        Mistakes as Mistakes, Watched as Watched, Watching as Watching, found_mistakes as found_mistakes,
        watch as watch,
    )
    from untaken.simulator.win.evaluate import what_if_not as what_if_not
    from untaken.simulator.win.interventions import INTERVENTIONS as INTERVENTIONS
    from untaken.simulator.win.rewards import SHAPED as SHAPED, reward_named as reward_named
    from untaken.simulator.win.win_result import (
        EVEN as EVEN, Noise as Noise, Term as Term, Verdict as Verdict, WhatIfNot as WhatIfNot,
        WinSummary as WinSummary, summarise_wins as summarise_wins,
    )
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
