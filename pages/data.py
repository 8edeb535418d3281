"""Upload, import, integrity, loss report, export."""

from __future__ import annotations

import streamlit as st

from components import cards, confirming, exports, removing, state, tables, text, upload
from untaken.report import addressing_findings, audit_table, files_table

store = state.workspace()
cards.headline("Data", "What is in this workspace, and can it be trusted?")
st.caption(
    f"Workspace: {text.label(store.path, 200)}. Nothing leaves this machine "
    "but what you put to a language model."
)

with st.container(border=True):
    upload.upload(store)
upload.show_taken(upload.taken_in())
confirming.offer(store)

files = store.files()
st.subheader("Files", anchor=False)
if not files:
    st.info(
        "Nothing here yet: upload run ledgers (.jsonl), plan graphs (.plan.yaml) or traces of a known format."
    )
    removing.bring_back(store)
    st.stop()
runs = state.runs()
broken = [run for run in runs if run.integrity.broken]
unread = state.unread()
unanchored = [run for run in runs if run.integrity.verdict == "UNANCHORED"]
st.caption(
    f"{len(files):,} files · {len(runs) + len(unread):,} runs · {len(broken) + len(unread):,} broken · "
    f"{len(unanchored):,} without a recorded head"
)
held = files_table(files, runs)
chosen = tables.table(
    held,
    key=removing.FILES,
    name="Files",
    columns={"bytes": st.column_config.NumberColumn(format="bytes")},
    selectable=True,
)
if chosen is None:
    st.caption("Choose a row to remove its file.")
else:
    removing.offer(store, files[chosen])
removing.bring_back(store)
if broken or unread:
    with st.container(border=True):
        many = cards.counted(len(broken) + len(unread), "broken run")
        st.markdown(f"**{many}** · in no rate; nothing is concluded from them (DTL-STRAT-006)")
        for run in broken[:20]:
            name, why = text.label(run.run_id, 60), text.label(run.integrity.reason, 120)
            st.page_link(
                state.RUN_PAGE,
                label=f"{run.integrity.verdict} · {name} · {why}",
                query_params={"run": run.digest},
                icon=":material/link_off:",
            )
        for fault in unread[:20]:
            name, why = text.label(fault.where.run or "", 60), text.label(fault.message, 120)
            st.markdown(f":material/link_off: UNREADABLE · {name} · {why}")

corpus = state.corpus()
addressing = state.derived(addressing_findings, of_all=True)
noticed = [*state.findings(), *corpus.findings, *addressing]
if noticed:
    st.subheader("Findings", anchor=False)
    st.caption("What was noticed while reading and scoring; nothing here stopped the work.")
    if addressing:
        runs_meant = cards.counted(len({finding.where.run for finding in addressing}), "run")
        st.caption(f"{runs_meant} with a possible prompt injection: no pass by a judge counts on it.")
    tables.table(exports.findings_table(noticed), key="findings", name="Findings", height=240)

st.subheader("Take it with you", anchor=False)
st.caption(
    "For people who do not code: one HTML file that opens anywhere, offline, with the summary in words."
)
exports.reports(corpus)
st.caption(
    "The same documents that the command line prints with --json, under the rules in force in the sidebar."
)
exports.documents(corpus, state.findings(), state.unread())

log = audit_table(store.audit_log())
if not log.empty:
    st.subheader("Audit log", anchor=False)
    st.caption("Kept outside the ledgers it speaks of.")
    tables.table(log, key="audit", name="Audit log", height=240)
