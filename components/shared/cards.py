"""Small pieces that several pages share: a question as headline, a number with its n, a link to a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from components.shared import explanations, first_steps, private_session, scope_controls, state, text
from components.shared.panels import panel
from untaken.answers import ReviewItem
from untaken.memory import PolicyMemory
from untaken.memory.observing import COPIES
from untaken.present.numbers import percent

KIND_ICONS = {"failed": "✗", "unlucky": "☂", "lucky": "⚠", "unfinished": "…", "broken": "⊘", "fine": "✓"}
"""One mark a kind of run, beside the word itself."""


def headline(name: str, question: str) -> None:
    """The page's name and the question it answers (both ours, not a ledger's)."""
    with st.container(key="headline", gap=None):
        st.title(name, anchor=False)
        with st.container(horizontal=True, vertical_alignment="center", key="question"):
            st.header(question, anchor=False, width="stretch")
            if name in explanations.COMPUTED:
                with st.popover("How is this computed?", type="tertiary"):
                    st.markdown(explanations.COMPUTED[name])
    scope_controls.other_sets()
    first_steps.tour(name)


def picker(
    label: str,
    words: Mapping[str, str],
    chosen: str | None,
    pick: Callable[[str], None],
    *,
    key: str,
    **more: Any,
) -> str | None:
    """A list to choose from that shows what was chosen elsewhere, in the address or in a figure.

    Args:
        label: of the list.
        words: what each value is called.
        chosen: the value.
        pick: called with a value that is chosen here.
        key: unique on the page.
        more: passed on to `st.selectbox`.
    """
    st.session_state[key] = chosen
    found: str | None = st.selectbox(
        label,
        list(words),
        format_func=words.__getitem__,
        key=key,
        on_change=lambda: pick(st.session_state[key]),
        **more,
    )
    return found


@panel
def number_card(title: str, value: str, words: str) -> None:
    """One number that matters, with the sentence that says what it rests on."""
    with st.container(border=True, height="stretch"):
        st.metric(title, value)
        st.caption(words)


@panel
def number_cards(*cards: tuple[str, str, str]) -> None:
    """Cards side by side, each from its title, its number and its sentence."""
    for place, card in zip(st.columns(len(cards)), cards, strict=True):
        with place:
            number_card(*card)


@panel
def remarks(sentences: Iterable[str]) -> None:
    """What a ranking of these runs cannot say, a sentence each (`untaken.ranking.remarks`)."""
    for sentence in sentences:
        st.info(text.label(sentence, 400), icon=":material/info:")


@panel
def copies(memory: PolicyMemory) -> None:
    """Says which runs are copies of another: intervals and tests count these once."""
    for finding in memory.findings:
        if finding.code == COPIES.code:
            st.caption(f"{text.label(finding.message, 300)}.")


@panel
def run_links(items: Sequence[ReviewItem], *, empty: str) -> None:
    """A link to the Run page for each run, with what there is to see in it."""
    if not items:
        st.info(empty)
    for item in items:
        _run_link(item)


def item_words(item: ReviewItem) -> str:
    """What kind of run it is, of whom, and on what, as a label."""
    where = f"{text.label(item.task_id, 60)}{text.repeat(item.task_repeat)}"
    return f"{KIND_ICONS[item.kind]} {item.kind} · {text.label(item.agent, 40)} on {where}"


def _run_link(item: ReviewItem) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        state.run_link(item_words(item), item.digest)
        st.caption(f"{text.label(item.why, 240)} · completed {percent(item.completion)}")


@panel
def show_once(key: str) -> None:
    """The result of the last change, which the session keeps under `key`: shown once."""
    message = st.session_state.pop(key, None)
    if message:
        (st.success if message.startswith("✓") else st.error)(text.label(message, 400))


def nothing_here() -> None:
    """What an empty workspace says, with the next step."""
    first_steps.draw()


def shared_with_everybody() -> None:
    """Say, where something is uploaded, who sees it."""
    if private_session.area() is not None:
        st.caption(":material/lock: What you add stays private until you share it.")
        return
    st.caption(
        ":material/group: Everyone on this server shares one workspace. They can see and remove what you add."
    )
