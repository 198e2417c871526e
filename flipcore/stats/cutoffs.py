"""What a cut-off flags, wherever it is dragged: bands that hold at every position at once, and verdicts on a grid."""

from __future__ import annotations

import math

import numpy as np

from flipcore.stats.loss_analysis import CutoffCurve, LossTest
from flipcore.stats.pearl_analysis import AlphaCurve


def dkw_half_width(n: int, level: float = 0.95, sides: int = 2) -> float:
    """Half the width of a band around an empirical distribution that holds everywhere at once (Dvoretzky, Kiefer and
    Wolfowitz, with Massart's constant): sqrt(ln(sides / (1 - level)) / 2n). NaN without values."""
    return math.sqrt(math.log(sides / (1 - level)) / (2 * n)) if n else math.nan


def excess_low_everywhere(curve: CutoffCurve, n: int, m: int, level: float = 0.95) -> np.ndarray:
    """Lower bound of the excess that holds at every cut-off at once: each set's one-sided DKW bound at half the error."""
    slack = dkw_half_width(n, (1 + level) / 2, 1) + dkw_half_width(m, (1 + level) / 2, 1)
    chance = curve.n_controls_flagged / m
    room = np.where(chance < 1, 1 - chance, np.nan)
    return (curve.n_flagged / n - chance - slack) / room


def shares_everywhere(curve: AlphaCurve, n_members: int, n_non_members: int, level: float = 0.95
                      ) -> tuple[np.ndarray, np.ndarray]:
    """(false-positive limits, detection limits), each (alphas, 2), that hold at every alpha at once."""
    limits = []
    for shares, n in ((curve.fpr, n_non_members), (curve.detection, n_members)):
        half = dkw_half_width(n, level)
        limits.append(np.clip(np.column_stack([shares - half, shares + half]), 0, 1))
    return limits[0], limits[1]


def loss_cutoff(test: LossTest, rule: str) -> float:
    """Where the line stands at first: the smallest D that the rule flags, or just beyond every control."""
    found = test.cutoff(rule)
    return found if math.isfinite(found) else float(max(test.d0.max(), test.d.max()))


def binned(values: np.ndarray, edges: np.ndarray) -> list[float]:
    """Share of `values` in each bin; what lies outside is in no bin and stays in the denominator."""
    counts = np.histogram(values, edges)[0]
    return (counts / max(len(values), 1)).tolist()


def edges_of(*groups: np.ndarray, n_bins: int = 60) -> np.ndarray:
    """Common bin edges over the finite values of all groups; a single value gets a bin of its own around it."""
    values = np.concatenate(groups)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    pad = 0.02 * (high - low) or 0.5
    return np.linspace(low - pad, high + pad, n_bins + 1)
