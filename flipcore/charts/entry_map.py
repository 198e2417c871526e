"""Map of the entries of two sets as points, which stays fast with 10,000 of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure

SETS = ("benchmark", "holdout")  # by label: 0 and 1
SYMBOLS = ("circle", "diamond-open")  # points under an open diamond stay visible
N_GROUPS = 6  # groups with a colour of their own
MAX_DRAWN = 1_000  # most entries that are drawn as SVG; a larger map needs WebGL
OTHERS = "all others"


@dataclass(frozen=True)
class Colouring:
    """The meaning of an entry's colour. `numbers` (n,) has NaN for missing values; `groups` has a
    name per entry. Where both are None the colour shows the set."""

    title: str
    numbers: np.ndarray | None = None
    groups: Sequence[str] | None = None


def entry_map(
    places: np.ndarray,
    labels: np.ndarray,
    texts: Sequence[str],
    colouring: Colouring,
    theme: Colours,
    *,
    axes: tuple[str, str] = ("", ""),
    ringed: Sequence[int] = (),
    crossed: Sequence[int] = (),
    lasso: bool = False,
) -> Figure:
    """Draw entries as points at `places` (n, 2): discs for the benchmark, diamonds for the holdout.

    `labels` (n,) are 0 for the benchmark and 1 for the holdout. Rows in `ringed` get a ring, rows
    in `crossed` (excluded by hand) a cross. With `lasso` dragging selects points; without it
    dragging moves the map and a click selects a point. Streamlit allows only one of the two. A
    point's `customdata` is its row.
    """
    figure = new_figure()
    add_points = figure.add_scatter if len(labels) <= MAX_DRAWN else figure.add_scattergl
    hover_texts = [
        f"{SETS[label]}<br>{as_text(text)}" for label, text in zip(labels, texts, strict=True)
    ]
    traces = list(enumerate(_traces(labels, colouring, theme=theme)))
    # The smallest group is drawn last, because 7,473 entries would hide 1,319.
    for rank, trace in sorted(traces, key=lambda ranked: -len(ranked[1]["rows"])):
        rows = trace.pop("rows")
        add_points(
            x=places[rows, 0],
            y=places[rows, 1],
            mode="markers",
            # Lists, because arrays would come back from a click as objects.
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
            add_points(**mark(places[np.asarray(rows)], _size(len(labels)) + larger, theme))
    n_target, n_retro = (int((labels == label).sum()) for label in (0, 1))
    words = (
        f"Entries of both sets as points, n = {n_target:,} benchmark and {n_retro:,} holdout; "
        "alike entries lie close."
    )
    laid_out(figure, theme, height=560, says=words, x_title=axes[0], y_title=axes[1])
    figure.update_layout(
        dragmode="lasso" if lasso else "pan",
        hovermode="closest",
        hoverlabel={"align": "left"},
        coloraxis=_scale(colouring, theme),
        modebar={
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
            "color": theme.muted,
            "activecolor": theme.text,
        },
    )
    return figure.update_xaxes(showticklabels=False, zeroline=False).update_yaxes(
        showticklabels=False, zeroline=False
    )


def _rings(places: np.ndarray, size: int, theme: Colours) -> dict:
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
            "color": theme.text,
            "line": {"width": 2, "color": theme.text},
        },
    }


def _crosses(places: np.ndarray, size: int, theme: Colours) -> dict:
    mark = {
        "size": size,
        "symbol": "x-thin",
        "color": theme.text,
        "line": {"width": 2, "color": theme.text},
    }
    return _rings(places, size, theme=theme) | {
        "name": "excluded",
        "showlegend": True,
        "marker": mark,
    }


def _size(n: int) -> int:
    if n <= 400:
        return 9
    return 7 if n <= 3_000 else 5


def _traces(labels: np.ndarray, colouring: Colouring, theme: Colours) -> list[dict]:
    """Return the traces of the points, each with the indices of its `rows`."""
    rows_of_sets = [np.flatnonzero(labels == label) for label in (0, 1)]
    if colouring.numbers is not None:
        numbered = []
        for rows, name, symbol in zip(rows_of_sets, SETS, SYMBOLS, strict=True):
            numbered += _numbered(rows, name, symbol=symbol, numbers=colouring.numbers, theme=theme)
        return numbered
    if colouring.groups is not None:
        return _by_group(rows_of_sets, colouring.groups, theme=theme)
    traces = []
    set_colours = (theme.target, theme.retro)
    for rows, name, symbol, colour in zip(rows_of_sets, SETS, SYMBOLS, set_colours, strict=True):
        if len(rows):
            marker = {"color": colour, "symbol": symbol, "opacity": 0.75}
            traces.append({"rows": rows, "name": name, "marker": marker})
    return traces


def _numbered(
    rows: np.ndarray, name: str, symbol: str, numbers: np.ndarray, theme: Colours
) -> list[dict]:
    """Return a trace of the known numbers, on the colour scale, and one of the unknown ones."""
    is_known = ~np.isnan(numbers[rows])
    known_rows, unknown = rows[is_known], rows[~is_known]
    traces = []
    if len(unknown):
        marker = {"color": theme.undefined, "symbol": symbol, "opacity": 0.5}
        traces.append({"rows": unknown, "name": f"{name}, unknown", "marker": marker})
    if len(known_rows):
        marker = {"color": numbers[known_rows], "coloraxis": "coloraxis"}
        marker |= {"symbol": symbol, "opacity": 0.9}
        traces.append({"rows": known_rows, "name": name, "marker": marker})
    return traces


def _by_group(rows_of_sets: list[np.ndarray], groups: Sequence[str], theme: Colours) -> list[dict]:
    """Return traces in which the most frequent groups have a colour each and the rest share one."""
    group_names = np.asarray([group or "no category" for group in groups], dtype=object)
    frequent = [name for name, _ in Counter(group_names.tolist()).most_common(N_GROUPS)]
    labels = np.where(np.isin(group_names, frequent), group_names, OTHERS)
    hues = (theme.genuine, theme.artifact, theme.fixed, theme.broken, theme.benchmark, theme.retro)
    colours = dict(zip(frequent, hues, strict=False)) | {OTHERS: theme.undefined}
    traces: list[dict] = []
    for group in [*frequent, OTHERS]:
        for rows, symbol in zip(rows_of_sets, SYMBOLS, strict=True):
            group_rows = rows[labels[rows] == group]
            if len(group_rows):
                traces.append(
                    {
                        "rows": group_rows,
                        "name": as_text(group, limit=40),
                        "legendgroup": group,
                        # Both sets share one entry in the legend.
                        "showlegend": all(trace["legendgroup"] != group for trace in traces),
                        "marker": {"color": colours[group], "symbol": symbol, "opacity": 0.8},
                    }
                )
    return traces


def _scale(colouring: Colouring, theme: Colours) -> dict:
    """Return the colour scale of numbers, without the palest hue, which would hide points."""
    return {
        "colorscale": [[0, theme.control], [0.5, theme.flip[1]], [1, theme.flip[2]]],
        "colorbar": {
            "title": {"text": colouring.title, "side": "right"},
            "thickness": 12,
            "len": 0.8,
        },
    }
