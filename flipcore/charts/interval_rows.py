"""Figure of estimates under one another: a dot and its interval each, and a common bound."""

import math
from collections.abc import Sequence

from flipcore.charts.theme import Colours, Figure, as_text, caption, laid_out, new_figure, whiskers
from flipcore.stats.base.estimate import Estimate, number_text, percent_text

ROW_PX = 42


def interval_rows(
    rows: Sequence[tuple[str, Estimate]],
    theme: Colours,
    bound: float | None = None,
    bound_name: str = "",
    *,
    is_share: bool = False,
) -> Figure:
    """Draw `rows` of (label, estimate), the first on top; a missing estimate has an empty row. Dots
    are filled where the whole interval is at or above `bound`. The axis ends at 1. With `is_share`
    numbers are percentages."""
    labels = [as_text(label) for label, _ in rows]
    estimates = [estimate for _, estimate in rows]
    are_above = [bound is None or estimate.low >= bound for estimate in estimates]
    figure = new_figure()
    figure.add_scatter(
        x=[estimate.value for estimate in estimates],
        y=list(range(len(rows))),
        mode="markers",
        marker={
            "color": theme.genuine,
            "size": 13,
            "symbol": ["circle" if is_above else "circle-open" for is_above in are_above],
            "line": {"color": theme.genuine, "width": 2.5},
        },
        error_x=whiskers(estimates, theme.genuine, thickness=2.5, width=7),
        customdata=[
            [label, estimate.text_percent() if is_share else estimate.text()]
            for label, estimate in zip(labels, estimates, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )
    lows = [0.0 if bound is None else bound - 0.3]
    for estimate in estimates:
        lows += [end for end in (estimate.value, estimate.low) if not math.isnan(end)]
    says = caption("Estimates with their intervals.", estimates)
    laid_out(figure, theme, height=70 + ROW_PX * len(rows), says=says)
    figure.update_xaxes(range=[min(lows) - 0.03, 1.03], tickformat=".0%" if is_share else "")
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=labels,
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    if bound is not None:
        bound_text = percent_text(bound) if is_share else number_text(bound)
        figure.add_vline(x=bound, line={"color": theme.text, "width": 2, "dash": "dash"})
        figure.add_annotation(
            x=bound,
            y=1.0,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            text=f"{bound_name} {bound_text}".strip(),
            font={"size": 13},
        )
    return figure.update_layout(showlegend=False)
