"""Figure of scores: nested intervals, with dots for wordings and extractors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flipcore.charts.theme import Colours, Figure, as_text, caption, laid_out, new_figure
from flipcore.stats.base.estimate import Estimate, number_text

ROW_PX = 104
WIDTHS = (18.0, 13.0, 8.0, 3.0)  # line widths of the intervals, the narrowest interval first


@dataclass(frozen=True)
class ScoreBars:
    """The score of one model with its intervals by title, the narrowest first. `wordings`,
    `extractors` and `own_prompt` are name -> score."""

    model: str
    score: float
    intervals: Mapping[str, Estimate]
    wordings: Mapping[str, float] = field(default_factory=dict)
    extractors: Mapping[str, float] = field(default_factory=dict)
    own_prompt: Mapping[str, float] = field(default_factory=dict)


def score_figure(models: Sequence[ScoreBars], theme: Colours) -> Figure:
    """Draw one row per model: nested intervals, with dots of wordings and extractors below."""
    figure = new_figure()
    shades = (theme.genuine, theme.benchmark, theme.control, theme.undefined)
    for position, bars in enumerate(models):
        # The widest interval is drawn first, so that the narrower ones lie on it.
        styled = list(zip(bars.intervals.items(), WIDTHS, shades, strict=True))
        for (title, estimate), width, colour in reversed(styled):
            if estimate.has_interval:
                figure.add_scatter(
                    x=[estimate.low, estimate.high],
                    y=[position, position],
                    mode="lines",
                    line={"color": colour, "width": width},
                    name=title,
                    legendgroup=title,
                    showlegend=title not in {trace.name for trace in figure.data},
                    hovertemplate=f"{as_text(bars.model)}, {title}: "
                    f"{estimate.text()}<extra></extra>",
                )
        figure.add_scatter(
            x=[bars.score],
            y=[position],
            mode="markers",
            marker={"color": theme.page, "size": 9, "line": {"color": theme.text, "width": 2}},
            hovertemplate=f"{as_text(bars.model)}: {number_text(bars.score)}<extra></extra>",
            showlegend=False,
        )
        kinds = (
            ("a prompt", bars.wordings, "circle", theme.text),
            ("another extractor", bars.extractors, "diamond", theme.artifact),
            ("own prompt", bars.own_prompt, "square", theme.fixed),
        )
        for name, scores, symbol, colour in kinds:
            if scores:
                figure.add_scatter(
                    x=list(scores.values()),
                    y=[position + 0.3] * len(scores),
                    mode="markers",
                    marker={"color": colour, "size": 9, "symbol": symbol, "opacity": 0.8},
                    name=name,
                    legendgroup=name,
                    showlegend=name not in {trace.name for trace in figure.data},
                    customdata=[
                        [as_text(label), number_text(value)] for label, value in scores.items()
                    ],
                    hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
                )
    estimates: list[Estimate] = []
    for bars in models:
        estimates += bars.intervals.values()
    says = caption("Scores with their intervals.", estimates)
    laid_out(figure, theme, height=80 + ROW_PX * len(models), says=says, x_title="score")
    ticks = {
        "tickvals": list(range(len(models))),
        "ticktext": [as_text(bars.model, 24) for bars in models],
    }
    return figure.update_yaxes(
        **ticks, range=[len(models) - 0.4, -0.5], showgrid=False, zeroline=False
    )
