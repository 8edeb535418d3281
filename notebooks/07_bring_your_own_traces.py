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
# # What do the traces you already have say?
#
# You have logs of an agent, no ledgers and no plan graph. This notebook gets from there to the first finding:
#
# 1. What is in the traces?
# 2. What does the conversion keep?
# 3. What should a run achieve?
# 4. Which runs fail, and where?
# 5. How do you record runs from now on?
#
# The traces are chat messages, written here by a small script, so that the notebook runs by itself. For your
# own, change the path in part 2: `untaken formats` lists what can be read.

# %%
import json
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd

import untaken
from untaken.figures import plan_figure
from untaken.plans.discovery import discover
from untaken.traces import sniff_path

folder = tempfile.TemporaryDirectory()
HERE = Path(folder.name)

# %% [markdown]
# ## 1. What is in the traces?
#
# Each file is one conversation of a help desk: what the customer wrote, what the agent called, what came
# back. How a conversation ended is in a table of its own, as it often is.

# %%
CALLS = {
    "by the book": ["search_orders", "read_policy", "pay"],
    "without the policy": ["search_orders", "pay"],
    "gives up": ["search_orders"],
}


def conversation(ticket: int, manner: str) -> dict:
    """One conversation in the form of chat completions."""
    messages = [{"role": "user", "content": f"Please refund order {ticket}."}]
    for tool in CALLS[manner]:
        call = {"name": tool, "arguments": json.dumps({"order": ticket})}
        messages.append({"role": "assistant", "tool_calls": [{"id": tool, "function": call}]})
        messages.append({"role": "tool", "tool_call_id": tool, "content": f"{tool}: done"})
    messages.append({"role": "assistant", "content": "That is all I can do for you."})
    agent = "desk-2" if ticket % 2 else "desk-1"
    return {
        "id": f"ticket-{ticket}",
        "task_id": f"refund-{ticket // 2}",
        "agent": agent,
        "messages": messages,
    }


(HERE / "chats").mkdir()
outcomes = ["run_id,success"]
for ticket in range(40):
    manner = "gives up" if ticket % 5 == 4 else "without the policy" if ticket % 6 == 1 else "by the book"
    (HERE / "chats" / f"{ticket}.json").write_text(json.dumps(conversation(ticket, manner)))
    outcomes.append(f"ticket-{ticket},{'false' if manner == 'gives up' else 'true'}")
(HERE / "outcomes.csv").write_text("\n".join(outcomes))
sniff_path(HERE / "chats" / "0.json")

# %% [markdown]
# ## 2. What does the conversion keep?
#
# The format is recognised by content. Every value of the sources is either in the ledger or in the loss
# report. What nobody recorded stays unknown: no cost is not a cost of 0.

# %%
done = untaken.convert(None, [HERE / "chats"], HERE / "converted", outcomes=HERE / "outcomes.csv")
print(f"{done.runs} runs, read as {done.format}")
kept = Counter()
for loss in done.losses:
    for field in loss.fields:
        kept[field.path] += field.kept
pd.DataFrame({"values in the ledger": kept}).rename_axis("field of the source")

# %% [markdown]
# The first file in words:

# %%
print("\n".join(done.losses[0].lines()))

# %% [markdown]
# ## 3. What should a run achieve?
#
# Without a plan graph there is nothing to score. A draft can be learned from successful runs: which steps
# they share, and which step comes first. It says what successful runs *did*, not what is needed.

# %%
runs = [run for ledger in done.ledgers for run in untaken.read_ledger(ledger)]
proposed = discover(runs, graph_id="refund")
pd.DataFrame(
    {
        "sub-goal": [node.id for node in proposed.graph.sub_goals],
        "after": [", ".join(node.deps) for node in proposed.graph.sub_goals],
        "successful runs": [
            f"{proposed.graph.metadata['support']['sub_goals'][node.id]} of {proposed.runs}"
            for node in proposed.graph.sub_goals
        ],
    }
)

# %% [markdown]
# No run is scored by a draft. A person reads it, says what is critical, and accepts it: on the Annotate
# page, or in the YAML file. This desk has to read the policy, although some successful runs did not:

# %%
(HERE / "refund.plan.yaml").write_text("""\
id: refund
title: Refund desk
tasks: ["refund-*"]
sub_goals:
  - id: search_orders
    title: Look up the order
    check: {tool_call: {name: search_orders}}
  - id: read_policy
    title: Read the policy
    deps: [search_orders]
    critical: true
    check: {tool_call: {name: read_policy}}
  - id: pay
    title: Pay the refund
    deps: [read_policy]
    check: {tool_call: {name: pay}}
""")
graph = untaken.load_graph(HERE / "refund.plan.yaml")
plan_figure(graph)

# %% [markdown]
# ## 4. Which runs fail, and where?
#
# Now every run has a score, the successful ones too.

# %%
corpus = untaken.evaluate_corpus(runs, [graph])
by_agent = pd.DataFrame(
    [
        {
            "agent": run.agent,
            "success": run.success,
            "completion": corpus.scores[run.digest].completion,
            "critical": corpus.scores[run.digest].critical_completion,
        }
        for run in runs
    ]
)
by_agent.groupby("agent").mean().round(2)

# %% [markdown]
# By outcome, the second agent is about as good as the first. By the critical sub-goal it is not: it pays
# without reading the policy. One of those runs, which succeeded:

# %%
lucky = next(run for run in runs if run.success and corpus.scores[run.digest].critical_completion == 0)
print(lucky.run_id, "·", corpus.scores[lucky.digest].diagnosis_reason)
plan_figure(graph, corpus.scores[lucky.digest])

# %% [markdown]
# ## 5. How do you record runs from now on?
#
# Convert again whenever you have new traces, or record ledgers directly: a few lines in the agent, or the
# OpenTelemetry exporter of `untaken.instrument`. A ledger also keeps what traces usually lack: the plan, the
# alternatives at a decision, and a hash chain that shows later changes.

# %%
with (
    untaken.LedgerWriter(HERE / "desk.jsonl") as ledger,
    ledger.start(run_id="desk-41", agent="desk-1", task_id="refund-41") as run,
):
    run.tool_call("search_orders", {"order": 41})
    run.tool_call("read_policy", {})
    run.tool_call("pay", {"order": 41})
    run.finish(success=True, cost=0.02)
(recorded,) = untaken.read_ledger(HERE / "desk.jsonl")
score = untaken.score_run(recorded, graph)
print(f"{recorded.run_id}: {score.completed} of {score.required} sub-goals completed")

# %%
folder.cleanup()

# %% [markdown]
# `untaken app FOLDER` opens the converted runs and the graph in the app. `untaken convert` and
# `untaken graph discover` do parts 2 and 3 on the command line:
# [bring your traces](../docs/how-to/bring-traces.md).
