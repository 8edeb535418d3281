"""Upload, import, integrity, loss report, export."""

from __future__ import annotations

import streamlit as st

from components.data import files, own_format, upload
from components.shared import (
    cards,
    evaluating,
    exports,
    first_steps,
    sharing,
    state,
    tables,
    text,
)
from untaken.numbers import counted
from untaken.views import audit_table, corpus_findings

store = state.workspace()
cards.headline("Data", "What is in this workspace, and can you trust it?")
st.caption(
    f"Workspace: {text.label(store.path, 200)}. Nothing leaves this machine except requests to a language "
    "model you configure."
)

with st.container(border=True):
    upload.upload(store)
own_format.own_format(store)
upload.show_results(upload.session_uploads().results, after_any=upload.now_here)
files.confirm(store)

count = store.count_files(evaluating.position(store))
st.subheader("Files", anchor=False)
if not count:
    st.info(
        "No files yet. Upload run ledgers (.jsonl), plan graphs (.plan.yaml) or traces in a known format; "
        "or try the samples first."
    )
    first_steps.offer_samples()
    files.restore(store)
    st.stop()
runs = state.runs()
broken = [run for run in runs if run.integrity.broken]
unread = state.unread()
unanchored = [run for run in runs if run.integrity.verdict == "UNANCHORED"]
st.caption(
    f"{counted(count, 'file')} · {counted(len(runs) + len(unread), 'run')} · "
    f"{len(broken) + len(unread):,} broken · {len(unanchored):,} without a recorded head"
)
if stale := evaluating.held(str(store.path)).stale:
    st.caption(
        f"{counted(stale, 'file')} read and scored again at the start: the file, a plan graph or the program "
        "had changed."
    )
files.listed(store, runs)
files.restore(store)
if broken or unread:
    with st.container(border=True):
        many = counted(len(broken) + len(unread), "broken run")
        st.markdown(f"**{many}** · excluded from all figures (DTL-STRAT-006)")
        for run in broken[:20]:
            name, why = text.label(run.run_id, 60), text.label(run.integrity.reason, 120)
            st.page_link(
                state.RUN_PAGE,
                label=f"{run.integrity.verdict} · {name} · {why}",
                query_params={"run": run.digest} | state.scope(),
                icon=":material/link_off:",
            )
        for fault in unread[:20]:
            name, why = text.label(fault.where.run or "", 60), text.label(fault.message, 120)
            st.markdown(f":material/link_off: UNREADABLE · {name} · {why}")

injections, unseen = state.injections()
findings = [*state.findings(), *state.derived(corpus_findings, of_all=True), *injections]
if unseen:
    upload.injections_looked_for(unseen)
if findings:
    st.subheader("Findings", anchor=False)
    st.caption("Problems found while reading and scoring. None of them stopped the scoring.")
    if injections:
        affected = counted(len({finding.where.run for finding in injections}), "run")
        st.caption(f"{affected} with a possible prompt injection: passes by a judge do not count.")
    exports.findings(findings, key="findings", name="Findings")

st.subheader("Export", anchor=False)
corpus = state.compared()
st.caption(
    f"Every export has the scope of the pages: {counted(len(corpus.runs), 'run')} · "
    f"{text.label(state.rules().in_words(), 200)}"
)
sharing.share_report()
st.caption("The same JSON as the command line prints with --json, with the rules set in the sidebar.")
exports.documents(corpus, state.findings(), state.unread())

log = audit_table(store.audit_log())
if not log.empty:
    st.subheader("Audit log", anchor=False)
    st.caption("Stored outside the ledgers.")
    tables.table(log, key="audit", name="Audit log", height=240)
