"""Join the curves of a decision that needs several estimates above the margin, such as a first
rank."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import Choice, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import ENDS, Curve, SpecificationTests
from flipcore.stats.choices.readouts import AnswerMaterial


@dataclass(frozen=True, eq=False)
class LeastMeanTests:
    """Tests of the least of several means, each tested by one of `parts`."""

    parts: Sequence[SpecificationTests]

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of the least mean, (specifications,) each."""
        # The least lower limit is too high only if the limit of the least mean is, so it needs no
        # correction. The least upper limit may be too low if any of them is (Bonferroni).
        low = np.array([part.limits(alpha)[0] for part in self.parts])
        high = np.array([part.limits(alpha / len(self.parts))[1] for part in self.parts])
        return low.min(axis=0), high.min(axis=0)

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return (specifications,) one-sided p that the least mean is above `null`, or `below`
        it."""
        p = np.array([part.p(null, below=below) for part in self.parts])
        # Above: all means must be (intersection-union). Below: any one is enough (Bonferroni).
        if below:
            return np.minimum(1.0, len(self.parts) * p.min(axis=0))
        return p.max(axis=0)


def join_curves(curves: Sequence[Curve]) -> Curve:
    """Return the curve of the least of the estimates of `curves`, which have the same choices.

    Effects are those on the estimate that is the least in the declared specification. Raises
    BadInput without a curve.
    """
    if not len(curves):
        raise BadInput("The least of several curves needs at least one curve, and got none.")
    if len(curves) == 1:
        return curves[0]
    estimates = np.array([curve.estimate for curve in curves])
    # Number of the curve with the least estimate, per specification. Infinity, because a missing
    # estimate must not be the least.
    least = np.nan_to_num(estimates, nan=np.inf).argmin(axis=0)
    declared_least = curves[int(least[0])]
    columns = {}
    for name in ("estimate", "se", "df", "n_units", "n_items"):
        values = np.array([getattr(curve, name) for curve in curves])
        columns[name] = values[least, np.arange(len(declared_least))]
    # All rivals may have the unread answers that are worst for the first model, or best.
    for name in ENDS:
        columns[name] = np.min([getattr(curve, name) for curve in curves], axis=0)
    ends = None
    if declared_least.ends:
        low, high = zip(*(curve.ends for curve in curves if curve.ends), strict=True)
        ends = (join_curves(low), join_curves(high))
    closed = []
    for reasons in zip(*(curve.closed for curve in curves), strict=True):
        closed.append(next(filter(None, reasons), ""))
    return replace(
        declared_least,
        closed=tuple(closed),
        tests=LeastMeanTests([curve.tests for curve in curves]),
        coarse_tests=LeastMeanTests([curve.coarse_tests for curve in curves]),
        ends=ends,
        **columns,
    )


def first_rank_curve(material: AnswerMaterial, choices: Sequence[Choice] | None = None) -> Curve:
    """Count the lead of the first model over the best of the others, under all combinations of
    `choices`."""
    to_count = selected(material.choices) if choices is None else choices
    first, *rivals = material.answers.models
    curves = []
    for rival in rivals:
        pair_answers = material.answers.of_models(first, rival)
        curves.append(count(replace(material, answers=pair_answers, bounds=SIGNED), to_count))
    return join_curves(curves)
