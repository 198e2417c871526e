"""The hardness curve (ConStat, arXiv:2405.16281): the score that reference models' scores on both
sets expect of a model.

Each model is a point: the arcsine of the root of its accuracy on the benchmark, v, and on the
controls, u, so that chance is alike at every accuracy. A line of v - u over a mean of both, in
which each is weighed so that its chance says nothing of the difference, is fitted to the reference
models; the distance of a model above it is its excess, judged by Student's t with the scatter of
the reference models about the line. That scatter holds the choice of items and the differences of
models of one strength, so nothing is drawn again. (v over u instead flags the strongest clean model
in .06 at nominal .025, the source's bootstrap of items and models clean ones in up to .20; this in
at most .03: `python -m tests.lab.simulations.hardness_curve`.)
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
    """Accuracy of one model on the `benchmark` and on the controls (`of_control`), the score that
    `n_references` reference models `expected` of it on the benchmark, and the `excess` over that:
    shares at 95%. `p` is one-sided. `withheld` says why there is no excess, and what it needs."""

    benchmark: Estimate
    of_control: Estimate
    expected: Estimate
    excess: Estimate
    p: float
    n_references: int
    withheld: str = ""


def excess(
    benchmark: ArrayLike,
    controls: ArrayLike,
    reference_benchmark: ArrayLike,
    reference_controls: ArrayLike,
) -> Excess:
    """Compute the excess from 0/1 per item of each set: of the model (n,) and of the reference
    models (models, n). An item of which any answer is missing (NaN) leaves."""
    from scipy.special import stdtr

    answers = _answered(benchmark, reference_benchmark), _answered(controls, reference_controls)
    n, n_control, n_references = answers[0].shape[1], answers[1].shape[1], len(answers[0]) - 1
    shares = _share(answers[0][0]), _share(answers[1][0])

    def withheld(reason: str) -> Excess:
        undefined = missing(n, note=reason)
        return Excess(*shares, undefined, undefined, math.nan, n_references, reason)

    if n_references < MIN_REFERENCES:
        return withheld(
            f"a hardness curve wants at least {MIN_REFERENCES} reference models; {n_references} "
            "answered."
        )
    if min(n, n_control) < MIN_N:
        return withheld(
            f"{n} benchmark items and {n_control} controls are answered by all models; {MIN_N} of "
            "each are wanted."
        )
    v, u = (_arcsine(rows.sum(axis=1), rows.shape[1]) for rows in answers)
    weight = n / (n + n_control)
    difference, middle = v - u, weight * v + (1 - weight) * u
    model_middle, middles = middle[0], middle[1:]
    if np.ptp(middles) < ALIKE:
        return withheld(
            "the reference models all have the same scores: choose stronger and weaker ones."
        )
    outside = max(middles.min() - model_middle, model_middle - middles.max())
    if outside > BEYOND * np.ptp(middles):
        side = "better" if model_middle > middles.max() else "weaker"
        return withheld(
            f"it is {side} than all {n_references} reference models, by too much for their curve: "
            f"add {side} ones."
        )
    design = np.column_stack([np.ones(n_references), middles - middles.mean()])
    (start, slope), *_ = np.linalg.lstsq(design, difference[1:], rcond=None)
    if weight * slope > STEEPEST:
        return withheld(
            "the reference models' scores on the controls do not tell theirs on the benchmark."
        )
    point = np.array([1.0, model_middle - middles.mean()])
    gap = float(difference[0] - point @ (start, slope))
    # Two degrees of freedom went into the line.
    variance = float(((difference[1:] - design @ (start, slope)) ** 2).sum() / (n_references - 2))
    # The error of a prediction: the scatter of one more model, and that of the line itself.
    error = math.sqrt(variance * (1 + point @ np.linalg.inv(design.T @ design) @ point))
    half = t_quantile((1 + LEVEL) / 2, n_references - 2) * error
    # A higher score on the benchmark moves the middle, too.
    value, high, low = (
        _accuracy(float(v[0]) - lift / (1 - weight * slope), n)
        for lift in (gap, gap - half, gap + half)
    )
    expected = Estimate(value, low, high, LEVEL, "hardness_curve", n, None)
    accuracy = shares[0].value
    over = Estimate(
        accuracy - value,
        accuracy - high,
        accuracy - low,
        LEVEL,
        "hardness_curve",
        n + n_control,
        None,
    )
    return Excess(
        *shares, expected, over, float(stdtr(n_references - 2, -gap / error)), n_references
    )


def _answered(model: ArrayLike, references: ArrayLike) -> np.ndarray:
    """Return (models, items), the model itself first, of the items that all answered."""
    rows = np.vstack([np.asarray(model, dtype=float)[None], np.asarray(references, dtype=float)])
    return rows[:, ~np.isnan(rows).any(axis=0)]


def _share(right: np.ndarray) -> Estimate:
    k, n = int(right.sum()), len(right)
    if n < MIN_N:
        return missing(n)
    low, high = clopper_pearson(k, n, LEVEL)
    return Estimate(k / n, low, high, LEVEL, "clopper_pearson", n, None)


def _arcsine(k: np.ndarray, n: int) -> np.ndarray:
    # Anscombe's constants (1948): the variance is then nearly 1/(4n) at all accuracies.
    return np.arcsin(np.sqrt((k + 0.375) / (n + 0.75)))


def _accuracy(v: float, n: int) -> float:
    """Turn `_arcsine` back into an accuracy within 0 and 1."""
    share = math.sin(min(max(v, 0.0), math.pi / 2)) ** 2
    return min(max((share * (n + 0.75) - 0.375) / n, 0.0), 1.0)
