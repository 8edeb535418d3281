"""Agreement drawn: every part with its n, intervals where there are any, hostile names as words."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from components.figures import agreement_figure
from untaken.judging import verdict_agreement

HOSTILE = "<b>x</b> [l](http://e.example) $y$ %{z}"


def judged(agent: str, task: str, human: bool, judge: bool) -> RunBuilder:
    run = a_run(f"{agent}/{task}", agent=agent, task=task).finish()
    return run.verdict("s", human, "human:ann").verdict("s", judge, "judge:m")


def test_share_and_kappa_are_drawn_for_all_and_for_each_agent() -> None:
    runs = [judged(agent, f"t{i}", i % 2 == 0, i % 3 == 0) for agent in ("one", HOSTILE) for i in range(8)]
    found = verdict_agreement([run.run() for run in runs])
    figure = agreement_figure(found)
    share, kappa = figure.data
    assert list(share.x) == [found.overall.agreement, *(one.agreement for one in found.agents)]
    assert list(kappa.x) == [found.overall.kappa, *(one.kappa for one in found.agents)]
    assert share.marker.symbol != kappa.marker.symbol
    assert all(end > 0 for end in share.error_x.array)
    labels = list(figure.layout.yaxis.ticktext)
    assert labels[0].endswith("n=16")
    assert not any(mark in label for label in labels for mark in ("<", "$", "%{"))


@pytest.mark.parametrize("dark", [False, True])
def test_without_a_pair_it_says_so(dark: bool) -> None:
    figure = agreement_figure(verdict_agreement([]), dark=dark)
    assert "judged by both" in figure.layout.annotations[0].text
