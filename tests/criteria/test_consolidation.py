"""Criteria that say the same in other words become one, by a threshold that was calibrated on a list."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.judging.criteria import Criterion, consolidate, unique_by_seeds
from untaken.judging.criteria.consolidation import USUAL_TAU, Measure, likeness, usual_measure

MEASURES: tuple[Measure, ...] = ("embedding", "words")
SAME = (
    (
        ("Policy adherence", "Whether the agent followed the policy that applies."),
        ("Compliance with policy", "How far the actions taken obey the rules of the policy."),
        ("Following the rules", "Does the agent act as the applicable rules say?")
    ),
    (
        ("Clarity", "How easy the reply is to understand."),
        ("Readability", "How easily a reader understands what was written."),
        ("Understandable answers", "The reply can be understood without effort.")
    ),
    (
        ("Time taken", "How long it took to finish the task."),
        ("Duration", "The time needed until the task was finished."),
        ("Speed", "How quickly the task is done.")
    ),
    (
        ("Step efficiency", "Number of steps compared with the fewest possible."),
        ("Economy of actions", "No more actions than needed to finish."),
        ("Unneeded actions", "Actions that do not help to finish the task.")
    ),
    (
        ("Error recovery", "How the agent reacts when a tool fails."),
        ("Handling of failures", "What is done after a failed call of a tool."),
        ("Response to errors", "Does the agent change its plan after an error?")
    ),
    (("Accuracy", "Whether the result is correct."), ("Correctness", "Is the final answer right?"), ("Right result", "The outcome is the correct one.")),
    (
        ("Politeness", "The tone towards the customer is polite."),
        ("Courtesy", "The customer is treated with respect and friendliness."),
        ("Friendly tone", "Messages to the customer are friendly.")
    ),
    (
        ("Security of data", "Personal data of the customer is kept private."),
        ("Privacy", "No personal information is given to others."),
        ("Confidentiality", "Private data is not disclosed.")
    ),
    (
        ("Completeness", "All parts of the task are covered."),
        ("Coverage of the request", "Every part of what was asked is dealt with."),
        ("Nothing left out", "The answer covers all aspects of the request.")
    ),
    (
        ("Creativity", "A new or unusual way of solving the problem."),
        ("Innovation", "The problem is solved by a novel method."),
        ("Originality", "How novel the approach to the problem is.")
    ),
    (
        ("Problem difficulty", "How hard the task is."),
        ("Complexity of the task", "The level of difficulty of the problem."),
        ("Task hardness", "How demanding the problem is to solve.")
    )
)  # fmt: skip
"""What is said three times over, in other words; criteria of two rows are different ones."""


def a_criterion(name: str, description: str = "", values: tuple[str, ...] = ("bad", "good")) -> Criterion:
    return Criterion(name=name, description=description, accepted_values=list(values))


EVERY = [a_criterion(*words) for row in SAME for words in row]


def rows_together(by: Measure) -> tuple[list[float], list[float]]:
    """Cosines of pairs that say the same, and of pairs that do not."""
    cosines = likeness(EVERY, by)
    pairs = list(combinations(range(len(EVERY)), 2))
    same = [cosines[a][b] for a, b in pairs if a // 3 == b // 3]
    return same, [cosines[a][b] for a, b in pairs if a // 3 != b // 3]


@pytest.fixture(params=MEASURES)
def by(request: pytest.FixtureRequest) -> Measure:
    if request.param == "embedding" and usual_measure() != "embedding":
        pytest.skip("the extra untaken[judge] is not installed")
    return request.param


def test_the_usual_threshold_merges_no_two_different_criteria(by: Measure) -> None:
    same, different = rows_together(by)
    assert len(different) == 495
    assert max(different) <= USUAL_TAU[by]
    assert sum(cosine > USUAL_TAU[by] for cosine in same) >= {"embedding": 13, "words": 10}[by]


def test_names_that_differ_in_case_spaces_or_hyphens_are_one_at_every_threshold() -> None:
    given = [a_criterion("Error Recovery", "one"), a_criterion("error-recovery", "two")]
    (group,) = consolidate(given, tau=1, by="words").groups
    assert (group.criterion.description, group.proposals, group.least) == ("one", 2, None)
    assert group.criterion.merged == []


def test_what_was_merged_is_named_and_the_representative_is_what_was_proposed_most_often() -> None:
    given = [
        a_criterion("Time taken", "How long the task took"),
        a_criterion("Tone", "Politeness towards the customer"),
        a_criterion("Time used", "How long the task took"),
        a_criterion("Time used", "Time"),
    ]
    found = consolidate(given, by="words")
    assert [(g.criterion.name, g.criterion.merged, g.proposals) for g in found.groups] == [
        ("Time used", ["Time taken"], 3),
        ("Tone", [], 1),
    ]
    assert found.groups[0].least is not None
    assert found.groups[0].least > found.tau


def test_no_chain_of_small_steps_makes_one_of_two_that_are_unlike() -> None:
    """b is like a and like c, but a and c are not alike: only one of the two may take it."""
    a, b, c = (a_criterion(words) for words in ("alpha beta", "beta gamma", "gamma delta"))
    found = consolidate([a, b, c], tau=0.45, by="words")
    assert [(g.criterion.name, g.criterion.merged) for g in found.groups] == [
        ("alpha beta", ["beta gamma"]),
        ("gamma delta", []),
    ]


@given(st.lists(st.sampled_from(EVERY), max_size=20), st.sampled_from((0.1, 0.3, 0.4, 0.7, 1.0)))
def test_every_proposal_is_counted_once_and_consolidating_again_changes_nothing(proposals, tau) -> None:
    found = consolidate(proposals, tau=tau, by="words")
    assert sum(group.proposals for group in found.groups) == len(proposals)
    names = [name for c in found.criteria for name in (c.name, *c.merged)]
    assert sorted(names) == sorted({c.name for c in proposals})
    assert consolidate(found.criteria, tau=tau, by="words").criteria == found.criteria


@given(st.lists(st.lists(st.sampled_from(EVERY), min_size=1, max_size=5), min_size=1, max_size=8))
def test_all_seeds_together_give_what_consolidating_leaves_and_fewer_seeds_no_more(seeds) -> None:
    curve = unique_by_seeds({"task": seeds}, taus=(1.0, 0.4), by="words", draws=5)
    for tau in (1.0, 0.4):
        points = [point for point in curve if point.tau == tau]
        assert [point.seeds for point in points] == sorted({point.seeds for point in points})
        assert all(1 <= point.low <= point.high for point in points)
        everything = consolidate([c for seed in seeds for c in seed], tau=tau, by="words")
        last = points[-1]
        assert (last.seeds, last.of, last.mean) == (len(seeds), len(seeds), len(everything.groups))
        if tau == 1.0:
            assert max(point.high for point in points) == last.mean
