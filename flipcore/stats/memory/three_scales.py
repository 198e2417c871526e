"""Losses of benchmark and control on three scales: points, share kept, odds.

No single scale survives every harmless difference: multiplicative brittleness is none on share
kept, a shift of the logit none on odds, an additive loss none in points. Orientation: positive
where the benchmark loses more.
"""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.proportions import mover, t_quantile

POINTS, SHARE, ODDS = "points", "share kept", "odds"
SCALES = (POINTS, SHARE, ODDS)
# from so many items in both sets on, Welch's t; below, each set's own interval joined by MOVER
LARGE = 30
LEVEL = 0.95


@dataclass(frozen=True)
class ScaleGap:
    """The loss of the benchmark beyond that of the control on one scale: `value` with [`low`,
    `high`] at 95% and the one-sided p of no more."""

    scale: str
    value: float
    low: float
    high: float
    p: float

    @property
    def is_lower(self) -> bool:
        """The benchmark loses more, one-sided at .025."""
        return self.low > 0 and self.p <= 0.025


@dataclass(frozen=True)
class _Loss:
    """Loss of one set on one scale, its standard error and its degrees of freedom."""

    value: float
    se: float
    df: float


def scale_gaps(
    benchmark: tuple[np.ndarray, np.ndarray],
    control: tuple[np.ndarray, np.ndarray],
    guess: tuple[float, float] = (0.0, 0.0),
    families: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> tuple[ScaleGap, ...]:
    """Compare two sets on all three scales. A set is (before, after), (n,) each in [0, 1]; `guess`
    is 1/K where options are chosen, 0 elsewhere; `families` are (n,) template labels, the unit of
    variance where given. Below two items per set: NaN."""
    first = _losses(*benchmark, guess[0], families[0])
    second = _losses(*control, guess[1], families[1])
    # One more control item that breaks; it shares its family with none.
    labels = None if families[1] is None else np.append(_codes(families[1]), -1)
    worse = _losses(np.append(control[0], 1.0), np.append(control[1], 0.0), guess[1], labels)
    return tuple(_gap(scale, first[scale], second[scale], worse[scale].value) for scale in SCALES)


def _losses(
    before: np.ndarray, after: np.ndarray, guess: float, families: np.ndarray | None
) -> dict[str, _Loss]:
    """Return points lost, -log share kept, and fall of the logit, with the standard errors of their
    influence functions.

    One item that breaks and one that mends are added to the variance (as Bonett and Price do), so
    that it is never 0; half an item to both margins of share and odds.
    """
    n = len(before)
    if n < 2:
        return dict.fromkeys(SCALES, _Loss(math.nan, math.nan, 0))
    # Corrected for guessing: only answers beyond chance can be lost.
    was = (np.append(before, (1.0, 0.0)) - guess) / (1 - guess)
    now = (np.append(after, (0.0, 1.0)) - guess) / (1 - guess)
    # The two added items are families of their own.
    label = family_numbers(
        np.append(np.arange(n) if families is None else _codes(families), (n, n + 1))
    )
    least = 0.5 / (n + 1)
    # Margins with the half added, held inside (0, 1), where the logarithms exist.
    b, a = (
        min(max(((x.sum() + 0.5) / (n + 1) - guess) / (1 - guess), least), 1 - least)
        for x in (before, after)
    )
    # Derivatives of each scale by the two margins: the influence of an item is linear in them.
    slopes = {
        POINTS: (1.0, 1.0),
        SHARE: (1 / b, 1 / a),
        ODDS: (1 / (b * (1 - b)), 1 / (a * (1 - a))),
    }
    values = {
        POINTS: float((before - after).mean()) / (1 - guess),
        SHARE: math.log(b / a),
        ODDS: math.log(b / (1 - b)) - math.log(a / (1 - a)),
    }
    centred = was - was.mean(), now - now.mean()
    by_scale = {}
    for scale, (slope_before, slope_after) in slopes.items():
        influence = slope_before * centred[0] - slope_after * centred[1]
        mean = clustered_mean(influence, label, bounds=None)
        # Two of its items were added and are no evidence.
        by_scale[scale] = _Loss(values[scale], mean.se, max(mean.df - 2, 1.0))
    return by_scale


def _codes(families: np.ndarray) -> np.ndarray:
    return np.unique(np.asarray(families, dtype=object).astype(str), return_inverse=True)[1]


def _gap(scale: str, first: _Loss, second: _Loss, worse: float) -> ScaleGap:
    """Return the gap on one scale; `worse` is the control's loss with one more item lost."""
    from scipy.special import stdtr

    if math.isnan(first.value) or math.isnan(second.value):
        return ScaleGap(scale, *([math.nan] * 4))
    value, variance = first.value - second.value, first.se**2 + second.se**2
    df = variance**2 / (first.se**4 / first.df + second.se**4 / second.df)
    if min(first.df, second.df) + 1 < LARGE:
        low, high = mover(first.value, _limits(first), second.value, _limits(second))
        # The p goes with an interval that is wider than Welch's.
        df = min(first.df, second.df)
    else:
        half = t_quantile(0.5 + LEVEL / 2, df) * math.sqrt(variance)
        low, high = value - half, value + half
    # A small control that lost little by chance has a small variance too, so against a large
    # benchmark the lower limit was too high (.046 for .025 at 1,319 v 60). There it starts from the
    # loss with one more item lost, by as much as the control's variance exceeds the benchmark's.
    caution = max(0.0, worse - second.value) * max(0.0, second.se**2 - first.se**2) / variance
    return ScaleGap(
        scale,
        value,
        low - caution,
        high,
        float(stdtr(df, -(value - caution) / math.sqrt(variance))),
    )


def _limits(loss: _Loss) -> tuple[float, float]:
    half = t_quantile(0.5 + LEVEL / 2, loss.df) * loss.se
    return loss.value - half, loss.value + half
