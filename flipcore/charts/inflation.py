"""Figure of each model's accuracy on benchmark and holdout, and of the inflation between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.charts.theme import Colours, Figure, caption, laid_out, whiskers
from flipcore.stats.base.estimate import Estimate, number_text

NAN = float("nan")


@dataclass(frozen=True)
class Inflated:
    """One row; the accuracies are shares, NaN where a source gives the inflation alone."""

    label: str
    target: float
    retro: float
    inflation: Estimate


def inflation_figure(rows: Sequence[Inflated], theme: Colours) -> Figure:
    """Draw both accuracies on the left and their difference in points on the right. The model with
    the largest inflation is on top. Without accuracies there is no left half."""
    from plotly.subplots import make_subplots

    by_size = sorted(rows, key=lambda row: row.inflation.value)
    has_accuracies = any(not math.isnan(row.target) for row in by_size)
    figure = make_subplots(
        rows=1, cols=2 if has_accuracies else 1, shared_yaxes=True, horizontal_spacing=0.1
    )
    names = [row.label for row in by_size]
    if has_accuracies:
        _accuracies(figure, by_size, names=names, theme=theme)
    _differences(figure, by_size, names=names, theme=theme, column=2 if has_accuracies else 1)
    words = (
        "Accuracy on the benchmark and on the holdout, and their difference in percentage points."
    )
    says = caption(words, [row.inflation for row in rows])
    laid_out(figure, theme, height=110 + 38 * len(by_size), says=says)
    if has_accuracies:
        figure.update_xaxes(title_text="accuracy", range=[0, 1.02], tickformat=".0%", row=1, col=1)
    figure.update_xaxes(title_text="inflation, points", row=1, col=2 if has_accuracies else 1)
    figure.update_yaxes(ticksuffix="  ", range=[-0.6, len(by_size) - 0.2])
    return figure


def _accuracies(figure, rows: Sequence[Inflated], names: list[str], theme: Colours) -> None:
    for row in rows:
        figure.add_scatter(
            x=[row.retro, row.target],
            y=[row.label] * 2,
            mode="lines",
            line={"color": theme.floor, "width": 2},
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=1,
        )
    for side, name, symbol, colour in (
        ("target", "benchmark", "circle", theme.target),
        ("retro", "holdout", "diamond", theme.retro),
    ):
        figure.add_scatter(
            x=[getattr(row, side) for row in rows],
            y=names,
            mode="markers",
            name=name,
            row=1,
            col=1,
            marker={"color": colour, "size": 12, "symbol": symbol},
            hovertemplate=f"{name} %{{x:.1%}}<extra>%{{y}}</extra>",
        )


def _differences(
    figure, rows: Sequence[Inflated], names: list[str], theme: Colours, column: int
) -> None:
    values = [100 * row.inflation.value for row in rows]
    figure.add_scatter(
        x=values,
        y=names,
        mode="markers+text",
        name="inflation",
        row=1,
        col=column,
        marker={"color": theme.text, "size": 10, "symbol": "square"},
        text=[number_text(x, 1, sign=True) for x in values],
        textposition="top center",
        textfont={"size": 13},
        cliponaxis=False,
        customdata=[row.inflation.text_points() for row in rows],
        error_x=whiskers(
            [row.inflation for row in rows], theme.text, thickness=2, width=6, scale=100
        ),
        hovertemplate="%{customdata}<extra>%{y}</extra>",
        showlegend=False,
    )
    figure.add_vline(
        x=0, line={"color": theme.floor, "width": 1.5, "dash": "dot"}, row=1, col=column
    )
