"""What-If-Not drawn: pictures from letters, ties apart from bad ones, and what acts on what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from colours import contrast, luminance
from drawn import HOSTILE, markup, note
from msgspec import structs
from programs import run_python

from components import figures
from components.figures.frames import _FIELDS, FEW, VERDICTS
from components.shared.palette import tokens
from untaken.errors import Unscored
from untaken.simulator.ablation_runs import PUBLISHED
from untaken.simulator.players import policy_named
from untaken.simulator.record import PlannedStep, fields_of, read_planning
from untaken.simulator.scm import StructuralCausalModel, Variable, planning_model
from untaken.simulator.state_causality import CausalEdge, CausalState, Concept, EdgeKind, StateVariable
from untaken.views import read_ablation

SAMPLES = Path(__file__).parents[2] / "sample_runs" / "crafter"
RECORD = read_planning(SAMPLES / "planning" / "noisy+sce+win.crafter-collect_iron-seed1.planning.json.zst")
PLAIN = read_planning(SAMPLES / "planning" / "noisy.crafter-collect_iron-seed1.planning.json.zst")
LAST = len(RECORD.steps)


def carried(figure: Any) -> list[str]:
    """The steps that a click can choose."""
    told = [trace.customdata for trace in figure.data if trace.customdata is not None]
    return [data[0] for points in told for data in points]


def with_steps(*steps: PlannedStep) -> Any:
    return msgspec.structs.replace(RECORD, steps=steps)


def test_the_strip_shows_the_steps_around_the_chosen_one_and_frames_it() -> None:
    for step, first in ((1, 1), (5, 1), (6, 2), (LAST, LAST - 8)):
        assert carried(figures.frame_strip(RECORD, step)) == [str(n) for n in range(first, first + 9)]
    figure = figures.frame_strip(RECORD, 30)
    (frame,) = figure.layout.shapes
    place = carried(figure).index("30")
    assert frame.x0 < place * 10 < place * 10 + 8 < frame.x1 < (place + 1) * 10
    assert carried(figures.frame_strip(with_steps(*RECORD.steps[:2]), 2)) == ["1", "2"]
    assert len(figures.frame_strip(with_steps(), 1).layout.annotations) == 1


def test_a_strip_of_few_pictures_fits_a_phone_with_the_chosen_step_in_it() -> None:
    figure = figures.frame_strip(RECORD, 30, frames=FEW)
    assert "30" in carried(figure)
    assert figure.layout.meta["least_width"] < 320
    legend = note(figure)
    assert max(line.count("■") for line in legend.split("<br>")) <= FEW
    assert figure.layout.margin.b > 14 * legend.count("<br>")


def test_what_has_no_win_is_in_the_legend_where_there_is_some() -> None:
    found = RECORD.steps[0].asked
    assert found is not None
    none = structs.replace(found, win=Unscored("nothing else"), verdict="unscored", revise=False)
    silent = with_steps(msgspec.structs.replace(RECORD.steps[0], asked=none), *RECORD.steps[1:])
    assert "no WIN" in note(figures.win_figure(silent))
    assert "no WIN" not in note(figures.win_figure(RECORD))
    assert "No action of this run" in note(figures.win_figure(PLAIN))  # it was not evaluated


def test_steps_at_which_something_else_was_done_have_a_ring_and_waiting_without_an_answer_has_none() -> None:
    def rings(record: Any) -> list[int]:
        return list(next(t for t in figures.win_figure(record).data if "revised" in (t.name or "")).x)

    asked = [(n, step.action, step.asked) for n, step in enumerate(RECORD.steps, 1) if step.asked]
    revised = [n for n, action, found in asked if found.revise and action != found.action]
    assert rings(RECORD) == revised != []
    place = next(n for n, step in enumerate(RECORD.steps) if step.asked and step.asked.revise)
    steps = list(RECORD.steps)
    steps[place] = msgspec.structs.replace(steps[place], action="noop", unanswered_again="no reply")
    assert set(revised) - set(rings(with_steps(*steps))) == {place + 1}


def test_a_picture_is_the_view_field_by_field() -> None:
    step = RECORD.steps[29]
    rows = fields_of(step.view)
    figure = figures.frame_figure(step)
    numbers = [[n for n in row if n is not None] for row in figure.data[0].z]
    told: dict[str, set[float]] = {}
    for row, painted in zip(rows, numbers, strict=True):
        for name, number in zip(row, painted, strict=True):
            told.setdefault(name, set()).add(number)
    assert all(len(one) == 1 for one in told.values())
    assert len(set().union(*told.values())) == len(told) > 4


def test_creatures_and_grounds_that_matter_have_a_sign_of_their_own_besides_the_colour() -> None:
    signs = [field.sign for field in _FIELDS.values() if field.sign]
    assert len(signs) == len(set(signs))
    assert {name for name, field in _FIELDS.items() if not field.sign} == {"edge", "grass", "player"}


@pytest.mark.parametrize("dark", [False, True])
def test_maps_follow_the_theme_and_their_signs_are_readable(dark: bool) -> None:
    for figure in (
        figures.frame_strip(RECORD, 30, dark=dark),
        figures.frame_figure(RECORD.steps[0], dark=dark),
    ):
        ground, signs = figure.data[:2]
        for field, (_, fill) in zip(_FIELDS.values(), ground.colorscale[::2], strict=True):
            if field.sign:
                assert contrast(signs.textfont.color, fill) >= 4.5, field
            assert not dark or luminance(fill) < 0.2, field


def test_needs_are_always_shown_and_low_ones_say_so() -> None:
    step = msgspec.structs.replace(RECORD.steps[0], items={"health": 2, "sapling": 1})
    bars = next(trace for trace in figures.frame_figure(step).data if trace.type == "bar")
    assert list(bars.y) == ["health", "food", "drink", "energy", "sapling"]
    assert list(bars.text) == ["2 low", "0 low", "0 low", "0 low", "1"]


@pytest.mark.parametrize("dark", [False, True])
def test_ties_are_hollow_and_grey_and_never_coloured_bad(dark: bool) -> None:
    figure = figures.win_figure(RECORD, dark=dark)
    drawn = {trace.name: trace.marker for trace in figure.data}
    look = tokens(dark)
    tie = drawn["tie: cannot tell"]
    assert (tie.color, tie.symbol) == (look.muted, "circle-open")
    assert drawn["worse than these"].color == look.bad
    assert len({symbol for _, symbol in VERDICTS.values()}) == len(VERDICTS)


def test_every_evaluated_step_is_drawn_once_at_its_win_with_its_terms() -> None:
    figure = figures.win_figure(RECORD, step=7)
    assert sorted(map(int, carried(figure))) == list(range(1, LAST + 1))
    terms = [trace for trace in figure.data if (trace.name or "").startswith("against")]
    expected = [len(step.asked.terms) for step in RECORD.steps if step.asked]
    assert sum(len(trace.x) for trace in terms) == sum(expected)
    assert {shape.y0 for shape in figure.layout.shapes} >= {0.5}
    assert any(shape.x0 == shape.x1 == 7 for shape in figure.layout.shapes)


def test_a_long_run_is_drawn_around_the_chosen_step_and_says_so() -> None:
    figure = figures.win_figure(with_steps(*(RECORD.steps * 50)[:2_000]), step=1500)
    shown = sorted(map(int, carried(figure)))
    assert (len(shown), shown[0], shown[-1]) == (1000, 1000, 1999)
    assert "1,000 to 1,999 of 2,000" in figure.layout.xaxis.title.text


@pytest.mark.parametrize("file", ["ablation.json", "ablation-collect_iron.json", "ablation-below.json"])
def test_published_figures_are_hollow_and_called_not_comparable(file: str) -> None:
    found = read_ablation(SAMPLES / file)
    figure = figures.ablation_figure(found)
    ours, published, ahead, theirs = figure.data
    assert list(published.x) == [PUBLISHED[arm.name][0] for arm in found.arms]
    assert (published.marker.symbol, ours.marker.symbol) == ("diamond-open", None)
    assert "not comparable" in published.name
    told = " ".join(one.text for one in figure.layout.annotations)
    assert "Not comparable in level" in told
    assert f"95% interval over {len(found.seeds)} worlds" in told
    assert list(ours.x) == [arm.score for arm in found.arms]
    if found.setup.task:
        assert list(ahead.x) == [d.success for d in found.differences]
        assert theirs.x == ()
    else:
        assert list(ahead.x) == [d.score for d in found.differences]
        assert list(theirs.x) == pytest.approx([3.96, 2.58, 4.8])


def test_hostile_words_stay_words() -> None:
    hostile = {"aim": HOSTILE, "begun": HOSTILE, "unlocked": (HOSTILE,), "items": {HOSTILE: 3}}
    step = msgspec.structs.replace(RECORD.steps[0], **hostile)
    drawn = figures.frame_strip(with_steps(step), 1), figures.win_figure(with_steps(step), step=1)
    assert markup(*drawn, figures.frame_figure(step)) == []


def an_edge(cause: str, effect: str, kind: EdgeKind = "rule") -> CausalEdge:
    return CausalEdge(cause=cause, effect=effect, kind=kind, concept="c", reason="so it is")


def a_state(*edges: CausalEdge, **more: Any) -> CausalState:
    values = {"near_tree": "2 steps away: 2 left", "sleeping": "awake", "energy": "4", "idle": "1"}
    given: dict[str, Any] = {
        "task": "collect_wood",
        "by": "a test",
        "concepts": (Concept(name="c", words="words"),),
        "kept_concepts": ("c",),
        "variables": tuple(StateVariable(name=n, words=w, number=1) for n, w in values.items()),
        "kept": tuple(values),
        "missing": ("axe",),
        "absent": ("near_zombie",),
    }
    return CausalState(**given | more, edges=edges)


STATE = a_state(
    an_edge("near_tree", "collect_wood", "policy-mediated"),
    an_edge("sleeping", "collect_wood", "tested"),
    an_edge("axe", "collect_wood"),
    an_edge("near_zombie", "sleeping"),
)


def boxes(figure: Any) -> list[Any]:
    return [s for s in figure.layout.shapes if s.path and s.path.endswith("Z") and s.line.width]


def lines(figure: Any) -> list[Any]:
    return [s for s in figure.layout.shapes if not (s.path and s.path.endswith("Z"))]


@pytest.mark.parametrize("dark", [False, True])
def test_kinds_of_nodes_and_edges_differ_in_more_than_colour(dark: bool) -> None:
    figure = figures.state_causality_figure(STATE, dark=dark)
    drawn = dict(zip(figure.data[0].text, boxes(figure), strict=True))
    assert {words: (box.line.dash, box.line.width) for words, box in drawn.items()} == {
        "· near zombie<br>not here": ("dot", 2),
        "∅ axe<br>missing": ("dash", 2),
        "near tree<br>2 steps away: 2 left": ("solid", 2),
        "sleeping<br>awake": ("solid", 2),
        "★ collect wood": ("solid", 4),
    }  # what has no edge is not drawn
    styles = sorted((line.line.dash, line.line.width) for line in lines(figure))
    assert styles == [("dash", 1.5), ("solid", 1.5), ("solid", 1.5), ("solid", 3)]
    legend = figure.layout.annotations[0].text
    kinds = ("the task", "kept", "missing", "not here", "▸</span> rule", "tested", "what the policy does")
    assert [words for words in kinds if words not in legend] == []
    assert figure.layout.meta["description"] == "What acts on collect_wood: 4 of 4 variables kept, 4 edges"


def test_two_that_act_on_each_other_can_be_drawn() -> None:
    ways = (("sleeping", "collect_wood"), ("sleeping", "energy"), ("energy", "sleeping"))
    figure = figures.state_causality_figure(a_state(*(an_edge(*way) for way in ways)))
    assert len(lines(figure)) == 3


@pytest.mark.parametrize("state", [CausalState(task=None, by="m", unscored="no <b>answer"), a_state()])
def test_without_edges_it_says_so(state: CausalState) -> None:
    figure = figures.state_causality_figure(state)
    assert len(figure.layout.annotations) == 1
    assert "<b>" not in figure.layout.annotations[0].text


def test_hostile_names_stay_words() -> None:
    state = a_state(
        an_edge(HOSTILE, "collect_wood"),
        variables=(StateVariable(name=HOSTILE, words=HOSTILE, number=1),),
        kept=(HOSTILE,),
    )
    model = StructuralCausalModel(HOSTILE, [Variable(name=HOSTILE, words=HOSTILE)])
    assert markup(figures.state_causality_figure(state), figures.scm_figure(model)) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_model_is_drawn_moment_by_moment_and_an_intervention_cuts_its_arrows(dark: bool) -> None:
    model = planning_model(policy_named("random"), steps=2)
    figure = figures.scm_figure(model, dark=dark)
    place = dict(zip(figure.data[0].text, zip(figure.data[0].x, figure.data[0].y, strict=True), strict=True))
    assert place["s<sub>0</sub>"][0] < place["a<sub>0</sub>"][0] < place["s<sub>1</sub>"][0]
    assert len({place[f"s<sub>{t}</sub>"][1] for t in range(3)}) == 1
    assert len(lines(figure)) == model.graph().number_of_edges()
    changed = figures.scm_figure(model.do(a_1="noop"), dark=dark)
    assert len(lines(changed)) == len(lines(figure)) - 3
    assert "set by do" in changed.layout.annotations[0].text
    assert "set by do" not in figure.layout.annotations[0].text


def test_any_other_model_is_drawn_by_its_graph() -> None:
    rain = Variable(name="rain", words="it rains")
    wet = Variable(name="the wet grass", words="wet", parents=("rain",), function=lambda rain: rain)
    figure = figures.scm_figure(StructuralCausalModel("weather", [rain, wet]).graph())
    assert list(figure.data[0].text) == ["rain", "the wet grass"]
    assert figure.layout.meta["description"] == "weather: 2 variables, 1 edges"


PROGRAM = """
import sys; sys.modules['crafter'] = None
import msgspec
from components import figures
from untaken.simulator.players import policy_named
from untaken.simulator.scm import planning_model
from untaken.simulator.state_causality import CausalState
state = msgspec.json.decode({state!r}, type=CausalState)
figure = figures.state_causality_figure(state)
print(len(figure.data[0].text), len(figures.scm_figure(planning_model(policy_named('random'))).data))
"""


def test_both_are_drawn_from_plain_data_without_crafter_installed() -> None:
    assert run_python(PROGRAM.format(state=STATE.to_json())).stdout.strip() == "5 2"
