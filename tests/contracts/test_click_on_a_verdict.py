"""What one click on a verdict enters: who follows it has to hold that much of the engine in the head."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from entered import entered

from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.ledger import Draft, Verdict
from untaken.scoring import RunScore
from untaken.workspace import Workspace

FILES, CLASSES = 56, 44
"""How many it may enter: they only ever go down; the aims are 60 and 30."""

pytestmark = pytest.mark.database("sqlite")


def test_a_click_on_a_verdict_scores_one_run_and_enters_few_files_and_classes(tmp_path: Path) -> None:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("all.jsonl", b"".join(built.ledger() for built in desk.builders()))
        workspace = WorkspaceCorpus()

        def seen() -> dict[str, object]:
            return dict(workspace.evaluate(store, workspace.read(store)).scores)

        before = seen()
        run = next(run for run in workspace.read(store).runs if run.success is False)
        now: dict[str, object] = {}

        def click() -> None:
            store.append_events(
                run, [Draft(Verdict, {"sub_goal": "polite", "passed": True, "by": "human:ann"})]
            )
            now.update(seen())

        files, classes = entered(click)
        scored = {digest: score for digest, score in now.items() if isinstance(score, RunScore)}
        assert [digest for digest, score in scored.items() if score is not before[digest]] == [run.digest]
        judged = scored[run.digest]
        assert judged.node("polite").completed is True
        assert len(files) <= FILES, sorted(files)
        assert len(classes) <= CLASSES, sorted(classes)
