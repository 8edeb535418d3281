"""The verdicts of a judge on a run are one transaction: all of them are in its ledger, or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from untaken.cli import main
from untaken.ledger import event_type, read_ledger

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

from judges import recorded, write_desk
from test_ledger_crashes import points


def test_wherever_a_crash_comes_all_verdicts_are_there_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    template = write_desk(tmp_path / "template")
    store = recorded(tmp_path, template)
    tails = set()

    def work(folder: Path) -> Callable[[], object]:
        ledger = write_desk(folder)
        words = [
            "judge",
            str(ledger),
            "--graphs",
            str(folder),
            "--replies",
            str(store),
            "--model",
            "stand-in",
            "--offline",
        ]
        return lambda: main([*words, "--append"])

    for ledger in points(work, tmp_path, monkeypatch, (0.5,)):
        (run,) = read_ledger(ledger, strict=False)[0]
        tail = [event_type(event) for event in run.events[6:]]
        assert (run.integrity.verdict, tail in ([], ["VERDICT", "VERDICT"])) == ("INTACT", True)
        tails.add(len(tail))
    assert tails == {0, 2}
    capsys.readouterr()
