"""A mean as results arrive, with limits that hold however often one looks."""

import numpy as np

from flipcore.charts.theme import Colours, Figure, laid_out, new_figure
from flipcore.stats.base.simultaneous import SequencePath

MOST_POINTS = 800  # of a line: more than it has pixels


def sequence(paths: dict[str, SequencePath], c: Colours, y_title: str) -> Figure:
    """A line and its band for each name, over the number of items that came in."""
    figure = new_figure()
    for (name, path), colour in zip(paths.items(), (c.genuine, c.artifact, c.broken, c.fixed, c.floor, c.retro), strict=False):
        at = np.unique(np.linspace(0, len(path.t) - 1, min(len(path.t), MOST_POINTS)).round().astype(int))
        t, means, low, high = (one[at] for one in (path.t, path.means, path.low, path.high))
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
            hovertemplate="%{y:.2f} [%{customdata[0]:.2f}, %{customdata[1]:.2f}], %{x} items<extra></extra>",
        )
    n = max((int(path.t[-1]) for path in paths.values() if len(path.t)), default=0)
    words = f"The mean as items came in, with 95 % limits that hold at every number of items at once; n = {n:,}."
    laid_out(figure, c, height=320, says=words, x_title="items, in the random order in which they were asked", y_title=y_title)
    figure.update_yaxes(range=[0, 1.02])
    return figure
