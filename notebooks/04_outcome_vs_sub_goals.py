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
# # Outcome against sub-goals: is B really better than A?
#
# Six agents worked on the same 24 tasks, three times each. Which one is the best? The success rate gives an
# quick answer, but it is one bit per run. This notebook looks behind it:
#
# 1. Do outcome and sub-goals rank the agents alike, and how far do the two agree?
# 2. Who changes places, and which runs cause it?
# 3. Is one agent really better than another, or is it luck?
# 4. What makes the difference?
# 5. How reliable is each agent when a task comes back?
# 6. Which runs contradict themselves?
# 7. What does the rule for missing verdicts decide?
# 8. Workflow or agent?
# 9. What should be fixed first?
# 10. How is it held?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). Nothing is re-run: everything is read
# from the record. The unit is the task: repeats are averaged inside a task first, for they are not
# independent of each other.

# %%
import sys
from pathlib import Path

ROOT = Path.cwd() if (Path.cwd() / "sample_runs").is_dir() else Path.cwd().parent
sys.path.insert(0, str(ROOT))

import pandas as pd

import untaken
from untaken.answers import (
    agreement_table,
    contradictions_table,
    discordant_table,
    missing_rule,
    pairs_table,
    rankings_table,
    rule_table,
    sub_goal_failures,
)
from untaken.figures import (
    difference_bar,
    fix_first_bars,
    gap_bars,
    outcome_scatter,
    pair_matrix,
    pass_k_lines,
    plan_figure,
    rank_flow,
    sub_goal_bars,
)
from untaken.gate import check_requirements, parse_requirement
from untaken.plans import parse_graph
from untaken.ranking import Comparison

pd.set_option("display.max_colwidth", None)

LEDGERS = [path for path in sorted((ROOT / "sample_runs" / "ledgers").iterdir()) if path.suffix != ".json"]
runs = [run for ledger in LEDGERS for run in untaken.read_ledger(ledger)]
PLAN = ROOT / "sample_runs" / "graphs" / "refund-desk.plan.yaml"
graph = untaken.load_graph(PLAN)
corpus = untaken.evaluate_corpus(runs, graph)
ranking = corpus.ranking
print(f"{len(runs)} runs of {len({run.agent for run in runs})} agents on {len(ranking.shared_tasks)} tasks")

# %% [markdown]
# ## 1. Two rankings
#
# From the rank by outcome on the left to ranks by sub-goals. Orange lines cross: there the two disagree. The
# upright lines are 95% intervals of the rank, from tests of all pairs, and some of them are wide.

# %%
rank_flow(ranking)

# %% [markdown]
# The values behind the ranks, each with its interval:

# %%
standings = rankings_table(corpus)
shown = standings[standings["metric"].isin(["success_rate", "critical_completion"])]
shown[
    ["metric", "rank", "agent", "value", "low", "high", "rank_low", "rank_high", "n_tasks", "n_runs"]
].round(3)

# %% [markdown]
# Kendall's τ-b says how far two rankings agree: 1 is the same order, 0 none at all, −1 the reverse. With six
# agents it can take few values, so its interval is wide and its p is exact: from all 720 orders.

# %%
agreement_table(corpus)[["b", "tau_b", "low", "high", "p", "spearman", "n"]].round(3)

# %% [markdown]
# ## 2. Where the outcome misleads
#
# Upper left: agents that succeed less often than their sub-goals deserve. Lower right: agents that the
# outcome flatters, since they arrive without what is critical.

# %%
by_outcome, by_critical = (ranking.metrics[name] for name in ("success_rate", "critical_completion"))
outcome_scatter(ranking.placed("critical_completion"), by_outcome, by_critical)

# %% [markdown]
# The pairs that change places between the outcome and critical completion:

# %%
turned = discordant_table(corpus)
turned[turned["b_metric"] == "critical_completion"]

# %% [markdown]
# And for one of them the runs that cause it. Each run pulls the two apart by its outcome and its sub-goals
# together, and over all runs the weights sum up to the whole turn: a few of them are enough to see why.

# %%
pair = next(
    p
    for p in ranking.discordant
    if (p.a_metric, p.b_metric) == ("success_rate", "critical_completion") and p.first == "quick-workflow"
)
pulls = ranking.pulls(pair)
print(f"{pair.first} is above {pair.second} by outcome, below by critical completion; {len(pulls)} runs pull")
pd.DataFrame(
    [(p.run_id, "succeeded" if p.outcome else "failed", p.value, round(p.weight, 4)) for p in pulls[:8]],
    columns=["run", "outcome", "critical completion", "weight"],
)

# %% [markdown]
# The first of quick-workflow's, on the plan graph. The refund was paid, so the outcome says *success*; nobody
# had checked whether the policy applies.

# %%
hollow = next(p for p in pulls if p.agent == pair.first)
plan_figure(graph, corpus.scores[hollow.digest])

# %% [markdown]
# ## 3. Is one agent really better?
#
# Two agents are compared task by task, over the tasks that both ran. Above the diagonal is the difference
# in percentage points with its interval, below it the share of resamples in which the one ranked higher is
# above, and p after Holm: with 15 pairs, one in twenty looks different by chance.

# %%
compared = ranking.comparisons["critical_completion"]
pair_matrix(compared)

# %% [markdown]
# A *clear difference*: the interval excludes 0. Ties are not transitive, so these groups may overlap:

# %%
[group for group in compared.ties if len(group) > 1]

# %% [markdown]
# Take the two best. By critical completion full-workflow is ahead, by outcome careful-planner. The grey band
# is the smallest difference that this many tasks would show in four of five cases (MDE): "no difference" only
# means that the difference is inside the band.

# %%
top = compared.pair("full-workflow", "careful-planner")
difference_bar(top)

# %%
difference_bar(ranking.comparisons["success_rate"].pair("full-workflow", "careful-planner"))

# %% [markdown]
# The same for every pair by outcome. Where tasks were tried more than once, p comes from swapping the two
# agents inside tasks at random; with one trial each it is McNemar's exact test, on the tasks that only one
# of the two solved.

# %%
columns = ["first", "second", "difference", "low", "high", "p", "test", "p_holm", "p_above", "mde", "n_tasks"]
pairs = pairs_table(corpus)
pairs.loc[pairs["metric"] == "success_rate", columns].round(4)

# %% [markdown]
# With only the first trial of each task, there are fewer clear differences, and fewer of them
# remain after correction for all pairs:


# %%
def clear_difference(comparison: Comparison) -> str:
    """How many pairs differ clearly, and how many of them still do after Holm."""
    apart = [pair for pair in comparison.pairs if pair.clear_difference]
    stand = sum(pair.p_holm <= 0.05 for pair in apart)
    return f"{len(apart)} of {len(comparison.pairs)} pairs differ clearly, {stand} after correction"


first_trials = [score for score in ranking.runs if score.task_repeat == 1]
single = untaken.rank_agents(first_trials).comparisons["success_rate"]
print(f"three trials: {clear_difference(ranking.comparisons['success_rate'])}")
print(f"one trial: {clear_difference(single)}")
columns = ["first", "second", "difference", "p", "test", "first_only", "second_only", "p_holm", "mde"]
pd.DataFrame([[getattr(p, name) for name in columns] for p in single.pairs], columns=columns).round(4)

# %% [markdown]
# ## 4. What makes the difference
#
# A difference by sub-goals is the sum of its parts, one a sub-goal. Between full-workflow and stubborn-clerk:

# %%
gap_bars(ranking.sub_goal_gaps("critical_completion", "full-workflow", "stubborn-clerk"))

# %% [markdown]
# And how often each agent completes each sub-goal:

# %%
sub_goal_bars(sub_goal_failures(corpus))

# %% [markdown]
# ## 5. How reliable
#
# A success rate is about one trial. pass^k is the chance that *all* of k trials of a task succeed, and it
# falls at different speeds: an agent that is right on some tasks always and on others never keeps its rate.

# %%
pass_k_lines(ranking.pass_k)

# %% [markdown]
# ## 6. Runs that contradict themselves
#
# *Lucky* runs succeeded with something critical undone, *unlucky* ones failed with all sub-goals completed.
# Either the outcome is wrong there or the plan graph is, and both are worth knowing.

# %%
odd = contradictions_table(corpus)
odd.groupby(["agent", "kind"]).size().unstack(fill_value=0)

# %%
odd.groupby("kind").head(2)[["kind", "run_id", "task_id", "sub_goals", "weight"]]

# %% [markdown]
# ## 7. Effect of the rule for missing verdicts
#
# Without evidence a sub-goal is unscored. Such sub-goals count as not completed, unless one asks for them to
# be left out. That is a choice, and it may decide a ranking. Here it moves one agent, whose records say
# nothing of the customer's intent, and no place:

# %%
effect = missing_rule(corpus)
print(f"{len(effect.flips)} pairs change places with the rule")
rule_table(effect)[["metric", "agent", "fail_value", "drop_value", "fail_rank", "drop_rank"]].round(3)

# %% [markdown]
# Now suppose that only a person can tell whether the policy applies, and nobody has looked yet. Then half
# of what is critical is unknown, and two agents change places with nothing but the rule:

# %%
checked = 'check: {expr: "state.policy == state.expected_policy"}'
unseen = parse_graph(PLAN.read_text().replace(checked, "check: {verdict: true}").encode(), name=PLAN.name)
effect = missing_rule(untaken.evaluate_corpus(runs, unseen, resamples=500))
for flip in effect.flips:
    print(
        f"{flip.metric}: {flip.first} is above {flip.second}, and below where missing verdicts are left out"
    )

# %% [markdown]
# ## 8. Workflow or agent
#
# A workflow follows fixed steps, an agent decides for itself. While the workflow completes more of what is
# critical, it is preferred, until the gap is explained.

# %%
rows = [
    {
        "workflow": one.workflow,
        "agent": one.agent,
        "wins": one.wins,
        "gap": round(one.gap.difference, 3),
        "low": round(one.gap.low, 3),
        "high": round(one.gap.high, 3),
        "clear difference": one.gap.clear_difference,
    }
    for one in ranking.workflows
]
pd.DataFrame(rows)

# %% [markdown]
# Two workflows with opposite results. The one with checks is ahead of every agent, though
# without a clear difference to the best of them; the one without checks never completes anything critical,
# but half of its runs *succeed*. "Workflow or agent" is the wrong question: the checks matter.
#
# ## 9. What to fix first
#
# How often a sub-goal is the first to fail, times what depends on it:

# %%
found = untaken.triage(corpus)
fix_first_bars([item for item in found.items if item.kind == "sub_goal"])

# %% [markdown]
# ## 10. How it is held
#
# A requirement keeps what was reached. On the value, full-workflow passes; on the worse end of its interval
# it does not, for 24 tasks do not say so much. `untaken gate` and pytest do the same in continuous
# integration.

# %%
rows = []
for on in ("point", "interval"):
    wanted = [parse_requirement("critical_completion>=0.9", on=on)]
    (check,) = check_requirements(runs, ranking.runs, wanted, on=on, agents=["full-workflow"])
    rows.append({"on": on, "verdict": check.verdict, "compared": check.compared, "why": check.reason})
pd.DataFrame(rows)

# %% [markdown]
# In short: there is no clear difference between the best agent by outcome and the best by critical sub-goals;
# two agents that look alike by outcome are very different; and a third of all successes left out something
# critical. A success rate alone shows none of this. For people who do not code, one HTML file shows the same:
# `untaken report`.
