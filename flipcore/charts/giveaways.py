"""What gives a set away: bars to the left speak for the target, bars to the right for the retro-holdout."""

from collections.abc import Sequence

from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure


def giveaway_bars(
    names: Sequence[str], values: Sequence[float], lows: Sequence[float], highs: Sequence[float], c: Colours, *, title: str
) -> Figure:
    """One bar a name with its range, strongest at the top; names are data and shown letter by letter."""
    figure = new_figure()
    for is_positive, side, colour in ((False, "speaks for target", c.target), (True, "speaks for retro", c.retro)):
        rows = [i for i, value in enumerate(values) if (value > 0) == is_positive]
        if rows:
            figure.add_bar(
                y=rows,
                x=[values[i] for i in rows],
                orientation="h",
                width=0.75,  # else each side takes the width that its own gaps allow
                name=side,
                marker_color=colour,
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "color": c.text,
                    "thickness": 1.5,
                    "width": 3,
                    "array": [highs[i] - values[i] for i in rows],
                    "arrayminus": [values[i] - lows[i] for i in rows],
                },
                customdata=[[as_text(names[i]), lows[i], highs[i]] for i in rows],
                hovertemplate="%{customdata[0]}: %{x:.2f} [%{customdata[1]:.2f}, %{customdata[2]:.2f}]<extra></extra>",
            )
    words = f"What tells the sets apart: {title}."
    laid_out(figure, c, height=90 + 24 * len(names), says=words, x_title=title)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[as_text(name) for name in names],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(barmode="overlay", bargap=0.25)
    return figure
