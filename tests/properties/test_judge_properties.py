"""Judges say what they like: what a check decided stays decided, and only quotes that stand count."""

from __future__ import annotations

from builders import a_graph
from hypothesis import given
from hypothesis import strategies as st
from test_score_properties import IDS, graphs, runs

from untaken.judging import addresses_judge
from untaken.judging.rendering import CLOSE, OPEN, enveloped
from untaken.ledger.events import RunFinished
from untaken.scoring import score_run

a_graph({"id": "first", "check": {"expr": "state.x"}})  # loads what graphs need before a strategy draws one
OWN_CHECK = ("expr", "tool_call", "outcome")
WORDS = st.lists(
    st.tuples(
        st.sampled_from(IDS), st.sampled_from([True, False, None]), st.sampled_from(["judge:a", "judge:b"])
    ),
    min_size=1,
    max_size=12,
)


@given(runs(), graphs(), WORDS)
def test_a_failed_check_is_never_overturned_by_judges(run, graph, words) -> None:
    if not any(isinstance(event, RunFinished) for event in run.events):
        run.finish(success=False)
    before = score_run(run.run(), graph)
    for name, passed, by in words:
        run.verdict(name, passed, by)
    after = score_run(run.run(), graph)
    for node in before.nodes:
        if node.decided_by in OWN_CHECK:
            now = after.node(node.sub_goal)
            assert (now.completed, now.decided_by) == (node.completed, node.decided_by)


@given(st.text(), st.text(alphabet="⟦⟧endrco 0123456789abcdf\n"))
def test_no_text_ends_its_envelope_or_begins_another(text: str, marks: str) -> None:
    whole = enveloped(text + marks, "0123456789abcdef", "seq 1 MESSAGE")
    assert (whole.count(OPEN), whole.count(CLOSE)) == (2, 2)


@given(st.text(max_size=400))
def test_any_text_can_be_looked_at(text: str) -> None:
    found = addresses_judge(text)
    assert found is None or found
