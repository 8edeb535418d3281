"""What ``untaken triage`` advises where there is no plan, or nothing was done."""

from __future__ import annotations

import pytest
from builders import a_run

from untaken.cli import main

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ["t*"]
mutates: ["write_*"]
sub_goals:
  - {id: refund, critical: true, check: {tool_call: {name: write_refund}}}
"""


@pytest.mark.parametrize(
    ("success", "want"),
    [
        (True, "drafts a plan from runs that succeeded"),
        (False, "No run succeeded, so no plan can be drafted"),
    ],
)
def test_a_plan_is_drafted_only_from_runs_that_succeeded(success, want, tmp_path, capsys) -> None:
    runs = [a_run("failed").finish(False), a_run("other").finish(success)]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl")])
    assert want in capsys.readouterr().out


def test_where_runs_have_a_plan_and_did_nothing_no_draft_is_advised(tmp_path, capsys) -> None:
    (tmp_path / "desk.plan.yaml").write_bytes(GRAPH)
    runs = [a_run(name, task="t").finish(False) for name in "abc"]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl"), "--graphs", str(tmp_path / "desk.plan.yaml")])
    out = capsys.readouterr().out
    assert "record no action or verdict that it asks for" in out
    assert "no run records whether it was completed" in out
    assert "draft" not in out
