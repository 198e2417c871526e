"""Figures of flips: their three parts, panels of models, disagreements of extractors, sequences."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from flipcore.charts.theme import (
    Colours,
    Figure,
    as_text,
    caption,
    laid_out,
    new_figure,
    on_scale,
    text_on,
    translucent,
    whiskers,
)
from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.simultaneous import SequencePath

COMPARED_FLOOR = "noise floor, compared (from 0)"
REFERENCE_FLOOR = "noise floor, reference (from the blue)"
FLOORS = (
    "noise floors: the line the compared extractor's, from 0, the diamond the reference's, from "
    "where its pairs begin"
)
ALONE, BOTH, REFERENCE = "compared extractor alone", "both extractors", "reference extractor alone"


def parts(cell) -> tuple[float, float, float]:
    """Return the shares (compared alone, both, reference alone) of a Decomposition.

    A reference cell is all "both". In a stacked bar the compared extractor's total T ends where
    "both" ends, and the reference's total G begins where "both" begins.
    """
    if cell.is_reference:
        return 0.0, cell.T.value, 0.0
    return cell.A_plus.value, cell.both.value, cell.A_minus.value


def decomposition_bars(cells: Sequence, title_of: Callable[[str], str], theme: Colours) -> Figure:
    """Draw the three parts of each Decomposition of one model as a stacked bar. `FLOORS` describes
    the marks of noise floors. Whiskers are intervals of T."""
    axes = [
        [as_text(cell.axis.replace("_", " ")) for cell in cells],
        [as_text(title_of(cell.extractor)) for cell in cells],
    ]
    figure = new_figure()
    for i, (name, marker) in enumerate(markers(theme).items()):
        figure.add_bar(
            x=axes,
            y=[parts(cell)[i] for cell in cells],
            name=name,
            marker=marker,
            error_y=whiskers([cell.T for cell in cells], theme.text, thickness=1.5, width=5)
            if name == BOTH
            else None,
            customdata=[as_text(_part_text(cell, i)) for cell in cells],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    own_floors = [(cell.W.value, cell.W.text_percent()) for cell in cells]
    # The reference's total and its floor begin above the part of the compared extractor alone.
    reference_floors = []
    for cell in cells:
        height = math.nan if cell.is_reference else parts(cell)[0] + cell.W_ref.value
        reference_floors.append((height, cell.W_ref.text_percent()))
    for name, floors in ((COMPARED_FLOOR, own_floors), (REFERENCE_FLOOR, reference_floors)):
        figure.add_scatter(
            x=axes,
            y=[height for height, _ in floors],
            mode="markers",
            name=name,
            marker=floor_marker(theme, "ew", size=26, width=4)
            if name == COMPARED_FLOOR
            else floor_marker(theme),
            customdata=[text for _, text in floors],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3)
    words = f"Pairs of variants that flip, in three parts; {FLOORS}; whiskers the interval of T."
    says = caption(words, [cell.T for cell in cells])
    laid_out(figure, theme, height=420, says=says, y_title="variant pairs that flip")
    figure.update_yaxes(rangemode="tozero", tickformat=".0%")
    return figure


def floor_marker(theme: Colours, line: str = "", size: int = 11, width: int = 2) -> dict:
    """Return the mark of a noise floor: a line in a direction ("ew", "ns"), or a diamond for ""."""
    return {
        "symbol": f"line-{line}" if line else "diamond-open",
        "size": size,
        "color": theme.floor,
        "line": {"color": theme.floor, "width": width},
    }


def markers(theme: Colours) -> dict[str, dict]:
    """Return part -> marker."""
    return {
        ALONE: {"color": theme.artifact},
        BOTH: {"color": theme.genuine},
        # A translucent colour, because the legend ignores `opacity`.
        REFERENCE: {"color": translucent(theme.genuine, 0.45)},
    }


def _part_text(cell, i: int) -> str:
    if cell.is_reference and i == 1:
        return cell.T.text_percent()
    return (cell.A_plus, cell.both, cell.A_minus)[i].text_percent()


def split_bar(cell, theme: Colours) -> Figure:
    """Draw the three parts of a Decomposition as one thin bar, with its noise floors."""
    figure = new_figure()
    for share, (name, marker) in zip(parts(cell), markers(theme).items(), strict=True):
        figure.add_bar(
            x=[share],
            y=[""],
            orientation="h",
            name=name,
            marker=marker,
            hovertemplate=f"{name} {share:.0%}<extra></extra>",
        )
    floors = (("compared", 0.0, cell.W.value), ("reference", parts(cell)[0], cell.W_ref.value))
    measured = [(name, start, floor) for name, start, floor in floors if not math.isnan(floor)]
    for i, (name, start, floor) in enumerate(measured):
        figure.add_scatter(
            x=[start + floor],
            y=[""],
            mode="markers",
            name="noise floor (◇ reference)",
            showlegend=i == 0,
            marker=floor_marker(theme, "ns", size=18, width=3)
            if name == "compared"
            else floor_marker(theme),
            hovertemplate=f"noise floor, {name} {floor:.0%}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35)
    words = (
        "Pairs that flip under the compared extractor alone, under both, under the reference "
        f"alone; {FLOORS}."
    )
    laid_out(figure, theme, height=156, x_title="pairs that flip", says=caption(words, [cell.T]))
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    return figure


HEIGHT_PX = 380  # of the panels


def flip_panels(
    rates: Mapping[str, np.ndarray],
    means: Mapping[str, np.ndarray],
    columns: Sequence[str],
    theme: Colours,
    row_title: str,
) -> Figure:
    """Draw a heatmap per model on one colour scale; `rates` is model -> (rows, columns) shares.

    `means` is model -> (columns,), the shares that are printed below the columns.
    """
    from plotly.subplots import make_subplots

    names = [
        as_text("noise floor" if name == IDENTITY else name.replace("_", " "), width=14)
        for name in columns
    ]
    figure = make_subplots(
        cols=max(1, len(rates)),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[as_text(model) for model in rates],
    )
    for column, (model, panel) in enumerate(rates.items(), start=1):
        figure.add_heatmap(
            z=panel,
            x=names,
            y=list(range(1, len(panel) + 1)),
            coloraxis="coloraxis",
            xgap=2,
            hoverongaps=False,
            hovertemplate=f"{as_text(model)}, %{{x}}: %{{z:.0%}} flip<extra></extra>",
            row=1,
            col=column,
        )
        shares = ["–" if np.isnan(mean) else percent_text(mean) for mean in means[model]]
        labels = [f"{name}<br><b>{share}</b>" for name, share in zip(names, shares, strict=True)]
        figure.update_xaxes(tickvals=names, ticktext=labels, col=column)
    words = "Share of pairs that flip, one item per row, one scale for all models."
    laid_out(figure, theme, height=HEIGHT_PX, says=words)
    scale = [[0, theme.flip[0]], [0.5, theme.flip[1]], [1, theme.flip[2]]]
    figure.update_layout(
        coloraxis={
            "colorscale": scale,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {"title": "share<br>that flip", "thickness": 12, "tickformat": ".0%"},
        }
    )
    figure.update_yaxes(autorange="reversed", showticklabels=False, showgrid=False)
    figure.update_yaxes(title_text=row_title, col=1)
    figure.update_xaxes(showgrid=False)
    return figure


def matrix(share: np.ndarray, names: list[str], theme: Colours) -> Figure:
    """Draw a heatmap of `share` (k, k); NaN and the diagonal, 0 by definition, stay empty."""
    names = [as_text(name) for name in names]
    off_diagonal = share.astype(float).copy()
    np.fill_diagonal(off_diagonal, np.nan)
    text = []
    for row in off_diagonal:
        text.append(["" if np.isnan(value) else f"{100 * value:.0f}%" for value in row])
    figure = new_figure()
    figure.add_heatmap(
        z=off_diagonal,
        x=names,
        y=names,
        text=text,
        zmin=0,
        zmax=1,
        xgap=3,
        ygap=3,
        colorscale=[[0, theme.flip[0]], [0.5, theme.flip[1]], [1, theme.flip[2]]],
        hoverongaps=False,
        colorbar={
            "title": "share<br>that differ",
            "thickness": 12,
            "len": 0.9,
            "tickformat": ".0%",
        },
        hovertemplate="%{y} v %{x}: %{text} differ<extra></extra>",
    )
    filled_cells = [(i, j) for i, j in np.ndindex(*off_diagonal.shape) if text[i][j]]
    # Plotly would print the numbers in grey, which is hard to read.
    ink = [text_on(on_scale(float(off_diagonal[cell]), theme.flip)) for cell in filled_cells]
    figure.add_scatter(
        x=[names[j] for _, j in filled_cells],
        y=[names[i] for i, _ in filled_cells],
        text=[text[i][j] for i, j in filled_cells],
        mode="text",
        textfont={"size": 15, "color": ink},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_yaxes(autorange="reversed")
    words = "Share of answers to the same variant and sample that two extractors read differently."
    return laid_out(figure, theme, height=90 + 52 * len(names), says=words)


MAX_POINTS = 800  # most points of a line, which is more than it has pixels


def sequence(paths: dict[str, SequencePath], theme: Colours, y_title: str) -> Figure:
    """Draw a mean with its band per name, over the number of items that came in. The limits hold
    however often somebody looks."""
    figure = new_figure()
    hues = (theme.genuine, theme.artifact, theme.broken, theme.fixed, theme.floor, theme.retro)
    for (name, path), colour in zip(paths.items(), hues, strict=False):
        n_points = min(len(path.t), MAX_POINTS)
        drawn = np.unique(np.linspace(0, len(path.t) - 1, n_points).round().astype(int))
        t, means = path.t[drawn], path.means[drawn]
        low, high = path.low[drawn], path.high[drawn]
        # The band is a polygon: along the upper limits and back along the lower ones.
        figure.add_scatter(
            x=np.concatenate([t, t[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=colour,
            opacity=0.15,
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=t,
            y=means,
            mode="lines",
            name=name,
            line={"color": colour, "width": 2.5},
            customdata=np.column_stack([low, high]),
            hovertemplate="%{y:.2f} [%{customdata[0]:.2f}, %{customdata[1]:.2f}], %{x} "
            "items<extra></extra>",
        )
    n = max((int(path.t[-1]) for path in paths.values() if len(path.t)), default=0)
    words = (
        "The mean as items came in, with 95% limits that hold at every number of items at once; "
        f"n = {n:,}."
    )
    x_title = "items, in the random order in which they were asked"
    laid_out(figure, theme, height=320, says=words, x_title=x_title, y_title=y_title)
    figure.update_yaxes(range=[0, 1.02])
    return figure
