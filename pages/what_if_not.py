"""Was the action causally better?"""

from __future__ import annotations

import streamlit as st

from components.shared import cards, state, text
from components.what_if_not import choice, planned, view
from untaken.crafter.record import RecordIndex
from untaken.errors import UntakenError
from untaken.ledger import Run


def main() -> None:
    cards.headline("What-If-Not", "Was the action causally better?")
    st.caption(
        "Compares each action with the alternatives in the same state, each tried in a clone of the "
        "simulator. A WIN above 0.5 means the action was better, below 0.5 worse, and 0.5 no difference. "
        "Only this page uses simulator experiments; all other pages use logged data."
    )
    index = planned.records()
    runs = choice.planned_runs(index)
    if runs:
        one_run(runs, index)
    else:
        nothing_planned()
    for fault in index.findings:
        st.warning(f"{text.label(fault.where.file, 120)}: {text.label(fault.message, 300)}")
    view.models(dark=state.is_dark())
    view.ablations(dark=state.is_dark())


def one_run(runs: dict[str, Run], index: RecordIndex) -> None:
    """A run that has a record, step by step."""
    run = choice.choose_run(runs, index.evaluated)
    try:
        record, summary, read = planned.record(index.records[run.run_id])
    except UntakenError as error:
        st.error(f"{text.label(error.message, 300)} {text.label(error.hint, 300)}")
        return
    if not record.steps:
        st.info("This record has no steps: the run ended before its first one.")
        return
    view.summary(summary, record.settings)
    if not summary.wins.steps:
        st.info(
            "No action of this run was evaluated. Record What-If-Not results with `untaken crafter run "
            "--win`."
        )
    view.step_by_step(record, run.digest, read)
    view.every_step(record)
    st.page_link(state.RUN_PAGE, label="Open in Run", query_params={"run": run.digest} | state.scope())


def nothing_planned() -> None:
    """What a workspace without records says, with the next step."""
    st.info(
        "No run in this workspace has a planning record. `untaken crafter run -o FOLDER` writes ledgers "
        "and records (.planning.json.zst). Upload both on the Data page, or open the folder with"
        " "
        "`untaken app FOLDER`. `untaken app --demo` shows sample runs."
    )
    st.page_link("pages/data.py", label="Go to Data", icon=":material/upload_file:")


main()
