"""The source's tests of a retro-holdout against its target (source 002), one function per test.

The source's verdict is "indistinguishable iff every p >= .05". Ours (`holdout.verdict`) has three
states, because failing to reject is not evidence of sameness. k1 of n1 answers are right in the
target, k2 of n2 in the retro-holdout.
"""

import math


def pooled_z(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """Return (z, two-sided p) of two proportions with pooled variance; (0, 1) if all or none are
    right, NaN for an empty set."""
    if not n1 or not n2:
        return math.nan, math.nan
    # Pooled, because under the null hypothesis both sets have the same share.
    pooled = (k1 + k2) / (n1 + n2)
    variance = pooled * (1 - pooled) * (1 / n1 + 1 / n2)
    z = (k1 / n1 - k2 / n2) / math.sqrt(variance) if variance > 0 else 0.0
    return z, math.erfc(abs(z) / math.sqrt(2))


def _binomial(k: int, n: int, p0: float) -> dict[str, float]:
    """Return {acc, p_two_sided (small-p method), p_greater} of k hits in n; NaN for n = 0."""
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
