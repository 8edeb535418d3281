"""pytest plugin: `pytest --untaken-require 'critical_completion>=0.9' --untaken-graphs DIR LEDGERS`.

One test for each agent and requirement, and one for the records themselves. Without ``--untaken-require``
it adds options and nothing else: the engine is imported only when a requirement is there to be held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from untaken.cli.score import Scored
    from untaken.gate import GateCheck

LEDGER_NAMES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, in a group of their own."""
    group = parser.getgroup("untaken", "requirements on recorded runs of agents")
    group.addoption(
        "--untaken-require",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="e.g. 'critical_completion>=0.9'; repeatable, each agent must meet all",
    )
    group.addoption(
        "--untaken-ledgers",
        action="append",
        default=[],
        metavar="PATH",
        help="ledger, or folder of ledgers; without it, the paths given to pytest",
    )
    group.addoption(
        "--untaken-graphs", action="append", default=[], metavar="PATH", help="plan graph, or folder of them"
    )
    group.addoption(
        "--untaken-on",
        choices=("point", "interval"),
        default="point",
        help="compare the value (default), or the worse end of its 95%% interval",
    )
    group.addoption("--untaken-agent", action="append", default=[], metavar="NAME", help="only this agent")
    group.addoption(
        "--untaken-missing",
        choices=("fail", "drop"),
        default="fail",
        help="sub-goals without evidence count as not completed (default), or are left out",
    )
    group.addoption(
        "--untaken-verdicts",
        action="append",
        default=[],
        metavar="GLOB",
        help="whose recorded verdicts count",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A ledger named on the command line is no test file, and no mistake either."""
    if parent.config.getoption("untaken_require") and file_path.name.endswith(LEDGER_NAMES):
        return CollectedLedger.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds the checks after the tests that pytest has found, before any of them is deselected."""
    if config.getoption("untaken_require"):
        gate = Gate.from_parent(session, name="untaken", nodeid="untaken")
        items.extend(gate.collect())


class CollectedLedger(pytest.File):
    """A ledger that pytest came by; its runs are checked together with the others."""

    def collect(self) -> Iterable[pytest.Item]:
        """Nothing of its own."""
        return ()


class Gate(pytest.Collector):
    """The requirements, and the runs to check against them."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item for the records, then one for each agent and requirement.

        Raises:
            pytest.UsageError: where the options cannot be carried out, with the next step.
        """
        from untaken.errors import UntakenError  # noqa: PLC0415 (nothing is loaded in other test runs)

        try:
            scored, checks = _checked(self.config)
        except UntakenError as error:
            raise pytest.UsageError(f"untaken: {error}") from error
        yield LedgerRecords.from_parent(self, name="records", scored=scored)
        for check in checks:
            yield RequirementItem.from_parent(self, name=_name(check), check=check)


def _checked(config: pytest.Config) -> tuple[Scored, tuple[GateCheck, ...]]:
    """Reads and scores as `untaken gate` does."""
    from untaken.cli.score import read_and_score  # noqa: PLC0415 (see above)
    from untaken.gate import check_requirements, parse_requirement  # noqa: PLC0415

    on = config.getoption("untaken_on")
    requirements = [parse_requirement(text, on=on) for text in config.getoption("untaken_require")]
    scored = read_and_score(
        _ledgers(config),
        _graphs(config),
        missing=config.getoption("untaken_missing"),
        verdicts=config.getoption("untaken_verdicts"),
    )
    runs = scored.ledgers.sound_runs
    agents = config.getoption("untaken_agent")
    if not runs and scored.broken:
        return scored, ()  # the test of the records says so
    return scored, check_requirements(runs, scored.counted, requirements, on=on, agents=agents)


def _ledgers(config: pytest.Config) -> list[str]:
    named: list[str] = config.getoption("untaken_ledgers")
    if not named and config.args_source is pytest.Config.ArgsSource.ARGS:
        named = [path for path in config.args if "::" not in path and not path.endswith(".py")]
    if not named:
        raise pytest.UsageError(
            "untaken: name the ledgers: --untaken-ledgers PATH, or their folder as a path"
        )
    return named


def _graphs(config: pytest.Config) -> list[str]:
    named: list[str] = config.getoption("untaken_graphs")
    if not named:
        raise pytest.UsageError("untaken: name the plan graphs: --untaken-graphs PATH")
    return named


def _name(check: GateCheck) -> str:
    """Agents are named by ledgers: nothing in a name may steer a terminal or pose as another test."""
    from untaken.cli.console import plain  # noqa: PLC0415

    return f"{check.requirement}[{plain(check.agent, 60).replace('::', ': :')}]"


class _Item(pytest.Item):
    """A test item that is not in any file."""

    def reportinfo(self) -> tuple[Path, None, str]:
        """Its location in test reports."""
        return self.session.path, None, f"untaken: {self.name}"


class LedgerRecords(_Item):
    """The ledgers and plan graphs can be trusted."""

    def __init__(self, *, scored: Scored, **known: object) -> None:
        super().__init__(**known)  # type: ignore[arg-type]
        self.scored = scored

    def runtest(self) -> None:
        """Fails where a ledger is broken or a plan graph invalid."""
        from untaken.cli.console import plain  # noqa: PLC0415

        if self.scored.broken:
            faults = [f for f in self.scored.findings if f.severity == "error"]
            named = [f"{plain(f.where)}: {plain(f.message)} [{f.code}]" for f in faults[:5]]
            more = [f"… and {len(faults) - 5} more"] if len(faults) > 5 else []
            message = "\n".join(["the records cannot be trusted:", *named, *more, _NEXT_RECORDS])
            pytest.fail(message, pytrace=False)


class RequirementItem(_Item):
    """One agent meets one requirement."""

    def __init__(self, *, check: GateCheck, **known: object) -> None:
        super().__init__(**known)  # type: ignore[arg-type]
        self.check = check
        self.user_properties += _properties(check)

    def runtest(self) -> None:
        """Fails where the requirement is not met, or where there is no evidence."""
        from untaken.cli.gate import short_words  # noqa: PLC0415

        if self.check.verdict != "met":
            pytest.fail("\n".join([*short_words(self.check), _rests_on(self.check), _NEXT]), pytrace=False)


_NEXT = "  next: open these runs in `untaken app`; `untaken score PATH --graphs PATH --runs` lists them all"
_NEXT_RECORDS = "  next: `untaken verify PATH` and `untaken graph check PATH` say what is wrong and where"


def _rests_on(check: GateCheck) -> str:
    from untaken.cli.console import rate  # noqa: PLC0415
    from untaken.present.numbers import counted, interval  # noqa: PLC0415

    ends = interval(check.low, check.high, digits=3, unknown="")
    span = f"95% interval {ends}" if ends else "no interval"
    tasks = "" if check.n_tasks is None else f" of {counted(check.n_tasks, 'task')}"
    return (
        f"  value {rate(check.value)}, {span}, {counted(check.n_runs, 'run')}{tasks}; "
        f"as `untaken {check.source}` prints it"
    )


def _properties(check: GateCheck) -> Sequence[tuple[str, object]]:
    """What JUnit keeps of a check besides its message; what is unscored is left out."""
    figures = {"value": check.value, "low": check.low, "high": check.high, "margin": check.margin}
    known = [(name, figure) for name, figure in figures.items() if isinstance(figure, float)]
    return [*known, ("verdict", check.verdict), ("n_runs", check.n_runs)]
