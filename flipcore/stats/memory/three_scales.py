"""Losses of benchmark and control on three scales: points, share kept, odds.

Sets of different difficulty may lose unequally without any memory, so a claim needs all three
scales. A loss that is alike for both sets on one scale differs on the others. It is additive in
points, multiplicative on share kept, or a shift of the logit on odds. Gaps are positive where the
benchmark loses more.
"""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.proportions import mover, t_quantile

POINTS, SHARE, ODDS = "points", "share kept", "odds"
SCALES = (POINTS, SHARE, ODDS)
# With this many items in both sets the interval is Welch's; with fewer, MOVER joins two intervals.
LARGE = 30
LEVEL = 0.95


@dataclass(frozen=True)
class ScaleGap:
    """Loss of the benchmark minus that of the control on one scale: `value` with [`low`, `high`] at
    95%, and the one-sided p that the benchmark loses more."""

    scale: str
    value: float
    low: float
    high: float
    p: float

    @property
    def loses_more(self) -> bool:
        """True if the benchmark loses more, one-sided at .025."""
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
    """Compare two sets on all three scales. All tuples except a set are (benchmark, control).

    Parameters
    ----------
    benchmark, control : (before, after), each (n,) correctness in [0, 1].
    guess : chance of a right guess, 1 / options; 0 without options.
    families : (n,) template labels, the unit of variance; None if items are the unit.

    Returns
    -------
    One gap per scale, NaN if a set has fewer than two items.
    """
    losses = _losses(*benchmark, guess[0], families[0])
    control_losses = _losses(*control, guess[1], families[1])
    # The control with one more item, which breaks and is a family of its own (used by `_gap`).
    labels = None if families[1] is None else np.append(_codes(families[1]), -1)
    worse = _losses(np.append(control[0], 1.0), np.append(control[1], 0.0), guess[1], labels)
    return tuple(
        _gap(scale, losses[scale], control_losses[scale], worse[scale].value) for scale in SCALES
    )


def _losses(
    before: np.ndarray, after: np.ndarray, guess: float, families: np.ndarray | None
) -> dict[str, _Loss]:
    """Return scale -> loss: points lost, -log share kept, and fall of the logit.

    Standard errors come from influence functions. One item that breaks and one that is mended are
    added to the variance (as Bonett and Price do), so that it is never 0. Half an item is added to
    both accuracies on share kept and odds. Values are NaN with fewer than two items.
    """
    n = len(before)
    if n < 2:
        return dict.fromkeys(SCALES, _Loss(math.nan, math.nan, 0))
    # Corrected for guessing, because only answers beyond chance can be lost.
    known_before = (np.append(before, (1.0, 0.0)) - guess) / (1 - guess)
    known_after = (np.append(after, (0.0, 1.0)) - guess) / (1 - guess)
    # The two added items are families of their own.
    codes = np.arange(n) if families is None else _codes(families)
    family = family_numbers(np.append(codes, (n, n + 1)))
    least = 0.5 / (n + 1)
    # b and a are the accuracies before and after, kept inside (0, 1) so that logarithms exist.
    b, a = (
        min(max(((right.sum() + 0.5) / (n + 1) - guess) / (1 - guess), least), 1 - least)
        for right in (before, after)
    )
    # Derivatives of each scale by the two accuracies; the influence of an item is linear in them.
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
    centered_before = known_before - known_before.mean()
    centered_after = known_after - known_after.mean()
    losses = {}
    for scale, (slope_before, slope_after) in slopes.items():
        influence = slope_before * centered_before - slope_after * centered_after
        mean = clustered_mean(influence, family, bounds=None)
        # - 2, because the two added items are no evidence.
        losses[scale] = _Loss(values[scale], mean.se, max(mean.df - 2, 1.0))
    return losses


def _codes(families: np.ndarray) -> np.ndarray:
    return np.unique(np.asarray(families, dtype=object).astype(str), return_inverse=True)[1]


def _gap(scale: str, first: _Loss, second: _Loss, worse: float) -> ScaleGap:
    """Return the gap on one scale; `worse` is the control's loss if one more item had broken."""
    from scipy.special import stdtr

    if math.isnan(first.value) or math.isnan(second.value):
        return ScaleGap(scale, value=math.nan, low=math.nan, high=math.nan, p=math.nan)
    value, variance = first.value - second.value, first.se**2 + second.se**2
    df = variance**2 / (first.se**4 / first.df + second.se**4 / second.df)
    if min(first.df, second.df) + 1 < LARGE:
        low, high = mover(first.value, _limits(first), second.value, _limits(second))
        # MOVER's interval is wider than Welch's, so its p needs fewer degrees of freedom too.
        df = min(first.df, second.df)
    else:
        half = t_quantile(0.5 + LEVEL / 2, df) * math.sqrt(variance)
        low, high = value - half, value + half
    # A small control that lost little by chance also has too small a variance. Against a large
    # benchmark the error rate was then .046 instead of .025 (at 1,319 v 60). The lower limit is
    # therefore moved towards the control's loss with one more broken item. It moves the more, the
    # more the control's variance exceeds the benchmark's.
    caution = max(0.0, worse - second.value) * max(0.0, second.se**2 - first.se**2) / variance
    p = float(stdtr(df, -(value - caution) / math.sqrt(variance)))
    return ScaleGap(scale, value, low - caution, high, p)


def _limits(loss: _Loss) -> tuple[float, float]:
    half = t_quantile(0.5 + LEVEL / 2, loss.df) * loss.se
    return loss.value - half, loss.value + half
