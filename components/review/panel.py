"""The review of one run: status, assignee, tags and history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import streamlit as st

from components.review import signing, writing
from components.shared import roles, state, tables, text
from components.shared.panels import panel
from untaken import limits
from untaken.ledger import Run
from untaken.workspace import STATUSES, Review, ReviewStatus

MOST_CHANGES: Final = 50
ICONS: Final[dict[ReviewStatus, str]] = {"new": "○", "in review": "◐", "explained": "●", "fixed": "✔"}
"""A mark for each word, so that colour is never the only sign."""


def status(review: Review) -> None:
    """One button a status, pressed by a digit; the one in force is marked."""
    store = state.workspace()

    def change(word: ReviewStatus) -> Callable[[str], None]:
        return lambda author: writing.save_review(store, [review], author=author, status=word)

    with st.container(horizontal=True, gap="xsmall", key="review-status"):
        for number, word in enumerate(STATUSES, start=1):
            st.button(
                f"{ICONS[word]} {word.capitalize()}",
                key=f"status-{number}-{review.run[:16]}",
                shortcut=str(number),
                type="primary" if review.status == word else "secondary",
                on_click=signing.save,
                args=(change(word),),
            )


def people_and_tags(review: Review, known: Sequence[str]) -> None:
    """Who looks into it, and its tags; `known` tags are offered."""
    place, store = review.run[:16], state.workspace()
    # Other fields after a change, so that they show what is saved.
    who, tags = f"assignee-{place}-{review.revision}", f"tags-{place}-{review.revision}"

    def save(**what: Any) -> None:
        signing.save(lambda author: writing.save_review(store, [review], author=author, **what))

    def take(author: str) -> None:
        name = author.removeprefix("human:")[: limits.AUTHOR_CHARS]
        writing.save_review(store, [review], author=author, assignee=name)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.text_input(
            "Assignee",
            value=review.assignee,
            key=who,
            max_chars=limits.AUTHOR_CHARS,
            on_change=lambda: save(assignee=st.session_state[who]),
        )
        st.button("Take it", key=f"assign-me-{place}", on_click=signing.save, args=(take,))
    st.multiselect(
        "Tags",
        options=list(dict.fromkeys([*review.tags, *known])),
        default=list(review.tags),
        format_func=lambda tag: text.one_line(tag, limits.TAG_CHARS),
        key=tags,
        accept_new_options=True,
        max_selections=limits.TAGS_PER_RUN,
        placeholder="Choose, or write a new one",
        on_change=lambda: save(tags=st.session_state[tags]),
    )
    signing.signer("people")


def history(review: Review) -> None:
    """Every change of the review, the last one first."""
    changes = state.workspace().reviews.history([review.run])
    with st.expander(f"History ({len(changes)})"):
        if not changes:
            st.caption("No changes yet.")
        for one in reversed(changes[-MOST_CHANGES:]):
            st.text(
                f"{one.ts:%Y-%m-%d %H:%M} UTC · {text.one_line(one.author, 60)} · {one.field}: "
                f"{text.one_line(one.before, 80) or '–'} → {text.one_line(one.after, 80) or '–'}"
            )


def link_to_this() -> None:
    """The address of this view, to be copied for a colleague."""
    asked = [(name, value) for name in st.query_params for value in st.query_params.get_all(name)]
    here = urlsplit(st.context.url or "")
    address = f"{here.scheme}://{here.netloc}{here.path}?{urlencode(asked)}"
    tables.folded(
        "Link to this view",
        lambda: st.code(address, language=None, wrap_lines=True),
        key="link",
        icon=":material/link:",
    )


@panel
def of_run(run: Run) -> None:
    """Assignee, tags and history of a run, and the address of this view."""
    reviews = state.workspace().reviews.every()
    review = reviews.get(run.digest, Review(run=run.digest, run_id=run.run_id))
    if roles.may("reviewer"):
        people_and_tags(review, sorted({tag for each in reviews.values() for tag in each.tags}))
    history(review)
    link_to_this()


def review_of(run: Run) -> Review:
    """The review of a run as it is now; a new one where it has none."""
    found = state.workspace().reviews.every()
    return found.get(run.digest, Review(run=run.digest, run_id=run.run_id))
