"""Calibration: what is forced comes first, truth is the same in any process, agreement is counted right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from components.figures import calibration_agreement, calibration_figure
from untaken.answers import json_schema
from untaken.cli import main
from untaken.crafter.calibration import (
    Calibration,
    CalibrationPair,
    Settings,
    read_calibration,
    write_calibration,
)
from untaken.crafter.calibration.comparing import Part, curve, measures
from untaken.errors import UntakenError

SAMPLE = Path(__file__).parents[2] / "sample_runs" / "crafter" / "calibration.json"
FORCED = """
from untaken.crafter.calibration.truth import ForcedPolicy, forced, picked, truth
from untaken.crafter.simulator import CrafterWorld
from untaken.crafter.loop import play
from untaken.crafter.players import policy_named
from untaken.crafter.policy import Seen

world = CrafterWorld(7, area=(32, 32))
witness = ForcedPolicy(policy_named("noisy", epsilon=0.5), world)
play(world, witness, task="place_table", steps=40, seed=1)
place = picked(witness.branch_points, 1, "x")[0]
before = place.world.state_hash()
for skill in place.skills:
    clone = place.policy.clone()
    clone.take(skill)
    begun = clone.act(place.seen).selection.skill
    assert (begun == skill) is (forced(place, skill, steps=40, noise=1) is not None), (begun, skill)
found = dict(truth(place, steps=40, draws=3, seed="s"))
assert place.skills[0] in found and len(found) > 1
assert place.world.state_hash() == before
print(place.index, found)
"""


def said(words: str) -> str:
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_forced_is_begun_first_and_the_truth_is_the_same_in_another_process() -> None:
    first, second = said(FORCED), said(FORCED)
    assert "Result(success=" in first
    assert first == second


def pair(number: int, estimate: float, truth: float, *, support: str = "supported") -> CalibrationPair:
    return CalibrationPair(
        map=number // 2,
        run=f"run-{number}",
        index=0,
        selected="a",
        alternative="b",
        support=support,  # type: ignore[arg-type]
        level=1,
        levels=2,
        n=5,
        n_selected=5,
        delta=estimate,
        advantage=estimate,
        low=estimate - 0.1,
        high=estimate + 0.1,
        pooled=estimate,
        pooled_low=estimate - 0.3,
        pooled_high=estimate + 0.3,
        true_delta=truth,
        true_advantage=truth,
        error=0.0,
        half=truth,
        other_half=truth,
    )


PAIRS = [pair(0, 0.3, 0.25), pair(1, 0.3, 0.05), pair(2, -0.3, 0.2), pair(3, 0.05, 0.0, support="weak")]


def test_agreement_is_counted_as_it_is_reported() -> None:
    found = {(m.estimator, m.part): m for m in measures(PAIRS)}
    whole = found["pooled", "all"]
    assert (whole.pairs, whole.maps, whole.three_way.value) == (4, 2, 0.5)
    assert (whole.sign.n, whole.sign.value) == (3, round(2 / 3, 4))
    assert (found["advantage", "all"].coverage.value, whole.coverage.value) == (0.5, 0.75)
    assert found["pooled", "supported"].three_way.value == round(1 / 3, 4)
    assert found["pooled", "weak"].three_way.value == 1.0
    assert found["advantage", "interval"].pairs == 3
    assert found["ceiling", "all"].three_way.value == 1.0
    low, high = whole.three_way.low, whole.three_way.high
    assert low is not None
    assert high is not None
    assert low <= 0.5 <= high


def made(pairs: list[CalibrationPair]) -> Calibration:
    settings = Settings(
        policy="noisy", options={}, task=None, steps=1, train=1, held_out=2, points=1, draws=2, seed=1,
        success_train=0.5, success_held_out=0.5, decisions=4, not_begun=0, unknown=0,
    )  # fmt: skip
    return Calibration(
        settings=settings, measures=tuple(measures(pairs)), curve=tuple(curve(pairs)), pairs=tuple(pairs)
    )


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_calibration(tmp_path / "c.json", made(PAIRS))
    assert read_calibration(tmp_path / "c.json") == made(PAIRS)


@pytest.mark.parametrize(("data", "code"), [(None, "calibration-missing"), (b"{}", "calibration-invalid")])
def test_what_is_none_is_named(tmp_path: Path, data: bytes | None, code: str) -> None:
    if data is not None:
        (tmp_path / "c.json").write_bytes(data)
    with pytest.raises(UntakenError) as raised:
        read_calibration(tmp_path / "c.json")
    assert raised.value.code == code


@pytest.mark.parametrize("dark", [False, True])
def test_figures_show_every_bin_and_every_estimate_with_n(dark: bool) -> None:
    sample = read_calibration(SAMPLE)
    figure = calibration_figure(sample, dark=dark)
    drawn = sum(len(trace.x) for trace in figure.data if trace.mode == "markers")
    assert drawn == sum(b.estimator == "pooled" for b in sample.curve) > 4
    bars = calibration_agreement(sample, dark=dark)
    assert len(bars.layout.yaxis.ticktext) == 4
    assert all("n=" in words for words in bars.layout.yaxis.ticktext)
    assert "No pair" in calibration_figure(made([]), dark=dark).layout.annotations[0].text


def test_the_sample_measures_are_those_of_its_pairs() -> None:
    sample = read_calibration(SAMPLE)
    some = [pair for pair in sample.pairs if pair.support == "supported"]
    part = Part.of(some, "pooled")
    assert part is not None
    assert part.measure("pooled", "supported") == sample.measure("pooled", "supported")
    assert tuple(curve(sample.pairs)) == sample.curve


def test_the_command_writes_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--policy", "noisy", "--epsilon", "0.6", "--task", "collect_wood", "--steps", "20"]
    sizes = ["--train", "3", "--held-out", "2", "--points", "1", "--draws", "2"]
    out = tmp_path / "new" / "c.json"
    assert main(["crafter", "calibrate", *words, *sizes, "-o", str(out)]) == 0
    assert "3 training runs" in capsys.readouterr().out
    found = read_calibration(out)
    assert (found.settings.decisions, found.settings.seed) == (2, 1)
    assert len({pair.map for pair in found.pairs}) <= 2
    jsonschema.validate(json.loads(out.read_text()), json_schema("crafter-calibrate"))


@pytest.mark.parametrize("option", ["--train", "--held-out", "--points", "--draws", "--steps", "--workers"])
def test_too_few_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crafter", "calibrate", "--policy", "noisy", option, "0"]) == 2
    assert "[count-invalid]" in capsys.readouterr().err
