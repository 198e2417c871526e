"""Detectors against a known truth: the AUC over the dose, and one detector's scores and ROC curve at every dose."""

from collections.abc import Sequence

import numpy as np

from flipcore.charts.captions import caption
from flipcore.charts.theme import Colours, Figure, laid_out, new_figure, whiskers
from flipcore.stats.memory.ground_truth import Detector, roc

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "triangle-down", "cross", "pentagon")
DASHES = ("solid", "dash", "dot", "dashdot")


def auc_by_dose(detectors: Sequence[Detector], c: Colours) -> Figure:
    """One line a detector over the doses, each point with its interval; .5 is a coin."""
    figure = new_figure()
    doses = sorted({at.dose for one in detectors for at in one.at})
    hues = (c.genuine, c.artifact, c.fixed, c.broken, c.retro, c.benchmark)
    for number, one in enumerate(detectors):
        shift = 0.07 * (number - (len(detectors) - 1) / 2)
        hue = hues[number % len(hues)]
        values = [at.auc for at in one.at]
        figure.add_scatter(
            x=[doses.index(at.dose) + shift for at in one.at],
            y=[value.value for value in values],
            name=one.name,
            mode="lines+markers",
            line={"color": hue, "dash": DASHES[number // len(hues) % len(DASHES)]},
            marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 9},
            error_y=whiskers(values, hue, 1.2, 3),
            text=[f"{value.text()} · {at.detected.n:,} items" for value, at in zip(values, one.at, strict=True)],
            customdata=[at.dose for at in one.at],
            hovertemplate="<b>%{fullData.name}</b><br>read %{customdata:,} times: AUC %{text}<extra></extra>",
        )
    figure.add_hline(y=0.5, line={"color": c.muted, "dash": "dot"}, annotation_text="a coin", annotation_position="bottom left")
    words = "AUC of each detector by how often items were read in training."
    estimates = [at.auc for one in detectors for at in one.at]
    laid_out(
        figure,
        c,
        height=380,
        says=caption(words, estimates),
        x_title="times read in training",
        y_title="AUC against never-seen items",
    )
    figure.update_xaxes(tickvals=list(range(len(doses))), ticktext=[f"{dose:,}" for dose in doses])
    figure.update_yaxes(range=[0, 1.04])
    return figure


def scores_by_dose(one: Detector, c: Colours) -> Figure:
    """Every item's score at its dose, the mean with its interval, and the cut-off."""
    groups = [(0, one.never, one.never_mean), *((at.dose, at.scores, at.mean) for at in one.at)]
    figure = new_figure()
    for place, (dose, values, _) in enumerate(groups):
        spread = place + 0.3 * ((np.arange(len(values)) * 0.618034) % 1 - 0.5)  # golden-ratio steps: even, and no randomness
        figure.add_scatter(
            x=spread,
            y=values,
            mode="markers",
            showlegend=False,
            hoverinfo="y",
            marker={"color": c.benchmark if dose else c.control, "size": 5, "opacity": 0.6},
        )
    figure.add_scatter(
        x=list(range(len(groups))),
        y=[mean.value for *_, mean in groups],
        mode="lines+markers",
        name="mean",
        line={"color": c.text, "width": 1},
        marker={"symbol": "diamond", "size": 9},
        error_y=whiskers([mean for *_, mean in groups], c.text, 1.2, 3),
        text=[mean.text() for *_, mean in groups],
        hovertemplate="mean %{text}<extra></extra>",
    )
    if one.cutoff is not None:
        figure.add_hline(
            y=one.cutoff, line={"color": c.artifact, "dash": "dash"}, annotation_text="cut-off", annotation_position="top left"
        )
    words = f"{one.name}: scores by how often items were read in training."
    laid_out(figure, c, height=340, says=words, x_title="times read in training", y_title=f"{one.name}: score")
    figure.update_xaxes(tickvals=list(range(len(groups))), ticktext=[f"{dose:,}" for dose, *_ in groups])
    figure.update_layout(showlegend=False)
    return figure


def roc_by_dose(one: Detector, c: Colours) -> Figure:
    """One ROC curve a dose, the larger the dose the wider the line."""
    figure = new_figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": c.muted, "dash": "dot"}, showlegend=False, hoverinfo="skip"
    )
    for number, at in enumerate(one.at):
        false, true = roc(at.scores, one.never)
        figure.add_scatter(
            x=false,
            y=true,
            mode="lines",
            name=f"{at.dose:,}×",
            line={"color": c.genuine, "width": 1 + number, "dash": DASHES[(len(one.at) - 1 - number) % len(DASHES)]},
            hovertemplate=f"read {at.dose:,} times<br>flags %{{y:.0%}} of these<br>and %{{x:.0%}} of never-seen<extra></extra>",
        )
    words = f"{one.name}: items flagged against never-seen items flagged, by dose."
    laid_out(figure, c, height=340, says=words, x_title="never-seen items flagged", y_title="items of the dose flagged")
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure
