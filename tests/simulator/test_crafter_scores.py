"""The Crafter score: the formula, the budget, seeds before means, and records of every make."""

from __future__ import annotations

import gzip
import json
import zipfile
from math import exp, log
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.cli import main
from untaken.errors import Unscored
from untaken.simulator.crafter import ACHIEVEMENTS, Recording, crafter_score, method_scores, read_scores
from untaken.views import json_schema


def a_record(*episodes: tuple[str, ...], **changed: Any) -> dict[str, Any]:
    """A record of scores: what each episode of 100 steps reached."""
    n = len(episodes)
    reached = {f"achievement_{a}": [int(a in episode) for episode in episodes] for a in ACHIEVEMENTS}
    record = {"task": "crafter", "method": "m", "seed": "0", "length": [100] * n} | reached
    record["xs"] = [100 * (i + 1) for i in range(n)]
    return {key: value for key, value in (record | changed).items() if value is not None}


def put(file: Path, *records: Any) -> Path:
    file.write_text(json.dumps(list(records)))
    return file


def recordings(file: Path, *records: Any) -> tuple[Recording, ...]:
    found, findings = read_scores([put(file, *records)])
    assert [finding for finding in findings if finding.severity == "error"] == []
    return found


# The formula


@given(st.lists(st.floats(0, 100), min_size=1, max_size=22))
def test_the_score_is_that_of_the_published_words_and_between_its_rates(percents: list[float]) -> None:
    plainly = exp(mean(log(1 + percent) for percent in percents)) - 1
    assert crafter_score(percents) == pytest.approx(plainly, abs=1e-9)
    assert min(percents) - 1e-9 <= crafter_score(percents) <= mean(percents) + 1e-9


def test_the_score_is_taken_by_seed_and_then_the_mean_over_seeds(tmp_path: Path) -> None:
    one = a_record(("wake_up",), ("wake_up", "collect_wood"), seed="0")
    two = a_record((), seed="1")
    (score,) = method_scores(recordings(tmp_path / "s.json", two, one))
    first = crafter_score([100.0, 50.0, *[0.0] * 20])
    assert [(s.seed, s.score, s.episodes) for s in score.by_seed] == [
        ("0", pytest.approx(first), 2),
        ("1", 0.0, 1),
    ]
    assert (score.seeds, score.episodes) == (2, 3)
    assert score.score_mean == pytest.approx(first / 2)
    assert score.score_sd == pytest.approx(pstdev([first, 0.0]))
    assert {name: rate for name, rate in score.success_percent.items() if rate} == {
        "wake_up": 50.0,
        "collect_wood": 25.0,
    }


@pytest.mark.parametrize(("budget", "episodes"), [(99, 0), (100, 1), (299, 2), (300, 3), (1_000_000, 3)])
def test_episodes_count_that_ended_within_the_budget(budget: int, episodes: int, tmp_path: Path) -> None:
    found = recordings(tmp_path / "s.json", a_record((), ("wake_up",), ("wake_up",)))
    (score,) = method_scores(found, budget_steps=budget)
    (seed,) = score.by_seed
    assert (seed.episodes, seed.recorded) == (episodes, 3)
    if episodes:
        assert seed.success_percent["wake_up"] == pytest.approx(100 * (episodes - 1) / episodes)
    else:
        assert isinstance(seed.score, Unscored)
        assert isinstance(score.score_mean, Unscored)
        assert (score.seeds, dict(score.success_percent)) == (0, {})


def test_methods_and_tasks_are_kept_apart_and_the_highest_score_comes_first(tmp_path: Path) -> None:
    records = [
        a_record((), method="none"),
        a_record(("wake_up",), method="some"),
        a_record(("wake_up", "eat_cow"), method="some", task="other"),
        a_record(("wake_up",), method="late", xs=[2_000_000], length=None),
    ]
    scores = method_scores(recordings(tmp_path / "s.json", *records))
    assert [(s.method, s.task) for s in scores] == [
        ("some", "other"),
        ("some", "crafter"),
        ("none", "crafter"),
        ("late", "crafter"),
    ]


# Records


@pytest.mark.parametrize("kind", ["json", "json.gz", "jsonl", "zip", "one object"])
def test_records_are_read_however_they_are_packed(kind: str, tmp_path: Path) -> None:
    records = [a_record(("wake_up",), seed=seed) for seed in "01"]
    text = json.dumps(records)
    if kind == "json.gz":
        (tmp_path / "s.json.gz").write_bytes(gzip.compress(text.encode()))
    elif kind == "jsonl":
        (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, records)))
    elif kind == "zip":
        with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
            archive.writestr("scores/s.json", text)
    elif kind == "one object":
        for seed, record in zip("01", records, strict=True):
            (tmp_path / f"{seed}.json").write_text(json.dumps(record))
    else:
        (tmp_path / "s.json").write_text(text)
    found, findings = read_scores([tmp_path])
    assert ([recording.seed for recording in found], findings) == (["0", "1"], ())


UNUSABLE = [
    ("no object", 3, "not an object"),
    ("no method", a_record((), method=None), "method is not a name"),
    ("no seed", a_record((), seed=None), "seed is not a name"),
    ("a truth as seed", a_record((), seed=True), "seed is not a name"),
    ("an endless name", a_record((), method="m" * 513), "method is not a name"),
    ("no steps", a_record((), xs=None, length=None), "neither xs nor length"),
    ("steps go down", a_record((), (), xs=[200, 100]), "goes down"),
    ("21 achievements", a_record((), achievement_wake_up=None), "achievement_wake_up"),
    ("an episode short", a_record((), (), achievement_eat_cow=[1]), "has 1 episodes"),
    ("a count below 0", a_record((), achievement_eat_cow=[-1]), "not a number from 0"),
    ("a count as text", a_record((), achievement_eat_cow=["1"]), "not a number from 0"),
    ("not a number", a_record((), achievement_eat_cow=[float("nan")]), "holds None"),
    ("without end", a_record((), xs=[10**400], length=None), "not a number from 0"),
]


@pytest.mark.parametrize(("desc", "record", "want"), UNUSABLE)
def test_a_record_that_cannot_be_used_costs_only_itself(desc, record, want, tmp_path) -> None:
    found, findings = read_scores([put(tmp_path / "s.json", record, a_record((), seed="good"))])
    assert [recording.seed for recording in found] == ["good"]
    (fault,) = [finding for finding in findings if finding.severity == "error"]
    assert fault.code == "scores-invalid"
    assert want in fault.message
    assert "record 0" in fault.message


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"xs": [400, 800]}, "scores-steps-differ"), ({"achievement_fly": [1, 1]}, "scores-other-achievements")],
)
def test_what_is_odd_is_named_and_the_record_counts(changed: Any, code: str, tmp_path: Path) -> None:
    found, findings = read_scores([put(tmp_path / "s.json", a_record((), (), **changed))])
    assert len(found) == 1
    assert [(f.code, f.severity) for f in findings] == [(code, "warning")]


keys = st.sampled_from(list(a_record(())))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(changed=st.dictionaries(keys, values, max_size=3), junk=st.binary(max_size=40))
def test_whatever_a_file_holds_a_score_is_between_0_and_100_or_there_is_a_finding(
    changed: dict[str, Any], junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("scores")
    (folder / "junk.json").write_bytes(junk)
    put(folder / "s.json", a_record(("wake_up",)) | changed)
    put(folder / "good.json", a_record(("eat_cow",), method="good"))
    found, findings = read_scores([folder])
    for score in method_scores(found):
        assert isinstance(score.score_mean, Unscored) or 0 <= score.score_mean <= 100
    assert len(found) == 2 or "error" in {finding.severity for finding in findings}
    assert "good" in {recording.method for recording in found}


# The verb


@pytest.mark.parametrize("budget", ["99", "1000000"])
def test_its_document_fits_its_schema_with_and_without_a_score(budget, tmp_path, capsys) -> None:
    file = put(tmp_path / "s.json", a_record(("wake_up",)), {"method": "unusable"})
    assert main(["crafter", "score", str(file), "--budget-steps", budget, "--json"]) == 1
    out, err = capsys.readouterr()
    jsonschema.validate(json.loads(out), json_schema("crafter-score"))
    assert "[scores-invalid]" in err


EXITS = [
    ("a good file", ["good.json"], 0),
    ("one bad record", ["good.json", "bad.json"], 1),
    ("nothing but bad records", ["bad.json"], 2),
    ("no record", ["empty.json"], 2),
    ("no file", ["none.json"], 2),
    ("no budget", ["good.json", "--budget-steps", "0"], 2),
]


@pytest.mark.parametrize(("desc", "words", "want"), EXITS)
def test_the_exit_code_says_what_happened(desc, words, want, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    put(Path("good.json"), a_record(()))
    put(Path("bad.json"), {"method": "m"})
    put(Path("empty.json"))
    assert main(["crafter", "score", *words]) == want
    assert bool(capsys.readouterr().err) == bool(want)
