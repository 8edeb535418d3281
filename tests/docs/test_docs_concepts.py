"""The page of meaning: the sections others cite are there, its numbers are those of the program."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from doc_pages import ROOT, names, page, rows, section

from untaken.analysis import ranking
from untaken.counterfactual import OUTCOMES, Weights
from untaken.counterfactual.memory import WEIGHTS
from untaken.counterfactual.memory.sums import WEAK_SHARE
from untaken.ledger import IntegrityVerdict
from untaken.scoring import Diagnosis, Status

TEXT = page("docs/concepts.md")
DRAFTS = page("docs/how-to/plan-graph.md")
"""Discovery of plan graphs, to which the page of meaning leads."""
CITED = re.compile(r"§ ?(\d+[a-z]?(?:\.\d+)?)")
DOTTED = re.compile(r"`((?:untaken|components)(?!\.(?:yaml|sqlite3)`)(?:\.\w+)+)[`(]")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sections() -> set[str]:
    """Section numbers: of headings, and of the numbered items below them."""
    found: set[str] = set()
    number = ""
    for line in TEXT.splitlines():
        if heading := re.match(r"#+ (\d+[a-z]?)\. ", line):
            number = heading[1]
            found.add(number)
        elif item := re.match(r"(\d+)\. ", line):
            found.add(f"{number}.{item[1]}")
    return found


def test_every_section_that_the_program_cites_is_there() -> None:
    cited = {
        (path.relative_to(ROOT).as_posix(), number)
        for folder in ("untaken", "components", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for number in CITED.findall(path.read_text("utf-8"))
    }
    assert len(cited) > 20
    assert sorted(one for one in cited if one[1] not in sections()) == []


def imported(name: str) -> object:
    """The object of a dotted name, a module or something in one."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        above, _, last = name.rpartition(".")
        return getattr(imported(above), last)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_dotted_name_in_the_docs_can_be_imported(path: Path) -> None:
    for name in sorted(set(DOTTED.findall(path.read_text("utf-8")))):
        imported(name)


def test_formulas_name_the_function_that_computes_them() -> None:
    assert len(set(DOTTED.findall(TEXT))) > 40


WEIGHT = Weights()
CLAIMS = {
    "weights": f"{WEIGHT.success:g}·success rate + {WEIGHT.cost:g}·(1 − ĉ) + {WEIGHT.steps:g}·(1 − ŝ)",
    "negative signal": f"(selected, context, {OUTCOMES['negative']:g})",
    "positive signal": f"(alternative, context, {OUTCOMES['positive']:g})",
    "weak": f"w = min({WEIGHTS['weak']:g} · number of weak records, {WEAK_SHARE:g} · n)",
    "resamples": f"{inspect.signature(ranking.rank_agents).parameters['resamples'].default:,} resamples",
}
STATED = [
    ("counterfactual.run_evaluation", "Delta > {THRESHOLD:g}"),
    ("counterfactual.evaluate", "fewer than {MIN_SELECTIONS} `SKILL_SELECTION` events"),
    ("counterfactual.words", "at least {N_MIN} different runs on either side"),
    ("counterfactual.words", "unscored below {N_SPREAD} runs on either side"),
    ("counterfactual.support", "at most {RETRIED:.0%} of the runs followed by another one succeeded"),
    ("counterfactual.choice", "q ≤ {SMALL_Q:g} (`SMALL_Q`)"),
    ("counterfactual.pooling", "each of the memory's latest {LATEST:,} outcomes"),
    ("counterfactual.pooling", "{UNTRIED} if nothing can be predicted"),
    ("counterfactual.parts", "the difference is at least −{MARGIN:g}"),
    ("counterfactual.plan.statements", "at least {TASKS_MIN} tasks with Δx ≠ 0"),
    ("counterfactual.plan.statements", "is the outcome in at least {AGREEMENT_MIN:.0%} of the runs"),
    ("counterfactual.plan.card", "At least {RUNS_MIN} runs of {TASKS_MIN} tasks."),
    ("scoring.tool_names", "spelled alike (likeness ≥ {SIMILAR:g})"),
    ("scoring.graph_doubts", "none of at least {MIN_RUNS} runs, one of them a success, attempted"),
    ("scoring.graph_doubts", "none of at least {MIN_SUCCESSES} successes with evidence completed it"),
    ("scoring.causes.represented", "each in at least {LEAST_RUNS} runs of {LEAST_TASKS} tasks."),
    ("scoring.causes.over_runs", "Compared with at most {MOST_COMPARED:,} runs that passed the sub-goal"),
    ("plans.discovery.proposed_graph", "at least `min_runs` ({MIN_RUNS}) runs that attempted both"),
    ("plans.discovery.proposed_graph", "at least θ ({THETA:g}) *first attempted* A before B"),
    ("plans.discovery.calls", "of one task with at least {MIN_SUCCESSES} successes"),
    ("plans.discovery.calls", "at least {FOUND:.0%} of its own found and at most {EXTRA:.0%} not its own"),
    ("plans.discovery.precedence", "(hypergeometric, {CHANCE:.0%} over all pairs)"),
    (
        "judging.trust",
        "from {FEWEST_PAIRS} pairs on *reliable* if κ's whole interval is at least {LEAST_KAPPA:g}",
    ),
    ("judging.mapping", "at most {MOST_ACTIONS} actions of a run and {MOST_GOALS} sub-goals"),
    (
        "analysis.ranking.compared.pass_k",
        "at most {LARGEST_K} (`untaken.analysis.ranking.compared.pass_k.pass_k_curve`)",
    ),
    ("stats.correlation", "by every permutation up to {EXACT_UP_TO} agents"),
    ("stats.rounding", "agree to {DECIMALS} decimals"),
    ("stats.paired", "every way where at most {EXACT_FLIPS} tasks differ"),
    ("stats.paired", "the true difference found in {POWER:.0%} of cases"),
    (
        "stats.post_stratified",
        "this from {FEWEST_WITH_JUDGE} labels on; with {FEWEST_LABELS} to 29 the labels alone",
    ),
    ("stats.post_stratified", "below {FEWEST_LABELS}, or from fewer than {FEWEST_CLUSTERS} tasks, none"),
    ("stats.label_draw", "over {SHUFFLES} draws that keep whole tasks or runs together"),
    ("stats.krippendorff", '"too few" with fewer than {FEWEST_ITEMS} such items'),
    ("stats.jackknife", "Of more than two answers: the jackknife, from {FEWEST_CLUSTERS} tasks on"),
    (
        "analysis.fix_first.tally",
        "in at least {HARMLESS_RUNS} and more than {HARMLESS_SHARE:.0%} of at least",
    ),
    (
        "analysis.fix_first.tally",
        "of at least {HARMLESS_SUCCESSES} successes, and not more often in failures",
    ),
    ("analysis.fix_first.recommending", "at least {LEAST_RUNS} failed runs of {LEAST_TASKS} tasks"),
    ("analysis.fix_first.recommending", "uncompleted the same way in at most {RARE:.0%} of successes"),
    (
        "analysis.failure_modes.suggesting",
        "(TF-IDF, cosine at least {LEAST:g}; a mode's own texts weigh half",
    ),
    ("analysis.failure_modes.trend", "at most {MOST_PERIODS} periods"),
    ("analysis.auditing.successes", "*Nobody*: c = 0 of at least {MIN_SUCCESSES}, or P(X ≤ c | s, {HALF:g})"),
    ("analysis.auditing.successes", "*Contested*: s ≥ {MIN_CONTESTED} and P(X ≤ c | s, {MOST:g})"),
    ("analysis.auditing.successes", "Below {NEEDED:g} and not above 0 it is *needless*"),
    (
        "analysis.auditing.successes",
        "from {MIN_RUNS} runs on, one a success, a tool or field that no run knows",
    ),
    ("analysis.auditing.successes", "(P(X ≥ k | m, {REVERSED:g}) < .05)"),
    ("analysis.auditing.writes", "(in at least {SAME:.0%} of runs over plans with the same `mutates`)"),
    ("analysis.auditing.writes", "at least {MIN_AGENTS} agents ran it"),
    ("analysis.versions.comparison", "*changed* at {ALPHA:g}"),
]
"""A module, and what the page says with its constants."""


@pytest.mark.parametrize("what", CLAIMS)
def test_a_number_on_the_page_is_that_of_the_program(what: str) -> None:
    assert CLAIMS[what] in TEXT


@pytest.mark.parametrize(("module", "words"), STATED)
def test_a_threshold_on_the_page_is_that_of_the_program(module: str, words: str) -> None:
    told = DRAFTS if module.startswith("plans.discovery") else TEXT
    assert words.format_map(vars(import_module(f"untaken.{module}"))) in told


def listed(heading: str, column: str) -> list[str]:
    """The words in the first column of a table of a section."""
    return [names(cells[0])[0] for cells in rows(section(TEXT, heading), column)]


def test_every_verdict_status_and_diagnosis_is_explained_and_no_other() -> None:
    assert listed("## 1. Run ledger", "verdict") == list(get_args(IntegrityVerdict))
    assert sorted(listed("## 4. Plan graph and sub-goal scoring", "status")) == sorted(get_args(Status))
    assert set(listed("### Rates of a run", "diagnosis")) == set(get_args(Diagnosis))
