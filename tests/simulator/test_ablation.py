"""The four arms in the same worlds: scores, paired differences with intervals, and what is not comparable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import expm1, log1p, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pytest
from scipy.stats import t

from untaken.errors import Unscored, UntakenError
from untaken.simulator.ablation_analysis import ablation
from untaken.simulator.ablation_runs import FULL, Ablation, arms_of, remarks
from untaken.simulator.crafter import ACHIEVEMENTS, crafter_score
from untaken.simulator.crafter.playing import Setup
from untaken.simulator.loop import Episode, WinSettings
from untaken.views import crafter_ablation_document, read_ablation
from untaken.views.documents import entry
from untaken.views.schemas import json_schema

SETUP = Setup(policy="noisy", options={"slips": 0.1}, steps=100, win=WinSettings(at="<"))


WORLDS = (12, 14, 9, 15, 12)


def episode(seed: int, reached: int, *, policy: str = "noisy", asked: int = 0, kept: int = 0) -> Episode:
    return Episode(
        policy=policy,
        task=None,
        seed=seed,
        steps=50,
        unlocked=dict.fromkeys(ACHIEVEMENTS[:reached], 1),
        total=float(reached),
        dead=False,
        asked_again=asked,
        revised=asked // 2,
        kept={"wood": kept} if kept else {},
    )


def arm(counts: Sequence[int], **more: Any) -> list[Episode]:
    return [episode(seed, reached, **more) for seed, reached in enumerate(counts)]


def found(full: Sequence[int] = WORLDS, without: Sequence[int] = (10, 11, 9, 12, 10)) -> Ablation:
    played = {
        FULL: arm(full, asked=10, kept=3),
        "w/o SCE": arm(full, asked=10),
        "w/o WIN": arm(without, kept=3),
        "w/o both": arm(without),
    }
    return ablation(arms_of(SETUP)[FULL], played)


def test_an_arm_is_scored_over_all_worlds() -> None:
    first = found().arms[0]
    percents = [100 * sum(n > at for n in WORLDS) / 5 for at in range(22)]
    assert first.score == pytest.approx(crafter_score(percents))
    assert list(first.success_percent.values()) == percents
    assert (first.episodes, first.successes, first.achievements) == (5, 4, 12.4)
    assert (first.asked_again, first.revised) == (50 / 250, 25 / 250)


def test_the_interval_of_a_score_is_by_the_jackknife_over_worlds() -> None:
    def score(*reached: int) -> float:
        return crafter_score([100 * fmean(n > at for n in reached) for at in range(22)])

    worlds = WORLDS
    without = [log1p(score(*worlds[:at], *worlds[at + 1 :])) for at in range(5)]
    reach = t.ppf(0.975, 4) * sqrt(4 / 5 * sum((one - fmean(without)) ** 2 for one in without))
    ends = [expm1(log1p(score(*worlds)) + side * reach) for side in (-1, 1)]
    first = found().arms[0]
    assert (first.score_low, first.score_high) == pytest.approx((max(0, ends[0]), min(100, ends[1])))


def test_differences_are_of_the_same_worlds() -> None:
    without_sce, without_win, without_both = found().differences
    assert without_win.achievements == pytest.approx((2 + 3 + 0 + 3 + 2) / 5)
    assert without_win.success == pytest.approx((4 - 1) / 5)
    assert without_win.p == pytest.approx(2 / 2**4)  # four worlds differ, all the same way
    assert without_win.success_p == pytest.approx(2 / 2**3)
    assert without_win.low < 2 < without_win.high
    assert (without_sce.achievements, without_sce.p, without_sce.score) == (0.0, 1.0, 0.0)
    assert without_both.p_holm == pytest.approx(3 * 2 / 2**4)
    assert (without_sce.same, without_win.same, without_both.same) == (5, 0, 0)


def test_it_is_said_plainly_what_is_not_comparable() -> None:
    words = " ".join(remarks(found()))
    for told in ("reward shaped", "below 0.5", "5 worlds", "Not comparable", "knows the rules", "5 seeds"):
        assert told in words


@pytest.mark.parametrize("worlds", [1, 2, 4])
def test_below_five_worlds_there_is_no_interval(worlds: int) -> None:
    few = found(WORLDS[:worlds], (4, 7, 3, 8)[:worlds])
    assert isinstance(few.arms[0].score_low, Unscored)
    for difference in few.differences:
        assert isinstance(difference.low, Unscored)
        assert isinstance(difference.score_high, Unscored)
    assert few.differences[1].achievements > 1.0


def test_worlds_that_all_gave_the_same_say_nothing_of_others() -> None:
    alike = found([6] * 8, [4] * 8)
    for end in (alike.arms[0].score_high, alike.differences[1].low, alike.differences[1].score_low):
        assert isinstance(end, Unscored)
        assert "all worlds gave the same" in end.reason
    deaf = alike.differences[0]  # it did the same in all of them, and not only as much
    assert (deaf.same, deaf.low, deaf.high, deaf.score_low, deaf.score_high) == (8, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("made", [found(), found((5,), (4,))], ids=["five worlds", "one world"])
def test_its_document_fits_its_schema_and_is_read_again(made: Ablation, tmp_path: Path) -> None:
    document = entry(crafter_ablation_document(made))
    jsonschema.validate(document, json_schema("crafter-ablation"))
    file = tmp_path / "ablation.json"
    file.write_text(json.dumps(document), "utf-8")
    assert read_ablation(file) == made


SPOILED = [
    ("no JSON", b"{", "ablation-invalid"),
    ("another document", b'{"schema": "untaken.rank/1"}', "ablation-invalid"),
    ("a list", b"[]", "ablation-invalid"),
    ("nothing", None, "ablation-missing"),
]


@pytest.mark.parametrize(("desc", "data", "code"), SPOILED, ids=[case[0] for case in SPOILED])
def test_what_is_no_ablation_is_refused(desc: str, data: bytes | None, code: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(UntakenError) as refused:
        read_ablation(file)
    assert (refused.value.code, refused.value.where.file) == (code, str(file))
