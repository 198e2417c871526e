"""A study's flips as one thin bar in three parts: under the compared extractor alone, under both, under the reference alone."""

from flipcore.charts.bars import FLOORS, floor_marker, markers, parts
from flipcore.charts.captions import caption
from flipcore.charts.theme import Colours, Figure, laid_out, new_figure


def split_bar(one, c: Colours) -> Figure:
    """`one`: the Decomposition over all axes, with its noise floors where they were measured."""
    figure = new_figure()
    for share, (name, marker) in zip(parts(one), markers(c).items(), strict=True):
        figure.add_bar(
            x=[share], y=[""], orientation="h", name=name, marker=marker, hovertemplate=f"{name} {share:.2f}<extra></extra>"
        )
    floors = (("compared", 0.0, one.W.value), ("reference", parts(one)[0], one.W_ref.value))
    for i, (name, start, floor) in enumerate([row for row in floors if row[2] == row[2]]):
        figure.add_scatter(
            x=[start + floor],
            y=[""],
            mode="markers",
            name="noise floor (◇ reference, from the blue)",
            showlegend=i == 0,
            marker=floor_marker(c, "ns", 18, 3) if name == "compared" else floor_marker(c),
            hovertemplate=f"noise floor, {name} {floor:.2f}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35)
    words = f"Pairs that flip under the compared extractor alone, under both, under the reference alone; {FLOORS}."
    laid_out(figure, c, height=156, x_title="share of pairs that flip", says=caption(words, [one.T]))
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
