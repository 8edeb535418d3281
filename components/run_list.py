"""Which run to look at: the failing ones first, and a step to the next one by key."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components import state, text
from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.ledger import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run in the list; `failing` covers a failed outcome, a broken ledger, and success by luck."""

    digest: str
    failing: bool
    words: str


def run_lines(corpus: Corpus) -> list[RunLine]:
    """Every run, the failing ones first, otherwise in reading order."""
    lucky = {c.digest for c in corpus.contradictions if c.kind == "lucky"}
    lines = [_line(digest, run, digest in lucky) for digest, run in corpus.runs.items()]
    return sorted(lines, key=lambda line: not line.failing)


def _line(digest: str, run: Run, lucky: bool) -> RunLine:
    mark, failing = "✓", False
    if run.integrity.broken:
        mark, failing = "⛓ broken", True
    elif isinstance(run.success, Unscored):
        mark = "?"
    elif not run.success:
        mark, failing = "✗", True
    elif lucky:
        mark, failing = "✓ lucky", True
    task, agent, name = (text.one_line(part, 60) for part in (run.task_id, run.agent, run.run_id))
    return RunLine(digest=digest, failing=failing, words=f"{mark}  ·  {task}  ·  {agent}  ·  {name}")


def choose_run(corpus: Corpus) -> str | None:
    """Draw the picker and the buttons to the previous and the next failing run.

    Returns:
        Content digest of the run to show: the selected one, else the first in the list; ``None`` without runs,
        or where an address names a run that is not here (which is said).
    """
    lines = run_lines(corpus)
    if not lines:
        st.info("No runs yet. Add ledgers on the Data page.", icon="📂")
        return None
    asked = state.selected("run")
    chosen = asked if asked in corpus.runs else (lines[0].digest if asked is None else None)
    if chosen is None:
        st.warning(
            "The address names a run that is not in this workspace. Its ledger may have been extended since: "
            "look for it in the list.",
            icon="🔗",
        )
    words = {line.digest: line.words for line in lines}
    st.session_state["run_picker"] = chosen
    picker, before, after = st.columns([10, 1.6, 1.6], vertical_alignment="bottom", wrap=True)
    picker.selectbox(
        _position(lines, chosen),
        options=list(words),
        format_func=lambda digest: words[digest],
        key="run_picker",
        on_change=_picked,
        placeholder="Choose a run",
        filter_mode="contains",
    )
    failing = [line.digest for line in lines if line.failing]
    _step(before, "◂ Previous", "K", _neighbour(failing, chosen, -1))
    _step(after, "Next ▸", "J", _neighbour(failing, chosen, +1))
    return chosen


def _position(lines: list[RunLine], chosen: str | None) -> str:
    failing = [line.digest for line in lines if line.failing]
    if chosen in failing:
        return f"Failing run {failing.index(chosen) + 1:,} of {len(failing):,} ({len(lines):,} runs in all)"
    return f"{len(failing):,} failing of {len(lines):,} runs"


def _picked() -> None:
    state.select(run=st.session_state["run_picker"])


def _step(place: st.delta_generator.DeltaGenerator, words: str, key: str, run: str | None) -> None:
    place.button(
        words,
        key=f"step_{key}",
        shortcut=key,
        disabled=run is None,
        on_click=lambda: state.select(run=run),
        help=f"{words.strip('◂▸ ')} failing run",
        width="stretch",
    )


def _neighbour(failing: list[str], chosen: str | None, by: int) -> str | None:
    if not failing:
        return None
    if chosen not in failing:
        return failing[0] if by > 0 else failing[-1]
    at = failing.index(chosen) + by
    return failing[at] if 0 <= at < len(failing) else None
