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
# # What goes wrong most often?
#
# One round of error analysis, from notes to failure modes:
#
# 1. Read runs and write down what you see.
# 2. Name the failure modes, and let similar notes suggest them.
# 3. Count: which mode, for which agent, how often, and does it also happen in runs that succeed?
# 4. How much is still unseen, and which run to read next?
# 5. Turn a mode into an issue that comes back if it returns.
#
# It uses the sample runs of a refund desk (`sample_runs/README.md`). In the app, this is the Run page (keys
# N, M and A), then Failure modes. Here a few lines of code take the place of the person who reads, so that
# the notebook runs by itself.

# %%
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

import untaken
from untaken.analysis import failure_modes as fm
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange
from untaken.analysis.failure_modes.issues import track_issues
from untaken.figures import mode_contrasts, mode_matrix, mode_over_time, saturation_curve
from untaken.views.mode_analysis import analyse_modes, mode_pivot_table, runs_to_read

SAMPLES = Path("../sample_runs")

folder = tempfile.TemporaryDirectory()
untaken.Workspace.open_folder(SAMPLES / "graphs", at=folder.name).close()
workspace = untaken.Workspace.open_folder(SAMPLES / "ledgers", at=folder.name)
corpus = untaken.evaluate_corpus(workspace.read_runs()[0], workspace.graph_set(), resamples=0)
len(corpus.runs)

# %% [markdown]
# ## 1. Notes
#
# A note is an event in the run's own ledger, signed, and part of its hash chain. It can be about the whole
# run, a sub-goal or one event. Read failing and successful runs: a mode that is just as frequent in
# successful runs does no harm.

# %%
BY = "human:ann"
SEEN = {
    "policy": ("decided before it had checked which policy applies", "Policy not checked"),
    "order": ("went on without the order that it should have looked up", "Order not looked up"),
    "refund": ("the refund was not paid, or not in the right amount", "Wrong refund"),
    "confirmation": ("never told the customer what was decided", "No confirmation"),
}


def read(run: untaken.ledger.Run) -> list[tuple[fm.Place, str, str]]:
    """What a reader notes in a run: the sub-goals that were not completed."""
    nodes = corpus.scores[run.digest].nodes
    missed = [node.sub_goal for node in nodes if node.status in ("attempted", "skipped")]
    return [(fm.Place(sub_goal=goal), *SEEN[goal]) for goal in missed if goal in SEEN]


chosen = [run for run in list(corpus.runs.values())[::9] if run.success is not None][:40]
for run in chosen:
    found = read(run) or [(fm.RUN, "nothing to see in this run", "")]
    workspace.append_events(run, [fm.note_draft(text, author=BY, place=place) for place, text, _ in found])
len(chosen)

# %% [markdown]
# ## 2. Failure modes
#
# The taxonomy is a versioned YAML file in the workspace. You can create, reword, merge, split and retire
# modes; old assignments keep their meaning. You can start from a preset (`fm.preset_modes("mast")`).

# %%
for _, name in SEEN.values():
    fm.change_taxonomy(workspace.path, lambda known, name=name: fm.create_mode(known, name, by=BY)[0])
taxonomy = fm.kept_taxonomy(workspace.path)
for run in chosen:
    words = [
        fm.assignment_draft(fm.find_mode(taxonomy, name).id, by=BY, place=place)
        for place, _, name in read(run)
    ]
    workspace.append_events(run, words)
runs = workspace.read_runs()[0]
print(*(f"{mode.id}: {mode.name}" for mode in taxonomy.modes), sep="\n")

# %% [markdown]
# A new note gets suggestions from similar notes. They count only after somebody accepts them. How often the
# first suggestion is right is measured on the notes filed so far, leaving out each run's own notes. Here it
# is nearly always right, because the code above repeats its words. People do not.

# %%
filed = fm.filed_texts(runs, taxonomy)
suggestions = fm.ModeSuggester(filed).suggest("it decided and had not checked the policy")
quality = fm.suggestion_quality(filed)
print([(taxonomy.name(one.mode), round(one.likeness, 2)) for one in suggestions])
print(
    f"right on {quality.right:.0%} of {quality.notes} notes; most frequent mode alone {quality.majority:.0%}"
)

# %% [markdown]
# ## 3. Count
#
# Rates are over the failed runs that were read. The contrast compares failed with successful runs of the same
# tasks, with an exact test.

# %%
corpus = untaken.evaluate_corpus(runs, workspace.graph_set(), known=corpus, resamples=0)
found = analyse_modes(corpus, runs_to_read(corpus), taxonomy)
mode_matrix(found.pivot, found.names)

# %%
mode_pivot_table(found).head(8)

# %%
mode_contrasts(found.contrasts, found.names)

# %%
mode_over_time(found.trend, next(iter(found.names)))

# %% [markdown]
# ## 4. What is still unseen
#
# The Good–Turing estimate is the share of failures whose mode nobody has seen yet. The queue starts with runs
# of unseen shapes.

# %%
print(found.saturation.words)
saturation_curve(found.saturation)

# %%
[corpus.runs[one.run].run_id for one in found.order[:5]]

# %% [markdown]
# ## 5. An issue that reopens
#
# A mode, or a rule over a run's facts, is tracked as an issue. Once it is marked fixed, a later run that
# matches reopens it.

# %%
mode = next(iter(found.names))
opened = IssueChange(status="open", by=BY, at=datetime(2020, 1, 1, tzinfo=UTC))
issue = Issue(id="most-seen", title=found.names[mode], mode=mode, history=[opened])
(tracked,) = track_issues([issue], runs, corpus.scores, taxonomy)

fixed = IssueChange(status="fixed", by=BY, at=tracked.first_seen, note="a prompt that asks for the policy")
again = Issue(id="most-seen", title=issue.title, mode=mode, history=[opened, fixed])
(later,) = track_issues([again], runs, corpus.scores, taxonomy)
pd.DataFrame({"state": [tracked.state, later.state], "matches": [len(tracked.matches), len(later.matches)]})

# %%
workspace.close()
folder.cleanup()
