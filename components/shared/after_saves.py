"""What a part of a page shows after a save: one run as it is now, while the others are evaluated later.

A save appends to one ledger. The part of the page that it was made in is drawn again at the content that the
page was drawn at, with this run read and scored again. The lists of all runs are evaluated in a thread; the
next click after that shows them.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from functools import wraps
from threading import Lock, Thread
from typing import Final

import streamlit as st

from components.shared import evaluating, state
from components.shared.evaluating import Whose
from components.shared.panels import failing_alone
from untaken.analysis import Corpus, triage, with_run
from untaken.judging import known_texts_to_judges, unseen
from untaken.ledger import Run
from untaken.views import RunReport, corpus_reviewers, failing_cases, review_order, run_report
from untaken.workspace import Workspace

DRAWN: Final = "content_drawn"
"""The content of the workspace that this session's page was drawn at."""
LOG: Final = logging.getLogger("untaken.app")
QUIET_SECONDS: Final = 3.0
"""Without another save, before runs are evaluated again: the person who writes needs the processor."""
MOST_COUNTED: Final = 20_000
"""Runs; of more, what to fix first takes seconds, for which nobody who opens a run is to wait."""
_evaluated: Final = deque[Whose](maxlen=64)
"""Of which the lists of runs are at hand."""
_asked: Final[dict[str, tuple[Whose, Workspace]]] = {}
"""By folder, what is to be evaluated next."""
_asking: Final = Lock()


def alone(draw: Callable[[], None]) -> Callable[[], None]:
    """Marks the part of a page that is drawn again by itself after a click or a save in it."""

    @wraps(draw)
    @st.fragment
    def again() -> None:
        if state.in_frame():  # with the page around it
            with failing_alone():
                st.session_state[DRAWN] = state.content(state.workspace())
                draw()
            return
        with state.frame(as_of=st.session_state.get(DRAWN)):  # its groups and rules are known
            content = st.session_state[DRAWN] = _content_to_draw()
        with state.frame(as_of=content):
            draw()
            _evaluate_later()

    return again


def _content_to_draw() -> str:
    """What the workspace holds now, once that is evaluated; until then what was drawn last."""
    now = evaluating.content(state.workspace())
    drawn = str(st.session_state.get(DRAWN, now))
    return now if now == drawn or _whose(now) in _evaluated else drawn


def _evaluate_later() -> None:
    """Have all runs evaluated as they are now, where the page is drawn at an earlier content."""
    store = state.workspace()
    now = evaluating.content(store)
    if now == state.content(store):
        return
    with _asking:
        at_work = str(store.path) in _asked
        _asked[str(store.path)] = _whose(now), store
    if not at_work:
        Thread(target=_evaluate, args=(str(store.path),), daemon=True).start()


def corpus_with(digest: str, reader: str | None = None) -> Corpus:
    """The corpus with one of its runs as it is now, with what was written about it since it was evaluated.

    For a `reader` who reads blind, what other people wrote about it is left out.
    """

    def make() -> Corpus:
        whole = state.corpus()
        known = whole.runs[digest]
        now = unseen(state.workspace().run_now(known), reader)
        return whole if now is known else with_run(whole, now)

    return state.once(("one run", digest, reader), make)


def report_on(digest: str, reader: str | None = None) -> RunReport:
    """What the Run page shows; possible prompt injections as far as they are found by now."""
    store = state.workspace()
    evaluating.held(str(store.path)).search(store, state.corpus())
    return run_report(corpus_with(digest, reader), digest, search=False)


def is_searched(run: Run) -> bool:
    """Whether possible prompt injections were looked for in a run by now."""
    store = state.workspace()
    evaluating.held(str(store.path)).search(store, state.corpus())
    known = state.corpus().runs.get(run.digest, run)
    return known.integrity.broken or known_texts_to_judges(known) is not None


def _whose(content: str) -> Whose:
    rule = state.rules()
    whose = None if state.lists_all() else state.group_name()
    return str(state.workspace().path), content, rule.missing, rule.globs, whose


def _evaluate(folder: str) -> None:
    try:
        while True:
            whose, store = _asked[folder]
            time.sleep(QUIET_SECONDS)
            # Otherwise a later save waits now.
            if _asked[folder][0] == whose and evaluating.content(store) == whose[1]:
                _list(whose, store)
            # Under the lock: a save of this moment is either seen here, or starts a thread of its own.
            with _asking:
                if _asked[folder][0] == whose:
                    del _asked[folder]
                    return
    except Exception:  # the page that needs it says it
        LOG.debug("the runs could not be evaluated ahead", exc_info=True)
        _asked.pop(folder, None)


def _list(whose: Whose, store: Workspace) -> None:
    # Of the agents compared, and of all: a page lists either.
    for of in dict.fromkeys((whose, (*whose[:4], None))):
        order = evaluating.derived(of, evaluating.name_of(review_order), review_order, (), store)
        found = evaluating.derived(of, evaluating.name_of(corpus_reviewers), corpus_reviewers, (), store)
        evaluating.derived(of, evaluating.name_of(failing_cases), failing_cases, (found, order), store)
    if len(evaluating.evaluated(*whose[:4], store).runs) <= MOST_COUNTED:
        evaluating.derived(whose, evaluating.name_of(triage), triage, (), store)
    _evaluated.append(whose)
