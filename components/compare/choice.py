"""Which task and which of its runs the Compare page shows.

Both live in the address while the page is shown, and in the session while another one is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.shared import cards, listed_runs, state, text
from components.shared.panels import panel
from untaken.analysis import MOST_SHOWN, ComparedRun, Corpus, SideBySide, TaskRuns, align_runs
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import compared_tasks

ADDRESS: Final = ("task", "runs", "reference")
"""What the page's address holds beside the selection (untrusted)."""
PAGE: Final = "pages/compare.py"
MOST_OFFERED: Final = 300


def remember() -> None:
    """Take task and runs from the address, or write them back where a navigation click cleared them."""
    kept = {name: st.session_state.get(f"compare_{name}") for name in ADDRESS}
    asked = {name: st.query_params[name] for name in ADDRESS if name in st.query_params}
    if "task" in asked and asked["task"] != kept["task"]:
        kept = {}  # runs of another task
    _choose(**{name: asked.get(name, kept.get(name)) for name in ADDRESS})


def _choose(**chosen: str | None) -> None:
    """Show a task, and the given runs of it (separated by commas), compared with a reference."""
    for name in ADDRESS:
        value = chosen.get(name)
        st.session_state[f"compare_{name}"] = value
        state.write_address(name, [value] if value else [])


def _chosen(name: str) -> str:
    return st.session_state.get(f"compare_{name}") or ""


@panel
def choose_task(corpus: Corpus) -> TaskRuns | None:
    """Draw the picker of tasks: those of the agents listed, and the one that the address names.

    Returns:
        The task asked for, else that of the run last looked at, else the one with most to compare; ``None``
        where no task was run twice.
    """
    offered = {task.task_id: task for task in state.derived(compared_tasks, of_all=state.lists_all())}
    every = {task.task_id: task for task in state.derived(compared_tasks, of_all=True)}
    run = corpus.runs.get(state.selected("run") or "")
    asked = _chosen("task") or (run.task_id if run else "")
    if asked in every and asked not in offered:
        offered[asked] = every[asked]
        listed_runs.not_compared(corpus.runs[every[asked].digests[0]].agent)
    elif _chosen("task") and asked not in every:
        st.warning("The link names a task with fewer than two runs here.", icon=":material/link_off:")
    if not offered:
        return None
    chosen = cards.picker(
        "Task",
        {
            name: f"{text.one_line(name, 60)} · {counted(len(task.digests), 'run')}, "
            f"{task.successes} ✓ {task.failures} ✗"
            for name, task in offered.items()
        },
        asked if asked in offered else next(iter(offered)),
        lambda name: _choose(task=name),
        key="compare_task_picker",
        filter_mode="contains",
    )
    if not _chosen("task"):
        _choose(task=str(chosen))  # so that the address can be shared
    return offered[str(chosen)]


@panel
def link(run: Run) -> None:
    """A link to this page for the task of a run, where other runs of it are there."""
    if any(task.task_id == run.task_id for task in state.derived(compared_tasks, of_all=True)):
        st.page_link(
            PAGE,
            label="Compare with the other runs of this task",
            query_params={"task": run.task_id} | state.scope(),
        )


@panel
def choose_runs(corpus: Corpus, task: TaskRuns, *, beside: DeltaGenerator) -> SideBySide | None:
    """Draw the picker of runs, `beside` the task that of the reference, and align what is chosen."""
    asked = [digest for digest in _chosen("runs").split(",") if digest]
    known = [digest for digest in asked if digest in task.digests]
    if len(known) < len(asked):
        st.warning(
            f"{counted(len(asked) - len(known), 'run')} from the link not found. Their ledgers may "
            "have changed since.",
            icon=":material/link_off:",
        )
    held = _chosen("reference")
    try:
        # A reference of another choice of runs is none of these.
        found = _aligned(corpus, task, known, held if held in (known or task.digests) else None)
    except UntakenError as error:
        _pick_runs(corpus, task, known)
        st.info(text.label(error.message, 300))
        return None
    _pick_runs(corpus, task, [run.digest for run in found.runs])
    with beside:
        _pick_reference(found, task)
    return found


def _aligned(corpus: Corpus, task: TaskRuns, shown: Sequence[str], reference: str | None) -> SideBySide:
    return align_runs(
        task.task_id,
        [corpus.runs[digest] for digest in task.digests],
        corpus.scores,
        corpus.graphs,
        shown=shown,
        # However alike the others are, these two are among those shown.
        include=[digest for digest in (state.selected("run"), reference) if digest in task.digests],
        reference=reference,
    )


def _pick_runs(corpus: Corpus, task: TaskRuns, shown: Sequence[str]) -> None:
    st.session_state["compare_runs_picker"] = list(shown)
    of_task = (corpus.runs[digest] for digest in task.digests)
    alike = Counter((run.agent, run.started.task_repeat) for run in of_task)
    st.multiselect(
        "Runs",
        list(dict.fromkeys([*shown, *task.digests]))[:MOST_OFFERED],
        format_func=lambda digest: _run_words(corpus.runs[digest], alike),
        key="compare_runs_picker",
        on_change=lambda: _choose(task=task.task_id, runs=",".join(st.session_state["compare_runs_picker"])),
        help=f"Up to {MOST_SHOWN} runs that differ most. Clear the list to choose them automatically.",
    )


def _run_words(run: Run, alike: Counter[tuple[str, int | None]]) -> str:
    repeat = run.started.task_repeat
    if alike[run.agent, repeat] > 1:
        mark = f" {text.one_line(run.run_id, 40)}"
    else:
        mark = "" if repeat is None else f" #{repeat}"
    return f"{text.outcome(run.success)} {text.one_line(run.agent, 40)}{mark}"


def _pick_reference(found: SideBySide, task: TaskRuns) -> None:
    runs = {run.digest: run for run in found.runs}
    cards.picker(
        "Reference run",
        {digest: run_name(run) for digest, run in runs.items()},
        found.reference,
        lambda digest: _choose(task=task.task_id, runs=",".join(runs), reference=digest),
        key="compare_reference_picker",
        help="All other runs are compared with this one. Default: the best successful run.",
    )


def run_name(run: ComparedRun) -> str:
    """Outcome, agent and repeat of a run; untrusted, for what takes plain text."""
    return f"{text.outcome(run.success)} {text.one_line(run.name, 60)}"
