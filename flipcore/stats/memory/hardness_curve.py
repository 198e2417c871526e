"""The hardness curve (ConStat, arXiv:2405.16281): what do reference models' scores on both sets expect a model to score?

Each model is a point: the arcsine of the root of its accuracy on the benchmark, v, and on the controls, u, so that chance is alike at
every accuracy. A line of v - u over a mean of both, in which each is weighed so that its chance says nothing of the difference, is
fitted to the reference models; what a model lies above it is its excess, judged by Student's t with the scatter of the reference models
about the line. That scatter holds the choice of items and what models of one strength differ by, so nothing is drawn again.
(v over u instead flags the strongest clean model in .06 at nominal .025, the source's bootstrap of items and models clean ones in up to
.20; this in at most .03: `python -m tests.lab.simulations.hardness_curve`.)
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_N, Estimate, missing
from flipcore.stats.base.proportions import clopper_pearson, t_quantile

MIN_REFERENCES = 5
BEYOND = 0.25  # of the reference models' range, by which a model may lie outside it
ALIKE = 1e-9
STEEPEST = 0.9  # from 1 on, a score on the controls expects no score on the benchmark
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Excess:
    """Accuracy of one model on the `benchmark` and on the controls (`of_control`), what `n_references` reference models `expected` of it
    on the benchmark, and the `excess` over that: shares at 95%. `p` is one-sided. `withheld` says why there is no excess, and what it
    wants."""

    benchmark: Estimate
    of_control: Estimate
    expected: Estimate
    excess: Estimate
    p: float
    n_references: int
    withheld: str = ""


def excess(benchmark: ArrayLike, controls: ArrayLike, reference_benchmark: ArrayLike, reference_controls: ArrayLike) -> Excess:
    """From one 0/1 an item of each set: of the model (n,) and of the reference models (models, n). An item of which any answer is missing
    (NaN) leaves."""
    from scipy.special import stdtr

    answers = _answered(benchmark, reference_benchmark), _answered(controls, reference_controls)
    n, n_control, n_references = answers[0].shape[1], answers[1].shape[1], len(answers[0]) - 1
    shares = _share(answers[0][0]), _share(answers[1][0])

    def withheld(why: str) -> Excess:
        none = missing(n, note=why)
        return Excess(*shares, none, none, math.nan, n_references, why)

    if n_references < MIN_REFERENCES:
        return withheld(f"a hardness curve wants at least {MIN_REFERENCES} reference models; {n_references} answered.")
    if min(n, n_control) < MIN_N:
        return withheld(f"{n} benchmark items and {n_control} controls are answered by all models; {MIN_N} of each are wanted.")
    v, u = (_arcsine(one.sum(axis=1), one.shape[1]) for one in answers)
    weight = n / (n + n_control)
    difference, middle = v - u, weight * v + (1 - weight) * u
    own, of_references = middle[0], middle[1:]
    if np.ptp(of_references) < ALIKE:
        return withheld("the reference models all have the same scores: choose stronger and weaker ones.")
    outside = max(of_references.min() - own, own - of_references.max())
    if outside > BEYOND * np.ptp(of_references):
        side = "better" if own > of_references.max() else "weaker"
        return withheld(f"it is {side} than all {n_references} reference models, by too much for their curve: add {side} ones.")
    places = np.column_stack([np.ones(n_references), of_references - of_references.mean()])
    (start, slope), *_ = np.linalg.lstsq(places, difference[1:], rcond=None)
    if weight * slope > STEEPEST:
        return withheld("the reference models' scores on the controls do not tell theirs on the benchmark.")
    at = np.array([1.0, own - of_references.mean()])
    gap = float(difference[0] - at @ (start, slope))
    variance = float(((difference[1:] - places @ (start, slope)) ** 2).sum() / (n_references - 2))
    error = math.sqrt(variance * (1 + at @ np.linalg.inv(places.T @ places) @ at))
    half = t_quantile((1 + LEVEL) / 2, n_references - 2) * error
    # a higher score on the benchmark moves the middle, too
    value, high, low = (_accuracy(float(v[0]) - lift / (1 - weight * slope), n) for lift in (gap, gap - half, gap + half))
    expected = Estimate(value, low, high, LEVEL, "hardness_curve", n, None)
    of_benchmark = shares[0].value
    over = Estimate(of_benchmark - value, of_benchmark - high, of_benchmark - low, LEVEL, "hardness_curve", n + n_control, None)
    return Excess(*shares, expected, over, float(stdtr(n_references - 2, -gap / error)), n_references)


def _answered(own: ArrayLike, references: ArrayLike) -> np.ndarray:
    """(models, items), the model itself first, of the items that all answered."""
    rows = np.vstack([np.asarray(own, dtype=float)[None], np.asarray(references, dtype=float)])
    return rows[:, ~np.isnan(rows).any(axis=0)]


def _share(right: np.ndarray) -> Estimate:
    k, n = int(right.sum()), len(right)
    if n < MIN_N:
        return missing(n)
    low, high = clopper_pearson(k, n, LEVEL)
    return Estimate(k / n, low, high, LEVEL, "clopper_pearson", n, None)


def _arcsine(k: np.ndarray, n: int) -> np.ndarray:
    return np.arcsin(np.sqrt((k + 0.375) / (n + 0.75)))


def _accuracy(v: float, n: int) -> float:
    """Back from `_arcsine`, within 0 and 1."""
    share = math.sin(min(max(v, 0.0), math.pi / 2)) ** 2
    return min(max((share * (n + 0.75) - 0.375) / n, 0.0), 1.0)
