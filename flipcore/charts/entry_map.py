"""Every entry of two sets as a point: many are drawn by the graphics card, so that 10,000 can be
panned and lassoed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure

# by label: 0 the benchmark, 1 the holdout
SETS = ("benchmark", "holdout")
SYMBOLS = ("circle", "diamond-open")  # what lies under a diamond shows through
N_GROUPS = 6
MOST_DRAWN = 1_000  # entries that a browser draws itself: a small map needs no WebGL
OTHERS = "all others"


@dataclass(frozen=True)
class Colouring:
    """Meaning of the colour: nothing but the set, a number (n,) where NaN is missing, or a group's
    name."""

    title: str
    numbers: np.ndarray | None = None
    groups: Sequence[str] | None = None


def entry_map(
    places: np.ndarray,
    labels: np.ndarray,
    texts: Sequence[str],
    colouring: Colouring,
    c: Colours,
    *,
    axes: tuple[str, str] = ("", ""),
    ringed: Sequence[int] = (),
    crossed: Sequence[int] = (),
    lasso: bool = False,
) -> Figure:
    """Points at `places` (n, 2), discs of label 0 (benchmark), open diamonds of label 1 (holdout);
    `customdata` is [row].

    Rows in `ringed` get a ring, those in `crossed` (excluded by hand) a cross. `lasso`: dragging
    draws around points; otherwise it moves the map and a click takes a point (Streamlit lets a
    chart do one of the two). `customdata` are lists: arrays would come back from a click as
    objects.
    """
    figure = new_figure()
    points = figure.add_scatter if len(labels) <= MOST_DRAWN else figure.add_scattergl
    hover_texts = [
        f"{SETS[label]}<br>{as_text(text)}" for label, text in zip(labels, texts, strict=True)
    ]
    traces = list(enumerate(_traces(labels, colouring, c=c)))
    # The fewest are drawn last: 7,473 entries would hide 1,319.
    for rank, trace in sorted(traces, key=lambda ranked: -len(ranked[1]["rows"])):
        rows = trace.pop("rows")
        points(
            x=places[rows, 0],
            y=places[rows, 1],
            mode="markers",
            customdata=[[row] for row in rows.tolist()],
            hovertext=[hover_texts[row] for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
            marker=dict(
                size=_size(len(labels)),
                line={"width": 1.6 if labels[rows[0]] else 0},
                **trace.pop("marker"),
            ),
            **trace,
            legendrank=rank + 1,
            unselected={"marker": {"opacity": 0.15}},
        )
    for rows, mark, larger in ((ringed, _rings, 7), (crossed, _crosses, 2)):
        if len(rows):
            points(**mark(places[np.asarray(rows)], _size(len(labels)) + larger, c))
    n_target, n_retro = (int((labels == label).sum()) for label in (0, 1))
    words = (
        f"Entries of both sets as points, n = {n_target:,} benchmark and {n_retro:,} holdout; "
        "alike entries lie close."
    )
    laid_out(figure, c, height=560, says=words, x_title=axes[0], y_title=axes[1])
    figure.update_layout(
        dragmode="lasso" if lasso else "pan",
        hovermode="closest",
        hoverlabel={"align": "left"},
        coloraxis=_scale(colouring, c),
        modebar={
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
            "color": c.muted,
            "activecolor": c.text,
        },
    )
    return figure.update_xaxes(showticklabels=False, zeroline=False).update_yaxes(
        showticklabels=False, zeroline=False
    )


def _rings(places: np.ndarray, size: int, c: Colours) -> dict:
    return {
        "x": places[:, 0],
        "y": places[:, 1],
        "mode": "markers",
        "hoverinfo": "skip",
        "name": "chosen",
        "showlegend": False,
        "marker": {
            "size": size,
            "symbol": "circle-open",
            "color": c.text,
            "line": {"width": 2, "color": c.text},
        },
    }


def _crosses(places: np.ndarray, size: int, c: Colours) -> dict:
    mark = {
        "size": size,
        "symbol": "x-thin",
        "color": c.text,
        "line": {"width": 2, "color": c.text},
    }
    return _rings(places, size, c=c) | {"name": "excluded", "showlegend": True, "marker": mark}


def _size(n: int) -> int:
    if n <= 400:
        return 9
    return 7 if n <= 3_000 else 5


def _traces(labels: np.ndarray, colouring: Colouring, c: Colours) -> list[dict]:
    of_set = [np.flatnonzero(labels == label) for label in (0, 1)]
    if colouring.numbers is not None:
        numbered = []
        for rows, name, symbol in zip(of_set, SETS, SYMBOLS, strict=True):
            numbered += _numbered(rows, name, symbol=symbol, numbers=colouring.numbers, c=c)
        return numbered
    if colouring.groups is not None:
        return _by_group(of_set, colouring.groups, c=c)
    return [
        {"rows": rows, "name": name, "marker": {"color": colour, "symbol": symbol, "opacity": 0.75}}
        for rows, name, symbol, colour in zip(
            of_set, SETS, SYMBOLS, (c.target, c.retro), strict=True
        )
        if len(rows)
    ]


def _numbered(
    rows: np.ndarray, name: str, symbol: str, numbers: np.ndarray, c: Colours
) -> list[dict]:
    """Known numbers on the scale; unknown ones in the colour of what is undefined."""
    mask = ~np.isnan(numbers[rows])
    traces = []
    if (~mask).any():
        traces.append(
            {
                "rows": rows[~mask],
                "name": f"{name}, unknown",
                "marker": {"color": c.undefined, "symbol": symbol, "opacity": 0.5},
            }
        )
    if mask.any():
        traces.append(
            {
                "rows": rows[mask],
                "name": name,
                "marker": {
                    "color": numbers[rows[mask]],
                    "coloraxis": "coloraxis",
                    "symbol": symbol,
                    "opacity": 0.9,
                },
            }
        )
    return traces


def _by_group(of_set: list[np.ndarray], groups: Sequence[str], c: Colours) -> list[dict]:
    """The most frequent groups have a colour each, the rest share the colour of what is
    undefined."""
    group_names = np.asarray([group or "no category" for group in groups], dtype=object)
    frequent = [name for name, _ in Counter(group_names.tolist()).most_common(N_GROUPS)]
    labels = np.where(np.isin(group_names, frequent), group_names, OTHERS)
    colours = dict(
        zip(
            frequent, (c.genuine, c.artifact, c.fixed, c.broken, c.benchmark, c.retro), strict=False
        )
    ) | {OTHERS: c.undefined}
    traces: list[dict] = []
    for group in [*frequent, OTHERS]:
        for rows, symbol in zip(of_set, SYMBOLS, strict=True):
            group_rows = rows[labels[rows] == group]
            if len(group_rows):
                traces.append(
                    {
                        "rows": group_rows,
                        "name": as_text(group, most=40),
                        "legendgroup": group,
                        # One entry of the legend per group, whichever set has it first.
                        "showlegend": all(trace["legendgroup"] != group for trace in traces),
                        "marker": {"color": colours[group], "symbol": symbol, "opacity": 0.8},
                    }
                )
    return traces


def _scale(colouring: Colouring, c: Colours) -> dict:
    """From few to many in one hue; its pale end is left out, because a point must be seen on the
    ground."""
    return {
        "colorscale": [[0, c.control], [0.5, c.flip[1]], [1, c.flip[2]]],
        "colorbar": {
            "title": {"text": colouring.title, "side": "right"},
            "thickness": 12,
            "len": 0.8,
        },
    }
