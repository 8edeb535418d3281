"""Is one agent ahead? The report's answer in words, compared with the rankings."""

from __future__ import annotations

from typing import Any

import desk
import pytest
from html_pages import Parsed
from msgspec.structs import replace

from untaken import html_report
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.ranking import PairedDifference
from untaken.errors import Unscored
from untaken.views.html.better import difference_words

NONE = Unscored("no single trials")
PAIR = PairedDifference(
    metric="completion",
    first="one",
    second="other",
    n_tasks=24,
    n_runs=48,
    difference=0.25,
    low=0.125,
    high=0.375,
    interval="student_t",
    test="sign_flip",
    p=0.01,
    p_holm=0.03,
    family=3,
    mde=0.18,
    p_above=0.99,
    first_only=NONE,
    second_only=NONE,
)


WIDE = "no clear differenceone ahead by 25.0 (−5.0 to 37.5); these tasks can show about 18.024 tasks"
ONE = Unscored("one task")


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (PAIR, "one is aheadby 25.0 (12.5 to 37.5)24 tasks, 48 runs"),
        (replace(PAIR, difference=-0.25, low=-0.375, high=-0.125), "other is aheadby 25.0 (12.5 to 37.5)"),
        (replace(PAIR, p_holm=0.06), "48 runs; not clear after correction for all 3 pairs"),
        (replace(PAIR, low=-0.05), WIDE),
        (replace(PAIR, difference=0.0, low=-0.1, high=0.1), "no clear differencelevel, 0.0 (−10.0 to 10.0)"),
        (replace(PAIR, low=ONE, high=ONE), "needs two tasks"),
        (replace(PAIR, difference=ONE), "no task has a value for both"),
        (None, "no task has a value for both"),
    ],
)
def test_a_difference_says_who_is_better_or_how_much_it_takes_to_show(pair, says) -> None:
    assert says in Parsed(difference_words(pair, 3)).words


def _compared(*makers: Any, tasks: int = 8) -> Corpus:
    runs = [make(n, task=f"refund-{n}").run() for make in makers for n in range(1, tasks + 1)]
    return evaluate_corpus(runs, desk.graphs(), resamples=500)


def _lead(page: str) -> str:
    return Parsed(page.split('class="lead"')[1].split("</section>", maxsplit=1)[0]).words


ALIKE = "By success and by critical sub-goals completed alike, careful comes first. The records show "
TOGETHER = "By success, careful and lucky come first together; by critical sub-goals completed, careful."


@pytest.mark.parametrize(
    ("makers", "says"), [((desk.careful, desk.failing), ALIKE), ((desk.careful, desk.lucky), TOGETHER)]
)
def test_the_summary_names_who_comes_first(makers: tuple[Any, ...], says: str) -> None:
    assert says in _lead(html_report(_compared(*makers)))


def test_a_single_agent_is_not_compared() -> None:
    page = html_report(_compared(desk.careful), full=True)
    assert "Is one agent ahead?" not in page
    assert "apart" not in _lead(page)
    assert "comes first" not in _lead(page)


def test_neighbours_stand_in_the_focused_report_and_every_pair_in_the_full_one() -> None:
    corpus = desk.corpus()
    ranked = sum(s.rank is not None for s in corpus.ranking.metrics["critical_completion"])
    assert ranked > 2
    for full, pairs in ((False, ranked - 1), (True, ranked * (ranked - 1) // 2)):
        words = Parsed(html_report(corpus, full=full)).words
        assert f"{pairs} of {ranked * (ranked - 1) // 2} pairs" in words
