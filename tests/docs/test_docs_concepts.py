"""The page of meaning: the sections others cite are there, its numbers are those of the program."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from doc_pages import ROOT, names, page, rows, section

from untaken import ranking
from untaken.counterfactual import OUTCOMES, THRESHOLD, Weights
from untaken.counterfactual.evaluate import MIN_SELECTIONS
from untaken.counterfactual.memory import WEIGHTS
from untaken.counterfactual.memory.sums import WEAK_SHARE
from untaken.counterfactual.words import N_MIN, N_SPREAD
from untaken.ledger import IntegrityVerdict
from untaken.scoring import Diagnosis, Status
from untaken.stats.correlation import EXACT_UP_TO
from untaken.stats.rounding import DECIMALS

TEXT = page("docs/concepts.md")
CITED = re.compile(r"§ ?(\d+[a-z]?(?:\.\d+)?)")
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
    dotted = {
        n for n in names(path.read_text("utf-8")) if re.fullmatch(r"(?:untaken|components)(?:\.\w+)+", n)
    }
    for name in sorted(dotted):
        imported(name)


def test_formulas_name_the_function_that_computes_them() -> None:
    named = {n for n in names(TEXT) if n.startswith("untaken.")}
    assert len(named) > 25


WEIGHT = Weights()
CLAIMS = {
    "weights": f"{WEIGHT.success:g}·success rate + {WEIGHT.cost:g}·(1 − ĉ) + {WEIGHT.steps:g}·(1 − ŝ)",
    "threshold": f"Delta > {THRESHOLD:g}",
    "negative signal": f"(selected, context, {OUTCOMES['negative']:g})",
    "positive signal": f"(alternative, context, {OUTCOMES['positive']:g})",
    "selections": f"fewer than {MIN_SELECTIONS} `SKILL_SELECTION` events",
    "support": f"at least {N_MIN} different runs on either side",
    "interval": f"unscored below {N_SPREAD} runs on either side",
    "weak": f"w = min({WEIGHTS['weak']:g} · number of weak records, {WEAK_SHARE:g} · n)",
    "permutations": f"by every permutation up to {EXACT_UP_TO} agents",
    "ties": f"agree to {DECIMALS} decimals",
    "resamples": f"{inspect.signature(ranking.rank_agents).parameters['resamples'].default:,} resamples",
}


@pytest.mark.parametrize("what", CLAIMS)
def test_a_number_on_the_page_is_that_of_the_program(what: str) -> None:
    assert CLAIMS[what] in TEXT


def listed(heading: str, column: str) -> list[str]:
    """The words in the first column of a table of a section."""
    return [names(cells[0])[0] for cells in rows(section(TEXT, heading), column)]


def test_every_verdict_status_and_diagnosis_is_explained_and_no_other() -> None:
    assert listed("## 1. Run ledger", "verdict") == list(get_args(IntegrityVerdict))
    assert sorted(listed("## 4. Plan graph and sub-goal scoring", "status")) == sorted(get_args(Status))
    assert set(listed("### Rates of a run", "diagnosis")) == set(get_args(Diagnosis))
