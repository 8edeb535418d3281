"""What a session knows: the workspace, the scope and rules in force, and what is selected.

The scope (`?with_task=…&missing=…&verdicts=…`, where it is not the usual one) and the selection
(`?run=…&sub_goal=…&decision=…`, `?choice=…`, `?graph=…`) live in the address, so that a view can be sent to
somebody. Clicking in the navigation clears the address, so both are mirrored in the session and written back.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Final, TypeVar

import streamlit as st
from msgspec import Struct

from components.shared import evaluating, navigation, private_session, text
from components.shared.demo import SAMPLES, open_demo
from components.shared.panels import failing_alone
from untaken.analysis import Corpus, Group
from untaken.analysis import corpus as corpora
from untaken.errors import Finding, first_few
from untaken.garbage import seldom_collected
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import escape_glob
from untaken.scoring import MissingRule
from untaken.workspace import Workspace

FOLDER: Final = "UNTAKEN_WORKSPACE"
DEMO: Final = "UNTAKEN_DEMO"
SELECTION: Final = (
    *("run", "sub_goal", "decision", "change", "choice", "metric", "pair", "criterion", "graph", "step"),
    *("view", "by", "mode", "group", "issue", "blind"),
)
OF_ANY_AGENTS: Final = ("view", "by", "metric", "mode", "issue", "criterion", "graph")
"""What of a selection means the same with other agents."""
PLANNED: Final = SAMPLES / "crafter"
"""Sample runs of planning: records next to their ledgers, and what was measured with them."""
DEFAULT_FOLDER: Final = "untaken-workspace"
RUN_PAGE: Final = "pages/run.py"
PAGE: Final = "page_shown"

_IN_FRAME: Final = ContextVar("in_frame", default=False)
_ANSWERS: Final[ContextVar[dict[object, Any] | None]] = ContextVar("answers", default=None)
"""What was asked for since the page began: to find it in a cache of Streamlit's takes half a millisecond."""
Made = TypeVar("Made")

SCOPE: Final = ("with_task", "missing", "verdicts", "min_kappa", "listed", "all_read", "agents")
"""What of an address says which runs count and are listed, and how; `agents` is the old `with_task`."""
LISTED: Final = "scope_listed"
ALL_READ: Final = "scope_all_read"
"""Whether every run counts as read: one without a failure mode is free of all modes."""
UNKNOWN: Final = "scope_unknown"
"""What an address named of the scope that is not in the workspace: other runs are shown than it meant."""

MISSING_WORDS: Final[dict[MissingRule, str]] = {"fail": "count as not completed", "drop": "are left out"}


class RulesInForce(Struct, frozen=True, kw_only=True):
    """The rules that every rate on screen was counted under."""

    missing: MissingRule = "fail"
    verdicts: tuple[str, ...] = ()
    least_kappa: float | None = None
    unreliable: tuple[str, ...] = ()

    @property
    def globs(self) -> tuple[str, ...]:
        """The authors as the engine takes them, without the judges whose κ is below `least_kappa`."""
        return (*(escape_glob(author) for author in self.verdicts), *self.unreliable)

    def in_words(self) -> str:
        """The rules in use, as one line next to a rate."""
        whose = ", ".join(self.verdicts) if self.verdicts else "all"
        if self.least_kappa is not None:
            judges = ", ".join(glob.removeprefix("!") for glob in self.unreliable) or "no judge"
            whose += f" · left out, κ with people below {self.least_kappa:g}: {judges}"
        return f"Sub-goals without a verdict {MISSING_WORDS[self.missing]} · verdicts counted: {whose}"


def workspace() -> Workspace:
    """The workspace of this session: its private area, where it has one, else the one that all share."""
    if not _IN_FRAME.get():  # a page was run without it: start over inside
        # A server whose first visitor follows a link to a page takes `pages/` for an app of its own, and runs
        # that page alone. The first call of `st.navigation` ends that for good.
        st.navigation(navigation.offered(), position="hidden")
        st.rerun()
    return private_session.workspace() or shared_workspace()


def shared_workspace() -> Workspace:
    """The workspace that this server was started on."""
    return once("workspace", lambda: _open(os.environ.get(FOLDER, ""), os.environ.get(DEMO, "") == "1"))


@contextmanager
def frame(as_of: str | None = None) -> Iterator[None]:
    """Inside it the pages may be drawn; app.py enters it.

    Args:
        as_of: the content that the runs are evaluated at, where a part of a page is drawn again by itself:
            after a save it need not wait until they are evaluated again (`components.shared.after_saves`).
    """
    frame_before, answers_before = _IN_FRAME.set(True), _ANSWERS.set({})
    try:
        # A full garbage collection of the objects of 10,000 runs takes longer than most pages.
        with failing_alone(), seldom_collected():
            if as_of is not None:
                once(("content", workspace().path), lambda: as_of)
            yield
    finally:
        _ANSWERS.reset(answers_before)
        _IN_FRAME.reset(frame_before)


def in_frame() -> bool:
    """Whether the page is drawn, not a fragment of it alone."""
    return _IN_FRAME.get()


def once(what: object, make: Callable[[], Made]) -> Made:
    """What `make` gives, asked for once a page is drawn."""
    answers = _ANSWERS.get()
    if answers is None:  # outside the frame
        return make()
    if what not in answers:
        answers[what] = make()
    made: Made = answers[what]
    return made


@st.cache_resource(show_spinner="Opening the workspace …", max_entries=2)
def _open(folder: str, demo: bool) -> Workspace:
    if demo:
        return open_demo(folder or _demo_folder().name)
    return Workspace.open_folder(folder or DEFAULT_FOLDER)


# Cached because spinners of what it calls need a page, and only the outermost cached function shows one.
@st.cache_resource(show_spinner=False, max_entries=1)
def open_ahead(_on_step: Callable[[str], object]) -> None:
    """Open the workspace that all share, before anybody visits, as far as its first page needs it."""
    _on_step("Opening the workspace")
    store = shared_workspace()
    if not evaluating.first_page_is_kept(store):
        evaluating.evaluate_ahead(store, _on_step)


@st.cache_resource(show_spinner=False, max_entries=1)
def open_whole(digest: str) -> None:  # noqa: ARG001 (of the content: the key of the cache)
    """Read the workspace that all share, and evaluate its decisions, where the first page did without."""
    evaluating.evaluate_rest(shared_workspace())


@cache
def _demo_folder() -> tempfile.TemporaryDirectory[str]:
    """Removed when the server ends."""
    # Kept by the cache: it is removed with the last reference.
    return tempfile.TemporaryDirectory(prefix="untaken-")


def content(store: Workspace) -> str:
    """Digest of the workspace's content and of what its memory was taught, asked for once a page is drawn."""
    return once(("content", store.path), lambda: evaluating.content(store))


def corpus() -> Corpus:
    """Every run of the workspace, evaluated under the rules in force; cached by content and rules."""
    store, now = workspace(), rules()
    return evaluating.evaluated(str(store.path), content(store), now.missing, now.globs, store)


def compared() -> Corpus:
    """The runs of the agents chosen in the sidebar, evaluated; agents that share no task are not compared."""
    store, now = workspace(), rules()
    name = group_name()
    if name is None:
        return corpus()
    return evaluating.part(str(store.path), content(store), now.missing, now.globs, name, store)


def lists_all() -> bool:
    """Whether pages that list runs list those of all agents, not only of the agents compared."""
    return group_name() is None or st.session_state.get(LISTED) == "all"


def listed() -> Corpus:
    """The runs that Review, Run, Compare, Failure modes and the search list."""
    return corpus() if lists_all() else compared()


def is_listed(digest: str) -> bool:
    """Whether the run with this content digest is one of those that such pages list."""
    name = None if lists_all() else group_name()
    return name is None or any(digest in group.digests for group in groups() if group.name == name)


def derived(make: Callable[..., Made], *given: object, of_all: bool = False) -> Made:
    """The result of `make`, an engine function, for the compared (or all) runs; computed once and shared.

    Some are kept in the workspace (`untaken.views.stored_answers`): then no run is read for them.

    `given`: further arguments of `make`, themselves derived from the same runs, or functions that derive them
    where they are needed.
    """
    return later(make, *given, of_all=of_all)()


def later(make: Callable[..., Made], *given: object, of_all: bool = False) -> Callable[[], Made]:
    """`derived`, worked out when it is called: outside of the session, too, as a download is."""
    store, now = workspace(), rules()
    whose = (str(store.path), content(store), now.missing, now.globs, None if of_all else group_name())
    return partial(evaluating.derived, whose, evaluating.name_of(make), make, given, store)


def drawn(make: Callable[[], Made], *what: str | None) -> Made:
    """What `make` gives for the runs in scope, the rules and the theme; made once for each `what`."""
    store, now = workspace(), rules()
    agents = (group_name(), lists_all())
    whose = (str(store.path), content(store), now.missing, now.globs, agents, is_dark())
    made: Made = _drawn(whose, what, make)
    return made


def groups() -> tuple[Group, ...]:
    """The sets of agents that can be compared; cached by content."""
    store = workspace()
    return once(("groups", store.path), lambda: evaluating.groups(str(store.path), content(store), store))


def group_name() -> str | None:
    """Name of the set of agents chosen; ``None`` where there is no choice."""
    return None if len(groups()) < 2 else _chosen_group().name


def agents() -> tuple[str, ...]:
    """The names of the agents compared."""
    return _chosen_group().agents if groups() else ()


def _chosen_group() -> Group:
    return _named(st.session_state.get("group")) or groups()[0]  # an address may name none that is here


def _named(task: object) -> Group | None:
    """The set of agents that ran a task; a set is named by its first one, which may change."""
    return next((group for group in groups() if task in group.tasks), None)


def runs_left_out() -> int:
    """Number of runs of the agents that are not compared now."""
    name = group_name()
    return 0 if name is None else sum(len(group.digests) for group in groups() if group.name != name)


def runs() -> list[Run]:
    """Every readable run of the workspace; cached by content."""
    store = workspace()
    return evaluating.read(str(store.path), content(store), store)[0]


def findings() -> tuple[Finding, ...]:
    """What was noticed while the workspace's ledgers were read."""
    store = workspace()
    return tuple(evaluating.read(str(store.path), content(store), store)[1])


def listed_findings() -> tuple[Finding, ...]:
    """What was noticed while the runs listed were read, and whose runs are left out."""
    return (*findings(), *corpora.runs_left_out(listed()))


def unread() -> tuple[Finding, ...]:
    """What is wrong with each run of which not even the start can be read; such a run has no page."""
    store = workspace()
    return once(("unread", store.path), lambda: evaluating.unread(str(store.path), content(store), store))


def injections() -> tuple[tuple[Finding, ...], int]:
    """The possible prompt injections found so far, and in how many runs they are still looked for."""
    store = workspace()
    return evaluating.held(str(store.path)).injections(store, corpus())


@st.cache_resource(ttl=3600, max_entries=64, show_spinner=False)
def _drawn(whose: object, what: object, _make: Callable[[], Made]) -> Made:  # noqa: ARG001 (cache key)
    return _make()


def authors() -> tuple[str, ...]:
    """Who gave the verdicts of the workspace's runs; cached by content."""
    store = workspace()
    return evaluating.authors(str(store.path), content(store), store)


def rules() -> RulesInForce:
    """The rules in force in this session."""
    chosen = st.session_state.get("rules_verdicts", ())
    least: float | None = st.session_state.get("rules_min_kappa")
    store = workspace()
    bad = () if least is None else evaluating.unreliable(str(store.path), content(store), least, store)
    missing = st.session_state.get("rules_missing", "fail")
    return RulesInForce(missing=missing, verdicts=tuple(chosen), least_kappa=least, unreliable=bad)


def scope() -> dict[str, Any]:
    """What a link needs to show the same numbers; rules that are the usual ones are not in it."""
    now = rules()
    chosen: dict[str, str | list[str]] = {}
    if (name := group_name()) is not None:
        chosen["with_task"] = name  # the usual one, too: runs that are added can make another set the first
        if lists_all():
            chosen["listed"] = "all"
    if now.missing != "fail":
        chosen["missing"] = now.missing
    if now.verdicts:
        chosen["verdicts"] = list(now.verdicts)
    if now.least_kappa is not None:
        chosen["min_kappa"] = f"{now.least_kappa:g}"
    if st.session_state.get(ALL_READ):
        chosen["all_read"] = "1"
    return chosen


def _read_scope() -> None:
    """Take the scope from the address, where it names one."""
    asked = st.query_params
    unknown = []
    if task := asked.get("agents", asked.get("with_task")):
        st.session_state["group"] = task
        unknown += [] if _named(task) else ["agents"]
    if asked.get("missing") in MISSING_WORDS:
        st.session_state["rules_missing"] = asked["missing"]
    if "verdicts" in asked:
        st.session_state["rules_verdicts"] = asked.get_all("verdicts")
        unknown += [] if {*asked.get_all("verdicts")} <= {*authors()} else ["verdicts"]
    if unknown:
        st.session_state[UNKNOWN] = unknown
    if asked.get("all_read") == "1":
        st.session_state[ALL_READ] = True
    if asked.get("listed") in ("all", "compared"):
        st.session_state[LISTED] = asked["listed"]
    if "min_kappa" in asked:
        with suppress(ValueError):  # an address may say anything
            st.session_state["rules_min_kappa"] = max(-1.0, min(1.0, float(asked["min_kappa"])))


def forget_scope() -> None:
    """The choice that was just made holds, not the one of the address."""
    st.session_state.pop(UNKNOWN, None)
    for name in SCOPE:
        st.query_params.pop(name, None)


def write_scope() -> None:
    """Write the scope into the address."""
    chosen = scope()
    for name in SCOPE:
        values = chosen.get(name, [])
        write_address(name, [values] if isinstance(values, str) else values)


def group_words(group: Group) -> str:
    """What a set of agents is called in the sidebar."""
    agents = first_few([text.one_line(text.agent(agent), 60) for agent in group.agents], 3)
    counts = ((group.runs, "run"), (len(group.agents), "agent"), (len(group.tasks), "task"))
    return f"{', '.join(counted(some, noun) for some, noun in counts)}: {agents}"


def group_labels() -> dict[str, str]:
    """The same by name, as short as the sidebar is narrow; with the first agent where two would be alike."""
    counts = {group.name: f"{_agents(group)} · {counted(group.runs, 'run')}" for group in groups()}
    alike = [words for words in counts.values() if [*counts.values()].count(words) > 1]
    first = {group.name: text.one_line(group.agents[0], 24) for group in groups()}
    return {name: f"{first[name]}: {words}" if words in alike else words for name, words in counts.items()}


def _agents(group: Group) -> str:
    return text.one_line(group.agents[0], 20) if len(group.agents) == 1 else f"{len(group.agents)} agents"


def is_dark() -> bool:
    """Whether the browser shows the dark theme now."""
    return bool(st.context.theme.type == "dark")


def remember(page: str) -> None:
    """Take scope and selection from the address, or write them back where a navigation click cleared it."""
    st.session_state[PAGE] = page
    _read_scope()
    kept = {name: selected(name) for name in SELECTION}
    asked = {name: st.query_params[name] for name in _in_address() if name in st.query_params}
    if "run" in asked and asked["run"] != kept["run"]:
        kept = {}  # another run: what was selected in the old one is not in it
    select(**{name: asked.get(name, kept.get(name)) for name in SELECTION})


def _in_address() -> tuple[str, ...]:
    """What of the selection is in the address of this page."""
    page = st.session_state.get(PAGE)
    return tuple(name for name in SELECTION if (page, name) != ("review", "graph"))  # a filter there


def selected(name: str) -> str | None:
    """What is selected, of `SELECTION` (untrusted: it may come from an address)."""
    value = st.session_state.get(f"selected_{name}")
    return str(value) if value is not None else None


def select(**chosen: str | int | None) -> None:
    """Select a run, and in it a sub-goal or a decision point; or a choice; or a pair of agents and a metric.

    Args:
        chosen: by the names of `SELECTION`; what is not given is no longer selected.
    """
    if unknown := chosen.keys() - set(SELECTION):
        raise TypeError(f"cannot be selected: {', '.join(sorted(unknown))}")
    shown = _in_address()
    for name in SELECTION:
        value = chosen.get(name)
        st.session_state[f"selected_{name}"] = None if value is None else str(value)
        if name in shown:
            write_address(name, [] if value is None else [str(value)])


def write_address(name: str, values: Sequence[str]) -> None:
    """Have the address of the page name these values, or none."""
    if not values:
        st.query_params.pop(name, None)
    elif st.query_params.get_all(name) != list(values):  # only a change: each is sent to the browser
        st.query_params[name] = list(values)


def run_link(words: str, run: str, **selected: str) -> None:
    """A link to the Run page of the run with content digest `run`, and to what is selected there."""
    st.page_link(RUN_PAGE, label=words, query_params={"run": run, **selected} | scope())


def open_run(run: str, *, sub_goal: str | None = None, decision: str | int | None = None) -> None:
    """Leave this page for the Run page of the run with content digest `run`."""
    chosen = {"run": run, "sub_goal": sub_goal, "decision": decision}
    select(**chosen)
    given = {name: str(value) for name, value in chosen.items() if value is not None}
    st.switch_page(RUN_PAGE, query_params=given | scope())
