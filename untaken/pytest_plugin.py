"""pytest plugin: `pytest --untaken-require 'critical_completion>=0.9' --untaken-graphs DIR LEDGERS`.

One test for each agent and requirement, and one for the records themselves. Without ``--untaken-require``
it adds options and nothing else: the engine is imported only when a requirement is there to be held.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

LEDGER_NAMES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, in a group of their own."""
    group = parser.getgroup("untaken", "requirements on recorded runs of agents")
    each = partial(group.addoption, action="append", default=[])
    each(
        "--untaken-require",
        metavar="REQUIREMENT",
        help="e.g. 'critical_completion>=0.9'; repeatable, each agent must meet all",
    )
    each(
        "--untaken-ledgers",
        metavar="PATH",
        help="ledger, or folder of ledgers; without it, the paths given to pytest",
    )
    each("--untaken-graphs", metavar="PATH", help="plan graph, or folder of them")
    group.addoption(
        "--untaken-on",
        choices=("point", "interval"),
        default="point",
        help="compare the value (default), or the worse end of its 95%% interval",
    )
    each("--untaken-agent", metavar="NAME", help="only this agent")
    group.addoption(
        "--untaken-missing",
        choices=("fail", "drop"),
        default="fail",
        help="sub-goals without evidence count as not completed (default), or are left out",
    )
    group.addoption(
        "--untaken-passport",
        metavar="FILE",
        help="what judges are worth (untaken agree --passport); default: beside the ledgers",
    )
    group.addoption(
        "--untaken-allow-uncalibrated",
        action="store_true",
        help="count judges without a valid passport, too",
    )
    each("--untaken-verdicts", metavar="GLOB", help="whose recorded verdicts count")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A ledger named on the command line is no test file, and no mistake either."""
    # Without a collector pytest calls a path on its command line an error.
    if parent.config.getoption("untaken_require") and file_path.name.endswith(LEDGER_NAMES):
        return CollectedLedger.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    # First: pytest's own `-k` and `-m` then choose among these checks, too.
    """Adds the checks after the tests that pytest has found, before any of them is deselected."""
    if config.getoption("untaken_require"):
        from untaken.cli.pytest_gate import Gate  # noqa: PLC0415 (nothing is loaded in other test runs)

        gate = Gate.from_parent(session, name="untaken", nodeid="untaken")
        items.extend(gate.collect())


class CollectedLedger(pytest.File):
    """A ledger that pytest came by; its runs are checked together with the others."""

    def collect(self) -> Iterable[pytest.Item]:
        """Nothing of its own."""
        return ()
