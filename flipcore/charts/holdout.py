"""Figures of the Holdout page: similarity, what tells the sets apart, and versions of a holdout."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from flipcore.charts.entry_map import SETS
from flipcore.charts.theme import Colours, Figure, as_text, error_bars, laid_out, new_figure
from flipcore.stats.holdout.units import NO_DIFFERENCE, ONE_SIDED, TITLES
from flipcore.stats.holdout.verdict import BEYOND, DIFFERENT, EQUIVALENT, WITHIN

NEAREST = "cosine with the nearest entry of the other set"


def pair_likeness(
    edges: np.ndarray, target: np.ndarray, retro: np.ndarray, theme: Colours
) -> Figure:
    """Draw the share of a set's pairs in each bin of cosine, one outline per set.

    `target` and `retro` have counts per bin. The scale is a square root, which shows the few most
    similar pairs on the right.
    """
    figure = new_figure()
    middles = (edges[:-1] + edges[1:]) / 2
    for counts, name, colour, dash in zip(
        (target, retro), SETS, (theme.target, theme.retro), ("solid", "dash"), strict=True
    ):
        share = counts / max(1, counts.sum())
        figure.add_scatter(
            x=middles,
            y=np.sqrt(share),
            mode="lines",
            name=f"inside the {name}",
            line={"shape": "hvh", "color": colour, "width": 3, "dash": dash},
            customdata=np.column_stack([counts, 100 * share]),
            hovertemplate="cosine about %{x:.2f}: %{customdata[0]:,} pairs (%{customdata[1]:.3g} "
            "%)<extra>" + name + "</extra>",
        )
    bins = np.flatnonzero(target + retro)
    ticks = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8])
    words = (
        f"Share of pairs by cosine, n = {int(target.sum()):,} pairs inside the benchmark and "
        f"{int(retro.sum()):,} inside the holdout."
    )
    x_title = "cosine of two entries of one set"
    laid_out(figure, theme, height=340, says=words, x_title=x_title, y_title="pairs")
    figure.update_yaxes(tickformat=".0%")
    figure.update_xaxes(
        range=[edges[bins[0]], edges[min(len(edges) - 1, bins[-1] + 1)]] if len(bins) else None
    )
    figure.update_yaxes(
        tickvals=np.sqrt(ticks), ticktext=[f"{100 * tick:g}%" for tick in ticks], rangemode="tozero"
    )
    return figure


def nearest_histogram(
    closest: np.ndarray,
    labels: np.ndarray,
    theme: Colours,
    *,
    selection: Sequence[int] = (),
    n_bins: int = 24,
) -> Figure:
    """Draw the cosine of each entry with the nearest one of the other set as a histogram.

    Each bin has a bar per set, with `customdata` (low, high, label). Rows in `selection` (on the
    map) are drawn again in front, in the colour of text.
    """
    lowest = float(closest.min())
    edges = np.linspace(lowest, max(float(closest.max()), lowest + 0.01), n_bins + 1)
    bins = np.clip(np.searchsorted(edges, closest, side="right") - 1, 0, n_bins - 1)
    middles = (edges[:-1] + edges[1:]) / 2
    is_selected = np.zeros(len(closest), dtype=bool)
    is_selected[list(selection)] = True
    figure = new_figure()
    for label, (name, colour) in enumerate(zip(SETS, (theme.target, theme.retro), strict=True)):
        in_set = labels == label
        counts = np.bincount(bins[in_set], minlength=n_bins)
        ends = [[low, high, label] for low, high in pairwise(edges.tolist())]
        share = 100 * counts / max(1, in_set.sum())
        figure.add_bar(
            x=middles,
            y=share,
            name=name,
            marker_color=colour,
            customdata=ends,
            offsetgroup=name,
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{text}<extra>"
            + name
            + "</extra>",
            text=[f"{count:,} entries" for count in counts],
            textposition="none",
            unselected={"marker": {"opacity": 0.35}},
        )
        if is_selected.any():
            n_selected = np.bincount(bins[in_set & is_selected], minlength=n_bins)
            figure.add_bar(
                x=middles,
                y=100 * n_selected / max(1, in_set.sum()),
                name="selected on the map",
                marker_color=theme.text,
                offsetgroup=name,
                hoverinfo="skip",
                showlegend=label == 0,
                legendgroup="selected",
            )
    figure.update_layout(barmode="group", bargap=0.15, bargroupgap=0)
    figure.update_xaxes(fixedrange=True).update_yaxes(fixedrange=True)
    words = f"Entries by {NEAREST}, n = {len(closest):,}."
    return laid_out(figure, theme, height=280, says=words, x_title=NEAREST, y_title="% of the set")


def giveaway_bars(
    names: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    theme: Colours,
    *,
    title: str,
) -> Figure:
    """Draw a bar per name with its range; the names come sorted, the strongest first. Bars to the
    left are typical of the benchmark, bars to the right of the holdout."""
    figure = new_figure()
    for is_positive, side, colour in (
        (False, "speaks for the benchmark", theme.target),
        (True, "speaks for the holdout", theme.retro),
    ):
        rows = [i for i, value in enumerate(values) if (value > 0) == is_positive]
        if rows:
            figure.add_bar(
                y=rows,
                x=[values[i] for i in rows],
                orientation="h",
                width=0.75,  # by default the gaps between a side's rows would set its width
                name=side,
                marker_color=colour,
                error_x=error_bars(
                    [highs[i] - values[i] for i in rows],
                    [values[i] - lows[i] for i in rows],
                    colour=theme.text,
                    thickness=1.5,
                    width=3,
                ),
                customdata=[[as_text(names[i]), lows[i], highs[i]] for i in rows],
                hovertemplate="%{customdata[0]}: %{x:.2f} [%{customdata[1]:.2f}, "
                "%{customdata[2]:.2f}]<extra></extra>",
            )
    words = f"What tells the sets apart: {title}."
    laid_out(figure, theme, height=90 + 24 * len(names), says=words, x_title=title)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[as_text(name) for name in names],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(barmode="overlay", bargap=0.25)
    return figure


# Outcome of a test -> symbol of its point.
SYMBOLS = {EQUIVALENT: "circle", WITHIN: "diamond", DIFFERENT: "x", BEYOND: "cross"}


def equivalence_figure(versions: Sequence[Mapping], theme: Colours) -> Figure:
    """Draw the tests of several versions of a holdout, a panel per test.

    `versions` come oldest first: [{"label", "results": {test: {"value", "bound", "margin",
    "state"}}}]. Tests that no version ran have no panel. `SYMBOLS` shows the state; open circles
    are undecided.
    """
    from plotly.subplots import make_subplots

    names_run: set[str] = set()
    for version in versions:
        names_run |= set(version["results"])
    tests = [name for name in TITLES if name in names_run]
    figure = make_subplots(
        rows=1,
        cols=max(len(tests), 1),
        subplot_titles=[TITLES[name] for name in tests],
        horizontal_spacing=0.07,
    )
    for column, name in enumerate(tests, start=1):
        tested_versions = [version for version in versions if name in version["results"]]
        _panel(figure, tested_versions, name=name, column=column, theme=theme)
    says = "Each test of each version: its interval, and its margin as a tick."
    laid_out(figure, theme, height=320, says=says)
    return figure.update_layout(showlegend=False, margin={"l": 8, "r": 8, "t": 48, "b": 8})


def _panel(figure, versions: Sequence[Mapping], name: str, column: int, theme: Colours) -> None:
    # Difficulty is drawn in points, the other tests in their own units.
    scale = 100 if name == "difficulty" else 1
    outcomes = [version["results"][name] for version in versions]
    labels = [version["label"] for version in versions]
    one_sided = name in ONE_SIDED
    # One-sided tests estimate shares.
    number = ".1%" if one_sided else ".3f"
    up = [scale * (outcome["bound"][1] - outcome["value"]) for outcome in outcomes]
    down = [0.0] * len(outcomes)
    if not one_sided:
        down = [scale * (outcome["value"] - outcome["bound"][0]) for outcome in outcomes]
    figure.add_scatter(
        x=labels,
        y=[scale * outcome["value"] for outcome in outcomes],
        mode="markers",
        row=1,
        col=column,
        marker={
            "color": theme.text,
            "size": 11,
            "symbol": [SYMBOLS.get(outcome["state"], "circle-open") for outcome in outcomes],
        },
        error_y=error_bars(up, down, colour=theme.text, thickness=2, width=6),
        customdata=[outcome["state"] for outcome in outcomes],
        hovertemplate=f"%{{y:{number}}}, %{{customdata}}<extra>%{{x}}</extra>",
    )
    margins = []
    for label, outcome in zip(labels, outcomes, strict=True):
        if outcome["margin"] is not None:
            margins.append((label, outcome["margin"]))
    for sign in (1, -1) if name == "difficulty" else (1,):
        figure.add_scatter(
            x=[label for label, _ in margins],
            y=[sign * scale * margin for _, margin in margins],
            mode="markers",
            row=1,
            col=column,
            hovertemplate=f"margin %{{y:{number}}}<extra>%{{x}}</extra>",
            marker={"symbol": "line-ew", "size": 26, "line": {"color": theme.genuine, "width": 3}},
        )
    figure.update_yaxes(tickformat=".0%" if one_sided else "", row=1, col=column)
    line = {"color": theme.floor, "width": 1.5, "dash": "dot"}
    figure.add_hline(y=scale * NO_DIFFERENCE[name], line=line, row=1, col=column)
