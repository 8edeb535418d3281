"""The report shows rates from labels and a judge where that is asked for, and names are words in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run

from untaken import evaluate_corpus
from untaken.cli import main
from untaken.ledger import Run
from untaken.views import rates_with_labels
from untaken.views.html import html_report

HOSTILE = "<script>x</script>"


def runs(labelled: int) -> list[Run]:
    built = []
    for agent in ("one", HOSTILE):
        for i in range(16):
            run = a_run(f"{agent}/{i}", agent=agent, task=f"t{i}").finish()
            run.verdict("s", i % 3 == 0, "judge:m")
            built.append((run.verdict("s", i % 2 == 0, "human:ann") if i < labelled else run).run())
    return built


@pytest.mark.parametrize(("labelled", "shown"), [(12, True), (0, False), (16, False)])
def test_it_has_a_section_where_people_labelled_some_of_what_the_judge_decided(
    labelled: int, shown: bool
) -> None:
    corpus = evaluate_corpus(runs(labelled), [], resamples=100)
    page = html_report(corpus, labels=rates_with_labels(corpus))
    assert ("A few labels and a judge" in page) is shown
    assert "A few labels and a judge" not in html_report(corpus)
    assert HOSTILE not in page


def test_the_verb_writes_it_on_request(tmp_path: Path) -> None:
    for i in range(16):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", i % 3 == 0, "judge:m")
        built = run.verdict("s", i % 2 == 0, "human:ann") if i < 12 else run
        (tmp_path / f"{i}.jsonl").write_bytes(built.ledger())
    graph = "schema: untaken.plan/1\nid: g\nversion: 1\ntasks: ['t*']\n"
    graph += "sub_goals: [{id: s, check: {verdict: {}}}]\n"
    (tmp_path / "g.plan.yaml").write_text(graph, encoding="utf-8")
    out = tmp_path / "report.html"
    words = ["report", str(tmp_path), "--graphs", str(tmp_path / "g.plan.yaml"), "--html", str(out)]
    assert main([*words, "--labels"]) == 0
    assert "12 of 16" in out.read_text(encoding="utf-8")
