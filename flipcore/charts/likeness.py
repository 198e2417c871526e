"""How alike entries are: inside either set, pair by pair, and across, by the nearest entry of the other set."""

from collections.abc import Sequence

import numpy as np

from flipcore.charts.entry_map import SETS
from flipcore.charts.theme import Colours, Figure, laid_out, new_figure

NEAREST = "cosine with the nearest entry of the other set"


def pair_likeness(edges: np.ndarray, target: np.ndarray, retro: np.ndarray, c: Colours) -> Figure:
    """Share of the pairs of a set in each bin of cosine, one outline a set, so that sets of any size compare. On a square-root
    scale: what matters are the few pairs at the right end."""
    figure = new_figure()
    middles = (edges[:-1] + edges[1:]) / 2
    for counts, name, colour, dash in zip((target, retro), SETS, (c.target, c.retro), ("solid", "dash"), strict=True):
        share = counts / max(1, counts.sum())
        figure.add_scatter(
            x=middles,
            y=np.sqrt(share),
            mode="lines",
            name=f"inside the {name}",
            line={"shape": "hvh", "color": colour, "width": 3, "dash": dash},
            customdata=np.column_stack([counts, 100 * share]),
            hovertemplate="cosine about %{x:.2f}: %{customdata[0]:,} pairs (%{customdata[1]:.3g} %)<extra>" + name + "</extra>",
        )
    bins = np.flatnonzero(target + retro)
    ticks = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8])
    words = (
        f"Share of pairs by cosine, n = {int(target.sum()):,} pairs inside the target and {int(retro.sum()):,} inside retro."
    )
    laid_out(figure, c, height=340, says=words, x_title="cosine of two entries of one set", y_title="share of pairs")
    figure.update_xaxes(range=[edges[bins[0]], edges[min(len(edges) - 1, bins[-1] + 1)]] if len(bins) else None)
    figure.update_yaxes(tickvals=np.sqrt(ticks), ticktext=[f"{100 * tick:g} %" for tick in ticks], rangemode="tozero")
    return figure


def nearest_histogram(
    closest: np.ndarray, labels: np.ndarray, c: Colours, *, selection: Sequence[int] = (), n_bins: int = 24
) -> Figure:
    """Entries by the cosine of the nearest entry of the other set, a bar a bin and set; `customdata` is (low, high, label).

    Rows in `selection` (on the map) are drawn again in front, in the colour of text.
    """
    lowest = float(closest.min())
    edges = np.linspace(lowest, max(float(closest.max()), lowest + 0.01), n_bins + 1)
    bins = np.clip(np.searchsorted(edges, closest, side="right") - 1, 0, n_bins - 1)
    middles = (edges[:-1] + edges[1:]) / 2
    mask = np.zeros(len(closest), dtype=bool)
    mask[list(selection)] = True
    figure = new_figure()
    for label, (name, colour) in enumerate(zip(SETS, (c.target, c.retro), strict=True)):
        mine = labels == label
        counts = np.bincount(bins[mine], minlength=n_bins)
        ends = [[low, high, label] for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        share = 100 * counts / max(1, mine.sum())
        figure.add_bar(
            x=middles,
            y=share,
            name=name,
            marker_color=colour,
            customdata=ends,
            offsetgroup=name,
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{text}<extra>" + name + "</extra>",
            text=[f"{count:,} entries" for count in counts],
            textposition="none",
            unselected={"marker": {"opacity": 0.35}},
        )
        if mask.any():
            front = 100 * np.bincount(bins[mine & mask], minlength=n_bins) / max(1, mine.sum())
            figure.add_bar(
                x=middles,
                y=front,
                name="selected on the map",
                marker_color=c.text,
                offsetgroup=name,
                hoverinfo="skip",
                showlegend=label == 0,
                legendgroup="selected",
            )
    figure.update_layout(barmode="group", bargap=0.15, bargroupgap=0)
    figure.update_xaxes(fixedrange=True).update_yaxes(fixedrange=True)
    words = f"Entries by {NEAREST}, n = {len(closest):,}."
    return laid_out(figure, c, height=280, says=words, x_title=NEAREST, y_title="% of the set")
