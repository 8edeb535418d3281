"""Rates from labels and judge, drawn: every agent with its n, hostile names as words."""

from __future__ import annotations

import pytest
from builders import a_run

from components.figures import labelled_rates_figure
from untaken.judging import labelled_rates
from untaken.ledger import Run

HOSTILE = "<b>x</b> [l](http://e.example) $y$ %{z}"


def runs() -> list[Run]:
    built = []
    for agent in ("one", HOSTILE):
        for i in range(16):
            run = a_run(f"{agent}/{i}", agent=agent, task=f"t{i}").finish()
            run.verdict("s", i % 3 == 0, "judge:m")
            built.append((run.verdict("s", i % 2 == 0, "human:ann") if i < 12 else run).run())
    return built


def test_both_the_labels_alone_and_the_judge_are_drawn_for_all_and_for_each_agent() -> None:
    found = labelled_rates(runs())
    figure = labelled_rates_figure(found)
    both, people, judge = figure.data
    parts = [one for one in found.rates if one.part in ("all", "agent")]
    for drawn, name in ((both, "value"), (people, "people"), (judge, "judge")):
        assert list(drawn.x) == [getattr(one, name) for one in parts]
    assert all(end > 0 for end in both.error_x.array)
    assert not any(judge.error_x.array)
    labels = list(figure.layout.yaxis.ticktext)
    assert labels[0].endswith("24 of 32")
    assert not any(mark in label for label in labels for mark in ("<", "$", "%{"))


@pytest.mark.parametrize("dark", [False, True])
def test_without_a_label_it_says_so(dark: bool) -> None:
    figure = labelled_rates_figure(labelled_rates([]), dark=dark)
    assert "has a label" in figure.layout.annotations[0].text
