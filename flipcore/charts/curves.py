"""Many curves in grey with the flagged ones drawn: similarity over levels of flipped bits."""

from collections.abc import Sequence

import numpy as np

from flipcore.charts.theme import Colours, Figure, laid_out, new_figure

MOST_GREY = 200


def level_curves(means: np.ndarray, flagged: np.ndarray, levels: Sequence[str], c: Colours, y_title: str) -> Figure:
    """`means` (items, levels). One line a text, as two traces, so that a thousand texts are as quick as ten."""
    figure = new_figure()
    rest = np.flatnonzero(~flagged)[:MOST_GREY]
    for rows, name, colour, width in (
        (rest, "not flagged", c.undefined, 1),
        (np.flatnonzero(flagged)[:MOST_GREY], "flagged", c.benchmark, 1.5),
    ):
        x = [place for _ in rows for place in (*range(len(levels)), None)]
        y = [value for row in rows for value in (*means[row].tolist(), None)]
        n = int((flagged if name == "flagged" else ~flagged).sum())
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name=f"{name} ({n:,})",
            line={"color": colour, "width": width},
            opacity=0.7,
            hoverinfo="skip",
        )
    words = f"Similarity of continuations as bits are flipped, a curve a text, n = {len(means):,}."
    laid_out(figure, c, height=340, says=words, x_title="bits flipped (characters touched)", y_title=y_title)
    figure.update_xaxes(tickvals=list(range(len(levels))), ticktext=list(levels), range=[-0.3, len(levels) - 0.6])
    return figure
