"""Small pieces that several pages share: a question as headline, a number with its n, a link to a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components.shared import first_steps, private_session, scope_controls, state, text
from components.shared.panels import panel
from untaken.analysis import FIRST_FAILED_RECORD
from untaken.counterfactual import COPIES, PolicyMemory
from untaken.numbers import percent
from untaken.views import ReviewItem

KIND_ICONS = {"failed": "✗", "unlucky": "☂", "lucky": "⚠", "unfinished": "…", "broken": "⊘", "fine": "✓"}
"""One mark a kind of run, beside the word itself."""
KIND_WORDS = {"unfinished": "no outcome"}
"""Kinds of run whose name says less than what is known."""


def headline(
    name: str, question: str, *, share: Callable[[], object] | None = None, low: bool = False
) -> None:
    """The page's name and the question it answers (both ours, not a ledger's).

    `share` draws the way to share the page; `low` is for pages with a switch to all runs: one line. Neither
    there nor on *Data*, which lists everything, are the other sets of agents offered.
    """
    with st.container(key="headline-low" if low else "headline", gap=None):
        st.title(name, anchor=False)
        with st.container(horizontal=True, vertical_alignment="center", key="question"):
            st.header(question, anchor=False, width="stretch")
            if share is not None:
                share()
            if name in COMPUTED:
                with st.popover("How is this computed?", type="tertiary"):
                    st.markdown(COMPUTED[name])
    if not low and name != "Data":
        scope_controls.other_sets()
    first_steps.tour(name)


@panel
def picker(
    label: str,
    words: Mapping[str, str],
    chosen: str | None,
    pick: Callable[[str], None],
    *,
    key: str,
    draw: Callable[..., str | None] = st.selectbox,
    **more: Any,
) -> str | None:
    """A widget to choose by that shows what was chosen elsewhere, in the address or in a figure.

    It offers the keys of `words`, by their words; `pick` is called with the one that somebody chooses.
    """
    # Before the widget is drawn: Streamlit refuses to set the value of one that is there.
    st.session_state[key] = chosen
    return draw(
        label,
        list(words),
        format_func=words.__getitem__,
        key=key,
        on_change=lambda: pick(st.session_state[key]),
        **more,
    )


@panel
def number_card(title: str, value: str, words: str) -> None:
    """One number that matters, with the sentence that says what it rests on."""
    with st.container(border=True, height="stretch"):
        st.metric(title, value)
        st.caption(text.sentence(words))


@panel
def number_cards(*cards: tuple[str, str, str]) -> None:
    """Cards side by side, each from its title, its number and its sentence."""
    for place, card in zip(st.columns(len(cards)), cards, strict=True):
        with place:
            number_card(*card)


@panel
def remarks(sentences: Iterable[str]) -> None:
    """What a ranking of these runs cannot say, a sentence each (`untaken.analysis.ranking.remarks`)."""
    if lines := [text.label(sentence, 400) for sentence in sentences]:
        st.info("  \n".join(lines), icon=":material/info:")


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
        with st.container(border=True, gap="xsmall", height="stretch"):
            state.run_link(item_words(item), item.digest)
            st.caption(f"{text.label(item.why, 240)} · completed {percent(item.completion)}")


def item_words(item: ReviewItem) -> str:
    """What kind of run it is, of whom, and on what, as a label."""
    where = f"{text.label(item.task_id, 60)}{text.repeat(item.task_repeat)}"
    kind = KIND_WORDS.get(item.kind, item.kind)
    return f"{KIND_ICONS[item.kind]} {kind} · {text.label(item.agent, 40)} on {where}"


@panel
def show_once(key: str) -> None:
    """The result of the last change, which the session keeps under `key`: shown once."""
    message = st.session_state.pop(key, None)
    if message:
        (st.success if message.startswith("✓") else st.error)(text.label(message, 400))


def nothing_here() -> None:
    """What an empty workspace says, with the next step."""
    first_steps.draw()


@panel
def all_broken() -> None:
    """What a page says of a workspace in which no run can be counted, with the next step."""
    st.warning("Every run here is broken, so nothing can be counted.", icon=":material/link_off:")
    st.page_link("pages/data.py", label="See what is broken", query_params=state.scope())


def shared_with_everybody() -> None:
    """Say, where something is uploaded, who sees it."""
    if private_session.area() is not None:
        st.caption(":material/lock: What you add stays private until you share it.")
        return
    st.caption(
        ":material/group: Everyone on this server shares one workspace. They can see and remove what you add."
    )


COMPUTED: Final = {
    "Overview": (
        "A run is scored against the plan graph of its task: each sub-goal is completed, attempted, "
        "skipped or unscored. A *lucky* run succeeded although a critical sub-goal was not completed. "
        "**What to fix first** counts each failed run once, where it fails first: at the first sub-goal by "
        "the log that it left undone and that goes with failure; runs with one cause are one item. "
        "Intervals are 95%, with repeats of a task counted as one cluster."
    ),
    "Queue": (
        "The queue holds failed, unlucky, lucky, unfinished and broken runs, in this order, largest effect "
        "first. The reason is the sub-goal that failed first by the log; of a lucky run, the critical one. "
        f"{FIRST_FAILED_RECORD}. Nothing is hidden by a status: it only records how far people are."
    ),
    "Run": (
        "Actions are mapped to sub-goals by the rules of the plan graph. A sub-goal is completed where "
        "its check passes: on the state, on a tool call that did not fail, or by a recorded verdict. "
        "Without evidence it is *unscored*, never 0. The headline names what failed first, which need not be "
        f"the cause. {FIRST_FAILED_RECORD}."
    ),
    "Compare": (
        "Runs of one task are aligned by sub-goal. The first difference is the first sub-goal, in the "
        "order of the plan, whose status differs from the reference run. Linked to success: "
        "Fisher's exact test for each sub-goal, Holm-adjusted."
    ),
    "Failure modes": (
        "People assign notes to failure modes; suggestions count only once accepted. A rate is the share "
        "of the failed runs read that show the mode. The contrast compares failed with successful runs of "
        "the same tasks. The share of modes not seen yet is Good and Turing's estimate."
    ),
    "Rankings": (
        "Each agent's value is the mean over the tasks that every agent ran, repeats averaged first. "
        "Agreement is Kendall's τ-b. Two agents are compared task by task; p values are adjusted for "
        "all pairs."
    ),
    "Versions": (
        "Runs of two versions are compared inside task and agent. A sub-goal counts in runs that reached it: "
        "none of its direct dependencies is known not to be completed. *Changed* means p ≤ 0.05 after "
        "Holm's adjustment over the sub-goals. The first suspect is the drop that costs most runs. Tasks "
        "of one version only are left out and counted."
    ),
    "Decisions": (
        "Runs of the same task, agent and state of the plan that went different ways are compared; "
        "differences are associations. *Supported* means p ≤ 0.05, q ≤ 0.10 and at least 3 runs a side. "
        "Histories of skills score 0.5 · success + 0.3 · (1 − cost) + 0.2 · (1 − steps)."
    ),
    "Criteria": (
        "A criterion is kept if it is stable over seeds, scores failed or disturbed runs lower, and is not "
        "redundant. Values that are not accepted are listed as out of vocabulary, never changed."
    ),
    "Memory": (
        "A fold of all recorded outcomes by skill and context. Weak signals weigh 0.25 each, and never "
        "more than half of the outcomes. Success intervals: Beta(½ + s, ½ + f)."
    ),
    "Annotate": (
        "Every edit is applied to a draft. The preview scores all runs again under the draft and lists "
        "the ones that change. Saving makes a new version; old versions stay."
    ),
    "Audit": (
        "Each check is tried on up to 3 runs that completed the sub-goal: once with its calls failed, once "
        "with an argument or a field changed. A check that does not notice the first is *blind*. A sub-goal "
        "or an order that successful runs do without is *doubtful*; where too few runs tell, it is "
        "*untested*. Nothing is executed, and no model is asked."
    ),
    "What-If-Not": (
        "Each alternative action is tried in a clone of the simulator (*Counterfactual Planning for "
        "Generalizable Agents' Actions*, Fu et al.). WIN is the mean of σ(r − r̃), the "
        "reward of the action less that of an alternative: above 0.5 it was better, 0.5 is a tie. In the "
        "pictures, ↺ marks steps at which the policy was asked again (the WIN is for its first answer), "
        "◆ decisions and ★ achievements."
    ),
    "Data": (
        "Each event of a ledger holds the SHA-256 of the line before. INTACT: the chain holds and "
        "equals the recorded head. UNANCHORED: it holds, but no head was recorded. Broken runs are in "
        "no figure."
    ),
}
"""How each page computes its numbers, by the page's title; our own markdown."""
