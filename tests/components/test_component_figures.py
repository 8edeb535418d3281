"""Figures say what the result objects say, in words that plotly cannot read as markup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pandas as pd
import plotly.graph_objects as go
import pytest
from builders import a_run
from colours import contrast, luminance
from drawn import HOSTILE, a_graph, a_score, filled, markup, note
from msgspec import structs

from components import figures
from components.figures.annotating import GONE
from components.figures.compare import CELLS
from components.shared.palette import LIGHT, tokens
from untaken.analysis.ranking import DiscordantPair, RankedAgent, RankReport, rank_agents
from untaken.counterfactual import Alternative, Decision, RunEvaluation, Summary
from untaken.scoring import Status
from untaken.views.statuses import STATUS


def a_branch(name: str, delta: float | None, verdict: str) -> Alternative:
    known = delta is not None
    figures = {"success_rate": 0.5, "score": 0.5, "delta": delta, "n": 5} if known else {}
    why = {"support": "weak" if known else "none", "support_reason": "needs more runs"}
    return filled(Alternative, alternative=name, known=known, verdict=verdict, **why, **figures)


def an_evaluation(*branches: Alternative, selected: str = "chosen") -> RunEvaluation:
    decision = Decision(
        decision_point=3, selected=selected, context_hash="c", n_selected=1, branches=branches
    )
    summary = filled(Summary, decisions=1, alternatives=len(branches))
    about = {"run_id": "run-1", "digest": "0" * 64, "agent": "agent", "task_id": "task"}
    rest = {"actual_score": 0.5, "decisions": (decision,), "summary": summary}
    return filled(RunEvaluation, **about, **rest, status="evaluated")


def a_ranking(values: dict[str, dict[str, float]], *pairs: tuple[str, str]) -> RankReport:
    metrics = {}
    for metric, by_agent in values.items():
        ranks = {
            agent: 1 + sum(other > value for other in by_agent.values()) for agent, value in by_agent.items()
        }
        metrics[metric] = tuple(
            filled(RankedAgent, agent=agent, value=value, rank=ranks[agent], n_tasks=3, n_runs=9)
            for agent, value in by_agent.items()
        )
    discordant = tuple(
        DiscordantPair(a_metric="success_rate", b_metric="completion", first=a, second=b) for a, b in pairs
    )
    return replace(rank_agents([]), metrics=metrics, discordant=discordant)


def failures(name: str = "look") -> pd.DataFrame:
    row = {"sub_goal": name, "title": name, "critical": True, "agent": name, "completed": 1, "runs": 2}
    return pd.DataFrame([row])


GRAPH = a_graph({"a": [], HOSTILE: ["a"]}, critical={HOSTILE}, titles={HOSTILE: HOSTILE})
CROSSED = {"success_rate": {HOSTILE: 0.5, "b": 0.1}, HOSTILE: {HOSTILE: 0.2, "b": 0.3}}
SCORE = a_score(GRAPH, {"a": "completed", HOSTILE: "attempted"})
RUN = (
    a_run(agent=HOSTILE, task=HOSTILE).call(HOSTILE[:100], ok=False).select(HOSTILE[:90], "b").finish().run()
)
UNKNOWN = an_evaluation(a_branch(HOSTILE, None, "unknown"), selected=HOSTILE)
SKIPPED = structs.replace(an_evaluation(), status="skipped", reason=HOSTILE, decisions=())
DRAWN: dict[str, Callable[[bool], go.Figure]] = {
    "plan": lambda dark: figures.plan_figure(GRAPH, SCORE, dark=dark),
    "progress": lambda dark: figures.progress_curve(SCORE, dark=dark),
    "timeline": lambda dark: figures.timeline_figure(RUN, SCORE, dark=dark),
    "deltas": lambda dark: figures.delta_figure(UNKNOWN, dark=dark),
    "distribution": lambda dark: figures.delta_distribution(PATHS, dark=dark),
    "rank flow": lambda dark: figures.rank_flow(a_ranking(CROSSED, (HOSTILE, "b")), dark=dark),
    "sub-goals": lambda dark: figures.sub_goal_bars(failures(HOSTILE), dark=dark),
    "not evaluated": lambda dark: figures.delta_figure(SKIPPED, dark=dark),
}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", DRAWN)
def test_hostile_names_reach_no_figure_as_markup(name: str, dark: bool) -> None:
    assert markup(DRAWN[name](dark)) == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_plan_figure_fills_each_box_in_the_colour_of_its_status_and_theme(dark: bool) -> None:
    names: list[Status] = list(STATUS)
    graph = a_graph({name: [] for name in names}, critical={"completed"})
    figure = figures.plan_figure(graph, a_score(graph, {name: name for name in names}), dark=dark)
    drawn = [
        (s.fillcolor, s.line.color, s.line.width, s.line.dash) for s in figure.layout.shapes if s.line.dash
    ]
    looks = {name: STATUS[name].shaded(dark=dark) for name in names}
    widths = [4 if name == "completed" else 2 for name in names]
    want = [(n.fill, n.line, width, n.line_name) for n, width in zip(looks.values(), widths, strict=True)]
    assert drawn == want
    assert figure.layout.template.layout.font.color == tokens(dark).text
    assert list(figure.data[-1].textfont.color) == [look.ink for look in looks.values()]


def test_an_unknown_alternative_is_shown_as_unknown_and_never_at_zero() -> None:
    known, new = a_branch("known", 0.4, "alternative_may_be_better"), a_branch("new", None, "unknown")
    figure = figures.delta_figure(an_evaluation(known, new))
    *_, figures_beside, marks = figure.data
    assert list(figures_beside.text) == ["<b>+0.40</b> · n 5"]
    assert list(marks.text) == ["", "?"]
    assert marks.x[1] == figure.layout.xaxis.tickvals[0] < -0.4
    assert figure.layout.xaxis.ticktext[0] == "unknown"


def test_a_delta_is_drawn_with_its_interval_and_hollow_without_support() -> None:
    known = a_branch("known", 0.4, "alternative_may_be_better")
    sure = msgspec.structs.replace(
        known, alternative="sure", support="supported", delta_low=0.2, delta_high=0.5
    )
    lines, _, marks = figures.delta_figure(an_evaluation(known, sure)).data
    assert list(lines.x) == [0.2, 0.5, None]
    assert list(marks.marker.symbol) == ["triangle-right-open", "triangle-right"]
    assert "95% interval +0.20 to +0.50" in marks.hovertext[1]


def test_alternatives_without_history_share_one_row_and_are_counted() -> None:
    unknown = [a_branch(name, None, "unknown") for name in "abc"]
    figure = figures.delta_figure(an_evaluation(*unknown, a_branch("d", -0.3, "actual_was_better")))
    assert list(figure.layout.yaxis.ticktext)[1:] == ["d", "3 without history"]
    assert "a, b, c instead of chosen" in figure.data[-1].hovertext[1]


def test_crossing_lines_stand_out_by_colour_width_and_words() -> None:
    values = {
        "success_rate": {"eager": 0.9, "careful": 0.6, "idle": 0.1},
        "completion": {"eager": 0.5, "careful": 0.8, "idle": 0.2},
    }
    figure = figures.rank_flow(a_ranking(values, ("eager", "careful")))
    lines = [(line.line.color, line.line.width) for line in figure.data if line.mode == "lines"]
    assert sorted(lines) == sorted([(LIGHT.bad, 3), (LIGHT.bad, 3), (LIGHT.line, 1.75)])
    words = [a.text for a in figure.layout.annotations]
    assert any(label.startswith("50%  eager") and "▼1" in label for label in words)
    assert any(label.startswith("80%  careful") and "▲1" in label for label in words)
    assert len({line.marker.symbol for line in figure.data if line.mode == "markers"}) == 3


def test_only_the_stretch_on_which_agents_change_places_is_highlighted_and_ties_are_none() -> None:
    values = {
        "success_rate": {"a": 0.9, "b": 0.6},
        "coverage": {"a": 0.9, "b": 0.7},
        "completion": {"a": 0.5, "b": 0.8},
    }
    lines = [line for line in figures.rank_flow(a_ranking(values)).data if line.mode == "lines"]
    drawn = [(tuple(line.x), line.line.color) for line in lines]
    assert drawn == [((0, 1), LIGHT.line)] * 2 + [((1, 2), LIGHT.bad)] * 2
    tied = {"success_rate": {"b": 0.9, "a": 0.6}, "completion": {"b": 0.5, "a": 0.5}}
    lines = [line for line in figures.rank_flow(a_ranking(tied)).data if line.mode == "lines"]
    drawn = [(tuple(line.y), line.line.color) for line in lines]
    assert sorted(drawn) == [((1.0, 1.0), LIGHT.line), ((2.0, 2.0), LIGHT.line)]


PATHS = pd.DataFrame(
    {
        "delta": pd.Series([0.3, -0.1, 0.1, -0.2, None], dtype="Float64"),
        "verdict": ["alternative_may_be_better", "equivalent", "equivalent", "actual_was_better", "unknown"],
    }
)


def test_the_distribution_counts_what_it_draws_and_what_it_cannot() -> None:
    figure = figures.delta_distribution(PATHS)
    assert [list(trace.y) for trace in figure.data] == [[1], [1, 1], [1]]
    assert "4 known; 1 unknown" in figure.layout.xaxis.title.text


@pytest.mark.parametrize("dark", [False, True])
def test_labels_and_borders_of_every_box_can_be_read_in_both_themes(dark: bool) -> None:
    background = tokens(dark).background
    for look in {**CELLS, "gone": GONE}.values():
        shown = look.shaded(dark=dark)
        assert contrast(shown.ink, shown.fill) >= 4.5, look.word
        assert (luminance(shown.fill) < 0.2) == dark, look.word
        if look.word != "not required":
            assert contrast(shown.line, background) >= 2.8, look.word


NO_STEPS = a_score(GRAPH, {"a": "completed", HOSTILE: "attempted"}, progress=())
NOT_DRAWN: list[tuple[Callable[[], go.Figure], str]] = [
    (lambda: figures.progress_curve(NO_STEPS), "No step of this run"),
    (lambda: figures.rank_flow(a_ranking({})), "Rankings need two metrics"),
    (lambda: figures.sub_goal_bars(failures().iloc[:0]), "No sub-goal was required"),
    (lambda: figures.plan_figure(a_graph({})), "nothing was expected"),
    (lambda: figures.delta_distribution(PATHS.iloc[:0]), "No alternative has a history"),
]


@pytest.mark.parametrize(("draw", "words"), NOT_DRAWN, ids=[words for _, words in NOT_DRAWN])
def test_a_figure_without_data_says_why(draw: Callable[[], go.Figure], words: str) -> None:
    assert words in note(draw())


def test_a_bar_of_a_sub_goal_says_of_how_many_runs_it_is() -> None:
    _, numbers, bars = figures.sub_goal_bars(failures()).data
    assert list(numbers.text) == ["1 of 2"]
    assert bars.hovertext == ("look · look: 1 of 2 runs, 50%",)
