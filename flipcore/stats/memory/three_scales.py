"""Does the benchmark lose more than the control on every scale: points, share kept, odds?

No single scale survives every harmless difference: multiplicative brittleness is none on share kept, a shift of the logit
none on odds, an additive loss none in points. Orientation: positive where the benchmark loses more.
"""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.families import clustered_mean, family_numbers
from flipcore.stats.base.proportions import mover, t_quantile

POINTS, SHARE, ODDS = "points", "share kept", "odds"
SCALES = (POINTS, SHARE, ODDS)
LARGE = 30  # from so many items in both sets on, Welch's t; below, each set's own interval joined by MOVER
LEVEL = 0.95


@dataclass(frozen=True)
class ScaleGap:
    """How much more the benchmark loses on one scale: `value` with [`low`, `high`] at 95% and the one-sided p of no more."""

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
    """All three scales. A set is (before, after), (n,) each in [0, 1]; `guess` is 1/K where options are chosen, 0 elsewhere;
    `families` are (n,) template labels, the unit of variance where given. Below two items a set: NaN."""
    first, second = (_losses(*one, g, f) for one, g, f in zip((benchmark, control), guess, families, strict=True))
    worse = _losses(np.append(control[0], 1.0), np.append(control[1], 0.0), guess[1], _with_one_more(families[1]))
    return tuple(_gap(scale, first[scale], second[scale], worse[scale].value) for scale in SCALES)


def _with_one_more(families: np.ndarray | None) -> np.ndarray | None:
    """The labels of the items with one more item of a family of its own."""
    return None if families is None else np.append(_codes(families), -1)


def _losses(before: np.ndarray, after: np.ndarray, guess: float, families: np.ndarray | None) -> dict[str, _Loss]:
    """Points lost, -log share kept, and fall of the logit, with the standard errors of their influence functions.

    One item that breaks and one that mends are added to the variance (as Bonett and Price do), so that it is never 0; half an
    item to both margins of share and odds.
    """
    n = len(before)
    if n < 2:
        return dict.fromkeys(SCALES, _Loss(math.nan, math.nan, 0))
    was = (np.append(before, (1.0, 0.0)) - guess) / (1 - guess)
    now = (np.append(after, (0.0, 1.0)) - guess) / (1 - guess)
    label = family_numbers(np.append(np.arange(n) if families is None else _codes(families), (n, n + 1)))
    least = 0.5 / (n + 1)
    b, a = (
        min(max(((x.sum() + 0.5) / (n + 1) - guess) / (1 - guess), least), 1 - least) for x in (before, after)
    )  # margins with the half added, held inside (0, 1)
    slopes = {POINTS: (1.0, 1.0), SHARE: (1 / b, 1 / a), ODDS: (1 / (b * (1 - b)), 1 / (a * (1 - a)))}
    values = {
        POINTS: float((before - after).mean()) / (1 - guess),
        SHARE: math.log(b / a),
        ODDS: math.log(b / (1 - b)) - math.log(a / (1 - a)),
    }
    centred = was - was.mean(), now - now.mean()
    by_scale = {}
    for scale, (of_before, of_after) in slopes.items():
        influence = of_before * centred[0] - of_after * centred[1]
        mean = clustered_mean(influence, label, bounds=None)
        by_scale[scale] = _Loss(values[scale], mean.se, max(mean.df - 2, 1.0))  # two of its items were added
    return by_scale


def _codes(families: np.ndarray) -> np.ndarray:
    return np.unique(np.asarray(families, dtype=object).astype(str), return_inverse=True)[1]


def _gap(scale: str, first: _Loss, second: _Loss, worse: float) -> ScaleGap:
    """`worse` is the control's loss with one more item lost. A small control that lost little by chance has a small variance too,
    so against a large benchmark the lower limit was too high (.046 for .025 at 1,319 v 60): there it starts from that loss, by as
    much as the control's variance exceeds the benchmark's."""
    from scipy.special import stdtr

    if math.isnan(first.value) or math.isnan(second.value):
        return ScaleGap(scale, *([math.nan] * 4))
    value, variance = first.value - second.value, first.se**2 + second.se**2
    df = variance**2 / (first.se**4 / first.df + second.se**4 / second.df)
    if min(first.df, second.df) + 1 < LARGE:
        low, high = mover(first.value, _limits(first), second.value, _limits(second))
        df = min(first.df, second.df)  # the p of an interval that is wider than Welch's
    else:
        half = t_quantile(0.5 + LEVEL / 2, df) * math.sqrt(variance)
        low, high = value - half, value + half
    caution = max(0.0, worse - second.value) * max(0.0, second.se**2 - first.se**2) / variance
    return ScaleGap(scale, value, low - caution, high, float(stdtr(df, -(value - caution) / math.sqrt(variance))))


def _limits(one: _Loss) -> tuple[float, float]:
    half = t_quantile(0.5 + LEVEL / 2, one.df) * one.se
    return one.value - half, one.value + half
