# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Is the plan right, and what changed?
#
# A low completion rate blames the agent. Before you believe it:
#
# 1. Is the plan itself right? Each check is tried on changed copies of runs, and each sub-goal is held
#    against the runs that succeeded.
# 2. What changed between two versions, or two agents, in the same tasks?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). Nothing is executed again.

# %%
from pathlib import Path

import untaken
from untaken.figures import plan_diff_figure
from untaken.plans import diff_graphs, parse_graph
from untaken.plans.editing import apply
from untaken.views import (
    audit_corpus,
    audited_nodes_table,
    version_changes,
    version_changes_table,
    version_costs_table,
)
from untaken.views.versions import version_headline

SAMPLES = Path("..") / "sample_runs"
runs = [
    run
    for file in sorted((SAMPLES / "ledgers").glob("*.jsonl*"))
    if "heads" not in file.name
    for run in untaken.read_ledger(file)
]
plan = untaken.load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")


def evaluated(graph):
    return untaken.evaluate_corpus(runs, graph, memory=untaken.PolicyMemory.build([]), resamples=0)


# %% [markdown]
# ## The plan as it is

# %%
audit = audit_corpus(evaluated(plan))
print(audit.headline)
audited_nodes_table(audit)[["sub_goal", "critical", "verdict", "why"]]

# %% [markdown]
# ## The same plan with three mistakes
#
# A check that only asks whether something is there, a misspelt field, and a value that is wrong.

# %%
text = (SAMPLES / "graphs" / "refund-desk.plan.yaml").read_text("utf-8")
for right, wrong in {
    "state.order == state.expected_order": "has(state.order)",
    "state.decision == state.expected_decision": "state.decison == state.expected_decision",
    "arguments: {channel: email}": "arguments: {channel: letter}",
}.items():
    text = text.replace(right, wrong, 1)
mistaken = parse_graph(text.encode(), name="mistaken.plan.yaml")
audit = audit_corpus(evaluated(mistaken))
print(audit.headline)
audited_nodes_table(audit)[["sub_goal", "verdict", "why", "proposed"]]

# %%
plan_diff_figure(diff_graphs(plan, mistaken))

# %% [markdown]
# Where the runs agree on something else, the audit proposes an edit. Nothing is scored by it until a person
# takes it; on the page Audit one click drafts it.

# %%
for node in audit.nodes:
    if node.proposed is not None:
        mistaken = apply(mistaken, node.proposed)
print(audit_corpus(evaluated(mistaken)).headline)

# %% [markdown]
# ## What changed?
#
# The sample runs have no versions, so two of the workflows are compared as if one followed the other. A
# sub-goal counts only in runs that reached it: what fails early is not blamed on what comes after.

# %%
found = version_changes(evaluated(plan), "full-workflow", "quick-workflow", "agent")
print(version_headline(found))
version_changes_table(found)[["title", "called", "kind", "difference", "p_holm", "a_reached", "b_reached"]]

# %%
version_costs_table(found)

# %% [markdown]
# Pairs of runs of one task in which only one of the two succeeded are what to read:

# %%
print(f"only full-workflow: {found.a_only}, only quick-workflow: {found.b_only}")
for pair in found.discordant[:3]:
    print(f"{pair.task_id}: missed {pair.sub_goal or 'nothing that the plan names'}: {pair.reason}")
