"""Figures of the Memory page: detectors, drops, similarity curves, matching, and known truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.charts.interval_rows import ROW_PX
from flipcore.charts.theme import Colours, Figure, as_text, caption, laid_out, new_figure, whiskers
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.ground_truth import Detector, roc
from flipcore.stats.memory.matching import MAX_IMBALANCE, Balance
from flipcore.stats.memory.rewritten import SetDrop

# Symbols of verdicts: memory is claimed, none is shown, undecided, withheld by a gate or a lock.
CLAIMED, NONE_SHOWN, OPEN, WITHHELD = "circle", "circle-open", "diamond-open", "x-thin-open"


@dataclass(frozen=True)
class DetectorMark:
    """One detector in the figure.

    `effect` is a gap, or with `is_share` the share of items beyond the controls' mark. `chance` is
    the effect expected without memorization. `symbol` is one of the four above. `sentence` is shown
    under the pointer.
    """

    title: str
    group: str
    verdict: str
    symbol: str
    sentence: str
    effect: Estimate
    chance: float = 0.0
    is_share: bool = False

    @property
    def is_drawn(self) -> bool:
        return not math.isnan(self.effect.value)


def detector_rows(marks: Sequence[DetectorMark], theme: Colours) -> Figure:
    """Draw a row per detector, the first on top, without those whose effect is missing.

    Gaps and shares have an axis each. Verdicts differ in shape and colour. A tick marks the effect
    expected without memorization.
    """
    marks = [mark for mark in marks if mark.is_drawn]
    figure = new_figure()
    titles: list[str] = []
    row_of: dict[DetectorMark, int] = {}
    for group in dict.fromkeys(mark.group for mark in marks):
        titles.append(f"<b>{as_text(group)}</b>")
        for mark in marks:
            if mark.group == group:
                row_of[mark] = len(titles)
                titles.append(as_text(mark.title))
    claimed_first = sorted(marks, key=lambda mark: mark.symbol != CLAIMED)
    units = sorted({mark.is_share for mark in marks})
    marks_of_kind: dict[tuple[str, str, bool], list[DetectorMark]] = {}
    for mark in claimed_first:
        marks_of_kind.setdefault((mark.symbol, mark.verdict, mark.is_share), []).append(mark)
    verdicts_in_legend = set()
    for (symbol, verdict, is_share), rows in marks_of_kind.items():
        effects = [mark.effect for mark in rows]
        colour = theme.benchmark if symbol == CLAIMED else theme.muted
        figure.add_scatter(
            x=[100 * effect.value for effect in effects],
            y=[row_of[mark] for mark in rows],
            name=as_text(verdict),
            legendgroup=verdict,
            showlegend=verdict not in verdicts_in_legend,
            xaxis=_axis(units, is_share=is_share),
            mode="markers",
            marker={
                "symbol": symbol,
                "size": 12,
                "color": colour,
                "line": {"width": 2.5, "color": colour},
            },
            error_x=whiskers(effects, colour, thickness=2.5, width=6, scale=100),
            customdata=[[as_text(mark.title), as_text(mark.sentence)] for mark in rows],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
        verdicts_in_legend.add(verdict)
    for is_share in units:
        measured = [mark for mark in marks if mark.is_share == is_share]
        figure.add_scatter(
            x=[100 * mark.chance for mark in measured],
            y=[row_of[mark] for mark in measured],
            name="by chance",
            legendgroup="by chance",
            showlegend=is_share == units[0],
            xaxis=_axis(units, is_share=is_share),
            mode="markers",
            marker={
                "symbol": "line-ns-open",
                "size": 16,
                "color": theme.text,
                "line": {"width": 1.5},
            },
            hoverinfo="skip",
        )
    words = caption(
        "Gaps in points, or items beyond the controls' mark in percent.",
        [mark.effect for mark in marks],
    )
    # The axes are declared before `laid_out`, which then styles both.
    if len(units) == 2:
        figure.update_layout(xaxis_domain=[0, 0.48], xaxis2={"domain": [0.52, 1], "anchor": "y"})
    height = 90 + ROW_PX * len(titles) * 3 // 4
    laid_out(figure, theme, height=height, says=words, x_title=UNITS[bool(units and units[0])])
    if len(units) == 2:
        figure.update_layout(xaxis2_title_text=UNITS[True])
    return figure.update_yaxes(
        tickvals=list(range(len(titles))),
        ticktext=titles,
        range=[len(titles) - 0.4, -0.6],
        zeroline=False,
    )


# Short titles, because both axes are side by side on a phone; the caption has them in full.
UNITS = {False: "gap, points", True: "% of items"}


def _axis(units: Sequence[bool], *, is_share: bool) -> str:
    """Return the x axis of gaps or of shares: the second for shares where both are drawn."""
    return "x2" if len(units) == 2 and is_share else "x"


def slopes(benchmark: SetDrop, control: SetDrop, names: tuple[str, str], theme: Colours) -> Figure:
    """Draw a line per set from its accuracy before the change to that after, in percent."""
    figure = new_figure()
    for drop, name, colour, shift in (
        (benchmark, names[0], theme.benchmark, -0.01),
        (control, names[1], theme.control, 0.01),
    ):
        ends = (drop.accuracy_before, drop.accuracy_after)
        values = [100 * accuracy.value for accuracy in ends]
        figure.add_scatter(
            x=[shift, 1 + shift],
            y=values,
            mode="lines+markers",
            name=f"{name} (n = {ends[0].n:,})",
            line={"color": colour, "width": 4},
            marker={"size": 11},
            customdata=[accuracy.text() for accuracy in ends],
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
            error_y=whiskers(ends, colour, thickness=2, width=6, scale=100),
        )
    words = "Accuracy, original and rewritten."
    ends_of_both = []
    for drop in (benchmark, control):
        ends_of_both += [drop.accuracy_before, drop.accuracy_after]
    laid_out(figure, theme, height=320, says=caption(words, ends_of_both), y_title="accuracy, %")
    figure.update_xaxes(
        tickvals=[0, 1], ticktext=["original", "rewritten"], range=[-0.25, 1.25], showgrid=False
    )
    figure.update_yaxes(range=[0, 103])
    return figure


MAX_CURVES = 200  # most curves of flagged texts, and of others


def level_curves(
    means: np.ndarray, flagged: np.ndarray, levels: Sequence[str], theme: Colours, y_title: str
) -> Figure:
    """Draw similarity over levels of flipped bits, one curve per text. `means` is (texts, levels),
    `flagged` (texts,) True for flagged ones."""
    figure = new_figure()
    not_flagged = np.flatnonzero(~flagged)[:MAX_CURVES]
    for rows, name, colour, width in (
        (not_flagged, "not flagged", theme.undefined, 1),
        (np.flatnonzero(flagged)[:MAX_CURVES], "flagged", theme.benchmark, 1.5),
    ):
        # All curves are one trace, which draws as fast as a single one; a None separates them.
        x: list[float | None] = []
        y: list[float | None] = []
        for row in rows:
            x += [*range(len(levels)), None]
            y += [*means[row].tolist(), None]
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
    words = f"Similarity of continuations as bits flip, one curve per text, n = {len(means):,}."
    x_title = "bits flipped (characters touched)"
    laid_out(figure, theme, height=340, says=words, x_title=x_title, y_title=y_title)
    figure.update_xaxes(
        tickvals=list(range(len(levels))), ticktext=list(levels), range=[-0.3, len(levels) - 0.6]
    )
    return figure


def balance_figure(rows: Sequence[Balance], theme: Colours) -> Figure:
    """Draw standardised differences before and after matching, a row per trait (Love et al. 2004).
    Dashed lines are at the largest difference with which a paired claim may be made."""
    figure = new_figure()
    positions = list(range(len(rows)))
    for name, values, symbol in (
        ("all controls", [row.before for row in rows], "circle-open"),
        ("pairs", [row.after for row in rows], "circle"),
    ):
        figure.add_scatter(
            x=values,
            y=positions,
            mode="markers",
            name=name,
            marker=dict(
                color=theme.benchmark,
                size=13,
                symbol=symbol,
                line=dict(color=theme.benchmark, width=2.5),
            ),
            hovertemplate="%{x:.2f} SD<extra>" + name + "</extra>",
        )
    for bound in (-MAX_IMBALANCE, MAX_IMBALANCE):
        figure.add_vline(x=bound, line=dict(color=theme.muted, width=2, dash="dash"))
    words = "Standardised differences between benchmark and controls, before and after matching."
    x_title = "benchmark − control, standard deviations"
    laid_out(figure, theme, height=110 + ROW_PX * len(rows), says=words, x_title=x_title)
    widths = [2 * MAX_IMBALANCE]
    for row in rows:
        widths += [abs(x) for x in (row.before, row.after) if not math.isnan(x)]
    width = 1.1 * max(widths)
    figure.update_xaxes(range=[-width, width])
    labels = [as_text(row.title) for row in rows]
    return figure.update_yaxes(
        tickvals=positions,
        ticktext=labels,
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )


SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "x",
    "star",
    "hexagon",
    "triangle-down",
    "cross",
    "pentagon",
)
DASHES = ("solid", "dash", "dot", "dashdot")


def auc_by_dose(detectors: Sequence[Detector], theme: Colours) -> Figure:
    """Draw the AUC of each detector over the doses, with intervals; 0.5 is that of a coin."""
    figure = new_figure()
    all_doses: set[int] = set()
    for detector in detectors:
        all_doses |= {at_dose.dose for at_dose in detector.doses}
    doses = sorted(all_doses)
    hues = (theme.genuine, theme.artifact, theme.fixed, theme.broken, theme.retro, theme.benchmark)
    for number, detector in enumerate(detectors):
        # Detectors are shifted, so that their intervals at a dose do not cover each other.
        shift = 0.07 * (number - (len(detectors) - 1) / 2)
        hue = hues[number % len(hues)]
        values = [at_dose.auc for at_dose in detector.doses]
        figure.add_scatter(
            x=[doses.index(at_dose.dose) + shift for at_dose in detector.doses],
            y=[value.value for value in values],
            name=detector.name,
            mode="lines+markers",
            line={"color": hue, "dash": DASHES[number // len(hues) % len(DASHES)]},
            marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 9},
            error_y=whiskers(values, hue, thickness=1.2, width=3),
            text=[
                f"{value.text()} · {at_dose.detected.n:,} items"
                for value, at_dose in zip(values, detector.doses, strict=True)
            ],
            customdata=[at_dose.dose for at_dose in detector.doses],
            hovertemplate="<b>%{fullData.name}</b><br>read %{customdata:,} times: AUC "
            "%{text}<extra></extra>",
        )
    line = {"color": theme.muted, "dash": "dot"}
    figure.add_hline(y=0.5, line=line, annotation_text="a coin", annotation_position="bottom left")
    words = "AUC of each detector by how often items were read in training."
    estimates = []
    for detector in detectors:
        estimates += [at_dose.auc for at_dose in detector.doses]
    laid_out(
        figure,
        theme,
        height=380,
        says=caption(words, estimates),
        x_title="times read in training",
        y_title="AUC against never-seen items",
    )
    figure.update_xaxes(tickvals=list(range(len(doses))), ticktext=[f"{dose:,}" for dose in doses])
    figure.update_yaxes(range=[0, 1.04])
    return figure


def scores_by_dose(detector: Detector, theme: Colours) -> Figure:
    """Draw every item's score at its dose, the mean with its interval, and the cut-off."""
    groups = [(0, detector.never_seen, detector.never_mean)]
    groups += [(at_dose.dose, at_dose.scores, at_dose.mean) for at_dose in detector.doses]
    figure = new_figure()
    for position, (dose, values, _) in enumerate(groups):
        # Steps of the golden ratio spread the points evenly without randomness.
        spread = position + 0.3 * ((np.arange(len(values)) * 0.618034) % 1 - 0.5)
        figure.add_scatter(
            x=spread,
            y=values,
            mode="markers",
            showlegend=False,
            hoverinfo="y",
            marker={"color": theme.benchmark if dose else theme.control, "size": 5, "opacity": 0.6},
        )
    figure.add_scatter(
        x=list(range(len(groups))),
        y=[mean.value for *_, mean in groups],
        mode="lines+markers",
        name="mean",
        line={"color": theme.text, "width": 1},
        marker={"symbol": "diamond", "size": 9},
        error_y=whiskers([mean for *_, mean in groups], theme.text, thickness=1.2, width=3),
        text=[mean.text() for *_, mean in groups],
        hovertemplate="mean %{text}<extra></extra>",
    )
    if detector.cutoff is not None:
        figure.add_hline(
            y=detector.cutoff,
            line={"color": theme.artifact, "dash": "dash"},
            annotation_text="cut-off",
            annotation_position="top left",
        )
    words = f"{detector.name}: scores by how often items were read in training."
    y_title = f"{detector.name}: score"
    laid_out(
        figure, theme, height=340, says=words, x_title="times read in training", y_title=y_title
    )
    figure.update_xaxes(
        tickvals=list(range(len(groups))), ticktext=[f"{dose:,}" for dose, *_ in groups]
    )
    figure.update_layout(showlegend=False)
    return figure


def roc_by_dose(detector: Detector, theme: Colours) -> Figure:
    """Draw one ROC curve per dose; lines of larger doses are wider."""
    figure = new_figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.muted, "dash": "dot"},
        showlegend=False,
        hoverinfo="skip",
    )
    for number, at_dose in enumerate(detector.doses):
        false, true = roc(at_dose.scores, detector.never_seen)
        figure.add_scatter(
            x=false,
            y=true,
            mode="lines",
            name=f"{at_dose.dose:,}×",
            line={
                "color": theme.genuine,
                "width": 1 + number,
                "dash": DASHES[(len(detector.doses) - 1 - number) % len(DASHES)],
            },
            hovertemplate=f"read {at_dose.dose:,} times<br>flags %{{y:.0%}} of these<br>and "
            f"%{{x:.0%}} of never-seen<extra></extra>",
        )
    words = f"{detector.name}: items flagged against never-seen items flagged, by times read."
    y_title = "read items flagged"
    laid_out(
        figure, theme, height=340, says=words, x_title="never-seen items flagged", y_title=y_title
    )
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure
