"""The loss-difference test (source 001): whether the published variant is easier for the model than
a paraphrase.

Arguments have the same meaning in all functions. `d` (items,) is D = loss on the paraphrase - loss
on the original, in nats (total over the answer's tokens, or per token). `d0` (m,) are the same
differences of `m` controls that the model cannot have seen. Memory means a large D. An item whose D
is NaN or infinite is left out and counted.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.intervals import clopper_pearson
from flipcore.stats.base.multiplicity import bh, bonferroni

MIN_CONTROLS = 19  # with fewer no conformal p can reach .05
SOURCE_LEVEL = 0.01
SLACK = 1e-12  # losses that differ by less count as ties


def finite(values: ArrayLike) -> np.ndarray:
    """Return the finite values, as a flat array."""
    flat = np.asarray(values, dtype=float).ravel()
    return flat[np.isfinite(flat)]


def n_at_least(d: ArrayLike, d0: ArrayLike) -> np.ndarray:
    """Count the controls that are at least as large as each of `d`; ties count."""
    controls = np.sort(finite(d0))
    n_below = np.searchsorted(controls, np.asarray(d, dtype=float) - SLACK, side="left")
    return len(controls) - n_below


def _per_item(p: np.ndarray, d: ArrayLike):
    """Return `p` with NaN where `d` is not finite; a float for a scalar `d`."""
    result = np.where(np.isfinite(np.asarray(d, dtype=float)), p, np.nan)
    return float(result) if result.ndim == 0 else result


def pval_source(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return the source's p = mean(D0 >= D), NaN without controls; a float for a scalar `d`.

    This p can be 0, which no correction for multiple testing can raise.
    """
    m = len(finite(d0))
    return _per_item(n_at_least(d, d0) / m if m else np.full(np.shape(d), np.nan), d)


def pval_conformal(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return the conformal p, which is valid if item and controls are exchangeable; a float for a
    scalar `d`."""
    # + 1, because the item itself is one of the m + 1 exchangeable values.
    return _per_item((1 + n_at_least(d, d0)) / (len(finite(d0)) + 1), d)


def pval_tail(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return the p of D as one more value from a Gaussian distribution of controls; NaN if fewer
    than two controls or no spread.

    This p can be below 1 / (m + 1), because it assumes the shape of the tail. Use it only if
    `normality` finds no departure from a Gaussian.
    """
    from scipy.stats import t as student

    controls = finite(d0)
    m = len(controls)
    if m < 2 or controls.std() == 0:
        return _per_item(np.full(np.shape(d), np.nan), d)
    # sqrt(1 + 1/m), because both the next value and the mean of m controls vary.
    scale = controls.std(ddof=1) * math.sqrt(1 + 1 / m)
    return _per_item(student.sf((np.asarray(d, dtype=float) - controls.mean()) / scale, m - 1), d)


def bonferroni_min_controls(n_items: int, alpha: float = 0.05) -> int:
    """Return the least number of controls with which Bonferroni on conformal p-values can flag an
    item: the smallest m with 1 / (m + 1) <= alpha / n_items."""
    # 1e-6, because rounding may leave the quotient just above a whole number.
    return max(0, math.ceil(n_items / alpha - 1 - 1e-6))


def bh_min_discoveries(n_items: int, m: int, alpha: float = 0.05) -> int:
    """Return how many items must have the smallest possible p, 1 / (m + 1), for Benjamini-Hochberg
    to flag them. A result above `n_items` means that it can flag nothing."""
    return math.ceil(n_items / (alpha * (m + 1)) - 1e-9)


def source_fwer_p0(n_items: int, m: int) -> float:
    """Return the family-wise error of Bonferroni on the source's p, where alpha / n < 1 / m.

    An item is then flagged iff its D > max(D0). The largest of n + m exchangeable values is an item
    with probability n / (n + m). NaN if there are no items and no controls.
    """
    return n_items / (n_items + m) if n_items + m else math.nan


def excess_fraction(k: int, n: int, level: float) -> dict[str, float]:
    """Return the share of `n` items that is flagged beyond chance, if `k` are flagged at `level`.

    {point, lower95, exp_false}: `point` is (k/n - level) / (1 - level), `lower95` the same of the
    one-sided 95% Clopper-Pearson bound of k/n. `exp_false` = n * level is the number flagged by
    chance. Shares may be negative; they are NaN if n is 0.
    """
    if not n:
        return {"point": math.nan, "lower95": math.nan, "exp_false": 0.0}
    # The lower end of a two-sided 90% interval is a one-sided 95% bound.
    low = clopper_pearson(k, n, 0.90)[0]
    return {
        "point": (k / n - level) / (1 - level),
        "lower95": (low - level) / (1 - level),
        "exp_false": n * level,
    }


def normality(d0: ArrayLike) -> dict[str, float | bool]:
    """Test by Anderson and Darling (A-D) whether the controls are Gaussian.

    Returns {statistic, critical, ok, tail_gap}; `ok` is True if the statistic is below its 5%
    critical value. `tail_gap` is the largest distance of the top 5% of the controls above their
    Gaussian quantiles, in standard deviations (the upper end of the QQ plot). A heavy tail makes
    `pval_tail` too small even if A-D passes. NaN and not ok with fewer than eight controls.
    """
    from scipy.stats import norm

    controls = np.sort(finite(d0))
    m = len(controls)
    # Stephens' correction, used below, needs at least eight values.
    if m < 8 or controls.std() == 0:
        return {"statistic": math.nan, "critical": math.nan, "ok": False, "tail_gap": math.nan}
    z = (controls - controls.mean()) / controls.std(ddof=1)
    ranks = np.arange(1, m + 1)
    statistic = -m - float(np.mean((2 * ranks - 1) * (norm.logcdf(z) + norm.logsf(z[::-1]))))
    # Stephens' correction (1986) for an estimated mean and variance; its 5% critical value is .752.
    statistic *= 1 + 0.75 / m + 2.25 / m**2
    top = slice(m - max(1, m // 20), m)
    # (rank - 1/2) / m, because rank / m has an infinite quantile for the largest control.
    tail_gap = float((z - norm.ppf((ranks - 0.5) / m))[top].max())
    return {
        "statistic": statistic,
        "critical": 0.752,
        "ok": statistic < 0.752,
        "tail_gap": tail_gap,
    }


def flags(d: ArrayLike, d0: ArrayLike, alpha: float = 0.05) -> dict[str, np.ndarray]:
    """Return the (items,) flags of each rule: source_p01, source_bonferroni, conformal_bh (the
    default), tail_bonf.

    An item that is not finite is never flagged and does not count in corrections for multiple
    testing. If the controls are not Gaussian by `normality`, tail_bonf flags nothing. Raises
    BadInput with fewer than 19 finite controls.
    """
    m = len(finite(d0))
    if m < MIN_CONTROLS:
        raise BadInput(
            f"The loss test got {m} usable controls and needs {MIN_CONTROLS}: with fewer no "
            "p-value can reach .05. Add control items that the model cannot have seen."
        )
    p_source = pval_source(d, d0)
    # A tail that is not Gaussian would make these p-values too small.
    if normality(d0)["ok"]:
        tail = np.asarray(bonferroni(pval_tail(d, d0)))
    else:
        tail = np.full(np.shape(d), np.nan)
    return {
        "source_p01": p_source < SOURCE_LEVEL,
        "source_bonferroni": np.asarray(bonferroni(p_source)) <= alpha,
        "conformal_bh": np.asarray(bh(pval_conformal(d, d0))) <= alpha,
        "tail_bonf": tail <= alpha,
    }
