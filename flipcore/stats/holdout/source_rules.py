"""The source's tests of a retro-holdout against its target (source 002), one function per test.

The source's verdict is "indistinguishable iff every p >= .05". Ours (`holdout.verdict`) has three
states, because failing to reject is not evidence of sameness. k1 of n1 answers are right in the
target, k2 of n2 in the retro-holdout.
"""

import math

from flipcore.stats.base.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from flipcore.stats.base.intervals import newcombe_diff, wilson
from flipcore.stats.base.retention import retention, retention_pairs
from flipcore.stats.holdout.semantic import mean_pairwise_cos_fast, mmd2_cos, perm_test_semantic


def two_prop(k1: int, n1: int, k2: int, n2: int) -> dict[str, float]:
    """Return {z, p, fisher}: `pooled_z` with its two-sided p, and the p of Fisher's exact test; NaN
    for an empty set."""
    from scipy.stats import fisher_exact

    if not n1 or not n2:
        return {"z": math.nan, "p": math.nan, "fisher": math.nan}
    z, p = pooled_z(k1, n1, k2, n2)
    return {"z": z, "p": p, "fisher": float(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)}


def pooled_z(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """Return (z, two-sided p) of two proportions with pooled variance; (0, 1) where all or none are
    right, NaN for an empty set."""
    if not n1 or not n2:
        return math.nan, math.nan
    # Pooled, because under the null hypothesis both sets have the same share.
    pooled = (k1 + k2) / (n1 + n2)
    variance = pooled * (1 - pooled) * (1 / n1 + 1 / n2)
    z = (k1 / n1 - k2 / n2) / math.sqrt(variance) if variance > 0 else 0.0
    return z, math.erfc(abs(z) / math.sqrt(2))


def inflation_pp(
    k_target: int, n_target: int, k_retro: int, n_retro: int, level: float = 0.95
) -> dict[str, object]:
    """Return the benchmark inflation in points, `bi_pp`, with three intervals: `newcombe_pp` (the
    default), `wald_pp` and `appendixA_pp`. NaN for an empty set.

    Appendix A of the source adds the half-intervals of two Wilson intervals at 1 - (1 - level) / 2
    each, which is much wider.
    """
    from scipy.stats import norm

    if not n_target or not n_retro:
        no_interval = (math.nan, math.nan)
        keys = ("newcombe_pp", "wald_pp", "appendixA_pp")
        return {"bi_pp": math.nan, **dict.fromkeys(keys, no_interval)}
    p1, p2 = k_target / n_target, k_retro / n_retro
    half = float(norm.ppf(0.5 + level / 2)) * math.sqrt(
        p1 * (1 - p1) / n_target + p2 * (1 - p2) / n_retro
    )
    # The source splits the error between the two intervals that it adds.
    half_level = 1 - (1 - level) / 2
    (low1, high1) = wilson(k_target, n_target, half_level)
    (low2, high2) = wilson(k_retro, n_retro, half_level)
    newcombe = newcombe_diff(k_target, n_target, k_retro, n_retro, level)
    return {
        "bi_pp": 100 * (p1 - p2),
        "newcombe_pp": tuple(100 * end for end in newcombe),
        "wald_pp": (100 * (p1 - p2 - half), 100 * (p1 - p2 + half)),
        "appendixA_pp": (100 * (low1 - high2), 100 * (high1 - low2)),
    }


def tost_two_prop(
    k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05
) -> dict[str, float | bool]:
    """Return {equivalent, lo, hi}: the (1 - 2 alpha) Newcombe interval, and whether it lies inside
    (-margin, margin)."""
    if not n1 or not n2:
        return {"equivalent": False, "lo": math.nan, "hi": math.nan}
    low, high = newcombe_diff(k1, n1, k2, n2, 1 - 2 * alpha)
    return {"equivalent": -margin < low and high < margin, "lo": low, "hi": high}


def _binomial(k: int, n: int, p0: float) -> dict[str, float]:
    """Return {acc, p_two_sided (small-p method), p_greater} of k hits in n; NaN without any."""
    from scipy.stats import binomtest

    if not n:
        return {"acc": math.nan, "p_two_sided": math.nan, "p_greater": math.nan}
    return {
        "acc": k / n,
        "p_two_sided": float(binomtest(k, n, p0).pvalue),
        "p_greater": float(binomtest(k, n, p0, alternative="greater").pvalue),
    }


def prediction_accuracy(k_correct: int, n_total: int, p0: float = 0.5) -> dict[str, float]:
    """Return {acc, p_two_sided, p_greater} of the source's binomial test of out-of-fold hits.

    Folds share training data, so it rejects in .07 to .13 at a nominal .05. `separability.py`
    permutes the whole cross-validation instead.
    """
    return _binomial(k_correct, n_total, p0)


def odd_one_out(k_correct: int, n_tests: int, p0: float = 1 / 3) -> dict[str, float]:
    """Return {acc, p_two_sided, p_greater} of the source's binomial test of finding the odd one of
    three."""
    return _binomial(k_correct, n_tests, p0)


__all__ = [
    "cohen_kappa",
    "fleiss_kappa",
    "inflation_pp",
    "krippendorff_alpha",
    "mean_pairwise_cos_fast",
    "mmd2_cos",
    "odd_one_out",
    "perm_test_semantic",
    "prediction_accuracy",
    "retention",
    "retention_pairs",
    "tost_two_prop",
    "two_prop",
]
