"""Limits that stay valid when people look more than once while results arrive."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput


@dataclass(frozen=True)
class SequencePath:
    """A confidence sequence: mean and limits after each of t = 1..n items, all (n,)."""

    t: np.ndarray
    means: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def bounded_path(
    values: Sequence[float] | np.ndarray,
    alpha: float = 0.05,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> SequencePath:
    """Return the confidence sequence of `values` in the order of arrival, NaN left out.

    The limits hold at all steps together, for values within `bounds`, any number of items and any
    rate. This is the predictable plug-in empirical Bernstein sequence with running intersection
    (Waudby-Smith & Ramdas, arXiv:2010.09686, theorem 2). Items must arrive in random order, as from
    the runner. Raises BadInput for a value out of bounds."""
    low_bound, width = bounds[0], bounds[1] - bounds[0]
    x = (np.asarray(values, dtype=float) - low_bound) / width
    x = x[~np.isnan(x)]
    if x.size and (x.min() < 0 or x.max() > 1):
        raise BadInput(f"A value lies outside {bounds[0]} to {bounds[1]}; give wider bounds.")
    t = np.arange(1, x.size + 1)
    # One pseudo-observation of 1/2, so that the first bet has a variance.
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    # Each bet may use earlier items only, or the sequence would not be valid.
    mean_before = np.r_[0.5, mean[:-1]][: x.size]
    variance_before = np.r_[0.25, variance[:-1]][: x.size]
    log_term = math.log(2 / alpha)
    bet = np.minimum(np.sqrt(2 * log_term / (variance_before * t * np.log1p(t))), 0.5)
    total = np.cumsum(bet)
    centre = np.cumsum(bet * x) / total
    half = (log_term + np.cumsum((x - mean_before) ** 2 * (-np.log1p(-bet) - bet))) / total
    low = np.maximum.accumulate(np.maximum(centre - half, 0))
    high = np.minimum.accumulate(np.minimum(centre + half, 1))
    means = np.cumsum(x) / t
    means, low, high = (low_bound + width * part for part in (means, low, high))
    return SequencePath(t, means, low, high, 1 - alpha)
