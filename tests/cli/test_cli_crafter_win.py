"""``untaken crafter win``: every action of an episode with what it was worth beside the others."""

from __future__ import annotations

import json
import sys

import pytest

from untaken.cli import main

EPISODE = ["crafter", "win", "--policy", "scripted", "--steps", "25", "--inject", "0.3"]


def test_each_step_is_logged_with_its_terms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EPISODE, "--task", "collect_wood", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    steps, summary = document["steps"], document["summary"]
    assert document["schema"] == "untaken.crafter-win/1"
    assert summary["steps"] == len(steps) > 3
    assert summary["better"] + summary["worse"] + summary["ties"] + summary["unscored"] == len(steps)
    assert {step["task"] for step in steps} == {"collect_wood"}
    for step in steps:
        told = sorted([term["intervention"] for term in step["terms"]] + list(step["left_out"]))
        assert told == ["opposite", "random", "wait"]
        mean = sum(term["value"] for term in step["terms"]) / len(step["terms"])
        assert step["win"] == pytest.approx(mean)
    assert document["mistakes"]["injected"] == sum(step["injected"] for step in steps) > 0


@pytest.mark.slow
def test_the_same_episode_is_written_in_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for _ in range(2):
        main(["crafter", "win", "--steps", "4", "--psi", "wait", "--json"])
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert {term["intervention"] for s in json.loads(told[0])["steps"] for term in s["terms"]} <= {"wait"}


def test_a_reader_sees_actions_and_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(EPISODE) == 0
    shown = capsys.readouterr().out
    assert "… and 5 steps more" in shown
    assert "25 steps, scripted, open play; f_R shaped, same noise" in shown
    assert "a low WIN separates them from" in shown


WRONG = {
    "reward-unknown": ["--reward", "rollout-x"],
    "count-invalid": ["--steps", "0"],
    "inject-invalid": ["--inject", "1.5"],
    "draws-invalid": ["--draws", "3"],
}


@pytest.mark.parametrize("code", WRONG)
def test_what_cannot_be_played_is_said(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crafter", "win", "--steps", "3", *WRONG[code]]) == 2
    assert f"[{code}]" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys) -> None:
    for name in [n for n in sys.modules if n == "crafter" or n.startswith("crafter.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "untaken.simulator.crafter.stock", raising=False)
    monkeypatch.setitem(sys.modules, "crafter", None)
    assert main(["crafter", "win", "--steps", "3"]) == 2
    shown = capsys.readouterr().err
    assert "[crafter-extra-missing]" in shown
    assert "pip install 'untaken[crafter]'" in shown
