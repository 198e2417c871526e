"""Versions of a retro set: each test's interval against its margin, a panel a test, a column a version."""

from collections.abc import Mapping, Sequence

from flipcore.charts.theme import Colours, Figure, laid_out
from flipcore.stats.holdout.units import NOTHING, ONE_SIDED, TITLES
from flipcore.stats.holdout.verdict import BEYOND, DIFFERENT, EQUIVALENT, WITHIN

SYMBOLS = {EQUIVALENT: "circle", WITHIN: "diamond", DIFFERENT: "x", BEYOND: "cross"}


def equivalence_figure(versions: Sequence[Mapping], c: Colours) -> Figure:
    """`versions`: [{"label", "results": {test: {"value", "bound", "margin", "state"}}}], oldest first; tests that no version
    ran have no panel. Filled circles are equivalent, diamonds different within the
    margin, crosses different, upright crosses beyond the margin, open circles undecided."""
    from plotly.subplots import make_subplots

    tests = [name for name in TITLES if any(name in one["results"] for one in versions)]
    figure = make_subplots(
        rows=1, cols=max(len(tests), 1), subplot_titles=[TITLES[name] for name in tests], horizontal_spacing=0.07
    )
    for column, name in enumerate(tests, start=1):
        _panel(figure, [one for one in versions if name in one["results"]], name, column, c)
    laid_out(figure, c, height=320, says="Each test of each version: its interval, and its margin as a tick.")
    return figure.update_layout(showlegend=False, margin={"l": 8, "r": 8, "t": 48, "b": 8})


def _panel(figure, versions: Sequence[Mapping], name: str, column: int, c: Colours) -> None:
    scale = 100 if name == "difficulty" else 1
    outcomes = [one["results"][name] for one in versions]
    labels = [one["label"] for one in versions]
    one_sided = name in ONE_SIDED
    up = [scale * (one["bound"][1] - one["value"]) for one in outcomes]
    down = [0.0 if one_sided else scale * (one["value"] - one["bound"][0]) for one in outcomes]
    figure.add_scatter(
        x=labels,
        y=[scale * one["value"] for one in outcomes],
        mode="markers",
        row=1,
        col=column,
        marker={"color": c.text, "size": 11, "symbol": [SYMBOLS.get(one["state"], "circle-open") for one in outcomes]},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": up,
            "arrayminus": down,
            "color": c.text,
            "thickness": 2,
            "width": 6,
        },
        customdata=[one["state"] for one in outcomes],
        hovertemplate="%{y:.3f}, %{customdata}<extra>%{x}</extra>",
    )
    margins = [(label, one["margin"]) for label, one in zip(labels, outcomes, strict=True) if one["margin"] is not None]
    for sign in (1, -1) if name == "difficulty" else (1,):
        figure.add_scatter(
            x=[label for label, _ in margins],
            y=[sign * scale * margin for _, margin in margins],
            mode="markers",
            row=1,
            col=column,
            hovertemplate="margin %{y:.3f}<extra>%{x}</extra>",
            marker={"symbol": "line-ew", "size": 26, "line": {"color": c.genuine, "width": 3}},
        )
    figure.add_hline(y=scale * NOTHING[name], line={"color": c.floor, "width": 1.5, "dash": "dot"}, row=1, col=column)
