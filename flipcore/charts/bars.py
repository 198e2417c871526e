"""G and A stacked to T, a group an axis, with floors as ticks and the interval of T as a whisker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flipcore.charts.hover import as_text
from flipcore.charts.theme import Colours, laid_out


def decomposition_bars(found: Sequence, title_of: Callable[[str], str], c: Colours):
    """`found`: Decompositions of one model. A negative A is an outline beside the genuine part."""
    import plotly.graph_objects as go

    axes = [[as_text(one.axis.replace("_", " ")) for one in found], [as_text(title_of(one.extractor)) for one in found]]
    g = [min(one.G.value, one.T.value) if one.A.value < 0 else one.G.value for one in found]
    positive = [max(one.A.value, 0.0) for one in found]
    negative = [max(-one.A.value, 0.0) for one in found]
    figure = go.Figure()
    figure.add_bar(
        x=axes,
        y=g,
        name="genuine (G)",
        marker_color=c.genuine,
        customdata=[one.G.text() for one in found],
        hovertemplate="genuine %{customdata}<extra></extra>",
    )
    figure.add_bar(
        x=axes,
        y=positive,
        name="artifact (A)",
        marker_color=c.artifact,
        error_y=_whisker(found, c),
        customdata=[one.A.text() for one in found],
        hovertemplate="artifact %{customdata}<extra></extra>",
    )
    if any(negative):
        figure.add_bar(
            x=axes,
            y=negative,
            name="negative artifact: the reference flips more",
            marker=dict(color="rgba(0,0,0,0)", line=dict(color=c.artifact, width=2)),
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=axes,
        y=[one.W.value for one in found],
        mode="markers",
        name="floor: asked again",
        marker=dict(symbol="line-ew", size=26, line=dict(color=c.floor, width=4)),
        customdata=[one.W.text() for one in found],
        hovertemplate="floor %{customdata}<extra></extra>",
    )
    figure.update_layout(barmode="stack", bargap=0.3)
    laid_out(figure, c, height=420, y_title="share of variant pairs that flip")
    figure.update_yaxes(rangemode="tozero")
    return figure


def _whisker(found: Sequence, c: Colours) -> dict:
    """The interval of T on top of the stack."""
    up = [one.T.high - one.T.value if one.T.has_interval else 0.0 for one in found]
    down = [one.T.value - one.T.low if one.T.has_interval else 0.0 for one in found]
    return dict(type="data", symmetric=False, array=up, arrayminus=down, color=c.text, thickness=1.5, width=5)
