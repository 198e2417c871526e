"""A decision that is true where several estimates all pass the margin: a first rank, and flips."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import Choice, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve, EveryTest
from flipcore.stats.choices.readouts import AnswerMaterial


@dataclass(frozen=True, eq=False)
class AllTests:
    """Tests of the least of several means, one mean per part."""

    parts: Sequence[EveryTest]

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of the least mean (n_specifications,)."""
        # All lower limits hold where the one of the least mean does; each upper limit may be it.
        low = np.array([part.limits(alpha)[0] for part in self.parts])
        high = np.array([part.limits(alpha / len(self.parts))[1] for part in self.parts])
        return low.min(axis=0), high.min(axis=0)

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return one-sided p: all means must be above `null`, or with `below` one below it."""
        p = np.array([part.p(null, below=below) for part in self.parts])
        if below:
            return np.minimum(1.0, len(self.parts) * p.min(axis=0))
        return p.max(axis=0)


def joined(curves: Sequence[Curve]) -> Curve:
    """Return the curve of the least of these estimates, which have the same choices.

    Effects are those on the estimate that is the least one as declared.
    """
    if len(curves) == 1:
        return curves[0]
    estimates = np.array([curve.estimate for curve in curves])
    least = np.nan_to_num(estimates, nan=np.inf).argmin(axis=0)
    nearest = curves[int(least[0])]
    columns = {}
    for name in ("estimate", "se", "df", "n_units", "n_items"):
        values = np.array([getattr(curve, name) for curve in curves])
        columns[name] = values[least, np.arange(len(nearest))]
    closed = []
    for reasons in zip(*(curve.closed for curve in curves), strict=True):
        closed.append(next(filter(None, reasons), ""))
    return replace(
        nearest,
        closed=tuple(closed),
        tests=AllTests([curve.tests for curve in curves]),
        coarse_tests=AllTests([curve.coarse_tests for curve in curves]),
        **columns,
    )


def first_rank_curve(material: AnswerMaterial, choices: Sequence[Choice] | None = None) -> Curve:
    """Count the lead of the first of several models over the nearest of the others."""
    kept = selected(material.choices) if choices is None else choices
    first, *rivals = material.answers.models
    curves = []
    for rival in rivals:
        pair = replace(material, answers=material.answers.of(first, rival), bounds=SIGNED)
        curves.append(count(pair, kept))
    return joined(curves)
