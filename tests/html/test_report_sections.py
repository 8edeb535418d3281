"""Sections of a report: labels and a judge, what people wrote, doubts of a plan, versions."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from builders import a_graph, a_run
from html_pages import Parsed

from untaken import evaluate_corpus, html_report
from untaken.analysis.corpus import Corpus
from untaken.analysis.failure_modes import Taxonomy, assignment_draft, create_mode, note_draft
from untaken.cli import main
from untaken.ledger import Run
from untaken.views import html as pages
from untaken.views import rates_with_labels
from untaken.views.html.markup import short, tag, together, words
from untaken.workspace import Workspace

HOSTILE = "<b onclick=x>Pay</b>"
NOTE = "The amount is that of <b>another</b> order."


def labelled(many: int, agents: tuple[str, ...] = ("one", HOSTILE)) -> list[Run]:
    """Sixteen runs of each agent that a judge decided, of which people labelled the first."""
    built = []
    for agent in agents:
        for i in range(16):
            run = (
                a_run(f"{agent}/{i}", agent=agent, task=f"t{i}").finish().verdict("s", i % 3 == 0, "judge:m")
            )
            built.append(run.verdict("s", i % 2 == 0, "human:ann") if i < many else run)
    return built


@pytest.mark.parametrize(("many", "shown"), [(12, True), (0, False), (16, False)])
def test_it_has_a_section_where_people_labelled_some_of_what_the_judge_decided(many, shown) -> None:
    corpus = evaluate_corpus([run.run() for run in labelled(many)], [], resamples=100)
    page = pages.html_report(corpus, labels=rates_with_labels(corpus))
    assert ("A few labels and a judge" in page) is shown
    assert "A few labels and a judge" not in html_report(corpus)
    assert HOSTILE not in page


def test_the_verb_writes_that_section_on_request(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in labelled(12, ("x",))))
    graph = "schema: untaken.plan/1\nid: g\ntasks: ['t*']\nsub_goals: [{id: s, check: {verdict: {}}}]\n"
    (tmp_path / "g.plan.yaml").write_text(graph, encoding="utf-8")
    out = tmp_path / "report.html"
    assert main(f"report {tmp_path} --graphs {tmp_path} --html {out} --labels".split()) == 0
    assert "12 of 16" in out.read_text(encoding="utf-8")


@pytest.fixture
def written(tmp_path: Path) -> tuple[Corpus, Taxonomy]:
    made = create_mode(Taxonomy(), "Wrong amount", definition="Another amount is paid.", by="human:kim")
    taxonomy, mode = made
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for run in (desk.failing(20), desk.careful(10)):
            store.add(f"{run.run_id}.jsonl", run.ledger())
        failed = next(run for run in store.read_runs()[0] if run.success is False)
        for draft in (note_draft(NOTE, author="human:kim"), assignment_draft(mode.id, by="human:kim")):
            store.append_events(failed, [draft])
        corpus = evaluate_corpus(store.read_runs()[0], store.graph_set(), resamples=200)
    return corpus, taxonomy


def test_the_report_says_what_people_found_where_it_is_asked_to_and_nothing_of_it_elsewhere(written) -> None:
    corpus, taxonomy = written
    told = Parsed(pages.html_report(corpus, notes=taxonomy)).words
    found = [
        "Wrong amount",
        "1 of 1",
        "Another amount is paid.",
        "Note by kim",
        NOTE,
        "Why",
        "Expected",
        "Got",
    ]
    found.append("1 run read by a person, 1 of them failed")
    assert [said for said in found if said not in told] == []
    without = Parsed(html_report(corpus)).words
    assert "The amount is that of" not in without
    assert "kim" not in without
    assert "For example, failing-20: '" in without  # what was expected and what was there


def paid(expected: int, *, skipped: bool = False) -> Corpus:
    """Runs of two versions that pay 67; the second may skip that."""
    runs = []
    for n in range(24):
        second = n % 2 == 1
        run = a_run(f"r{n}", task=f"t{n // 4}", version=HOSTILE if second else "1")
        run.call("look", ok=True, n=n)
        if not (skipped and second):
            run.call("pay", ok=True, amount=67, n=n)
        runs.append(run.finish(not (skipped and second)).run())
    check = {"tool_call": {"name": "pay", "arguments": {"amount": expected}}}
    return evaluate_corpus(runs, a_graph({"id": "pay", "title": HOSTILE, "check": check}), resamples=20)


@pytest.mark.parametrize("full", [True, False])
def test_a_doubtful_sub_goal_is_in_the_report_with_the_edit_that_runs_suggest(full: bool) -> None:
    page = html_report(paid(78), full=full)
    assert "Is the plan right?" in page
    assert "amount 67 instead of 78" in page
    assert "<b onclick" not in page
    assert "Is the plan right?" not in html_report(paid(67), full=full)


def test_what_changed_between_versions_is_in_the_report() -> None:
    page = html_report(paid(67, skipped=True))
    assert "What changed between versions" in page
    assert "more often skipped" in page
    assert "<b onclick" not in page


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (words("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#x27;"),
        (words("a\nb\x00\u202ec\ud800"), "a b\ufffd\ufffdc\ufffd"),
        (tag("p", "<b>", tag("b", "x")), "<p>&lt;b&gt;<b>x</b></p>"),
        (tag("p", class_="a", aria_label='"><i>'), '<p class="a" aria-label="&quot;&gt;&lt;i&gt;"></p>'),
        (tag("rect", x=1, y=1 / 3, stroke_dasharray=None), '<rect x="1" y="0.3333"></rect>'),
        (tag("br"), "<br>"),
        (together("<", tag("i", "x"), ">"), "&lt;<i>x</i>&gt;"),
        (words(tag("i", "x")), "<i>x</i>"),
        (tag("p", short(tag("i", "x" * 90), 5)), "<p>&lt;i&gt;x…</p>"),
    ],
)
def test_whatever_is_not_markup_is_escaped(made: str, want: str) -> None:
    assert made == want
