"""Small multiples: one panel a model, on the same rows and one scale."""

from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.charts.theme import Colours, Figure, as_text, laid_out
from flipcore.core.records import IDENTITY

HEIGHT_PX = 380


def flip_panels(rates: Mapping[str, np.ndarray], columns: Sequence[str], c: Colours, row_title: str) -> Figure:
    """`rates` model -> (rows, columns) shares that flip, NaN left empty. One colour scale from 0 to 1 for all panels."""
    from plotly.subplots import make_subplots

    names = [as_text("noise floor" if name == IDENTITY else name.replace("_", " "), width=14) for name in columns]
    figure = make_subplots(
        cols=max(1, len(rates)), shared_yaxes=True, horizontal_spacing=0.02, subplot_titles=[as_text(one) for one in rates]
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
        coloraxis={"colorscale": scale, "cmin": 0, "cmax": 1, "colorbar": {"title": "share<br>that flip", "thickness": 12}}
    )
    figure.update_yaxes(autorange="reversed", showticklabels=False, showgrid=False)
    figure.update_yaxes(title_text=row_title, col=1)
    figure.update_xaxes(showgrid=False)
    return figure
