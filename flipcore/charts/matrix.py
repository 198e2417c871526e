"""A small square matrix of shares, numbers in the cells."""

import numpy as np

from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure, on_scale, text_on


def matrix(share: np.ndarray, names: list[str], c: Colours) -> Figure:
    """Heatmap of `share` (k, k), NaN left empty; the diagonal is empty too, because a readout agrees with itself."""
    names = [as_text(name) for name in names]
    off_diagonal = share.astype(float).copy()
    np.fill_diagonal(off_diagonal, np.nan)
    text = [["" if np.isnan(value) else f"{value:.2f}" for value in row] for row in off_diagonal]
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
        colorbar={"title": "share<br>that differ", "thickness": 12, "len": 0.9},
        hovertemplate="%{y} v %{x}: %{text} differ<extra></extra>",
    )
    places = [(i, j) for i, j in np.ndindex(*off_diagonal.shape) if text[i][j]]
    ink = [text_on(on_scale(float(off_diagonal[place]), c.flip)) for place in places]  # Plotly's own choice is a grey
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
