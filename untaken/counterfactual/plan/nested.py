"""Supported statements that say the same of the same runs, found at several layers: one group (§2d)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from untaken.counterfactual.plan.statements import OptionPair, Statement


def with_groups(found: Sequence[Statement | None], contrasts: Sequence[OptionPair]) -> list[Statement | None]:
    """The statements, each supported one with the number of its nested group.

    A statement is nested in another whose option runs and tasks include its own. The coarsest supported one
    that is nested in no other represents the group.
    """
    supported = [at for at, statement in enumerate(found) if statement is not None and statement.supported]
    behind = {at: _behind(found[at], contrasts[at]) for at in supported}
    # From the most runs on, of as many the coarser layer first: a later one is nested in an earlier one.
    order = sorted(supported, key=lambda at: (-len(behind[at][0]), -contrasts[at].situation.layer, at))
    leading: list[int] = []
    grouped = list(found)
    for at in order:
        runs, tasks = behind[at]
        around = (n for n, lead in enumerate(leading) if runs <= behind[lead][0] and tasks <= behind[lead][1])
        group = next(around, None)
        leads = group is None
        if group is None:
            group = len(leading)
            leading.append(at)
        statement = grouped[at]
        assert statement is not None  # noqa: S101 (it is supported)
        grouped[at] = replace(statement, group=group + 1, leads=leads)
    return grouped


def _behind(statement: Statement | None, contrast: OptionPair) -> tuple[frozenset[int], frozenset[str]]:
    """The runs with the option of a statement, and the tasks."""
    assert statement is not None  # noqa: S101
    first = statement.option == contrast.first
    if contrast.strata:
        runs = (run for _, one, two in contrast.strata for run in (one if first else two))
        return frozenset(runs), frozenset(task for task, _, _ in contrast.strata)
    between = [
        (run, task)
        for block, took, tasks in contrast.blocks
        for row, chosen, task in zip(block.tolist(), took.tolist(), tasks, strict=True)
        for run, option in zip(row, chosen, strict=True)
        if bool(option) == first
    ]
    return frozenset(run for run, _ in between), frozenset(task for _, task in between)
