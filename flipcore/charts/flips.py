"""Figures of flips: their three parts by cell and by study, a panel a model, what extractors read
differently, a mean as items come."""

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
from flipcore.stats.base.simultaneous import SequencePath

COMPARED_FLOOR = "noise floor, compared (from 0)"
REFERENCE_FLOOR = "noise floor, reference (from the blue)"
FLOORS = (
    "noise floors: the line the compared extractor's, from 0, the diamond the reference's, from "
    "where its pairs begin"
)
ALONE, BOTH, REFERENCE = "compared extractor alone", "both extractors", "reference extractor alone"


def parts(cell) -> tuple[float, float, float]:
    """(compared alone, both, reference alone) of a Decomposition; a reference cell is all "both".
    So the compared extractor's total T ends where "both" ends, and the reference's total G begins
    where "both" begins."""
    if cell.is_reference:
        return 0.0, cell.T.value, 0.0
    return cell.A_plus.value, cell.both.value, cell.A_minus.value


def decomposition_bars(cells: Sequence, title_of: Callable[[str], str], c: Colours) -> Figure:
    """`cells`: Decompositions of one model; `FLOORS` says what marks the noise floor of each
    extractor's total, the whisker is T's interval."""
    axes = [
        [as_text(cell.axis.replace("_", " ")) for cell in cells],
        [as_text(title_of(cell.extractor)) for cell in cells],
    ]
    figure = new_figure()
    for i, (name, marker) in enumerate(markers(c).items()):
        figure.add_bar(
            x=axes,
            y=[parts(cell)[i] for cell in cells],
            name=name,
            marker=marker,
            error_y=whiskers([cell.T for cell in cells], c.text, thickness=1.5, width=5)
            if name == BOTH
            else None,
            customdata=[as_text(_text(cell, i)) for cell in cells],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    own_floors = [(cell.W.value, cell.W.text_percent()) for cell in cells]
    # The reference's total begins above the part that flips under the compared extractor alone, and
    # so does its floor.
    above = []
    for cell in cells:
        start = math.nan if cell.is_reference else parts(cell)[0] + cell.W_ref.value
        above.append((start, cell.W_ref.text_percent()))
    for name, floors in ((COMPARED_FLOOR, own_floors), (REFERENCE_FLOOR, above)):
        figure.add_scatter(
            x=axes,
            y=[height for height, _ in floors],
            mode="markers",
            name=name,
            marker=floor_marker(c, "ew", size=26, width=4)
            if name == COMPARED_FLOOR
            else floor_marker(c),
            customdata=[text for _, text in floors],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3)
    words = f"Pairs of variants that flip, in three parts; {FLOORS}; whiskers the interval of T."
    says = caption(words, [cell.T for cell in cells])
    laid_out(figure, c, height=420, says=says, y_title="variant pairs that flip")
    figure.update_yaxes(rangemode="tozero", tickformat=".0%")
    return figure


def floor_marker(c: Colours, line: str = "", size: int = 11, width: int = 2) -> dict:
    """The mark of a noise floor: a line of this direction, or a diamond, which begins where the
    reference's pairs begin."""
    return {
        "symbol": f"line-{line}" if line else "diamond-open",
        "size": size,
        "color": c.floor,
        "line": {"color": c.floor, "width": width},
    }


def markers(c: Colours) -> dict[str, dict]:
    """Marker of each of the three parts."""
    return {
        ALONE: {"color": c.artifact},
        BOTH: {"color": c.genuine},
        # Not `opacity`, which the legend does not draw.
        REFERENCE: {"color": translucent(c.genuine, 0.45)},
    }


def _text(cell, i: int) -> str:
    if cell.is_reference and i == 1:
        return cell.T.text_percent()
    return (cell.A_plus, cell.both, cell.A_minus)[i].text_percent()


def split_bar(cell, c: Colours) -> Figure:
    """A study's three parts as one thin bar. `cell`: the Decomposition over all axes, with its
    noise floors where they were measured."""
    figure = new_figure()
    for share, (name, marker) in zip(parts(cell), markers(c).items(), strict=True):
        figure.add_bar(
            x=[share],
            y=[""],
            orientation="h",
            name=name,
            marker=marker,
            hovertemplate=f"{name} {share:.0%}<extra></extra>",
        )
    floors = (("compared", 0.0, cell.W.value), ("reference", parts(cell)[0], cell.W_ref.value))
    # A floor that was not measured is NaN, which equals nothing.
    measured = [row for row in floors if row[2] == row[2]]
    for i, (name, start, floor) in enumerate(measured):
        figure.add_scatter(
            x=[start + floor],
            y=[""],
            mode="markers",
            name="noise floor (◇ reference)",
            showlegend=i == 0,
            marker=floor_marker(c, "ns", size=18, width=3)
            if name == "compared"
            else floor_marker(c),
            hovertemplate=f"noise floor, {name} {floor:.0%}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35)
    words = (
        "Pairs that flip under the compared extractor alone, under both, under the reference "
        f"alone; {FLOORS}."
    )
    laid_out(figure, c, height=156, x_title="pairs that flip", says=caption(words, [cell.T]))
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    return figure


HEIGHT_PX = 380


def flip_panels(
    rates: Mapping[str, np.ndarray], columns: Sequence[str], c: Colours, row_title: str
) -> Figure:
    """`rates` model -> (rows, columns) shares that flip, NaN empty. One colour scale for all."""
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
    for place, (model, panel) in enumerate(rates.items(), start=1):
        figure.add_heatmap(
            z=panel,
            x=names,
            y=list(range(1, len(panel) + 1)),
            coloraxis="coloraxis",
            xgap=2,
            hoverongaps=False,
            hovertemplate=f"{as_text(model)}, %{{x}}: %{{z:.2f}} flip<extra></extra>",
            row=1,
            col=place,
        )
    words = "Share of pairs that flip, an item a row, one scale for all models."
    laid_out(figure, c, height=HEIGHT_PX, says=words)
    scale = [[0, c.flip[0]], [0.5, c.flip[1]], [1, c.flip[2]]]
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


def matrix(share: np.ndarray, names: list[str], c: Colours) -> Figure:
    """Heatmap of `share` (k, k), NaN and the diagonal empty: it would be 0 by definition."""
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
        colorscale=[[0, c.flip[0]], [0.5, c.flip[1]], [1, c.flip[2]]],
        hoverongaps=False,
        colorbar={
            "title": "share<br>that differ",
            "thickness": 12,
            "len": 0.9,
            "tickformat": ".0%",
        },
        hovertemplate="%{y} v %{x}: %{text} differ<extra></extra>",
    )
    places = [(i, j) for i, j in np.ndindex(*off_diagonal.shape) if text[i][j]]
    # Plotly's own choice is a grey
    ink = [text_on(on_scale(float(off_diagonal[place]), c.flip)) for place in places]
    figure.add_scatter(
        x=[names[j] for _, j in places],
        y=[names[i] for i, _ in places],
        text=[text[i][j] for i, j in places],
        mode="text",
        textfont={"size": 15, "color": ink},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_yaxes(autorange="reversed")
    words = "Share of answers to the same variant and sample that two extractors read differently."
    return laid_out(figure, c, height=90 + 52 * len(names), says=words)


MOST_POINTS = 800  # of a line: more than it has pixels


def sequence(paths: dict[str, SequencePath], c: Colours, y_title: str) -> Figure:
    """A line and its band for each name, over the number of items that came in; the limits hold
    however often one looks."""
    figure = new_figure()
    for (name, path), colour in zip(
        paths.items(), (c.genuine, c.artifact, c.broken, c.fixed, c.floor, c.retro), strict=False
    ):
        drawn = np.unique(
            np.linspace(0, len(path.t) - 1, min(len(path.t), MOST_POINTS)).round().astype(int)
        )
        t, means = path.t[drawn], path.means[drawn]
        low, high = path.low[drawn], path.high[drawn]
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
    laid_out(figure, c, height=320, says=words, x_title=x_title, y_title=y_title)
    figure.update_yaxes(range=[0, 1.02])
    return figure
