"""Uploading files to the workspace: many at once, with progress, and a result row for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec
import streamlit as st
from msgspec import Struct
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.shared import (
    arriving,
    cards,
    evaluating,
    first_steps,
    private_session,
    roles,
    state,
    tables,
    text,
)
from components.shared.panels import panel, show
from components.shared.spooling import opened, take_refused
from untaken.errors import Finding, UntakenError, first_few
from untaken.numbers import counted
from untaken.views import (
    ARCHIVE,
    HeldRun,
    Upload,
    contents,
    runs_by_id,
    runs_in_words,
    stopped_uploads,
    together,
    uploads,
    uploads_table,
)
from untaken.workspace import UploadResult, Workspace, take_in_apart

if TYPE_CHECKING:
    import pandas as pd

SECONDS_BETWEEN_LOOKS: Final = 2.0
ROW: Final = 72
"""Pixels of an upload in a table: three lines. Streamlit wraps text in rows of more than 64."""
WIDTHS: Final = {
    "file": st.column_config.TextColumn(width=140),
    "kind": st.column_config.TextColumn(width=80),
    "status": st.column_config.TextColumn(width=72),
    "integrity": st.column_config.TextColumn(width=76),
    **{name: st.column_config.TextColumn(width=160) for name in ("loss", "findings", "next step")},
}
GROUPS: Final = 4
_READ_AHEAD_SECONDS: Final = 1.0
"""Least time between two readings of what an upload has added so far, in which pages come first."""
_LONG_SECONDS: Final = 3


# Changed in place: a click can end a page where it writes to the state of the session.
class SessionUploads(Struct):
    """What this session uploaded last."""

    turn: int = 0  # uploads that came to their end
    results: list[UploadResult] = msgspec.field(default_factory=list)
    refused: dict[str, Finding] = msgspec.field(default_factory=dict)  # did not arrive since, by name
    # Made of some results: of thousands it takes long.
    found: tuple[Sequence[UploadResult], Sequence[Upload], Sequence[Upload], pd.DataFrame] | None = None


@panel
def upload(workspace: Workspace) -> None:
    """Draw the uploader; on request, add the files and keep the result of each in `session_uploads`."""
    here = session_uploads()
    turn = here.turn
    files = st.file_uploader(
        "Ledgers, plan graphs, heads, traces in a supported format, or zip archives of these",
        accept_multiple_files=True,
        key=f"upload-{turn}",
        help=f"{first_steps.formats_words()} Upload a zip archive if folders matter, as in DevAI, where "
        "folder names identify the judge.",
        on_change=_forget,
        args=(here, turn),
    )
    _not_received(here, {file.name for file in files})
    agent = st.text_input(
        "Agent, where a trace does not record it",
        key=f"upload_agent-{turn}",  # it is about these files only
        placeholder="for example: my-agent v2",
        max_chars=100,
    )
    area, owns = private_session.area(), roles.may("owner")
    if owns:
        cards.shared_with_everybody()
    else:
        st.caption("Only owners of this workspace can add files to it. Yours go to a private area.")
    alone = area is None and st.checkbox(
        "Look at it privately first",
        value=not owns,
        disabled=not owns,
        key=f"upload_private-{turn}",
        help="The files go to a private area that only this browser sees. There you share or discard them.",
    )
    with st.container(horizontal=True):
        asked = st.button(
            f"Add {counted(len(files), 'file')}" if files else "Add files",
            type="primary",
            disabled=not files,
            key="upload_add",  # the same button when more files arrive while it is pressed
            on_click=_begin,
            args=(here, files),
        )
        if asked:
            # Without an answer: any click ends the work. What was added stays; the results say what was not.
            st.button("Cancel", key="upload_cancel")
    if asked:
        area = private_session.begin(workspace) if alone else area
        if area is None:
            roles.need("owner")
        take = partial(take_in_apart, workspace) if area is None else area.take_in
        # What goes to a private area counts for nobody else.
        with nullcontext() if area else arriving.upload(workspace):
            _with_progress(here, take, files, agent.strip() or None, None if area else workspace)
        _free(files)
        st.rerun()


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def injections_looked_for(first: int) -> None:
    """How many runs are still searched for possible prompt injections; the page is drawn again at the end."""
    with state.frame():
        _, unseen = state.injections()
        if not unseen:
            st.rerun()
        done = 1 - unseen / max(first, unseen)
        st.progress(done, f"Looking for possible prompt injections: {counted(unseen, 'run')} left")


def _not_received(here: SessionUploads, arrived: Collection[str]) -> None:
    """Say which files the server's disk did not take, until they arrive or others are added."""
    context = get_script_run_ctx()
    for name, error in take_refused(context.session_id) if context else ():
        message = f"{name or 'A file'} was not received: {error.message}"
        here.refused[name] = Finding(code=error.code, message=message, hint=error.hint, severity="error")
    for name in here.refused.keys() & arrived:
        del here.refused[name]
    for found in here.refused.values():
        show(found)


def _with_progress(
    here: SessionUploads,
    take: Callable[..., list[UploadResult]],
    files: Sequence[UploadedFile],
    agent: str | None,
    ahead: Workspace | None,
) -> None:
    """Take files in while the page says how far it is; what is added to `ahead` is read meanwhile."""
    bar = st.progress(0.0, text="Reading files …")

    started = monotonic()
    read_at = started + _READ_AHEAD_SECONDS

    def progress(done: int, total: int, name: str) -> None:
        nonlocal read_at
        words = [f"{done:,} of {total:,} added" if total else "Reading", text.label(name, 60)]
        # A long file takes long: the seconds say that the work goes on.
        words += [f"{seconds} s"] if (seconds := round(monotonic() - started)) >= _LONG_SECONDS else []
        # Streamlit refuses more than 1.
        bar.progress(min(done / max(total, 1), 1.0), text=" · ".join(filter(None, words)))
        if ahead and (begun := monotonic()) >= read_at:
            with suppress(UntakenError):  # who asks for it hears why it cannot be read
                evaluating.read_ahead(ahead)
            # Three times as long as this took: pages come first.
            read_at = monotonic() + _READ_AHEAD_SECONDS + 3 * (monotonic() - begun)

    with TemporaryDirectory(prefix="untaken-") as folder:
        # On disk: another process takes the files in.
        staged = [(file.name, _on_disk(file, Path(folder, str(n)))) for n, file in enumerate(files)]
        arrived: list[UploadResult] = []
        try:
            here.results = take(staged, agent=agent, progress=progress, each=arrived.extend)
            here.turn += 1  # a new uploader, without these files
        except BaseException:  # a click: Streamlit ends this run of the page
            here.results = stopped_uploads((file.name for file in files), arrived)
            raise
    if ahead:
        with suppress(UntakenError):  # as above
            evaluating.evaluate_ahead(
                ahead, lambda step: bar.progress(1.0, text=f"{step} …"), first_page=True
            )
            evaluating.REST_LEFT.set()


def _forget(here: SessionUploads, turn: int) -> None:
    """Other files are chosen: the results of the last upload would read as theirs."""
    if turn == here.turn:  # the browser may still send what an earlier uploader held
        here.results = []


def _begin(here: SessionUploads, files: Sequence[UploadedFile]) -> None:
    """Set the results to what they are if the upload is interrupted at once."""
    here.refused.clear()
    here.results = stopped_uploads((file.name for file in files), ())


def _on_disk(file: UploadedFile, target: Path) -> Path:
    with target.open("wb") as stream:
        copyfileobj(opened(file), stream)
    return target


def _free(files: Sequence[UploadedFile]) -> None:
    """Give back what Streamlit would keep of the files until the session ends."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def session_uploads() -> SessionUploads:
    """The uploads of this session."""
    here: SessionUploads = st.session_state.setdefault("uploads", SessionUploads())
    return here


@panel
def show_results(results: Sequence[UploadResult], *, after_any: Callable[[], object] = lambda: None) -> None:
    """Of each upload: what it was, its integrity, what the conversion lost, and what is wrong and why.

    Args:
        results: of the last upload.
        after_any: draws what comes first where any of the files is in the workspace.
    """
    here = session_uploads()
    if here.found is None or here.found[0] is not results:
        listed = uploads(results)
        looked_at = [one for one in listed if one.row.name not in one.sides]
        faults_first = sorted(together(looked_at), key=lambda one: one.mark == "✓")
        here.found = (results, listed, faults_first, uploads_table(looked_at))
    _, found, cards_of, table = here.found
    if not found:
        return
    marks = [one.mark for one in found if one.row.name not in one.sides]
    known = sum(one.status == "already here" for one in found if one.row.name not in one.sides)
    words = [f"{len(marks) - marks.count('✗') - known} of {counted(len(marks), 'file')} added"]
    words += [f"{known} already here"] if known else []
    words += [f"{marks.count('⚠')} of them with faults"] if "⚠" in marks else []
    broken = sum(one.broken for one in found if one.row.name not in one.sides)
    words += [f"{counted(broken, 'broken run')}, counted nowhere"] if broken else []
    words += [f"{marks.count('✗')} not added"] if "✗" in marks else []
    if set(marks) == {"✓"}:
        st.success(f"{'; '.join(words)}.", icon=":material/check_circle:")
    else:
        st.warning(f"{'; '.join(words)}. The reasons are below.", icon=":material/rule:")
    if any(mark != "✗" for mark in marks):
        after_any()
    _cards(cards_of, sides=[name for one in found for name in one.sides])
    tables.folded_table(
        "Uploads as a table", lambda: table, key="taken", name="Uploads", row_height=ROW, columns=WIDTHS
    )


@panel
def now_here() -> None:
    """What the workspace holds now, which agents can be compared, and where to go from here."""
    found = state.derived(contents, of_all=True)
    if not found.runs:
        return
    with st.container(border=True, key="after-upload"):
        st.markdown(
            f"**{counted(found.runs, 'run')} of {counted(found.agents, 'agent')} in "
            f"{counted(found.tasks, 'task')} {'is' if found.runs == 1 else 'are'} here.**"
        )
        bare = found.runs - found.with_plan
        plans = [f"{found.with_plan:,} with a plan"] + ([f"{bare:,} without one"] if bare else [])
        st.caption(" · ".join([*plans, f"{found.with_outcome:,} with an outcome"]))
        groups = [group for group in state.groups() if group.runs]
        if len(groups) > 1:
            named = "; ".join(text.label(state.group_words(group), 120) for group in groups[:GROUPS])
            more = f"; {len(groups) - GROUPS:,} more sets" if len(groups) > GROUPS else ""
            st.caption(f"Can be compared: {named}{more}. Agents of different sets share no task.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if found.failing and st.button("Open the first failing run", type="primary", key="first-failing"):
                state.open_run(found.failing)
            st.page_link("pages/overview.py", label="Overview", query_params=state.scope())
            if found.with_plan < found.runs:
                st.page_link("pages/annotate.py", label="Draft a plan", query_params=state.scope())


MOST_CARDS: Final = 20
"""Cards; the table holds all uploads."""
MOST_REASONS: Final = 10
WORDS: Final = 320
"""Characters of a sentence about losses and findings."""
SHORT_NAME: Final = 120


def _cards(shown: Sequence[Upload], *, sides: Sequence[str]) -> None:
    """A card for files of one kind that fared alike; `sides` are files without runs, such as a licence."""
    advice: set[str] = set()
    held = state.derived(runs_by_id, of_all=True) if any(one.run_ids for one in shown) else {}
    for number, one in enumerate(shown[:MOST_CARDS]):
        with st.container(border=True, gap="xsmall", key=f"upload-card-{number}"):
            _card(one, advice, [run for name in one.run_ids for run in held.get(name, ())])
            _details(one, number)
    if len(shown) > MOST_CARDS:
        st.caption(f"{len(shown) - MOST_CARDS:,} more are in the table.")
    if sides:
        named = first_few([text.label(name, 60) for name in sides], MOST_REASONS)
        st.caption(f"Left out, because they hold no runs: {named}.")


def _card(one: Upload, advice: set[str], runs: Sequence[HeldRun]) -> None:
    known = len(runs) == one.runs > 0  # all of them are found: then they are counted by outcome
    held = [] if known else [(one.runs, "run"), (one.graphs, "plan graph")]
    held += [(len(one.members), "file")] if one.row.kind == ARCHIVE else []
    counts = [runs_in_words(runs)] if known else []
    counts += [counted(number, words) for number, words in held if number]
    st.text(f"{one.mark} {text.one_line(one.row.name, SHORT_NAME)}")
    counts += [f"integrity: {one.integrity}"] if one.integrity else []
    st.caption(text.label(" · ".join([one.kind, one.status, *counts]), WORDS))
    if one.reasons:
        _reasons(one, advice)
    elif (first := next((found for found in one.findings if found.hint), None)) and first.hint not in advice:
        why, hint = (text.one_line(words, WORDS) for words in (first.message, first.hint))
        st.text(f"{text.sentence(why)}. {hint}")
        advice.add(first.hint)


def _details(one: Upload, number: int) -> None:
    """What was kept and left out, what was noticed, and the members of an archive or the files of a card."""
    findings = bool(one.findings) and not one.reasons
    if not (one.loss or findings or one.members):
        return
    words = f"Details of {counted(len(one.members), 'file')}" if one.members else "Details"
    part = st.expander(words, key=f"members-{number}-open", on_change="rerun")
    with part:
        if one.loss:
            st.text(text.one_line(one.loss_words, 2 * WORDS))
        if findings:
            st.text(f"Findings: {text.one_line(one.kinds_of_findings, WORDS)}")
        if one.members and part.open:  # there may be thousands: a table only where it is seen
            table = uploads_table(uploads(one.members))
            tables.table(table, key=f"taken-{number}", name="Members", height=240)


def _reasons(one: Upload, advice: set[str]) -> None:
    """What is wrong with an upload, and what to do; `advice` is what was said before and is not repeated."""
    for finding in one.reasons[:MOST_REASONS]:
        where = finding.where.file or one.row.name
        place = f"{where}, line {finding.where.line}" if finding.where.line else where
        sentence = f"{one.mark} {text.one_line(place, 80)}: {text.one_line(finding.message, 300)}."
        hint = finding.hint or ""
        st.text(sentence if hint in advice else f"{sentence} {text.one_line(hint, 500)}")
        advice.add(hint)
    if len(one.reasons) > MOST_REASONS:
        st.caption(f"{len(one.reasons) - MOST_REASONS:,} more reasons are in the table.")
