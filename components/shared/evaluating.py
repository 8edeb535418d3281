"""What all sessions share of a workspace: its runs, read and evaluated, and what pages show of them.

Everything is cached by the workspace's content and the rules; some answers are kept
(`untaken.views.stored_answers`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Final, TypeVar

import streamlit as st

from components.shared import arriving
from untaken import views
from untaken.analysis import (
    POLICY,
    Corpus,
    Group,
    ReadRuns,
    WorkspaceCorpus,
    comparable_groups,
    part_of,
    triage,
)
from untaken.app_folder import TEMPORARY
from untaken.counterfactual import applied_digest
from untaken.errors import Finding, UntakenError
from untaken.garbage import seldom_collected
from untaken.judging import distrusted, judge_trust
from untaken.ledger import Run, Verdict, unread_runs
from untaken.scoring import MissingRule
from untaken.views import (
    FIRST_PAGE,
    OF_HISTORY,
    OF_READINGS,
    WITHOUT_NOTES,
    Basis,
    are_kept,
    is_kept,
    keep_answer,
    load_kept,
    runs_behind_items,
)
from untaken.workspace import Workspace, settings_digest

LOG: Final = logging.getLogger("untaken.app")
_AHEAD: Final = ContextVar("ahead", default=False)
"""Whether all ledgers count, although some are still being added."""
Made = TypeVar("Made")
Whose = tuple[str, str, MissingRule, tuple[str, ...], str | None]
"""Folder, content, rules for missing verdicts and for whose count, set of agents (``None`` for all)."""
_made: Final = SimpleQueue[Callable[[], None]]()
"""Answers that are still to be kept: nobody waits for it before a page is drawn."""
_keeping: Final = Lock()
REST_LEFT: Final = Event()
"""Set where decisions are still to be evaluated, or runs read, once a page is drawn that does without."""


def content(store: Workspace) -> str:
    """Digest of the workspace's content and of what its memory was taught."""
    return store.digest(position(store)) + _taught(store)


def _taught(store: Workspace) -> str:
    """Changes with what the memory was taught, and with the settings of the workspace."""
    return applied_digest(policy(store)) + settings_digest(store.path)


def position(store: Workspace) -> int | None:
    """The place of the last ledger that counts now; ``None`` for all, where nobody uploads."""
    return None if _AHEAD.get() else arriving.position(store)


def policy(store: Workspace) -> Path:
    """The file that keeps the weak signals folded into the workspace's memory."""
    return store.path / POLICY


def read_ahead(store: Workspace) -> None:
    """Read what was added to a workspace by now, so that nobody waits for it at the end."""
    held(str(store.path)).read_ahead(store)


def evaluate_ahead(store: Workspace, on_step: Callable[[str], object], *, first_page: bool = False) -> Corpus:
    """Read and score a workspace under the usual rules, with what an upload under way has added.

    `on_step` is called with what is done next; with `first_page`, what that page shows is worked out, too.
    """
    token = _AHEAD.set(True)
    try:
        folder, digest = str(store.path), content(store)
        on_step("Reading ledgers")
        read(folder, digest, store)
        on_step("Scoring runs")
        corpus = evaluated(folder, digest, "fail", (), store)
        on_step("Ranking agents")
        whose = _usual(store)
        if (name := whose[-1]) is not None:
            corpus = part(*whose[:4], name, store)
        _ = corpus.ranking  # nobody who visits waits for it
        if first_page:
            on_step("Looking for what to fix first")
            fixes = derived(whose, name_of(triage), triage, (), store)
            for make in FIRST_PAGE:
                # The one that takes another of these answers.
                given = (fixes,) if make is runs_behind_items else ()
                derived(whose, name_of(make), make, given, store)
        return corpus
    finally:
        _AHEAD.reset(token)


def _usual(store: Workspace) -> Whose:
    """What is shown to somebody who has chosen nothing: the usual rules, the first set of agents."""
    folder, digest = str(store.path), content(store)
    found = groups(folder, digest, store)
    return folder, digest, "fail", (), found[0].name if len(found) > 1 else None


def evaluate_rest(store: Workspace) -> None:
    """What the first page does without and others show: the runs, their order, and their decisions."""
    whose = _usual(store)
    evaluated(*whose[:4], store)
    for make in (views.review_order, views.choice_review):
        derived(whose, name_of(make), make, (), store)
    keep_made()


def first_page_is_kept(store: Workspace) -> bool:
    """Whether everything that the first page shows is kept."""
    folder, digest = str(store.path), content(store)
    basis = _basis(folder, digest, store)
    if basis is None or not are_kept(store.path, OF_READINGS, basis.key()):
        return False
    whose = _usual(store)
    if not are_kept(store.path, [make.__name__ for make in FIRST_PAGE], basis.key(*whose[2:])):
        return False
    for make in FIRST_PAGE:
        derived(whose, name_of(make), make, (), store)  # at hand from now on
    return True


# Streamlit leaves what begins with an underscore out of the key of a cache.
@st.cache_resource(ttl=3600, max_entries=2, show_spinner="Reading ledgers …")
def read(folder: str, digest: str, _store: Workspace) -> ReadRuns:  # noqa: ARG001 (cache key)
    """Every readable run of a workspace; `digest` is that of its content, here and below."""
    return held(folder).read(_store, position(_store))


@st.cache_resource(ttl=3600, max_entries=2, show_spinner="Opening the workspace …")
def _basis(folder: str, digest: str, _store: Workspace) -> Basis | None:
    """What answers follow from now; ``None`` while nothing is kept."""
    if position(_store) is not None:  # answers that hold half of an upload are not kept
        return None
    opened = held(folder)
    # Without reading the runs only for this.
    state = read(folder, digest, _store).state if opened.is_read else opened.state(_store)
    return None if state is None else Basis(state, _store.graph_set(), _taught(_store))


def _of_readings(
    folder: str,
    digest: str,
    store: Workspace,
    what: str,
    make: Callable[[tuple[list[Run], list[Finding]]], Made],
) -> Made:
    """What `make` gives of the runs and findings of a workspace; kept under this name."""
    basis = _basis(folder, digest, store)
    found: Made | None = None if basis is None else load_kept(store.path, what, basis.key())
    if found is not None:
        return found
    runs = read(folder, digest, store)
    made = make((runs.runs, runs.findings))
    if basis is not None and runs.state == basis.state:
        _made.put(lambda: keep_answer(store.path, what, basis.key(), made))
    return made


@st.cache_resource(ttl=3600, max_entries=8, show_spinner=False)
def held(folder: str) -> WorkspaceCorpus:  # noqa: ARG001 (cache key)
    """What a server holds of the workspace in this folder."""
    # A demo is removed with its server: nothing of it is kept.
    return WorkspaceCorpus(keeps=TEMPORARY not in os.environ)


@st.cache_resource(ttl=3600, max_entries=4, show_spinner="Scoring runs …")
def evaluated(
    folder: str, digest: str, missing: MissingRule, verdicts: tuple[str, ...], _store: Workspace
) -> Corpus:
    """Every run, evaluated under some rules."""
    found = read(folder, digest, _store)
    return held(folder).evaluate(_store, found, missing=missing, verdicts=verdicts)


@st.cache_resource(ttl=3600, max_entries=2, show_spinner=False)
def groups(folder: str, digest: str, _store: Workspace) -> tuple[Group, ...]:
    """The sets of agents that can be compared."""
    return _of_readings(folder, digest, _store, "groups", lambda found: comparable_groups(found[0]))


@st.cache_resource(ttl=3600, max_entries=4, show_spinner="Ranking agents …")
def part(
    folder: str, digest: str, missing: MissingRule, verdicts: tuple[str, ...], name: str, _store: Workspace
) -> Corpus:
    """The runs of the set of agents of this name, evaluated."""
    whole = evaluated(folder, digest, missing, verdicts, _store)
    group = next(group for group in groups(folder, digest, _store) if group.name == name)
    return part_of(whole, frozenset(group.digests))


@st.cache_resource(ttl=3600, max_entries=64, show_spinner=False)
def derived(
    whose: Whose, what: str, _make: Callable[..., Made], _given: tuple[object, ...], _store: Workspace
) -> Made:
    """What `_make` gives of the runs of `whose`, where it is not kept: folder, content, rules, agents."""
    folder, digest, missing, verdicts, group = whose
    name = _make.__name__
    basis = _basis(folder, digest, _store) if is_kept(name) else None
    keys = [] if basis is None else [basis.key(*whose[2:])]
    found: Made | None = load_kept(_store.path, name, keys[0]) if keys else None
    if found is not None:
        return found
    every = evaluated(folder, digest, missing, verdicts, _store)
    runs_chosen = every if group is None else part(folder, digest, missing, verdicts, group, _store)
    if basis is not None and name in OF_HISTORY:
        keys.append(basis.history_key(every.runs.values(), runs_chosen.runs.values()))
        found = load_kept(_store.path, name, keys[-1])
    if found is not None:
        made = found
    elif name in WITHOUT_NOTES:
        counted = (folder, runs_chosen.counted, *whose[2:])
        made = _of_counted(counted, what, _make, _given, runs_chosen)
    else:
        made = _made_of(_make, _given, runs_chosen)
    if basis is not None:
        state = read(folder, digest, _store).state

        def keep() -> None:
            # Nothing else was read: nobody has changed anything meanwhile.
            if (state, runs_chosen.graphs, content(_store)) == (basis.state, basis.graphs, digest):
                for key in keys:
                    keep_answer(_store.path, name, key, made)

        _made.put(keep)
    return made


@st.cache_resource(ttl=3600, max_entries=64, show_spinner=False)
def _of_counted(
    counted: tuple[object, ...],  # noqa: ARG001 (with the next, the key of the cache)
    what: str,  # noqa: ARG001
    _make: Callable[..., Made],
    _given: tuple[object, ...],
    _corpus: Corpus,
) -> Made:
    """What `_make` gives of runs that count alike: a note that was written meanwhile changes nothing."""
    return _made_of(_make, _given, _corpus)


@seldom_collected()
def _made_of(make: Callable[..., Made], given: tuple[object, ...], corpus: Corpus) -> Made:
    return make(corpus, *(each() if callable(each) else each for each in given))


def keep_contents(store: Workspace) -> None:
    """Have `keep_made` keep what the ledgers of a workspace hold."""
    corpus = held(str(store.path))
    _made.put(lambda: corpus.keep_contents(store))


def keep_made() -> Thread:
    """Keep what pages worked out, in a thread of its own."""
    thread = Thread(target=_keep_made, daemon=True)
    thread.start()
    return thread


def _keep_made() -> None:
    with _keeping, suppress(Empty):
        while True:
            keep = _made.get_nowait()
            try:
                keep()
            except (UntakenError, OSError):  # it is worked out again
                LOG.debug("an answer could not be kept", exc_info=True)


@st.cache_resource(ttl=3600, max_entries=2, show_spinner=False)
def unread(folder: str, digest: str, _store: Workspace) -> tuple[Finding, ...]:
    """What is wrong with each run of which not even the start can be read."""
    return _of_readings(folder, digest, _store, "unread", lambda found: unread_runs(*found))


@st.cache_data(ttl=3600, max_entries=2, show_spinner=False)
def authors(folder: str, digest: str, _store: Workspace) -> tuple[str, ...]:
    """Who gave the verdicts."""
    return _of_readings(folder, digest, _store, "authors", lambda found: _by(found[0]))


def _by(every: Iterable[Run]) -> tuple[str, ...]:
    return tuple(sorted({verdict.by for run in every for verdict in run.of(Verdict)}))


@st.cache_data(ttl=3600, max_entries=8, show_spinner=False)
def unreliable(folder: str, digest: str, least: float, _store: Workspace) -> tuple[str, ...]:
    """What leaves the verdicts out that agree too little with people."""
    return distrusted(judge_trust(read(folder, digest, _store)[0], least=least))


def name_of(make: Callable[..., object]) -> str:
    """The name of an engine function, for the key of a cache."""
    return f"{make.__module__}.{make.__qualname__}"
