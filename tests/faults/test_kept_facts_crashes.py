"""A crash at every step of making, replacing or removing parts of facts: the next reader sees the truth."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import desk
import pandas as pd
import pytest

from untaken import facts
from untaken.facts import TABLES, kept
from untaken.ledger import Draft, Verdict
from untaken.workspace import Workspace
from untaken.workspace.derived import FACTS, FOLDER

Tables = dict[str, pd.DataFrame]
STEPS: Final = {
    *("os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.utime"),
    *("tempfile.mkdtemp", "tempfile.mkstemp"),
}
SOME: Final = 17
"""Without --slow only every 17th step is one at which the process ends."""
VERDICT: Final = Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:ann"})

pytestmark = pytest.mark.database("sqlite")


class Crash(BaseException):
    """The process is gone."""


class Steps:
    """Every call that changes what is on the disk; from the `fail_at`-th one on, each of them is a crash."""

    fail_at: int | None = None
    seen = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.fail_at is None or not (event in STEPS or (event == "open" and _writes(arguments))):
            return
        self.seen += 1
        if self.seen >= self.fail_at:
            raise Crash

    @contextmanager
    def failing(self, at: int) -> Iterator[None]:
        self.fail_at, self.seen = at, 0
        try:
            yield
        finally:
            self.fail_at = None


def _writes(opened: tuple[Any, ...]) -> bool:
    _, mode, flags = opened
    return bool(flags & (os.O_WRONLY | os.O_RDWR)) if mode is None else mode[0] in "wax"


@pytest.fixture(scope="module")
def steps() -> Steps:
    """A hook stays until the process ends; out of these tests it does nothing."""
    watching = Steps()
    sys.addaudithook(watching)
    return watching


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of two ledgers, each a part of its own, and their plan graph."""
    monkeypatch.setattr(kept, "PART_BYTES", 1)
    with Workspace(tmp_path / "prepared") as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("careful.jsonl", desk.careful(1).ledger())
        store.add("failing.jsonl", desk.failing(1).ledger() + desk.failing(2).ledger())
    return tmp_path / "prepared"


def tables_of(workspace: Path) -> Tables:
    with facts.open(workspace) as opened:
        return {name: opened.table(name) for name in TABLES}


def assert_same(one: Tables, other: Tables) -> None:
    for name in TABLES:
        pd.testing.assert_frame_equal(one[name], other[name])


def nothing_kept(_: Path) -> None:
    """Parts are made for the first time."""


def changed_and_unused(workspace: Path) -> None:
    """A part is made again beside those that stay, and those that nobody has needed for long are removed."""
    tables_of(workspace)
    with Workspace(workspace) as store:
        run = next(run for run in store.read_runs()[0] if run.run_id == "failing-2")
        store.append_events(run, [VERDICT])
    for folder in (workspace / FOLDER / FACTS).iterdir():
        os.utime(folder, (0, 0))


def damaged(workspace: Path) -> None:
    """Parts on the disk are put aside, and made again in their place."""
    tables_of(workspace)
    for part in (workspace / FOLDER / FACTS).rglob("*.parquet"):
        part.write_bytes(b"PAR1")


@pytest.mark.parametrize("before", [nothing_kept, changed_and_unused, damaged], ids=lambda f: f.__name__)
def test_wherever_making_parts_is_interrupted_the_next_reader_sees_what_the_ledgers_say(
    prepared: Path,
    tmp_path: Path,
    steps: Steps,
    before: Callable[[Path], None],
    request: pytest.FixtureRequest,
) -> None:
    before(prepared)
    anew = shutil.copytree(prepared, tmp_path / "anew")
    shutil.rmtree(anew / FOLDER, ignore_errors=True)
    expected = tables_of(anew)
    stride = 1 if request.config.getoption("--slow") else SOME
    for at in count(1, stride):
        workspace = shutil.copytree(prepared, tmp_path / f"{at}")
        try:
            with steps.failing(at):
                tables_of(workspace)
            break
        except Crash:
            pass
        assert_same(tables_of(workspace), expected)
    assert_same(tables_of(tmp_path / f"{at - stride}"), expected)  # parts made again after the last crash
    assert at > 3 * stride
