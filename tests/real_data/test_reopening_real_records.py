"""A workspace of public records, opened again, gives every answer that reading it gives."""

from __future__ import annotations

from reopened import assert_opened_again_alike

from untaken.workspace import Workspace


def test_public_records_opened_again_give_every_answer(converted, tmp_path) -> None:
    with Workspace(tmp_path) as store:
        found = converted("tau-bench", "tau_bench").conversion
        for path in (*found.ledgers, *(found.ledgers[0].parents[1] / "graphs").glob("*.plan.yaml")):
            store.add(path.name, path)
        assert_opened_again_alike(store)
