"""The items of the pytest plugin, loaded once there is a requirement: checked as `untaken gate` does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest

from untaken.analysis import GateCheck, check_requirements, parse_requirement
from untaken.cli.console import Console, plain, rate
from untaken.cli.gate import short_words
from untaken.cli.score import Scored, scored_paths
from untaken.errors import UntakenError
from untaken.numbers import counted, interval
from untaken.scoring import ANCHORED_ONLY


class Gate(pytest.Collector):
    """The requirements, and the runs to check against them."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item for the records, then one for each agent and requirement.

        Raises:
            pytest.UsageError: where the options cannot be carried out, with the next step.
        """
        try:
            scored, checks = _checked(self.config)
        except UntakenError as error:
            raise pytest.UsageError(f"untaken: {error}") from error
        yield LedgerRecords.from_parent(self, name="records", scored=scored)
        for check in checks:
            yield RequirementItem.from_parent(self, name=_name(check), check=check)


def _checked(config: pytest.Config) -> tuple[Scored, tuple[GateCheck, ...]]:
    """Reads and scores as `untaken gate` does."""
    on = config.getoption("untaken_on")
    requirements = [parse_requirement(text, on=on) for text in config.getoption("untaken_require")]
    args = Namespace(
        paths=_ledgers(config),
        graphs=_graphs(config),
        missing=config.getoption("untaken_missing"),
        verdicts=[*config.getoption("untaken_verdicts"), ANCHORED_ONLY],
        passport=config.getoption("untaken_passport"),
        allow_uncalibrated=config.getoption("untaken_allow_uncalibrated"),
        min_kappa=None,
        cluster=None,
    )
    scored = scored_paths(args, Console(out=StringIO(), err=StringIO()))
    runs = scored.ledgers.sound_runs
    agents = config.getoption("untaken_agent")
    if not runs and scored.broken:
        return scored, ()  # the test of the records says so
    return scored, check_requirements(runs, scored.counted, requirements, on=on, agents=agents)


def _ledgers(config: pytest.Config) -> list[str]:
    named: list[str] = config.getoption("untaken_ledgers")
    # Not the `testpaths` of a project: these hold tests.
    if not named and config.args_source is pytest.Config.ArgsSource.ARGS:
        # What names a test is no ledger.
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
        if self.check.verdict != "met":
            pytest.fail("\n".join([*short_words(self.check), _rests_on(self.check), _NEXT]), pytrace=False)


_NEXT = "  next: open these runs in `untaken app`; `untaken score PATH --graphs PATH --runs` lists them all"
_NEXT_RECORDS = "  next: `untaken verify PATH` and `untaken graph check PATH` say what is wrong and where"


def _rests_on(check: GateCheck) -> str:

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
