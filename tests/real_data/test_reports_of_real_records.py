"""The HTML report on public records: well-formed, without a script, small enough to send."""

from __future__ import annotations

import pytest
from html_pages import SCRIPTED, Parsed

from untaken import html_report
from untaken.analysis.corpus import evaluate_corpus


@pytest.mark.parametrize(
    ("format", "folder"), [("devai", "devai"), ("tau-bench", "tau_bench"), ("tau2-bench", "tau2_bench")]
)
def test_a_report_on_real_records_names_every_failed_run_and_can_be_sent(format, folder, converted) -> None:
    found = converted(format, folder)
    corpus = evaluate_corpus(found.runs, found.graphs, resamples=100)
    page = html_report(corpus, full=True)
    read = Parsed(page)
    assert {tag for tag, _ in read.elements} & SCRIPTED == set()
    assert read.unclosed == read.open == []
    failed = [run.run_id for run in found.runs if run.success is False]
    assert failed
    assert [name for name in failed if name[:79] not in read.words] == []
    assert len(page.encode()) < 3_000_000
    assert "would" not in html_report(corpus)
