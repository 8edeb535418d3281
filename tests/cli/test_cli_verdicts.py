"""Whose verdicts count: a glob that fits nobody is a warning, never a silent change of every rate."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from builders import a_run

from untaken.cli import main

SAID = {
    "a typo": ("humn:*", "no recorded verdict is by 'humn:*'", "Did you mean 'human:*'?"),
    "nobody of that kind": ("judge:*", "no recorded verdict is by 'judge:*'", "Verdicts are by human:*."),
}


@pytest.fixture
def world(tmp_path: Path) -> list[str]:
    """The desk with one run that a person has given a verdict on."""
    folder = desk.write_folder(tmp_path / "world")
    run = a_run("seen", task="refund-1").call("read_policy").verdict("policy", True, by="human:ann")
    (folder / "seen.jsonl").write_bytes(run.finish(True).ledger())
    return [str(folder / "seen.jsonl"), "--graphs", str(folder / "graphs")]


@pytest.mark.parametrize("verb", ["score", "rank"])
@pytest.mark.parametrize(("glob", "message", "hint"), SAID.values(), ids=SAID)
def test_a_glob_that_fits_no_author_is_a_warning(
    world: list[str], verb: str, glob: str, message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([verb, *world, "--verdicts", glob])
    assert f"warning: {message}. {hint}" in capsys.readouterr().err


@pytest.mark.parametrize("glob", ["human:*", "human:ann", "test"])
def test_a_glob_that_fits_an_author_is_none(
    world: list[str], glob: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["score", *world, "--verdicts", glob])
    assert "verdicts-unmatched" not in capsys.readouterr().err
