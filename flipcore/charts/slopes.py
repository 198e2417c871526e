"""Two slopes: accuracy of benchmark and control, original and rewritten, with intervals."""

from flipcore.charts.captions import caption
from flipcore.charts.theme import Colours, Figure, laid_out, new_figure, whiskers
from flipcore.stats.memory.rewritten import SetDrop


def slopes(benchmark: SetDrop, control: SetDrop, names: tuple[str, str], c: Colours) -> Figure:
    """A line a set from its accuracy before to that after, in percent."""
    figure = new_figure()
    for drop, name, colour, shift in ((benchmark, names[0], c.benchmark, -0.01), (control, names[1], c.control, 0.01)):
        ends = (drop.accuracy_before, drop.accuracy_after)
        values = [100 * one.value for one in ends]
        figure.add_scatter(
            x=[shift, 1 + shift],
            y=values,
            mode="lines+markers",
            name=f"{name} (n = {ends[0].n:,})",
            line={"color": colour, "width": 4},
            marker={"size": 11},
            customdata=[one.text() for one in ends],
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
            error_y=whiskers(ends, colour, 2, 6, scale=100),
        )
    words = "Accuracy, original and rewritten."
    ends_of_both = [end for drop in (benchmark, control) for end in (drop.accuracy_before, drop.accuracy_after)]
    laid_out(figure, c, height=320, says=caption(words, ends_of_both), y_title="accuracy, %")
    figure.update_xaxes(tickvals=[0, 1], ticktext=["original", "rewritten"], range=[-0.25, 1.25], showgrid=False)
    figure.update_yaxes(range=[0, 103])
    return figure
