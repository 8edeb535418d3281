"""Recorded scores of Crafter: published figures to 1e-9, and no episode against the tech tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from crafter import constants

from untaken.plans import edges
from untaken.simulator.crafter import ACHIEVEMENTS, Recording, method_scores, read_scores, tech_tree

FILES = ["crafter_reward-human.json", "crafter_noreward-random.seed0.json.gz"]
PUBLISHED = {
    "crafter_reward-human.json": ("human", 50.52732468534698, 6.787677339567659),
    "crafter_noreward-random.seed0.json.gz": ("random", 1.5444111491694752, 0.0),
}


def recordings(real_data: Path, name: str) -> tuple[Recording, ...]:
    found, findings = read_scores([real_data / "crafter" / name])
    assert findings == ()
    return found


@pytest.mark.parametrize("name", FILES)
def test_scores_and_rates_are_those_of_the_reference(name, real_data, reference) -> None:
    wanted = reference["crafter"][name]
    (score,) = method_scores(recordings(real_data, name))
    method, mean, sd = PUBLISHED[name]
    assert (score.method, score.episodes) == (method, wanted["episodes"])
    assert (score.score_mean, score.score_sd) == (pytest.approx(mean, abs=1e-9), pytest.approx(sd, abs=1e-9))
    assert (wanted["score_mean"], wanted["score_pstdev"]) == (mean, sd)
    assert [(s.seed, s.episodes) for s in score.by_seed] == [
        (s["seed"], s["episodes"]) for s in wanted["seeds"]
    ]
    for ours, theirs in zip(score.by_seed, wanted["seeds"], strict=True):
        assert ours.score == pytest.approx(theirs["score"], abs=1e-9)
        assert dict(ours.success_percent) == pytest.approx(theirs["success_percent"], abs=1e-9)


def test_a_folder_of_scores_is_read_at_once_and_the_rest_left_alone(real_data: Path) -> None:
    found, findings = read_scores([real_data / "crafter"])
    assert {recording.method for recording in found} == {"human", "random"}
    assert [finding.code for finding in findings] == ["files-skipped"]


@pytest.mark.parametrize(("name", "least"), [(FILES[0], 1_000), (FILES[1], 2_900)])
def test_no_recorded_episode_reached_anything_without_what_it_needs(name, least, real_data) -> None:
    """Unlock counts say which, not when: whatever an episode reached, it reached what that needs, too."""
    checked, against = 0, []
    for recording in recordings(real_data, name):
        for before, after in edges(tech_tree()):
            for episode, reached in enumerate(recording.unlocks[after]):
                checked += reached > 0
                if reached > 0 and not recording.unlocks[before][episode]:
                    against.append((recording.seed, episode, before, after))
    assert against == []
    assert checked >= least


def test_the_rules_installed_are_those_the_scores_were_recorded_under(real_data: Path) -> None:
    package = Path(constants.__file__).parent / "data.yaml"
    assert (real_data / "crafter" / "data.yaml").read_text("utf-8") == package.read_text("utf-8")
    assert list(ACHIEVEMENTS) == constants.achievements
