"""A document that a page exports is, byte for byte, the one that the verb prints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import desk
import msgspec
import pytest

from untaken.analysis.corpus import Corpus, evaluate_corpus, runs_left_out
from untaken.analysis.failure_modes import Taxonomy
from untaken.analysis.memories import remembered
from untaken.cli import main
from untaken.cli.inputs import compared_part
from untaken.errors import Finding
from untaken.ledger import unread_runs, verify_ledger
from untaken.plans import GraphSet
from untaken.views import EXPORTED, dump
from untaken.views.html import html_report
from untaken.views.mode_analysis import most_informative_cases
from untaken.views.reviewing import (
    chosen_cases,
    corpus_reviewers,
    disagreement_queue,
    failing_cases,
    fix_first_reasons,
    review_document,
    with_reviews,
)
from untaken.workspace import Workspace

VERBS = {
    "score": "score a.jsonl b.jsonl bad.jsonl --graphs g --runs --json",
    "rank": "rank a.jsonl b.jsonl bad.jsonl --graphs g --json",
    "counterfactual": "counterfactual a.jsonl b.jsonl bad.jsonl --graphs g --card --json",
}
MUTATING = desk.GRAPH.replace(b"name: search", b"name: serch").replace(
    b"sub_goals:", b'mutates: ["*"]\nsub_goals:', 1
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two ledgers, one that is broken, and two graphs, of which one is a draft."""
    runs = [run.ledger() for run in desk.builders()]
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "desk.plan.yaml").write_bytes(MUTATING)
    (tmp_path / "a.jsonl").write_bytes(b"".join(runs[::2]))
    (tmp_path / "b.jsonl").write_bytes(b"".join(runs[1::2]))
    (tmp_path / "bad.jsonl").write_bytes(b'{"type": "RUN_STARTED", "run_id": "cut"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", EXPORTED)
@pytest.mark.parametrize("agents", [None, "other", "refund-2", "lucky"])
def test_an_exported_document_is_what_the_verb_prints_of_the_agents_compared_too(
    name: str, agents: str | None, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, corpus, reading = opened(files)
    with store:
        unread = unread_runs(list(corpus.runs.values()), reading)
        part = corpus if agents is None else compared_part(corpus, agents)
        exported = dump(EXPORTED[name](part, reading, unread))
    main([*VERBS[name].split(), *([] if agents is None else ["--compared", agents])])
    assert exported == capsys.readouterr().out
    assert json.loads(exported)["findings"]
    assert ("runs-left-out" in exported) == (agents is not None)
    if agents and name == "counterfactual":  # so it is without plan graphs
        bare = replace(part, graphs=GraphSet.of([]))
        assert "runs-left-out" in dump(EXPORTED[name](bare, reading, ()))


def opened(files: Path) -> tuple[Workspace, Corpus, list[Finding]]:
    """The workspace of the app on the same files, and all that it evaluates."""
    store = Workspace(files / "workspace")
    for path in ("g/desk.plan.yaml", "a.jsonl", "b.jsonl", "bad.jsonl"):
        store.add(path, (files / path).read_bytes())
    runs, reading = store.read_runs()
    return store, evaluate_corpus(runs, store.graph_set(), memory=remembered(runs, store.path)), reading


@pytest.mark.parametrize("full", [False, True])
def test_the_report_of_a_page_is_the_one_that_the_verb_writes(full: bool, files: Path) -> None:
    for name in ("a", "b"):  # the workspace records the heads of what is added to it
        heads = {one.run_id: one.head for one in verify_ledger(files / f"{name}.jsonl")}
        (files / f"{name}.jsonl.heads.json").write_bytes(msgspec.json.encode(heads))
    store, corpus, reading = opened(files)
    with store:
        unread = unread_runs(list(corpus.runs.values()), reading)
        exported = html_report(compared_part(corpus, "refund-1"), full=full, unread=len(unread))
    assert "1 more record left out as broken" in exported
    words = "report a.jsonl b.jsonl bad.jsonl --graphs g --compared refund-1 --html report.html"
    main([*words.split(), *(["--full"] if full else [])])
    assert (files / "report.html").read_text("utf-8") == exported


@pytest.mark.parametrize("order", ["severity", "teaches"])
@pytest.mark.parametrize("agents", [None, "other", "careful"])
def test_an_exported_review_is_what_the_verb_prints(order, agents, files, capsys) -> None:
    """With the same runs, filters, order and rules."""
    store, corpus, reading = opened(files)
    with store:
        corpus = corpus if agents is None else compared_part(corpus, agents)
        found, reviews = corpus_reviewers(corpus), store.reviews.every()
        cases = with_reviews(failing_cases(corpus, found), reviews)
        if order == "teaches":
            cases = most_informative_cases(corpus, Taxonomy(), reviews, cases)
        shown = chosen_cases(cases, {"status": ["new"], "kind": ["failed", "lucky", "broken"]})
        differ, reasons = disagreement_queue(corpus, found), fix_first_reasons(corpus)
        findings = (*reading, *runs_left_out(corpus))
        document = review_document(shown, found, differ, reasons=reasons, findings=findings)
    scope = [] if agents is None else ["--compared", agents]
    kinds = [f"--where kind={kind}" for kind in ("failed", "lucky", "broken")]
    words = f"review --workspace workspace --where status=new {' '.join(kinds)} --order {order} --json"
    main([*words.split(), *scope])
    assert dump(document) == capsys.readouterr().out


def test_an_agent_or_task_that_nobody_ran_is_a_wrong_use(files, capsys) -> None:
    assert main(["score", "a.jsonl", "--graphs", "g", "--compared", "nobody", "--json"]) == 2
    assert "no unbroken run is of an agent or a task 'nobody'" in capsys.readouterr().err
