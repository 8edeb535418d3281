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
# # Which criteria can you trust?
#
# Whether a run succeeded is one question, how well it worked is another. *Criteria* answer the second one.
# Many plausible criteria are useless: they do not tell good runs from bad ones, or repeat another criterion.
# So this notebook asks:
#
# 1. Which criteria are there?
# 2. What values do the runs have?
# 3. Which criteria does the verifier keep?
# 4. Why does it reject the others?
# 5. How do two agents compare?
# 6. What about criteria and values from a language model?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). No language model is asked: the values
# are computed from the ledgers.

# %%
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

import untaken
from untaken.figures import (
    agents_by_criterion,
    attack_matrix,
    criteria_distributions,
    criteria_means,
    original_vs_disturbed,
)
from untaken.judging import editing
from untaken.judging.criteria import (
    Criterion,
    before_after,
    compare_agents,
    consolidate,
    ledger_criteria,
    outcome_means,
    quantify_disturbed,
    read_quantifier_runs,
)
from untaken.views import criteria_list, verification_table

pd.set_option("display.max_colwidth", None)

SAMPLES = Path("../sample_runs")
LEDGERS = [path for path in sorted((SAMPLES / "ledgers").iterdir()) if path.suffix != ".json"]
runs = [run for ledger in LEDGERS for run in untaken.read_ledger(ledger)]
graph = untaken.load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")
print(f"{len(runs)} runs")

# %% [markdown]
# ## 1. Criteria
#
# A criterion has a name and accepted values, ordered from worst to best. These need no model: each is a
# number read from the ledger, mapped to a value by the bounds in `docs/criteria.md`.

# %%
criteria = ledger_criteria()
criteria_list(criteria)[["name", "description", "accepted_values"]]

# %% [markdown]
# ## 2. Values
#
# Every run gets a value for each criterion, or the reason why it has none: a run in which nothing failed has
# no recovery. The figure shows the mean level, from the worst accepted value to the best, by outcome.

# %%
passes = untaken.quantify(runs, graphs=[graph], criteria=criteria)
criteria_means(outcome_means(passes))

# %% [markdown]
# Most point the right way. Two do not: failed runs score higher in *Outcome support*, and *Response to
# feedback* shows no clear difference. A mean hides how much the runs differ:

# %%
criteria_distributions(passes)

# %% [markdown]
# ## 3. Which criteria does the verifier keep?
#
# The verifier keeps a criterion only if it is stable, tells good from bad, and does not repeat another one.
# It tests twice whether a criterion tells good from bad: successes against failures, and each run against a
# version of itself made worse on purpose. No agent is run again: failing calls are added, actions repeated
# and sub-goals undone in memory.

# %%
disturbed = quantify_disturbed(runs, graphs=[graph], criteria=criteria)
verified = untaken.verify_criteria(passes, disturbed=disturbed)
print(f"{len(verified.kept)} of {len(verified.criteria)} to keep: {', '.join(verified.kept)}")
attack_matrix(verified)

# %% [markdown]
# No criterion notices everything, and none has to. The published test, leaving out sentences, has nothing to
# leave out here: no agent of the desk writes two sentences.
#
# One attack in full, the same runs as recorded and with failing calls added:

# %%
attack = "inject_invalid_actions"
original_vs_disturbed(before_after(passes, disturbed[attack]))

# %% [markdown]
# ## 4. Why does it reject the others?
#
# Each rejection gives its reason with the numbers.

# %%
for check in verified.criteria:
    if not check.keep:
        print(f"{check.name}\n  {check.reason}\n")

# %% [markdown]
# - *Response to feedback* counts how often an agent does something else after a failure. That sounds
#   sensible, but an agent that acts at random scores best: runs with added failing calls score *higher*.
# - *Termination* is a good criterion by itself, but it repeats *Plan completion*.
# - *Outcome support* asks whether the recorded outcome agrees with the plan. That is worth knowing, but it
#   does not measure how good a run is: a plain failure agrees best.
#
# The verifier advises, a person decides, and the decision is kept with the criterion:

# %%
decided = editing.reject(
    criteria,
    "Response to feedback",
    by="human:ann",
    at=datetime(2026, 3, 1, 9, tzinfo=UTC),
    why="rewards agents that act at random",
)
rejected = editing.find(decided, "Response to feedback")
print(rejected.status, "·", *(f"{c.author}: {c.what}, {c.why}" for c in rejected.history))

# %%
columns = ["criterion", "keep", "superiority", "low", "high", "notices", "rewards", "redundant_with"]
verification_table(verified)[columns].round(2)

# %% [markdown]
# ## 5. Two agents
#
# Over the tasks that both ran, with repeats averaged inside a task first. ≠ marks a difference whose
# interval, task by task, excludes 0.

# %%
pair = ("careful-planner", "stubborn-clerk")
side = [one for one in compare_agents(passes, *pair) if one.name in verified.kept]
agents_by_criterion(side, *pair)

# %% [markdown]
# ## 6. Criteria and values from a language model
#
# `untaken.propose_criteria` asks a model several times for criteria, and merges similar ones. Nothing is used
# before a person accepts it. Merging can be seen without a model:

# %%
proposals = [
    ("Time taken", "How long it took to finish the task."),
    ("Duration", "The time needed until the task was finished."),
    ("Policy adherence", "Whether the agent followed the policy that applies."),
    ("Compliance with policy", "How far the actions taken obey the rules of the policy."),
    ("policy-adherence", "Are the rules kept?"),
    ("Privacy", "No personal information is given to others."),
]
made = [Criterion(name=n, description=d, accepted_values=["bad", "fair", "good"]) for n, d in proposals]
merged = consolidate(made)
print(f"{len(made)} proposals, {len(merged.groups)} criteria above a cosine of {merged.tau} ({merged.by}):")
for group in merged.groups:
    others = f", also covers {', '.join(group.criterion.merged)}" if group.criterion.merged else ""
    print(f"  {group.criterion.name}: {group.proposals} of the proposals{others}")

# %% [markdown]
# Recorded values of a model can be read as well. A value that is not accepted is kept as recorded, and
# counted; it is never changed to a similar one. Here are three passes over nine made-up problems:

# %%
SAID = {
    "sum": (True, ["good", "good", "good"]),
    "root": (True, ["good", "fair", "good"]),
    "area": (True, ["good", "good", "very good"]),
    "angle": (True, ["good", "good", "good"]),
    "prime": (True, ["fair", "fair", "fair"]),
    "limit": (False, ["bad", "bad", "bad"]),
    "ratio": (False, ["fair", "fair", "fair"]),
    "proof": (False, ["bad", "bad", "bad"]),
    "digit": (False, ["fair", "bad", "fair"]),
}
with tempfile.TemporaryDirectory() as folder:
    for n in range(3):
        replies = {
            problem: {"actual_success": success, "estimated_performance": json.dumps({"Clarity": said[n]})}
            for problem, (success, said) in SAID.items()
        }
        clarity = [{"name": "Clarity", "accepted_values": ["bad", "fair", "good"]}]
        (Path(folder) / f"run{n + 1}.criteria.txt").write_text(json.dumps(clarity))
        (Path(folder) / f"run{n + 1}.evaluated_problems.json").write_text(json.dumps(replies))
    recorded = read_quantifier_runs(folder)
(clear,) = untaken.verify_criteria(recorded).criteria
print("keep" if clear.keep else "reject", "·", clear.reason)

# %% [markdown]
# The disturbed runs are *not done*, which is not the same as passed. The Criteria page of the app shows all
# of this, reads criteria files and recorded replies, and keeps what people decide.
