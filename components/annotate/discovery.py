"""A graph suggested by runs that succeeded, with what each edge rests on; taken over only by a click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import streamlit as st

from components import figures
from components.annotate import first_graph, session
from components.shared import state, tables, text
from components.shared.panels import panel
from components.shared.reviewer import ask_reviewer, author
from untaken.analysis import runs_of
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import (
    MIN_RUNS,
    MIN_SHARE,
    MIN_SUCCESSES,
    THETA,
    GraphSet,
    PlanGraph,
    ProposedGraph,
    SharedCall,
    Source,
    TaskFamily,
    changing_tools,
    diff_graphs,
    discovery,
    escape_glob,
    graph_digest,
    task_families,
    teaches,
    unusable,
)
from untaken.views import support_table
from untaken.visible import free_id

SOURCES: dict[Source, str] = {
    "actions": "Tools that were called",
    "calls": "Calls of one task, with arguments",
    "plans": "Plans that agents wrote",
}


@panel
def first() -> None:
    """Draw the draft for the runs that have no plan graph, with the ways to accept, edit or leave it."""
    runs = list(first_graph.chosen_runs())
    ways = "Edit the draft, or discard it." if any(map(teaches, runs)) else ""
    st.caption(f"For {counted(len(runs), 'run')} without a plan graph. {ways}")
    ask_reviewer()
    _suggest(None, runs)


@panel
def suggest(graph: PlanGraph | None) -> None:
    """Draw the choice of runs and thresholds, the draft, and how it differs from what is open."""
    corpus = state.corpus()
    known = [run for run in corpus.runs.values() if not run.integrity.broken]
    # no run is of a graph that was never saved
    if graph is not None and corpus.graphs.get(graph.id) is not None:
        known = runs_of(known, corpus.graphs, graph.id)
    _suggest(graph, known)


def _suggest(graph: PlanGraph | None, known: list[Run]) -> None:
    sources = [source for source in SOURCES if any(unusable(run, source) is None for run in known)]
    if not sources:
        _nothing_to_learn(known)
        return
    st.caption("Learned from successful runs. An edge shows what came first in them, not what is required.")
    source = sources[0]
    if len(sources) > 1:
        source = st.segmented_control(
            "Sub-goals from", sources, default=source, required=True, key="suggest_source",
            format_func=SOURCES.__getitem__,
        )  # fmt: skip
    good = [run for run in known if unusable(run, source) is None]
    family = _task_of(good) if source == "calls" else _family(good)
    globs = _applies_to(family) if graph is None else []
    with st.expander("Agents and thresholds"):
        left, right = st.columns(2)
        agents = sorted({run.agent for run in good})
        chosen = left.multiselect(
            "Agents", agents, key="suggest_agents", placeholder="all", format_func=text.name
        )
        fewest = right.number_input(
            "Minimum number of runs that include both ends", 1, 1_000, MIN_RUNS, key="suggest_runs"
        )
        theta = left.slider(
            "Share of runs in the same order (θ)", 0.55, 1.0, THETA, 0.01, key="suggest_theta"
        )
        share = right.slider(
            "Minimum share of runs that include it", 0.0, 1.0, MIN_SHARE, 0.05, key="suggest_share"
        )
        use_rules = graph is not None and source != "calls" and right.checkbox(
            "Map actions with the open graph", value=True, key="suggest_map",
            help="Uses its rules and checks to map actions to sub-goals. If off, tags and tools become the "
            "sub-goals.",
        )  # fmt: skip
    try:
        base, limits = graph if use_rules else None, (theta, share, int(fewest))
        # Twice: the first draft says which reads there are to tick.
        make = partial(_draft, base, (tuple(chosen), family.tasks), limits, source, known)
        draft = make()
        if reads := tuple(_reads(draft.offered)):
            draft = make(reads=reads)
    except UntakenError as error:
        st.warning(text.label(session.words(error), 400))
        _leave()
        return
    if any(finding.code == "draft-one-order" for finding in draft.findings):
        st.caption("All these runs use the same order, so the share in the same order has no effect here.")
    used = counted(draft.runs, "run" if source == "plans" else "successful run")
    named = {run.started.graph for run in good if run.task_id in family.tasks}
    _show(draft, graph, used, globs, next(iter(named)) if len(named) == 1 else None)


def _task_of(good: Sequence[Run]) -> TaskFamily:
    """The one task that a draft of calls is of."""
    task = st.selectbox(
        "Task", sorted({run.task_id for run in good}), key="suggest_task", format_func=text.name
    )
    return TaskFamily(globs=(escape_glob(task),), tasks=(task,))


def _family(good: Sequence[Run]) -> TaskFamily:
    """The tasks to draft one plan for: those with most runs to learn from, until others are chosen."""
    runs = Counter(run.task_id for run in good)
    others = {run.task_id for run in state.corpus().runs.values()} - set(runs)
    found = list(task_families(runs.elements(), others=others if first_graph.asked() else ()))
    if len(found) > 1:
        # The first is chosen: for a new plan the tasks with most runs, for the open graph all of them.
        every = TaskFamily(globs=tuple(g for one in found for g in one.globs), tasks=tuple(runs))
        found = [*found, every] if first_graph.asked() or session.current() is None else [every, *found]
    words = [_family_words(family, runs, of_all=len(family.tasks) == len(runs) > 1) for family in found]
    at = st.selectbox("Tasks", range(len(found)), key="suggest_tasks", format_func=words.__getitem__)
    return found[at]


def _family_words(family: TaskFamily, runs: Mapping[str, int], *, of_all: bool) -> str:
    name = "All tasks" if of_all and len(family.globs) > 1 else text.name(", ".join(family.globs))
    many = sum(runs[task] for task in family.tasks)
    tasks = f"{counted(len(family.tasks), 'task')}, " if len(family.tasks) > 1 else ""
    return f"{name} · {tasks}{counted(many, 'run')} to learn from"


def _applies_to(family: TaskFamily) -> list[str]:
    """The tasks that the new plan names: those it is drafted from, until somebody changes them."""
    globs = list(family.globs)
    return st.multiselect(
        "Applies to tasks",
        globs,
        default=globs,
        # For other tasks another field: nothing typed for these is in it.
        key=f"suggest_for_{len(globs)}_{globs[0]}",
        format_func=text.name,
        accept_new_options=True,
        help="Ids or patterns; * matches any text. Empty: every run that has no other plan.",
    )


def _nothing_to_learn(known: list[Run]) -> None:
    st.info("Suggestions are learned from runs that succeeded and record what was done. None of these does.")
    if first_graph.asked():
        tasks = sorted({run.task_id for run in known})
        task = st.selectbox("Task", tasks, key="write_task", format_func=text.name)
        st.button(
            "Write a plan for this task",
            key="write_plan",
            type="primary",
            on_click=first_graph.write,
            args=(task,),
        )
    _leave()


def _reads(offered: Sequence[SharedCall]) -> list[str]:
    """The reads to take into the draft: offered, none ticked; every change is in it."""
    names = {call.sub_goal: f"{call.tool} {_arguments(call)}" for call in offered if not call.changes}
    if offered:
        st.caption(
            "Every success makes these calls. Those that change something are in the draft; tick the reads "
            "that must be made, too."
        )
    for call in offered:
        if call.changes:
            st.markdown(f"✓ {text.label(f'{call.tool} {_arguments(call)}', 200)}")
    return [
        name
        for at, (name, words) in enumerate(names.items())
        if st.checkbox(text.label(words, 200), key=f"suggest_read_{at}_{name}")
    ]


def _arguments(call: SharedCall) -> str:
    """The arguments of a call as JSON."""
    return msgspec.json.encode(dict(call.arguments), order="sorted").decode()


def _show(
    draft: ProposedGraph, graph: PlanGraph | None, used: str, tasks: Sequence[str], named: str | None
) -> None:
    """Draw the draft; `tasks` are those it is for, `named` the plan that all its runs name, if any."""
    by = ", ".join(f"{text.label(agent, 40)} {runs:,}" for agent, runs in draft.agents.items())
    st.markdown(f"From **{used}** ({by})")
    tables.figure(figures.draft_figure(draft, dark=state.is_dark()), key="draft", name="Suggested graph")
    for finding in draft.findings:
        st.caption(f"{finding.severity}: {text.label(finding.message, 400)}")
    with st.expander("Support of each edge"):
        tables.table(support_table(draft), key="support", name="Support of edges")
    if graph is not None:
        st.markdown("**Compared with the open graph**")
        # Its own id and version would only count as changes.
        diff = diff_graphs(graph, msgspec.structs.replace(draft.graph, id=graph.id, version=graph.version))
        drawn = figures.plan_diff_figure(diff, dark=state.is_dark())
        tables.figure(drawn, key="draft-diff", name="Suggested compared with open")
    if graph is None:
        _say_reach(_new_graph(draft, tasks, named))
    with st.container(horizontal=True):
        if first_graph.asked():
            st.button(
                "Accept", key="suggest_accept", type="primary", on_click=_accept, args=(draft, tasks, named),
                disabled=author() is None or draft.runs < MIN_SUCCESSES,
                help="One run does not show what is required. Edit the draft first."
                if draft.runs < MIN_SUCCESSES
                else "Saves it as version 1, signed with your name. Runs are scored by it at once."
                if author() else "Enter your name to sign the graph.",
            )  # fmt: skip
        st.button(
            "Edit it first" if first_graph.asked() else "Use this draft",
            key="suggest_take", on_click=_take, args=(draft, tasks, named),
            help="You can undo this. Runs are scored with it only after you save.",
        )  # fmt: skip
        _leave()


def _say_reach(graph: PlanGraph) -> None:
    """What accepting it does: the runs that it would score, their tasks, and those that it leaves out."""
    corpus = state.corpus()
    reached = runs_of(corpus.runs.values(), GraphSet.of((*corpus.graphs.graphs, graph)), graph.id)
    tasks = counted(len({run.task_id for run in reached}), "task")
    left = len(first_graph.chosen_runs()) - len(reached)
    rest = f"{counted(left, 'run')} would still have no plan graph." if left > 0 else ""
    st.markdown(
        f"Once saved, it scores **{counted(len(reached), 'run')}** of **{tasks}**. {rest} "
        f"{first_graph.unreached(graph)}"
    )


def _leave() -> None:
    if first_graph.asked():
        st.button("Discard draft", key="suggest_leave", on_click=first_graph.done)


def _accept(draft: ProposedGraph, tasks: Sequence[str], named: str | None) -> None:
    _take(draft, tasks, named)
    session.save("Suggested by runs, accepted as it was")


def _take(draft: ProposedGraph, tasks: Sequence[str], named: str | None) -> None:
    here = session.current()
    if here is not None and not first_graph.asked():
        graph = _unmarked(draft.graph)
        graph = msgspec.structs.replace(graph, tasks=graph.tasks or here.graph.tasks)
        session.take_content(graph, "suggested by runs")
        return
    session.begin(_new_graph(draft, tasks, named), "suggested by runs")
    first_graph.done()


def _new_graph(draft: ProposedGraph, tasks: Sequence[str], named: str | None) -> PlanGraph:
    """The plan that a draft becomes, under an id that is free."""
    name = free_id(named or "suggested", session.graph_ids())
    return msgspec.structs.replace(_unmarked(draft.graph), id=name, version=1, tasks=list(tasks))


def _unmarked(graph: PlanGraph) -> PlanGraph:
    """A person goes through it now: the mark that keeps a draft from scoring is not taken along."""
    metadata = {name: value for name, value in graph.metadata.items() if name != "draft"}
    return msgspec.structs.replace(graph, metadata=metadata)


def _draft(
    graph: PlanGraph | None,
    among: tuple[tuple[str, ...], tuple[str, ...]],
    limits: tuple[float, float, int],
    source: Source,
    runs: list[Run],
    *,
    reads: tuple[str, ...] = (),
) -> ProposedGraph:
    store = state.workspace()
    digest = graph_digest(graph) if graph is not None else ""
    # For runs without a plan, which are others.
    key = (str(store.path), state.content(store), digest, first_graph.asked())
    return _discovered(key, among, limits, source, reads, runs, graph)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner="Learning from runs …")
def _discovered(
    key: object,  # noqa: ARG001 (identifies the other arguments)
    among: tuple[tuple[str, ...], tuple[str, ...]],
    limits: tuple[float, float, int],
    source: Source,
    reads: tuple[str, ...],
    _runs: list[Run],
    _graph: PlanGraph | None,
) -> ProposedGraph:
    agents, tasks = among
    runs = [r for r in _runs if (not agents or r.agent in agents) and (not tasks or r.task_id in tasks)]
    theta, share, fewest = limits
    changing = changing_tools(runs)
    return discovery.discover(
        runs, _graph, theta=theta, min_share=share, min_runs=fewest, graph_id="suggested", source=source,
        mutates=changing if source == "calls" else (), reads=reads,
    )  # fmt: skip
