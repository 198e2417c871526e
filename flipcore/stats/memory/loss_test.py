"""The loss-difference test (source 001) of the published variant being easier for the model than a
paraphrase.

D = loss on the paraphrase - loss on the original, in nats (total over the answer's tokens, or per
token); D0 are the same differences of `m` controls that the model cannot have seen. Memory means a
large D. An item whose D is NaN or infinite is left out and counted.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.intervals import clopper_pearson
from flipcore.stats.base.multiplicity import bh, bonferroni, by, holm

FEWEST_CONTROLS = 19  # with fewer no conformal p can reach .05
SOURCE_LEVEL = 0.01
SLACK = 1e-12


def finite(values: ArrayLike) -> np.ndarray:
    """Return the finite values, as a flat array."""
    flat = np.asarray(values, dtype=float).ravel()
    return flat[np.isfinite(flat)]


def n_at_least(d: ArrayLike, d0: ArrayLike) -> np.ndarray:
    """Count for each of `d` the controls `d0` that are as large (ties count, slack 1e-12)."""
    # One sort and a search instead of all comparisons.
    controls = np.sort(finite(d0))
    return len(controls) - np.searchsorted(
        controls, np.asarray(d, dtype=float) - SLACK, side="left"
    )


def _per_item(p: np.ndarray, d: ArrayLike):
    """Return `p` with NaN where `d` is not finite; a float for a scalar `d`."""
    result = np.where(np.isfinite(np.asarray(d, dtype=float)), p, np.nan)
    return float(result) if result.ndim == 0 else result


def pval_source(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return the source's p = mean(D0 >= D), a float for a scalar: it can be 0, and then survives
    any correction. No control: NaN."""
    m = len(finite(d0))
    return _per_item(n_at_least(d, d0) / m if m else np.full(np.shape(d), np.nan), d)


def pval_conformal(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return (1 + #{D0 >= D}) / (m + 1): valid if item and controls are exchangeable."""
    # The item itself counts as one of m + 1 exchangeable values.
    return _per_item((1 + n_at_least(d, d0)) / (len(finite(d0)) + 1), d)


def pval_tail(d: ArrayLike, d0: ArrayLike) -> Any:
    """Return the upper tail of Student's t at (D - mean) / (s sqrt(1 + 1/m)): the next value from a
    Gaussian control distribution.

    It reaches below 1 / (m + 1) by believing the shape of the tail: only with the check of
    `normality`.
    """
    from scipy.stats import t as student

    controls = finite(d0)
    m = len(controls)
    if m < 2 or controls.std() == 0:
        return _per_item(np.full(np.shape(d), np.nan), d)
    # The next value varies, and so does the mean of m controls.
    scale = controls.std(ddof=1) * math.sqrt(1 + 1 / m)
    return _per_item(student.sf((np.asarray(d, dtype=float) - controls.mean()) / scale, m - 1), d)


def bonferroni_min_controls(n_items: int, alpha: float = 0.05) -> int:
    """Return the fewest controls m with 1 / (m + 1) <= alpha / n: below it Bonferroni can flag
    nothing."""
    # 1e-6: the quotient may come out just above a whole number.
    return max(0, math.ceil(n_items / alpha - 1 - 1e-6))


def bh_min_discoveries(n_items: int, m: int, alpha: float = 0.05) -> int:
    """Return the fewest items at the floor p = 1 / (m + 1) that Benjamini-Hochberg can reject; more
    than n_items means never."""
    return math.ceil(n_items / (alpha * (m + 1)) - 1e-9)


def source_fwer_p0(n_items: int, m: int) -> float:
    """Return the family-wise error of the source's p with Bonferroni where alpha / n < 1 / m.

    It then rejects iff D > max(D0), and the largest of n + m exchangeable values is an item with n
    / (n + m).
    """
    return n_items / (n_items + m) if n_items + m else math.nan


def excess_fraction(k: int, n: int, level: float) -> dict[str, float]:
    """Return the share flagged beyond chance, (k/n - level) / (1 - level): {point, lower95,
    exp_false}.

    `lower95` uses the one-sided 95% Clopper-Pearson bound, `exp_false` = n * level is what chance
    flags. None are cut off at 0. n = 0: NaN.
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


def corrected_accuracy(correct: Sequence[int], flagged: Sequence[int]) -> dict[str, float]:
    """Return the source's contamination-corrected accuracy: {raw, corrected, n_kept}; nothing left
    unflagged: NaN.

    Flagging selects items that are right, so it lowers accuracy even without memory: read the
    placebo beside it.
    """
    right, out = np.asarray(correct, dtype=float), np.asarray(flagged, dtype=bool)
    if right.shape != out.shape:
        raise BadInput(
            f"Correctness and flags must cover the same items: came {len(right)} and {len(out)}."
        )
    unflagged = right[~out]
    return {
        "raw": float(right.mean()) if len(right) else math.nan,
        "corrected": float(unflagged.mean()) if len(unflagged) else math.nan,
        "n_kept": len(unflagged),
    }


def normality(d0: ArrayLike) -> dict[str, float | bool]:
    """Check the controls by Anderson and Darling: {statistic, critical (5%), ok, tail_gap}.

    `tail_gap` is the largest distance, in standard deviations, of the top 5% of the controls above
    their Gaussian quantiles (the upper end of the QQ plot): a heavy tail makes `pval_tail` too
    small even where A-D passes.
    """
    from scipy.stats import norm

    controls = np.sort(finite(d0))
    m = len(controls)
    # Stephens' correction, below, holds from eight values on.
    if m < 8 or controls.std() == 0:
        return {"statistic": math.nan, "critical": math.nan, "ok": False, "tail_gap": math.nan}
    z = (controls - controls.mean()) / controls.std(ddof=1)
    ranks = np.arange(1, m + 1)
    statistic = -m - float(np.mean((2 * ranks - 1) * (norm.logcdf(z) + norm.logsf(z[::-1]))))
    # For mean and variance estimated from the data: Stephens (1986), whose 5% point is .752.
    statistic *= 1 + 0.75 / m + 2.25 / m**2
    top = slice(m - max(1, m // 20), m)
    # (rank - 1/2) / m: the largest control stands at a finite quantile.
    tail_gap = float((z - norm.ppf((ranks - 0.5) / m))[top].max())
    return {
        "statistic": statistic,
        "critical": 0.752,
        "ok": statistic < 0.752,
        "tail_gap": tail_gap,
    }


def flags(d: ArrayLike, d0: ArrayLike, alpha: float = 0.05) -> dict[str, np.ndarray]:
    """Flag items by each rule (bool arrays): source_p01, source_bonferroni, conformal_bh (default),
    tail_bonf.

    Fewer than 19 finite controls: BadInput. An item that is not finite is flagged by none and is in
    no family. Where the controls are not Gaussian by Anderson-Darling, tail_bonf flags nothing.
    """
    m = len(finite(d0))
    if m < FEWEST_CONTROLS:
        raise BadInput(
            f"The loss test got {m} usable controls and needs {FEWEST_CONTROLS}: with fewer no "
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


__all__ = [
    "FEWEST_CONTROLS",
    "bh",
    "bh_min_discoveries",
    "bonferroni",
    "bonferroni_min_controls",
    "by",
    "corrected_accuracy",
    "excess_fraction",
    "finite",
    "flags",
    "holm",
    "n_at_least",
    "normality",
    "pval_conformal",
    "pval_source",
    "pval_tail",
    "source_fwer_p0",
]
