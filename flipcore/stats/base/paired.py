"""Tests of the same items before and after a change (McNemar) and of the drops of two sets (Welch).

b counts broken items (right -> wrong), c fixed ones (wrong -> right).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput

SLACK = 1e-12
# A smaller variance is a rounding error: one changed item among 10,000 with ten rewrites has 1e-10.
FLAT = 1e-14


def correctness(values: ArrayLike | str) -> np.ndarray:
    """Return 0/1 floats, one per item, from numbers, booleans or a string of digits."""
    return np.array(
        [float(digit) for digit in values] if isinstance(values, str) else values, dtype=float
    )


def mcnemar(b: int, c: int) -> dict[str, float]:
    """Return McNemar's p-values for `b` broken and `c` fixed items; all are 1 for b = c = 0.

    The keys are exact (twice the binomial tail), midp, chi2_cc (with continuity correction), chi2
    and one_sided_exact ("more broken than fixed"). The source's 2.5e-08 for b = 33 and c = 0 is
    chi2_cc; the exact p is 2.3e-10.
    """
    from scipy.stats import binom, chi2

    n = b + c
    if n == 0:
        return dict.fromkeys(("exact", "midp", "chi2_cc", "chi2", "one_sided_exact"), 1.0)
    tail, point = float(binom.cdf(min(b, c), n, 0.5)), float(binom.pmf(min(b, c), n, 0.5))
    return {
        "exact": min(1.0, 2 * tail),
        # Each tail counts only half the probability of the observed table.
        "midp": min(1.0, 2 * tail - point),
        "chi2_cc": float(chi2.sf(max(abs(b - c) - 1, 0) ** 2 / n, 1)),
        "chi2": float(chi2.sf((b - c) ** 2 / n, 1)),
        "one_sided_exact": float(binom.sf(b - 1, n, 0.5)),
    }


def before_and_after(
    before: ArrayLike | str, after: ArrayLike | str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the correctness before and after a change, of the items that have both.

    NaN after means that the rewrite method could not perturb the item. Raises BadInput for unequal
    lengths."""
    first, second = correctness(before), correctness(after)
    if first.shape != second.shape:
        raise BadInput(
            f"Before and after must be the same items: got {len(first)} and {len(second)}."
        )
    has_both = ~(np.isnan(first) | np.isnan(second))
    return first[has_both], second[has_both]


def discordant(before: ArrayLike | str, after: ArrayLike | str) -> tuple[int, int, int]:
    """Return the numbers of broken, fixed and all items, from 0/1 correctness before and after."""
    first, second = before_and_after(before, after)
    n_broken = int(np.sum((first == 1) & (second == 0)))
    n_fixed = int(np.sum((first == 0) & (second == 1)))
    return n_broken, n_fixed, len(first)


def gap_welch(db: ArrayLike, dc: ArrayLike, level: float = 0.95) -> dict[str, float]:
    """Return {gap, se, t, df, p, lo, hi} of Welch's two-sided t on drops per item, benchmark
    (`db`) minus control (`dc`).

    All are NaN below two items in a set. Without variance the limits are NaN, and p is 1 for a gap
    of 0 and 0 otherwise."""
    from scipy.stats import t as student

    first, second = np.asarray(db, dtype=float), np.asarray(dc, dtype=float)
    names = ("gap", "se", "t", "df", "p", "lo", "hi")
    if min(len(first), len(second)) < 2:
        return dict.fromkeys(names, math.nan)
    gap = float(first.mean() - second.mean())
    v1, v2 = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    se = math.sqrt(v1 + v2)
    if v1 + v2 <= FLAT:
        t = 0.0 if abs(gap) <= SLACK else math.copysign(math.inf, gap)
        return dict(
            zip(names, (gap, 0.0, t, math.nan, float(t == 0), math.nan, math.nan), strict=True)
        )
    df = float((v1 + v2) ** 2 / (v1**2 / (len(first) - 1) + v2**2 / (len(second) - 1)))
    half = float(student.ppf(0.5 + level / 2, df)) * se
    p = float(2 * student.sf(abs(gap) / se, df))
    return dict(zip(names, (gap, se, gap / se, df, p, gap - half, gap + half), strict=True))
