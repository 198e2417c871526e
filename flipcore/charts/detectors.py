"""All detectors of memory under one another: how far the benchmark differs from its control, with the interval, and the verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.charts.captions import caption
from flipcore.charts.interval_rows import ROW_PX
from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure, whiskers
from flipcore.stats.base.estimate import Estimate

CLAIMED, NONE_SHOWN, OPEN = "circle", "circle-open", "diamond-open"  # something is claimed, nothing is shown, nobody can say


@dataclass(frozen=True)
class DetectorMark:
    """`effect` is a gap, or the share of items beyond the controls' mark, where `chance` is expected; `verdict` is its word, `symbol` one
    of the three above; `sentence` is read under the pointer."""

    title: str
    group: str
    verdict: str
    symbol: str
    sentence: str
    effect: Estimate
    chance: float = 0.0


def detector_rows(marks: Sequence[DetectorMark], c: Colours) -> Figure:
    """A row a detector, the first on top; a missing effect keeps its row. Verdicts differ in shape and colour; a tick is what nothing
    memorized would give."""
    figure, titles, place = new_figure(), [], {}
    for group in dict.fromkeys(one.group for one in marks):
        titles += [f"<b>{as_text(group)}</b>"]
        for one in marks:
            if one.group == group:
                place[one], titles = len(titles), [*titles, as_text(one.title)]
    kinds = dict.fromkeys((one.symbol, one.verdict) for one in sorted(marks, key=lambda one: one.symbol != CLAIMED))
    for symbol, verdict in kinds:
        rows = [one for one in marks if (one.symbol, one.verdict) == (symbol, verdict)]
        effects, colour = [one.effect for one in rows], c.benchmark if symbol == CLAIMED else c.muted
        figure.add_scatter(
            x=[100 * one.value for one in effects],
            y=[place[one] for one in rows],
            name=as_text(verdict),
            mode="markers",
            marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 2.5, "color": colour}},
            error_x=whiskers(effects, colour, 2.5, 6, scale=100),
            customdata=[[as_text(one.title), as_text(one.sentence)] for one in rows],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    there = [one for one in marks if not math.isnan(one.effect.value)]
    figure.add_scatter(
        x=[100 * one.chance for one in there],
        y=[place[one] for one in there],
        name="nothing memorized",
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 16, "color": c.text, "line": {"width": 1.5}},
        hoverinfo="skip",
    )
    words = caption("Gaps in points, or items beyond the controls' mark in percent.", [one.effect for one in marks])
    laid_out(figure, c, height=90 + ROW_PX * len(titles) * 3 // 4, says=words, x_title="points, or % of the items")
    return figure.update_yaxes(
        tickvals=list(range(len(titles))), ticktext=titles, range=[len(titles) - 0.4, -0.6], zeroline=False
    )
