"""Was the action causally better?"""

from __future__ import annotations

import streamlit as st

from components.shared import cards, state, text
from components.what_if_not import choice, view
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.simulator import RecordIndex


def main() -> None:
    cards.headline("What-If-Not", "Was the action causally better?")
    st.caption(
        "Tries each action's alternatives in a clone of the simulator. Only this page experiments; all "
        "others use logged data."
    )
    index = choice.records()
    runs = choice.planned_runs(index)
    if runs:
        one_run(runs, index)
    else:
        nothing_planned()
    for fault in index.findings:
        st.warning(f"{text.label(fault.where.file, 120)}: {text.label(fault.message, 300)}")


def one_run(runs: dict[str, Run], index: RecordIndex) -> None:
    """A run that has a record, step by step."""
    chosen, opened = st.columns([6, 1], vertical_alignment="bottom")
    with chosen:
        run = choice.choose_run(runs, index.evaluated)
    with opened:
        state.run_link("Open in Run", run.digest)
    try:
        record, summary, read = choice.record(index.records[run.run_id])
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


def nothing_planned() -> None:
    """What a workspace without records says, with the next step."""
    st.info(
        "No run in this workspace has a planning record. `untaken crafter run -o FOLDER` writes ledgers "
        "and records (.planning.json.zst). Upload both on the Data page, or open the folder with "
        "`untaken app FOLDER`. `untaken app --demo` shows sample runs."
    )
    st.page_link("pages/data.py", label="Go to Data", icon=":material/upload_file:")


main()
