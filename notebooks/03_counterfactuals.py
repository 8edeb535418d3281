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
# # Would another choice have done better?
#
# At a decision point, a run chooses one skill among several. A *delta* compares what history says of one of
# the others with what this run achieved. It is easy to read too much into it, so this notebook asks:
#
# 1. What do the deltas of one run say?
# 2. What does the same choice look like over all runs?
# 3. How much of a delta is the luck of its run?
# 4. How often do two *identical* skills look different?
# 5. What is supported, and how many more runs does the rest need?
# 6. What was known when?
# 7. What do logged odds add?
# 8. What do weak signals do to the memory?
# 9. What did other runs of the same task do?
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). No agent is run again: everything is
# read from the record, and all of it is association. What a skill achieved in other runs may differ from what
# it would achieve here, because those runs may have been easier.

# %%
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

import untaken
from untaken.counterfactual import THRESHOLD, Weights, choices, verdict_of
from untaken.counterfactual.memory import Observed, preview
from untaken.counterfactual.pairs import Pair, compare_pairs
from untaken.counterfactual.plan import calibration_card
from untaken.figures import (
    choice_deltas,
    choice_figure,
    delta_distribution,
    delta_figure,
    estimates_over_time,
    plan_calibration,
    plan_changes_figure,
    skill_rates,
)
from untaken.views import (
    choice_odds,
    choice_review,
    choices_table,
    context_names,
    corpus_logged,
    estimates_table,
    records_table,
    statements_table,
)

pd.set_option("display.max_colwidth", None)

SAMPLES = Path("../sample_runs")
LEDGERS = [path for path in sorted((SAMPLES / "ledgers").iterdir()) if path.suffix != ".json"]
runs = [run for ledger in LEDGERS for run in untaken.read_ledger(ledger)]
graph = untaken.load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")
corpus = untaken.evaluate_corpus(runs, graph)
print(f"{len(runs)} runs, {sum(len(e.decisions) for e in corpus.evaluations.values()):,} decision points")

# %% [markdown]
# ## 1. One run
#
# This run failed. At several decision points an alternative scores more than 0.1 higher than the run did.

# %%
run = next(run for run in runs if run.run_id == "eager-closer.refund-05.3")
evaluation = untaken.evaluate_run(run, corpus.memory)
delta_figure(evaluation)

# %% [markdown]
# Four of them say the same thing. That does not mean that four choices were wrong: the run failed once, and
# every comparison uses that one failure.
#
# ## 2. The same choice over all runs
#
# The *advantage* compares two histories in the same context: that of the alternative and that of the chosen
# skill. It has a 95% interval. For most of what looks promising in one run, the interval includes 0.

# %%
review = choice_review(corpus)
choice_figure(review.choices, most=14)

# %% [markdown]
# The deltas of the same choices: mean, middle half and range over the runs that made the choice. The means
# are close to the advantages. A single run can show anything in the range.

# %%
choice_deltas(review.choices, review.paths, most=10)

# %% [markdown]
# ## 3. The luck of one run
#
# All deltas of all runs, on both sides of the band in which nothing is claimed:

# %%
delta_distribution(review.paths)

# %% [markdown]
# The two peaks are not good and bad choices. In failed runs, four of five deltas say that the alternative may
# be better; in successful runs, three of four say that it was not. The mean delta differs by 0.45 between the
# two groups, the mean advantage of the same alternatives by a ninth of that.

# %%
paths = review.paths.dropna(subset=["delta"]).copy()
success = {run.digest: "the run succeeded" if run.success is True else "the run failed" for run in runs}
paths["outcome"] = paths["digest"].map(success)
paths["above"] = paths["delta"] > 0.1
paths["below"] = paths["delta"] < -0.1
split = paths.groupby("outcome")[["delta", "advantage", "above", "below"]].mean()
split.rename(columns={"above": "share above +0.1", "below": "share below −0.1"}).round(3)

# %% [markdown]
# ## 4. Two identical skills
#
# How often does the ±0.1 rule show a difference between two equal skills? Here both succeed half of the time,
# at the same cost, in separate contexts. Memory and comparisons come from the engine. The second line is the
# share that the engine calls supported.


# %%
def identical_skills(n: int, contexts: int, seed: int) -> untaken.PolicyMemory:
    """Two skills with one and the same truth, n runs each in every context."""
    chance = random.Random(seed)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    log = [
        Observed(
            key=f"{context}/{skill}/{i}",
            kind="outcome",
            skill=skill,
            context_hash=f"context {context}",
            success=float(chance.random() < 0.5),
            cost=min(1.0, max(0.0, chance.gauss(0.5, 0.2))),
            steps=min(1.0, max(0.0, chance.gauss(0.5, 0.2))),
            weight=1.0,
            run_id=f"{context}/{skill}/{i}",
            task_id=f"task {context}",
            agent="agent",
            ts=start + timedelta(hours=i),
        )
        for context in range(contexts)
        for skill in ("this", "that")
        for i in range(n)
    ]
    return untaken.PolicyMemory(log)


def differing(n: int, contexts: int = 250) -> tuple[float, float]:
    """Shares of contexts in which the rule, and the engine's support, call two identical skills different."""
    snapshot = identical_skills(n, contexts, seed=n).snapshot()
    pairs = [Pair(f"context {i}", "this", "that") for i in range(contexts)]
    found = compare_pairs(snapshot, pairs, Weights(), THRESHOLD)
    crossed = sum(verdict_of(trust.advantage) != "equivalent" for trust in found)
    return crossed / contexts, sum(trust.support == "supported" for trust in found) / contexts


columns = ["runs of each", "called different by ±0.1", "supported"]
pd.DataFrame([(n, *differing(n)) for n in (3, 5, 10, 30, 60)], columns=columns).set_index("runs of each")

# %% [markdown]
# The rule is noise until there are many runs. Support stays at about 5% or below, even with few runs, because
# it uses the interval. The price: a real difference takes many runs, too.
#
# ## 5. What is supported, and what the rest needs
#
# `weak` is not a verdict on the alternative. It says how many more runs of each skill are needed if the
# difference stays as it is. Of twenty pairs of equal skills, one interval excludes 0 by chance: `q` is
# adjusted for that.

# %%
table = choices_table(corpus)
columns = ["selected", "alternative", "n_selected", "n_alternative", "advantage", "q", "support"]
table.loc[table["low"].notna(), [*columns, "support_reason"]].head(12).round(3)

# %% [markdown]
# ## 6. What was known when
#
# Each delta uses what was known when its run started, without the run itself: no run is blamed for what
# nobody could know. So the result for the same choice changes over time. This is the first choice of the
# table, with the memory at five moments:

# %%
first = review.choices[0]
began = sorted(run.started.ts for run in runs)


def known_at(moment: datetime) -> dict[str, object]:
    """The first choice with the memory at a moment."""
    then = choices(corpus.evaluations, corpus.runs, corpus.memory.snapshot(moment))
    choice = next(choice for choice in then if choice.digest == first.digest)
    return {
        "as of": moment.date(),
        "n": f"{choice.n_selected} and {choice.n_alternative}",
        "advantage": words(choice.advantage),
        "low": words(choice.low),
        "high": words(choice.high),
        "support": choice.support_reason,
    }


def words(value: float | untaken.Unscored) -> str:
    """A figure, or that there is none."""
    return "unscored" if isinstance(value, untaken.Unscored) else f"{value:+.2f}"


print(f"{first.selected} taken, {first.alternative} left, in {first.context}")
pd.DataFrame([known_at(began[len(began) * part // 5 - 1]) for part in range(1, 6)]).set_index("as of")

# %% [markdown]
# The memory itself: the success rate of each skill in this context, with its interval and outcomes.

# %%
snapshot = corpus.memory.snapshot()
records = records_table(snapshot, context_names(corpus))
skill_rates(records[records["context_hash"] == first.context_hash])

# %% [markdown]
# How the estimate for the chosen skill developed, outcome by outcome:

# %%
estimates_over_time(estimates_table(snapshot, first.selected, first.context_hash))

# %% [markdown]
# ## 7. What logged odds add
#
# A skill may look good because it was chosen in the easy cases. One agent of the samples chose at random and
# logged the probabilities (`propensities` in its `SKILL_SELECTION` events). Weighting each choice by the
# inverse of its probability removes that preference: *SNIPS* uses the weights alone, *doubly robust* adds a
# prediction. The effective number of runs says how much evidence is left after weighting, often very little.
# These are the alternatives with the higher score and at least 3 effective runs.

# %%
logged = corpus_logged(corpus)
known = [(choice, choice_odds(logged, choice)) for choice in review.choices]
rows = [
    {
        "selected": choice.selected,
        "alternative": choice.alternative,
        "advantage": words(choice.advantage),
        "support": choice.support,
        "SNIPS": words(odds.snips),
        "low": words(odds.snips_low),
        "high": words(odds.snips_high),
        "doubly robust": words(odds.dr),
        "effective runs": round(odds.effective, 1),
        "largest weight": f"{odds.largest_share:.0%}",
    }
    for choice, odds in known
    if not isinstance(choice.advantage, untaken.Unscored) and choice.advantage > 0
    if not isinstance(odds.effective, untaken.Unscored) and odds.effective >= 3
]
pd.DataFrame(rows)

# %% [markdown]
# If an advantage is supported but the interval from logged probabilities covers 0, it relies on other agents,
# which may differ in more than this choice. Only logged probabilities can show that.
#
# ## 8. What weak signals do
#
# A delta above 0.1 queues two weak signals: 0.7 against the chosen skill, 0.6 for the alternative. They wait
# until somebody applies them, and `preview` shows first what each would change. 0.7 *raises* every estimate
# below 0.7, although it is meant to lower it. Such a signal is flagged `against`.

# %%
effects = preview(corpus.memory.snapshot(), evaluation.signals)
pd.DataFrame(
    {
        "skill": [effect.signal.skill for effect in effects],
        "meant to be": [effect.signal.direction for effect in effects],
        "n": [effect.n for effect in effects],
        "before": [effect.before for effect in effects],
        "after": [effect.after for effect in effects],
        "flag": [effect.flag for effect in effects],
    }
).round(4)

# %% [markdown]
# Over all runs, most signals push the wrong way:

# %%
every = [signal for found in corpus.evaluations.values() for signal in found.signals]
flags = Counter((e.signal.direction, e.flag) for e in preview(corpus.memory.snapshot(), every))
pd.Series(flags, name="signals").rename_axis(["direction", "flag"]).unstack(fill_value=0)

# %% [markdown]
# ## 9. What other runs of the same task did
#
# Histories of skills mix tasks and agents. If the plan graph says which tools change something (`mutates`),
# runs of the same task and agent can be compared in the same state of the plan. Supported statements come
# first. With shuffled outcomes, hardly any would be supported.

# %%
plans = corpus.plans
print(f"supported {plans.supported} of {plans.alternatives} alternatives ({plans.supported_share:.0%});")
print(f"with shuffled outcomes {plans.shuffled_supported_share:.1%}")
statements_table(plans)[["words"]].head(5)

# %% [markdown]
# One failed run as a line of states: each plan change with the chance of success after it, predicted from
# runs of other tasks. The decisive step is the largest drop.

# %%
failed = next(each for each in plans.runs.values() if each.better_way and len(each.decisions) > 1)
plan_changes_figure(failed)

# %% [markdown]
# How good are these predictions? Each task is predicted from the others.

# %%
plan_calibration(calibration_card(plans))

# %% [markdown]
# So read a delta as a question, not as an answer. Ask for the advantage over all runs, its interval and its
# n. Look at the runs on both sides. Apply no signal that its preview flags.
