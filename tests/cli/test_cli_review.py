"""``untaken review``: the same queue as the page, for scripts; ``untaken agree`` prints Krippendorff's α."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import a_run

from untaken.cli import main
from untaken.views import json_schema
from untaken.workspace import Workspace

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, rules: [{tool: look}], check: {verdict: true}}
- {id: pay, title: Pay back, critical: true, deps: [look], check: {verdict: true}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Workspace(tmp_path / "w") as store:
        store.add("desk.plan.yaml", GRAPH)
        for i in range(4):
            run = a_run(f"r{i}", agent=f"a{i % 2}", task=f"t{i // 2}", metadata={"shift": "night", "n": i})
            run.call("look").finish(success=i == 3).verdict("look", True, "human:ann", reason="seen")
            run.verdict("pay", i == 3, "human:ann").verdict("pay", i > 1, "human:bob", reason="paid twice")
            store.add(f"{i}.jsonl", run.ledger())
    return tmp_path / "w"


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main([*words, "--json"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_the_queue_fits_its_schema_and_counts_what_is_reviewed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = document(capsys, "review", "--workspace", str(folder))
    jsonschema.validate(told, json_schema("review"))
    assert (told["progress"]["total"], told["progress"]["reviewed"]) == (3, 0)
    assert {case["run_id"] for case in told["cases"]} == {"r0", "r1", "r2"}
    assert told["cases"][0]["metadata"]["shift"] == "night"
    assert [one["run_id"] for one in told["disagreements"]] == ["r2"]
    assert told["disagreements"][0]["reasons"] == {"human:bob": "paid twice"}
    assert told["reviewers"]["overall"]["items"] == 4


def test_a_status_is_set_once_it_is_signed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "review",
        "--workspace",
        str(folder),
        "--where",
        "agent=a0",
        "--set",
        "explained",
        "--assign",
        "cy",
    )
    assert main([*words]) == 2
    assert "--by" in capsys.readouterr().err
    told = document(capsys, *words, "--by", "ann")
    assert [(c["run_id"], c["status"], c["assignee"]) for c in told["cases"]] == [
        ("r0", "explained", "cy"),
        ("r2", "explained", "cy"),
    ]
    assert document(capsys, "review", "--workspace", str(folder))["progress"]["explained"] == 2
    with Workspace(folder) as store:
        assert {change.author for change in store.reviews.history()} == {"human:ann"}


@pytest.mark.parametrize(
    ("where", "runs"),
    [
        (["agent=a1"], {"r1"}),
        (["meta.n=0"], {"r0"}),
        (["agent=a0", "task=t1"], {"r2"}),
        (["status=fixed"], set()),
        (["assignee=nobody"], {"r0", "r1", "r2"}),
    ],
)
def test_cases_are_filtered_by_any_field(
    where: list[str], runs: set[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [word for one in where for word in ("--where", one)]
    told = document(capsys, "review", "--workspace", str(folder), *asked)
    assert {case["run_id"] for case in told["cases"]} == runs


def test_people_read_a_table_with_progress_and_agreement(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", "--workspace", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "0 of 3 reviewed (3 new, 0 in review, 0 explained, 0 fixed)" in printed
    assert "Krippendorff's alpha of human:ann, human:bob" in printed


@pytest.mark.parametrize(
    "words", [["--where", "colour=red"], ["--where", "agent"], ["--workspace", "nowhere"]]
)
def test_what_cannot_be_meant_is_a_matter_of_usage(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", "--workspace", str(folder), *words]) == 2
    assert "error" in capsys.readouterr().err


def test_agree_tells_alpha_of_every_author(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("agree", str(folder / "ledgers"), "--a", "human:ann", "--b", "human:bob")
    told = document(capsys, *words)
    jsonschema.validate(told, json_schema("agree"))
    queue = document(capsys, "review", "--workspace", str(folder))["reviewers"]
    assert told["everybody"]["overall"] == queue["overall"]
    assert told["everybody"]["overall"]["alpha"] == pytest.approx(8 / 15)


def test_every_two_reviewers_stand_in_the_document_and_the_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pair,) = document(capsys, "review", "--workspace", str(folder))["reviewers"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["only_b"]) == ("human:ann", "human:bob", 4, 1)
    assert pair["kappa"] == pytest.approx(0.5)
    assert pair["kappa_low"] is None
    assert "tasks" in pair["kappa_low_reason"]
    assert main(["review", "--workspace", str(folder)]) == 0
    assert "human:ann, human:bob  4      3  0.750" in capsys.readouterr().out
