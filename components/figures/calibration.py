"""Calibration: estimates from ledgers for alternatives, compared with their results in clones."""

from __future__ import annotations

from typing import Final

import plotly.graph_objects as go

from untaken.counterfactual import THRESHOLD
from untaken.crafter.calibration import Bin, Calibration, Estimator, Figure
from untaken.present.numbers import decimal

from ..shared.palette import Tokens, tokens
from .parts import error_bars, estimates, legend_above, line_trace, row_names
from .theme import message, themed

SUPPORTS: Final = (("supported", "circle"), ("weak", "circle-open"))
NAMES: Final[dict[str, str]] = {
    "delta": "delta",
    "advantage": "advantage",
    "pooled": "pooled advantage",
    "ceiling": "half of the draws",
}
TARGETS: Final = {"three_way": 0.70, "sign": 0.90}
"""What agreement is aimed at, where the program says supported."""
TITLES: Final = {"three_way": "the same of three verdicts", "sign": f"the same sign beyond ±{THRESHOLD:g}"}
SHIFT: Final = 0.16
NOTHING: Final = "No pair of estimate and truth to draw"


def calibration_figure(
    calibration: Calibration, *, estimator: Estimator = "pooled", dark: bool = False
) -> go.Figure:
    """Mean truth against mean estimate, in bins of the estimate, with 95% intervals over held-out maps.

    Args:
        calibration: of one setup.
        estimator: ``delta``, ``advantage`` or ``pooled``.
        dark: the theme.

    On the diagonal an estimate means what it says.
    """
    bins = [b for b in calibration.curve if b.estimator == estimator]
    if not bins:
        return message(NOTHING, dark=dark)
    look, figure = tokens(dark), go.Figure()
    figure.add_trace(_line((-1, 1), (-1, 1), look.line, "dash"))
    for support, symbol in SUPPORTS:
        some = [b for b in bins if b.part == support]
        if some:
            figure.add_trace(_points(some, support, symbol, look))
    themed(figure, dark=dark, height=420, margin=(8, 8, 36, 8))
    ends = [abs(v) for b in bins for v in (b.estimate, b.truth, b.low, b.high) if v is not None]
    reach = min(1.05, max(ends) + 0.05)
    figure.update_xaxes(title=f"{NAMES[estimator]}, from ledgers alone", range=[-reach, reach])
    figure.update_yaxes(
        title="measured in clones (score)",
        range=[-reach, reach],
        zeroline=True,
        zerolinecolor=look.line,
    )
    figure.update_xaxes(zeroline=True, zerolinecolor=look.line)
    return legend_above(figure)


def calibration_agreement(
    calibration: Calibration, *, part: str = "supported", dark: bool = False
) -> go.Figure:
    """Agreement of each estimate with the truth, with 95% intervals over held-out maps, beside its target.

    Args:
        calibration: of one setup.
        part: ``supported``, ``weak`` or ``all`` pairs.
        dark: the theme.

    ``half of the draws`` is no estimate: it is how well the truth, as measured, agrees with itself.
    """
    rows = [m for m in calibration.measures if m.part == part]
    if not rows:
        return message(NOTHING, dark=dark)
    look, figure = tokens(dark), go.Figure()
    for place, (measure, symbol) in enumerate(zip(TARGETS, ("circle", "diamond"), strict=True)):
        colour = (look.good, look.bad)[place]
        target = TARGETS[measure]
        ends = (-0.5, len(rows) - 0.5)
        figure.add_trace(_line((target, target), ends, colour, ("dot", "dash")[place]))
        found: list[Figure] = [getattr(row, measure) for row in rows]
        marks = [
            (at + SHIFT * (2 * place - 1), one.value, one.low, one.high, str(one.n))
            for at, one in enumerate(found)
        ]
        hover = f"{TITLES[measure]} %{{x:.3f}} of %{{customdata}} pairs"
        figure.add_trace(estimates(marks, TITLES[measure], symbol, colour, hover=hover))
    themed(figure, dark=dark, height=130 + 52 * len(rows), margin=(8, 8, 36, 8))
    row_names(figure, [f"{NAMES[m.estimator]}  n={m.pairs:,}" for m in rows])
    aims = " and ".join(decimal(target) for target in TARGETS.values())
    figure.update_xaxes(title=f"share of pairs<br>lines: the targets, {aims}", range=[-0.02, 1.03])
    return legend_above(figure)


def _points(bins: list[Bin], support: str, symbol: str, look: Tokens) -> go.Scatter:
    pairs, colour = sum(b.pairs for b in bins), look.good if support == "supported" else look.muted
    return go.Scatter(
        x=[b.estimate for b in bins],
        y=[b.truth for b in bins],
        error_y=error_bars([(b.truth, b.low, b.high) for b in bins], colour),
        mode="markers",
        name=f"{support}, n={pairs:,}",
        marker={"symbol": symbol, "size": 10, "color": colour},
        customdata=[(b.pairs, b.maps) for b in bins],
        hovertemplate="estimate %{x:.3f}, truth %{y:.3f}<br>%{customdata[0]} pairs of %{customdata[1]} maps"
        "<extra></extra>",
    )


def _line(x: tuple[float, float], y: tuple[float, float], colour: str, dash: str) -> go.Scatter:
    return line_trace(x=x, y=y, line={"color": colour, "width": 1, "dash": dash}, showlegend=False)
