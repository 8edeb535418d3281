"""A run as a conversation that scrolls smoothly at any length: only the rows in view are in the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import streamlit as st

from components.shared import state, text
from untaken.analysis import NAMED_BY_PEOPLE, Corpus, Taxonomy, kept_taxonomy
from untaken.errors import Unscored
from untaken.judging import known_texts_to_judges
from untaken.scoring import NodeResult, Transcript, align_transcripts
from untaken.views import STATUS, run_transcript

HERE: Final = Path(__file__).parent
NO_STEP: Final = ("start", "end", "verdict")
"""Kinds of items that are about a run, and nothing that was said or done in it."""
HELP: Final = (
    "✓ completed · ○ attempted · ✗ attempted, never completed · ↻ replan · → plan change with the success "
    f"forecast after it · ▼ decisive step ({NAMED_BY_PEOPLE}) · ✎ note · ◆ failure mode"
)
PAIR_HELP: Final = (
    "≠ marks steps that differ, or that only one of the runs has. Steps are aligned by sub-goal and tool."
)
NO_STEPS: Final = (
    "The ledger of this run records no messages and no calls: the verdicts on it are shown. To read what the "
    "agent did, remove these files on the Data page, and upload them again in one zip archive with the "
    "agent's trajectories; or record the agent while it works."
)
FIRST_PARTS: Final = (
    "A run here is too long for a browser: its first 20,000 steps are compared. The Run page shows all of it."
)
_MOUNT: Final = """
%s
const entries = new WeakMap();
export default function ({ data, parentElement, setTriggerValue }) {
  // Called again at every rerun: the view stays, and with it the place and what is unfolded.
  let entry = entries.get(parentElement);
  if (!entry) {
    entry = {};
    entries.set(parentElement, entry);
    entry.view = makeTranscript(parentElement, {
      goal: (id) => entry.send("goal", id),
      whole: (seq) => entry.send("whole", seq),
    });
  }
  entry.send = setTriggerValue;
  entry.view.update(data);
  return () => {
    // Also called where a newer call takes the place of this one: then the view is still in use.
    if (parentElement.isConnected) return;
    entry.view.destroy();
    entries.delete(parentElement);
  };
}
"""


def _source(name: str) -> str:
    return (HERE / name).read_text("utf-8")


_draw = st.components.v2.component(
    "untaken_transcript",
    html=_source("transcript.html"),
    css=_source("transcript.css"),
    js=_MOUNT % (_source("markdown.js") + _source("transcript.js")),
)


def transcript(
    corpus: Corpus,
    digest: str,
    *,
    key: str,
    on_goal: Callable[[str], None] | None = None,
    on_whole: Callable[[int], None] | None = None,
    at: int | None = None,
) -> None:
    """One run as a conversation.

    Args:
        corpus: what was evaluated.
        digest: of the run.
        key: unique on the page; place and unfolded calls survive reruns under it.
        on_goal: called with the id of the sub-goal whose mark is clicked.
        on_whole: called with the `seq` of an event that is to be shown uncut.
        at: `seq` of the event to begin with.
    """
    score = corpus.scores[digest]
    nodes = () if isinstance(score, Unscored) else score.results
    document, steps, parts = _document(corpus, digest, part=_part(f"{key}-part-{digest}"))
    if len(parts) > 1:
        _choose_part(f"{key}-part-{digest}", parts, last=len(corpus.runs[digest].events) - 1)
    if not steps:
        st.caption(NO_STEPS)
    _mount(
        key,
        {
            # The browser reads the items again only where this changes.
            "digest": f"{digest} {_now(corpus, digest)} {_part(f'{key}-part-{digest}')}",
            "items": document,
            "goals": [
                {"id": node.sub_goal, "words": f"{STATUS[node.status].icon} {_title(node)}"} for node in nodes
            ],
            "goal": state.selected("sub_goal"),
            "at": at,
            "help": HELP,
        },
        {"goal": on_goal, "whole": on_whole},
    )


def pair(corpus: Corpus, left: str, right: str, names: Sequence[str], *, key: str) -> None:
    """Two runs side by side, aligned by sub-goal and tool, with what differs marked."""
    document, _, parts = _document(corpus, left, right)
    if len(parts) > 1:
        st.caption(FIRST_PARTS)
    known = corpus.scores[left]
    nodes = () if isinstance(known, Unscored) else known.results
    _mount(
        key,
        {
            "digest": f"{left} {right} {_now(corpus, left, right)}",
            "items": document,
            "goals": [{"id": node.sub_goal, "words": _title(node)} for node in nodes],
            "heads": [text.one_line(name, 120) for name in names],
            "goal": None,
            "at": None,
            "help": PAIR_HELP,
        },
        {},
    )


def _part(key: str) -> int:
    """Which part of a long run is shown."""
    chosen: int = st.session_state.get(key) or 0
    return chosen


def _choose_part(key: str, parts: Sequence[int], *, last: int) -> None:
    """Of a run that is too long for a browser, one part is shown, and the page says which."""
    ends = [*(begin - 1 for begin in parts[1:]), last]
    names = [f"Events {begin:,} to {end:,}" for begin, end in zip(parts, ends, strict=True)]
    st.selectbox(
        f"The transcript of this run is shown in {len(parts)} parts",
        range(len(parts)),
        format_func=names.__getitem__,
        key=key,
    )


def _mount(key: str, data: Mapping[str, Any], acts: Mapping[str, Callable[[Any], None] | None]) -> None:
    def answer(event: str) -> Callable[[], None]:
        def read() -> None:
            value, act = getattr(st.session_state.get(key), event, None), acts.get(event)
            if value is not None and act is not None:
                act(value)

        return read

    _draw(
        key=key,
        data={**data, "dark": state.is_dark()},
        on_goal_change=answer("goal"),
        on_whole_change=answer("whole"),
    )


@st.cache_data(ttl=3600, max_entries=12, show_spinner=False)
def _encoded(
    key: tuple[object, ...],  # noqa: ARG001 (of the cache)
    digests: tuple[str, ...],
    part: int,
    _taxonomy: Taxonomy,
    _corpus: Corpus,
) -> tuple[str, bool, tuple[int, ...]]:
    found = [
        run_transcript(_corpus, digest, taxonomy=_taxonomy, search=False, part=part) for digest in digests
    ]
    parts = max((one.parts for one in found), key=len)
    shown = [_shown(one, _corpus) for one in found]
    steps = any(item.kind not in NO_STEP for one in found for item in one.items)
    if len(found) == 1:
        return msgspec.json.encode({"items": shown[0]}).decode(), steps, parts
    lines = align_transcripts(found[0], found[1])
    return msgspec.json.encode({"items": shown[0], "right": shown[1], "lines": lines}).decode(), steps, parts


def _document(corpus: Corpus, *digests: str, part: int = 0) -> tuple[str, bool, tuple[int, ...]]:
    """The transcripts as the browser takes them, whether anything that was said or done is in them, and the
    `Transcript.parts` of the longer one.
    """
    store = state.workspace()
    taxonomy = kept_taxonomy(store.path)
    searched = tuple(known_texts_to_judges(corpus.runs[digest]) is not None for digest in digests)
    rules = state.rules()
    # `searched`: the marks of possible prompt injections appear once a run was looked through.
    key = state.content(store), _now(corpus, *digests), repr(rules), taxonomy.version, searched
    return _encoded(key, digests, part, taxonomy, corpus)


def _now(corpus: Corpus, *digests: str) -> str:
    """Changes with what is written about these runs, also where the corpus is otherwise the same."""
    heads = [(len(corpus.runs[one].events), corpus.runs[one].integrity.head) for one in digests]
    return sha256(repr(heads).encode()).hexdigest()[:16]


def _shown(found: Transcript, corpus: Corpus) -> list[msgspec.Raw]:
    """The items as the browser takes them."""
    score = corpus.scores[found.digest]
    nodes = () if isinstance(score, Unscored) else score.results
    undone = {node.sub_goal for node in nodes if node.status == "attempted"}
    items = []
    for one in found.items:
        item = msgspec.to_builtins(one)
        item["name"], item["title"] = text.one_line(item["name"], 80), text.one_line(item["title"], 200)
        for mark in item["marks"]:
            mark["words"] = text.one_line(mark["words"], 300)
            # An attempt that a later one completed is no failure.
            if mark["kind"] == "attempted" and mark["sub_goal"] not in undone:
                mark["kind"] = "tried"
        items.append(msgspec.Raw(msgspec.json.encode(item)))
    return items


def _title(node: NodeResult) -> str:
    return text.one_line(node.title or node.sub_goal, 70)
