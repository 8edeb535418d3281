"""The HTML report: words that follow the numbers, and nothing from a record that is more than a word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import desk
import pytest
from builders import RunBuilder, a_graph, a_run
from html_pages import SCRIPTED, Parsed
from hypothesis import given
from hypothesis import strategies as st

from untaken import html_report
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import triage
from untaken.ledger import Run, read_ledger
from untaken.numbers import interval, percent
from untaken.plans import load_graphs
from untaken.scoring import RunScore
from untaken.views.first_page import overview
from untaken.views.html.page import css
from untaken.views.statuses import STATUS

ROOT = Path(__file__).parents[2]


def worded(word: str) -> Corpus:
    """A corpus in which every field that a record or a plan graph can fill holds the word."""
    name = word[:200] or "x"
    search = {"tool_call": {"name": "search"}}
    graph = a_graph(
        {"id": f"a{name}", "title": word, "rules": [{"tool": "search"}], "check": search},
        {"id": f"b{name}", "title": word, "deps": [f"a{name}"], "critical": True, "check": {"verdict": True}},
        {"id": f"c{name}", "title": word, "deps": [f"b{name}"], "check": {"tool_call": {"name": "pay"}}},
        graph_id=name,
        title=word,
        mutates=["search", "pay"],
    )
    runs = []
    for n in range(8):
        run = a_run(f"r{n}{name}", agent=f"{'xy'[n % 2]}{name}", task=f"t{n // 2}{name}", model=name)
        run.plan(word).select(name, f"other{name}", context=name).call("search", ok=True, note=word)
        run.select(f"other{name}", name, context=f"2{name}").call("pay", ok=n % 3 > 0)
        run.observe(word).verdict(f"b{name}", n % 4 == 0, by=f"human:{name}", reason=word)
        runs.append(run.finish(n % 2 == 0, error=word, limit=word).run("ALTERED" if n == 7 else "INTACT"))
    lost = a_run(f"lost{name}", agent=f"x{name}", task=f"t0{name}", graph=f"none{name}")
    return evaluate_corpus([*runs, lost.finish(True).run()], graph, resamples=20)


def test_choices_are_said_with_their_counts_and_only_where_there_are_any() -> None:
    graph = a_graph(
        {"id": "refund", "check": {"tool_call": {"name": "write_refund"}}}, mutates=["write_*"], tasks=["t*"]
    )
    runs = [
        a_run(f"{task}-{trial}", task=f"t{task}", metadata={"seed": trial}).call(f"write_{did}")
        for task in range(4)
        for trial, did in enumerate(["other", "refund"] * 2)
    ]
    done = [run.finish(at % 2 == 1).run() for at, run in enumerate(runs)]
    page = html_report(evaluate_corpus(done, graph, resamples=0))
    assert "Choices that succeeded more often" in page
    assert "runs that made a planned change succeeded 8 of 8; those that made an unplanned" in page
    assert "Taken in 8 of 16 runs" in page
    assert "Choices that succeeded more often" not in html_report(worded("plain"))


HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</svg></td></table><img src=x onerror=alert(1)>",
    '"><a href="javascript:alert(1)">x</a>',
    "' onmouseover='alert(1)' x='",
    "<!-- --><![CDATA[<b>x</b>]]>",
    "&lt;b&gt; &#60;b&#62; &amp;",
    "url(https://example.com/x.png)",
    "https://example.com/ www.example.com @import",
    "\u202egnp.exe\u202c \u2066\u2069 \ufeff",
    "\x1b]0;x\x07 \x00 \x7f \x85",
    "{{7*7}} ${7*7} %(x)s %{y} {0}",
    "]]> --> ?> <? %>",
    "𝒳 漢字 e\u0301\u0301\u0301 \u200f",
)


@pytest.fixture(scope="module")
def benign() -> set[tuple[str, frozenset[str]]]:
    """The shapes of a report on harmless words, in both lengths."""
    return Parsed(html_report(worded("benign"), full=True)).shapes()


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_add_no_element_no_attribute_and_no_address(word, benign) -> None:
    corpus = worded(word)
    for full in (False, True):
        page = html_report(corpus, full=full, title=word, date=word)
        found = Parsed(page)
        assert found.shapes() <= benign
        assert found.unclosed == found.open == []
        assert all(character.isprintable() or character in "\n\u00a0\u3000" for character in page)
    assert len(found.shapes()) == len(benign)


@given(st.text(min_size=1, max_size=40))
def test_any_words_are_words(word: str) -> None:
    page = html_report(worded(word.encode("utf-8", "replace").decode()), title=word, full=True)
    page.encode()
    found = Parsed(page)
    assert {tag for tag, _ in found.elements} & SCRIPTED == set()
    assert found.unclosed == found.open == []


def test_there_is_no_script_no_address_and_a_policy_that_allows_neither() -> None:
    page = html_report(desk.corpus(), full=True)
    found = Parsed(page)
    assert {tag for tag, _ in found.elements} & SCRIPTED == set()
    names = {name for _, attributes in found.elements for name in attributes}
    assert names & {"href", "src", "xlink:href", "srcset"} == set()
    assert [name for name in names if name.startswith("on")] == []
    policy = next(a["content"] for tag, a in found.elements if tag == "meta" and "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert not re.search(r"https?:|//|@import|url\(", page.replace("<!doctype", ""))


# Words and numbers


def _few(*makers: Callable[..., RunBuilder]) -> list[Run]:
    return [make(n, task=f"refund-{n}").run() for n, make in enumerate(makers, start=1)]


UNKNOWN = [a_run("r", task="refund-1").finish(None).run()]
TOLD: dict[str, tuple[list[Run], str]] = {
    "a success that misleads": (
        _few(desk.careful, desk.lucky),
        "of the 2 successes with evidence, 1 (50%) left out a critical sub-goal",
    ),
    "an honest success": (
        _few(desk.careful),
        "Of the one success with evidence, none left out a critical sub-goal.",
    ),
    "only failures": (_few(desk.failing), "0 (0%) succeeded"),
    "no outcome": (UNKNOWN, "None of them records whether it succeeded."),
    "a broken record": (
        [desk.lucky(1).run(), desk.lucky(2).run("ALTERED")],
        "1 more record left out as broken.",
    ),
    "what to fix": (
        _few(desk.lucky, desk.lucky),
        "Fix first: “Check policy”, critical and not completed in 2 runs.",
    ),
    "no plan graph": ([desk.stray().run()], "It is unknown whether success can be trusted"),
    "nothing": ([], "0 agents made 0 runs of 0 tasks."),
}


@pytest.mark.parametrize(("runs", "says"), TOLD.values(), ids=TOLD)
def test_the_summary_is_written_from_the_numbers(runs: list[Run], says: str) -> None:
    corpus = evaluate_corpus(runs, desk.graphs(), resamples=50)
    for full in (False, True):
        page = html_report(corpus, full=full)
        assert says in Parsed(page.split('class="lead"')[1].split("</section>")[0]).words
        assert "nan" not in re.findall(r"[a-z]+", page.lower())
        assert "would" not in page


def test_the_numbers_are_those_of_the_overview() -> None:
    corpus = desk.corpus()
    seen, words = overview(corpus), Parsed(html_report(corpus)).words
    span = interval(seen.task_low, seen.task_high, percent)
    rests = f"{seen.succeeded.count} of {seen.succeeded.n} runs that record an outcome"
    assert f"95% interval {span}; {rests}" in words
    assert f"{seen.lucky.count} of {seen.lucky.n} successes with evidence" in words
    assert "no two agents change places" in words or f"{len(seen.discordant)} of {seen.pairs} pairs" in words


@pytest.mark.parametrize("rule", ["fail", "drop"])
def test_rules_digest_and_version_stand_in_the_small_print(rule: Any) -> None:
    runs = desk.runs()
    corpus = evaluate_corpus(runs, desk.graphs(), missing=rule, verdicts=["human:*"], resamples=50)
    words = Parsed(html_report(corpus, date="spring 2026")).words
    told = {"fail": "count as not completed", "drop": "are left out"}[rule]
    assert f"Sub-goals without a verdict {told}" in words
    assert "verdicts counted: human:*" in words
    assert "spring 2026" in words
    assert re.search(r"Digest[0-9a-f]{64} ", words)
    assert re.search(r"Untaken \d+\.\d+", words)


def test_another_corpus_has_another_digest_and_no_date_is_made_up() -> None:
    pages = [
        html_report(evaluate_corpus(runs, desk.graphs(), missing=rule, resamples=20))
        for runs, rule in ((desk.runs(), "fail"), (desk.runs(), "drop"), (desk.runs()[1:], "fail"))
    ]
    digests = [re.findall(r"[0-9a-f]{64}", page) for page in pages]
    assert len({tuple(found) for found in digests}) == 3
    recorded = {run.started.ts.date().isoformat() for run in desk.runs()}
    assert {*re.findall(r"\b20\d\d\b[-\d]*", Parsed(pages[0]).words)} <= recorded


# What is in it


@pytest.fixture(scope="module")
def samples() -> Corpus:
    """The sample runs."""
    files = sorted((ROOT / "sample_runs" / "ledgers").glob("*.jsonl*"))
    runs = [run for file in files if file.suffix != ".json" for run in read_ledger(file)]
    return evaluate_corpus(runs, load_graphs(ROOT / "sample_runs" / "graphs"), resamples=100)


def test_the_full_report_names_every_run_that_failed_and_the_focused_one_says_what_it_leaves_out(
    samples: Corpus,
) -> None:
    page = html_report(samples, full=True)
    words = Parsed(page).words
    wrong = [run.run_id for run in samples.runs.values() if run.success is False]
    wrong += [contradiction.run_id for contradiction in samples.contradictions]
    assert len(wrong) > 200
    assert [name for name in wrong if name not in words] == []
    assert len(page.encode()) < 3_000_000
    focused = html_report(samples)
    assert len(focused.encode()) < 100_000
    assert re.search(r"shown: \d+ of \d+", Parsed(focused).words)


def test_runs_that_share_a_picture_share_every_status(samples: Corpus) -> None:
    from untaken.views.html.run_patterns import run_patterns

    found = run_patterns(samples)
    statuses = [[(n.sub_goal, n.status) for n in pattern.example.nodes] for pattern in found]
    for pattern, wanted in zip(found, statuses, strict=True):
        for item in pattern.runs:
            score = samples.scores[item.digest]
            assert isinstance(score, RunScore)
            assert [(n.sub_goal, n.status) for n in score.nodes] == wanted
    assert sum(len(pattern.runs) for pattern in found) == len({i.digest for c in found for i in c.runs})


def test_every_picture_is_described_and_every_table_has_headings(samples: Corpus) -> None:
    page = html_report(samples, full=True)
    found = Parsed(page)
    ids = Counter(a["id"] for _, a in found.elements if "id" in a)
    assert max(ids.values()) == 1
    pictures = [a for tag, a in found.elements if tag == "svg"]
    assert all(a.get("aria-hidden") == "true" or a.get("role") == "img" for a in pictures)
    named = [str(a["aria-labelledby"]).split() for a in pictures if a.get("role") == "img"]
    assert len(named) > 10
    assert all(len(names) == 2 and set(names) <= ids.keys() for names in named)
    assert all(a.get("scope") in ("col", "row") for tag, a in found.elements if tag == "th")
    tags = Counter(tag for tag, _ in found.elements)
    assert tags["caption"] == tags["table"] == tags["thead"] > 10
    assert dict(found.elements)["html"] == {"lang": "en"}


def test_a_status_has_the_dark_colours_of_the_app() -> None:
    dark = css()
    for look in (style.shaded(dark=True) for style in STATUS.values()):
        assert f"{{ fill: {look.fill.lower()}; stroke: {look.line.lower()}; }}" in dark


def test_a_graph_too_large_for_a_picture_is_described_in_words() -> None:
    goals = [
        {"id": f"s{n}", "critical": n == 3, "check": {"tool_call": {"name": f"t{n}"}}} for n in range(41)
    ]
    corpus = evaluate_corpus([a_run("r").call("t0").finish(False).run()], a_graph(*goals), resamples=0)
    page = html_report(corpus)
    words = Parsed(page).words
    assert 'role="img"' not in page
    assert "41 sub-goals: 1 completed, 40 skipped. Critical and not completed: s3." in words


PROGRAM = """
import sys, desk
from untaken import html_report
for full in (False, True):
    sys.stdout.buffer.write(html_report(desk.corpus(), full=full).encode())
"""


def test_the_same_input_gives_the_same_bytes_under_any_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_what_fails_alike_in_many_tasks_is_one_item_as_on_the_first_page() -> None:
    """Eight tasks, each with a plan graph: one item of eight runs, not eight of one."""
    graphs = [
        a_graph(
            {"id": "look", "check": {"tool_call": {"name": "look"}}},
            {"id": "pay", "title": "pay", "deps": ["look"], "check": {"tool_call": {"name": "pay"}}},
            id=f"desk{n}",
            tasks=[f"t{n}"],
        )
        for n in range(8)
    ]
    runs = [a_run(f"r{n}", task=f"t{n}").call("look").finish(False).run() for n in range(8)]
    corpus = evaluate_corpus(runs, graphs)
    assert [item.failed_runs for item in triage(corpus).items] == [8]
    text = re.sub("<[^>]+>", "", html_report(corpus))
    assert "where 8 of 8 failed runs fail first: the run ended before it." in text
