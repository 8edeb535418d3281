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
# # Is one agent ahead of another?
#
# Six agents worked on the same 24 tasks, three times each. Which one is the best? The success rate gives a
# quick answer, but it is one bit per run. This notebook looks behind it:
#
# 1. Do outcome and sub-goals rank the agents alike, and how far do the two agree?
# 2. Which agents change places, and because of which runs?
# 3. Is one agent ahead of another, or is it luck?
# 4. What makes the difference?
# 5. How reliable is each agent when a task comes back?
# 6. Which runs contradict themselves?
# 7. What does the rule for missing verdicts decide?
# 8. Workflow or agent?
# 9. What should be fixed first?
# 10. How do you keep it that way?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). No agent is run again: everything is
# read from the record. The unit is the task: repeats are averaged inside a task first, because they are not
# independent of each other.

# %%
from pathlib import Path

import pandas as pd

import untaken
from untaken.analysis.gate import check_requirements, parse_requirement
from untaken.analysis.ranking import Comparison
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
from untaken.plans import parse_graph
from untaken.views import (
    agreement_table,
    contradictions_table,
    discordant_table,
    missing_rule,
    pairs_table,
    rankings_table,
    rule_table,
    sub_goal_failures,
)

pd.set_option("display.max_colwidth", None)

SAMPLES = Path("../sample_runs")
LEDGERS = [path for path in sorted((SAMPLES / "ledgers").iterdir()) if path.suffix != ".json"]
runs = [run for ledger in LEDGERS for run in untaken.read_ledger(ledger)]
PLAN = SAMPLES / "graphs" / "refund-desk.plan.yaml"
graph = untaken.load_graph(PLAN)
corpus = untaken.evaluate_corpus(runs, graph)
ranking = corpus.ranking
print(f"{len(runs)} runs of {len({run.agent for run in runs})} agents on {len(ranking.shared_tasks)} tasks")

# %% [markdown]
# ## 1. Two rankings
#
# On the left the rank by outcome, to the right the ranks by sub-goals. Orange lines cross where the two
# disagree. The vertical lines are 95% intervals of the rank, from tests of all pairs; some are wide.

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
# Kendall's τ-b says how far two rankings agree: 1 is the same order, 0 is no agreement, −1 the reverse order.
# With six agents it can take few values, so its interval is wide. Its p is exact, from all 720 orders.

# %%
agreement_table(corpus)[["b", "tau_b", "low", "high", "p", "spearman", "n"]].round(3)

# %% [markdown]
# ## 2. Where the outcome misleads
#
# Upper left: agents that succeed less often than their sub-goals suggest. Lower right: agents that the
# outcome flatters, because they succeed without completing what is critical.

# %%
by_outcome, by_critical = (ranking.metrics[name] for name in ("success_rate", "critical_completion"))
outcome_scatter(ranking.placed("critical_completion"), by_outcome, by_critical)

# %% [markdown]
# The pairs that change places between the outcome and critical completion:

# %%
turned = discordant_table(corpus)
turned[turned["b_metric"] == "critical_completion"]

# %% [markdown]
# For one of these pairs, the runs that cause it. Each run contributes by its outcome and its sub-goals, and
# the contributions of all runs add up to the whole change. A few of them are enough to see why.

# %%
pair = next(
    p
    for p in ranking.discordant
    if (p.a_metric, p.b_metric) == ("success_rate", "critical_completion") and p.first == "quick-workflow"
)
pulls = ranking.contributions(pair)
print(f"{pair.first} is above {pair.second} by outcome, below by critical completion; {len(pulls)} runs pull")
pd.DataFrame(
    [(p.run_id, "succeeded" if p.outcome else "failed", p.value, round(p.weight, 4)) for p in pulls[:8]],
    columns=["run", "outcome", "critical completion", "weight"],
)

# %% [markdown]
# The first run of quick-workflow, on the plan graph. The refund was paid, so the outcome says *success*, but
# the agent never checked whether the policy applies.

# %%
hollow = next(p for p in pulls if p.agent == pair.first)
plan_figure(graph, corpus.scores[hollow.digest])

# %% [markdown]
# ## 3. Is one agent ahead?
#
# Two agents are compared task by task, over the tasks that both ran. Above the diagonal is the difference in
# percentage points with its interval. Below it is the share of resamples in which the higher-ranked agent is
# ahead, and p after Holm's correction: of 15 equal pairs, about one would look different by chance.

# %%
compared = ranking.comparisons["critical_completion"]
pair_matrix(compared)

# %% [markdown]
# A *clear difference* means that the interval excludes 0. Ties are not transitive, so these groups may
# overlap:

# %%
[group for group in compared.ties if len(group) > 1]

# %% [markdown]
# Take the two best: full-workflow is ahead by critical completion, careful-planner by outcome. The grey band
# is the smallest difference that this many tasks would show in four of five cases (MDE). "No difference" only
# means that the difference is inside the band.

# %%
top = compared.pair("full-workflow", "careful-planner")
difference_bar(top)

# %%
difference_bar(ranking.comparisons["success_rate"].pair("full-workflow", "careful-planner"))

# %% [markdown]
# The same for every pair by outcome. If tasks were tried more than once, p comes from swapping the two agents
# at random inside tasks. With one trial per task it is McNemar's exact test, on the tasks that only one of
# the two solved.

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
# A difference by sub-goals is a sum with one part for each sub-goal. Between full-workflow and
# stubborn-clerk:

# %%
gap_bars(ranking.sub_goal_gaps("critical_completion", "full-workflow", "stubborn-clerk"))

# %% [markdown]
# How often each agent completes each sub-goal:

# %%
sub_goal_bars(sub_goal_failures(corpus))

# %% [markdown]
# ## 5. How reliable
#
# A success rate is about one trial. pass^k is the chance that *all* of k trials of a task succeed. It falls
# at different speeds: an agent that always solves some tasks and never the others keeps its rate.

# %%
pass_k_lines(ranking.pass_k)

# %% [markdown]
# ## 6. Runs that contradict themselves
#
# *Lucky* runs succeeded without a critical sub-goal; *unlucky* runs failed with all sub-goals completed.
# Either the outcome is wrong or the plan graph is, and both are worth knowing.

# %%
odd = contradictions_table(corpus)
odd.groupby(["agent", "kind"]).size().unstack(fill_value=0)

# %%
odd.groupby("kind").head(2)[["kind", "run_id", "task_id", "sub_goals", "weight"]]

# %% [markdown]
# ## 7. Effect of the rule for missing verdicts
#
# Without evidence a sub-goal is unscored. Unscored sub-goals count as not completed, unless you leave them
# out. This choice can decide a ranking. Here it changes the rate of one agent, whose records say nothing
# about the customer's intent, and no rank:

# %%
effect = missing_rule(corpus)
print(f"{len(effect.flips)} pairs change places with the rule")
rule_table(effect)[["metric", "agent", "fail_value", "drop_value", "fail_rank", "drop_rank"]].round(3)

# %% [markdown]
# Now suppose that only a person can tell whether the policy applies, and nobody has looked yet. Then half of
# what is critical is unknown, and two agents change places because of the rule alone:

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
# A workflow follows fixed steps; an agent decides for itself. As long as the workflow completes more of what
# is critical, prefer it, until the gap is explained.

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
# Where failed runs fail first, and why:

# %%
found = untaken.triage(corpus)
print(found.headline)
fix_first_bars(found.items)

# %% [markdown]
# ## 10. How do you keep it that way?
#
# A requirement protects what you have reached. By its value, full-workflow passes; by the lower end of its
# interval it does not, because 24 tasks are too few to be sure. `untaken gate` and pytest do the same in
# continuous integration.

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
