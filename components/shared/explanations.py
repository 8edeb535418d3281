"""How each page comes by its numbers, in a few sentences; the formulas are in `docs/concepts.md`."""

from __future__ import annotations

from typing import Final

from untaken.failure_modes.root_causes import FIRST_FAILED_RECORD

COMPUTED: Final = {
    "Overview": (
        "A run is scored against the plan graph of its task: each sub-goal is completed, attempted, "
        "skipped or unscored. A *lucky* run succeeded although a critical sub-goal was not completed. "
        "**What to fix first** = how often a sub-goal fails before any other × the share of sub-goals "
        "that it blocks. Intervals are 95%, with repeats of a task counted as one cluster."
    ),
    "Review": (
        "The queue holds failed, lucky, unlucky and broken runs, largest effect first. The reason is "
        "the first thing that went wrong: a violated dependency, else the first failed sub-goal. "
        f"{FIRST_FAILED_RECORD}. "
        "Nothing is hidden by a status: it only records how far people are."
    ),
    "Run": (
        "Actions are mapped to sub-goals by the rules of the plan graph. A sub-goal is completed where "
        "its check passes: on the state, on a tool call that did not fail, or by a recorded verdict. "
        "Without evidence it is *unscored*, never 0. The headline names what failed first, which need not be "
        f"the cause. {FIRST_FAILED_RECORD}."
    ),
    "Compare": (
        "Runs of one task are aligned by sub-goal. The first difference is the first sub-goal, in the "
        "order of the plan, whose status differs from the reference run. What goes with success: "
        "Fisher's exact test for each sub-goal, Holm-adjusted."
    ),
    "Failure modes": (
        "People assign notes to failure modes; suggestions count only once accepted. A rate is the share "
        "of reviewed runs with the mode. The contrast compares failed with successful runs of the same "
        "tasks. The share of modes not seen yet is Good and Turing's estimate."
    ),
    "Rankings": (
        "Each agent's value is the mean over the tasks that every agent ran, repeats averaged first. "
        "Agreement is Kendall's τ-b. Two agents are compared task by task; p values are adjusted for "
        "all pairs."
    ),
    "Decisions": (
        "Runs of the same task, agent and state of the plan that went different ways are compared; "
        "differences are associations. *Supported* means q ≤ 0.10 and at least 3 runs a side. Histories "
        "of skills score 0.5 · success + 0.3 · (1 − cost) + 0.2 · (1 − steps)."
    ),
    "Criteria": (
        "A criterion is kept if it is stable over seeds, tells original from disturbed runs, and is not "
        "redundant. Values that are not accepted are listed as out of vocabulary, never changed."
    ),
    "Memory": (
        "A fold of all recorded outcomes by skill and context. Weak signals weigh 0.25 each, and never "
        "more than half of the outcomes. Success intervals: Beta(½ + s, ½ + f)."
    ),
    "Annotate": (
        "Every edit is applied to a draft. The preview scores all runs again under the draft and lists "
        "the ones that change. Saving makes a new version; old versions stay."
    ),
    "What-If-Not": (
        "Each alternative action is tried in a clone of the simulator. WIN is the mean of σ(r − r̃), the "
        "reward of the action less that of an alternative: above 0.5 it was better, 0.5 is a tie."
    ),
    "Data": (
        "Each event of a ledger holds the SHA-256 of the line before. INTACT: the chain holds and "
        "equals the recorded head. UNANCHORED: it holds, but no head was recorded. Broken runs are in "
        "no figure."
    ),
}
"""How each page computes its numbers, by the page's title; our own markdown."""
