"""The hardness curve (ConStat, arXiv:2405.16281): the benchmark score to expect of a model, given
its score on the controls and the scores of reference models on both sets.

Each model is a point: v is the arcsine of the root of its accuracy on the benchmark and u the same
on the controls. On this scale sampling error is alike at all accuracies. A line of v - u over a
weighted mean of v and u is fitted to the reference models. The weights make the sampling error of
this mean independent of that of the difference.

The excess of a model is its distance above the line. It is judged by Student's t with the scatter
of the reference models about the line. That scatter includes the choice of items and differences
between models of equal strength, so no bootstrap is needed. In simulations at nominal .025 this
flags clean models in at most .03. A line of v over u would flag the strongest clean model in .06,
and ConStat's bootstrap of items and models clean ones in up to .20
(`python -m tests.lab.simulations.hardness_curve`).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_N, Estimate, missing
from flipcore.stats.base.proportions import clopper_pearson, t_quantile

MIN_REFERENCES = 5
# A model may lie outside the reference models' range by at most this share of the range.
MAX_OUTSIDE = 0.25
MIN_RANGE = 1e-9  # of the reference models' scores; below it they are all equal
SMALLEST_ERROR = 1e-9  # of a prediction; below it the line fits the reference models exactly
# Largest slope of the line times the weight of v. From 1 on, the score on the controls determines
# no score on the benchmark.
MAX_SLOPE = 0.9
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Excess:
    """Result for one model; estimates are shares at 95%.

    benchmark, control_accuracy : its accuracy on the benchmark and on the controls.
    expected : its expected accuracy on the benchmark, from `n_references` reference models.
    excess : benchmark - expected; `p` is one-sided.
    withheld : why there is no excess, and what is needed for one; "" if there is one.
    """

    benchmark: Estimate
    control_accuracy: Estimate
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
    """Compute the excess of a model over its expected score on the benchmark.

    Arguments are 1 or 0 per item: (items,) of the model, (models, items) of the reference models.
    An item is left out if any model has no answer (NaN).
    """
    from scipy.special import stdtr

    # Row 0 is the model itself, the other rows are the reference models.
    right = _answered_by_all(benchmark, reference_benchmark)
    control_right = _answered_by_all(controls, reference_controls)
    n, n_control, n_references = right.shape[1], control_right.shape[1], len(right) - 1
    accuracy, control_accuracy = _share(right[0]), _share(control_right[0])

    def withheld(reason: str) -> Excess:
        undefined = missing(n, note=reason)
        return Excess(
            accuracy,
            control_accuracy,
            expected=undefined,
            excess=undefined,
            p=math.nan,
            n_references=n_references,
            withheld=reason,
        )

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
    v = _arcsine(right.sum(axis=1), n)
    u = _arcsine(control_right.sum(axis=1), n_control)
    weight = n / (n + n_control)
    difference, means = v - u, weight * v + (1 - weight) * u
    model_mean, reference_means = means[0], means[1:]
    if np.ptp(reference_means) < MIN_RANGE:
        return withheld(
            "the reference models all have the same scores: choose stronger and weaker ones."
        )
    outside = max(reference_means.min() - model_mean, model_mean - reference_means.max())
    if outside > MAX_OUTSIDE * np.ptp(reference_means):
        side = "better" if model_mean > reference_means.max() else "weaker"
        return withheld(
            f"it is {side} than all {n_references} reference models, by too much for their curve: "
            f"add {side} ones."
        )
    # The line is fitted about the mean of the reference models.
    design = np.column_stack([np.ones(n_references), reference_means - reference_means.mean()])
    (intercept, slope), *_ = np.linalg.lstsq(design, difference[1:], rcond=None)
    if weight * slope > MAX_SLOPE:
        return withheld(
            "the reference models' scores on the controls do not tell theirs on the benchmark."
        )
    model_design = np.array([1.0, model_mean - reference_means.mean()])
    distance = float(difference[0] - model_design @ (intercept, slope))
    residuals = difference[1:] - design @ (intercept, slope)
    # The line has two parameters, hence two degrees of freedom fewer.
    df = n_references - 2
    variance = float((residuals**2).sum() / df)
    # Error of a prediction: the scatter of one more model, and the error of the line itself.
    line_error = model_design @ np.linalg.inv(design.T @ design) @ model_design
    error = math.sqrt(variance * (1 + line_error))
    if error < SMALLEST_ERROR:
        return withheld(
            "the reference models lie exactly on one line, so nothing says how far from it another "
            "model may lie: add reference models."
        )
    half_width = t_quantile((1 + LEVEL) / 2, df) * error

    def accuracy_below(distance: float) -> float:
        """Return the benchmark accuracy of a model that lies lower by `distance` from the line."""
        # A lower v also lowers the mean of v and u, so the line's value at the model moves too.
        return _accuracy(float(v[0]) - distance / (1 - weight * slope), n)

    value = accuracy_below(distance)
    low, high = accuracy_below(distance + half_width), accuracy_below(distance - half_width)
    expected = Estimate(value, low, high, level=LEVEL, method="hardness_curve", n=n, seed=None)
    excess_estimate = Estimate(
        accuracy.value - value,
        accuracy.value - high,
        accuracy.value - low,
        level=LEVEL,
        method="hardness_curve",
        n=n + n_control,
        seed=None,
    )
    p = float(stdtr(df, -distance / error))
    return Excess(
        accuracy,
        control_accuracy,
        expected=expected,
        excess=excess_estimate,
        p=p,
        n_references=n_references,
    )


def _answered_by_all(model: ArrayLike, references: ArrayLike) -> np.ndarray:
    """Return (1 + models, items): the model first, and only items that all models answered."""
    right = np.vstack([np.asarray(model, dtype=float)[None], np.asarray(references, dtype=float)])
    return right[:, ~np.isnan(right).any(axis=0)]


def _share(right: np.ndarray) -> Estimate:
    """Return the share of right answers with its interval."""
    k, n = int(right.sum()), len(right)
    if n < MIN_N:
        return missing(n)
    low, high = clopper_pearson(k, n, LEVEL)
    return Estimate(k / n, low, high, level=LEVEL, method="clopper_pearson", n=n, seed=None)


def _arcsine(k: np.ndarray, n: int) -> np.ndarray:
    """Return the arcsine of the root of the accuracy, for `k` right answers of `n`."""
    # With Anscombe's constants (1948) the variance is nearly 1/(4n) at all accuracies.
    return np.arcsin(np.sqrt((k + 0.375) / (n + 0.75)))


def _accuracy(v: float, n: int) -> float:
    """Turn `_arcsine` back into an accuracy within 0 and 1."""
    share = math.sin(min(max(v, 0.0), math.pi / 2)) ** 2
    return min(max((share * (n + 0.75) - 0.375) / n, 0.0), 1.0)
