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
# # Why did this run fail?
#
# Was it the plan, a single step, or bad luck? This notebook asks, in this order:
#
# 1. Can the record be trusted?
# 2. Which sub-goals were reached, and which were not?
# 3. What happened, in order?
# 4. Which choice might have been better, as far as history can say?
# 5. Is this run an exception, or does the success rate mislead?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`) and the same functions as the app.
# No agent is run again: everything below is read from the record.

# %%
from collections import Counter
from pathlib import Path

import pandas as pd

import untaken
from untaken.figures import delta_figure, plan_figure, progress_curve, rank_flow, timeline_figure

SAMPLES = Path("../sample_runs")
LEDGERS = [path for path in sorted((SAMPLES / "ledgers").iterdir()) if path.suffix != ".json"]
RUN = "eager-closer.refund-05.3"

# %% [markdown]
# ## 1. Can the record be trusted?
#
# Each line of a ledger has the hash of the line before it, and the last hash of each run is recorded beside
# the file. Every run gets one of five verdicts.

# %%
integrity = [verdict for ledger in LEDGERS for verdict in untaken.verify_ledger(ledger)]
Counter(verdict.verdict for verdict in integrity)

# %% [markdown]
# For comparison, the same check on a ledger whose last lines were cut off, and on one whose outcome was
# changed and the chain repaired:

# %%
tampered = [SAMPLES / "tampered" / name for name in ("cut-tail.jsonl", "rehashed-suffix.jsonl")]
for path in tampered:
    (verdict,) = untaken.verify_ledger(path)
    print(f"{path.name}: {verdict.verdict}: {verdict.reason}")

# %% [markdown]
# ## 2. Which sub-goals were reached?
#
# The plan graph says what a good run has to achieve, in which order, and what is critical. The outcome of
# this run is one bit; its sub-goals are eight.

# %%
runs = [run for ledger in LEDGERS for run in untaken.read_ledger(ledger)]
graph = untaken.load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")
scores = {run.run_id: untaken.score_run(run, graph) for run in runs}

run = next(run for run in runs if run.run_id == RUN)
score = scores[RUN]
print(f"success: {score.success}; {score.completed} of {score.required} sub-goals completed")
print(f"{score.diagnosis}: {score.diagnosis_reason}")

# %%
plan_figure(graph, score)

# %% [markdown]
# Why each sub-goal has its colour, with the numbers of the events that show it:

# %%
pd.set_option("display.max_colwidth", None)
columns = ["sub_goal", "critical", "status", "reason", "events"]
pd.DataFrame([[getattr(node, name) for name in columns] for node in score.nodes], columns=columns)

# %% [markdown]
# A sub-goal that was reached although something critical before it was not is a violation, not partial
# credit:

# %%
for violation in score.violations:
    print(violation.message)

# %% [markdown]
# ## 3. What happened, in order?

# %%
timeline_figure(run, score)

# %%
progress_curve(score)

# %% [markdown]
# ## 4. Which choice might have been better?
#
# At each decision point the run chose one skill among several. Policy memory knows how the others did in the
# same context, *in runs that had finished before this one began*. A delta above 0.1 says that an alternative
# may have been better. Without history, an alternative is unknown. All of this is association: other things
# may have differed too.

# %%
memory = untaken.PolicyMemory.build(runs)
evaluation = untaken.evaluate_run(run, memory)
delta_figure(evaluation)

# %% [markdown]
# A delta compares the history of an alternative with this one run, luck included. The advantage compares it
# with the history of the skill that was chosen, and its support says whether there is enough of both. So a
# delta above 0.1 and an advantage below 0 can go together: the choice was sound, and this run was unlucky.


# %%
def words(value: float | untaken.Unscored) -> str:
    return "unscored" if isinstance(value, untaken.Unscored) else f"{value:+.3f}"


columns = ["alternative", "n", "delta", "advantage", "verdict", "support", "support_reason"]
rows = [
    {
        "event": decision.decision_point,
        "selected": decision.selected,
        **{name: getattr(branch, name) for name in columns},
        "delta": words(branch.delta),
        "advantage": words(branch.advantage),
    }
    for decision in evaluation.decisions
    for branch in decision.branches
]
pd.DataFrame(rows)

# %% [markdown]
# ## 5. Is it an exception?
#
# Rank the agents by success rate and by what they achieved on the way. Where lines cross, the success rate
# misleads.

# %%
report = untaken.rank_agents(list(scores.values()))
rank_flow(report)

# %% [markdown]
# A lucky run succeeded without a critical sub-goal, an unlucky one failed with all sub-goals completed:

# %%
contradictions = Counter((c.agent, c.kind) for c in report.contradictions)
pd.Series(contradictions, name="runs").rename_axis(["agent", "kind"]).unstack(fill_value=0)
