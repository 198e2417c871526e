"""Standardised differences between benchmark and controls before and after matching (Love et al. 2004)."""

from collections.abc import Sequence

from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure
from flipcore.stats.memory.matching import WORST, Balance

ROW_PX = 42


def balance_figure(rows: Sequence[Balance], c: Colours) -> Figure:
    """A row a trait: open dots before, filled after; dashed lines at the most that a paired claim may rest on."""
    figure = new_figure()
    places = list(range(len(rows)))
    for name, values, symbol in (
        ("all controls", [one.before for one in rows], "circle-open"),
        ("pairs", [one.after for one in rows], "circle"),
    ):
        figure.add_scatter(
            x=values,
            y=places,
            mode="markers",
            name=name,
            marker=dict(color=c.benchmark, size=13, symbol=symbol, line=dict(color=c.benchmark, width=2.5)),
            hovertemplate="%{x:.2f} SD<extra>" + name + "</extra>",
        )
    for bound in (-WORST, WORST):
        figure.add_vline(x=bound, line=dict(color=c.muted, width=2, dash="dash"))
    words = "Standardised differences between benchmark and controls, before and after matching."
    laid_out(figure, c, height=110 + ROW_PX * len(rows), says=words, x_title="benchmark − control, standard deviations")
    ends = [abs(x) for one in rows for x in (one.before, one.after) if x == x]
    width = 1.1 * max([2 * WORST, *ends])
    figure.update_xaxes(range=[-width, width])
    labels = [as_text(one.title) for one in rows]
    return figure.update_yaxes(tickvals=places, ticktext=labels, range=[len(rows) - 0.4, -0.6], showgrid=False, zeroline=False)
