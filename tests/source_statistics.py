"""Statistics that `cases.json` fixes and the product does not compute, as the source documents define them.

They share the product's own parts (limits, resamples, tests), so their fixed cases test these too.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.agreement import _alpha_of_counts, _unit_counts, _units
from flipcore.stats.base.bootstrap import bca_limits, percentile_limits, studentized_limits
from flipcore.stats.base.intervals import cluster_sums, newcombe_diff, t_quantile, wilson, z_quantile
from flipcore.stats.base.multiplicity import _adjusted, _step_up
from flipcore.stats.base.resample import SLACK, index_draws, monte_carlo_p
from flipcore.stats.base.retention import passes, retention
from flipcore.stats.holdout.source_rules import pooled_z
from flipcore.stats.memory.drop_gap import permuted_t

NAN = math.nan
MIN_LOOK = 20  # items from which a confidence sequence is shown


def replicates(stat: Callable[[np.ndarray], float] | None, xs: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot,) values of `stat` on resamples of xs (n,); None is the mean. The draws equal
    those of the loop in the source documents."""
    if stat is None:
        return np.concatenate([xs[draw].mean(axis=1) for draw in index_draws(xs.size, n_boot, rng)])
    values: list[float] = []
    for draw in index_draws(xs.size, n_boot, rng):
        values.extend(float(stat(xs[row])) for row in draw)
    return np.array(values)


def boot_percentile(
    xs: Sequence[float], seed: int = 0, n_boot: int = 2000, level: float = 0.95, stat: Callable | None = None
) -> list[float]:
    """Return the interval of the source documents: linear percentiles of `stat` over resamples of
    xs. `stat` None is the mean; NaN without data."""
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return [NAN, NAN]
    return percentile_limits(replicates(stat, x, n_boot, generator(seed)), level)


def boot_bca(
    xs: Sequence[float], seed: int = 0, n_boot: int = 2000, level: float = 0.95, stat: Callable | None = None
) -> list[float]:
    """Return Efron's BCa interval (1987); [x, x] for equal replicates, NaN without data."""
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return [NAN, NAN]
    observed = float(x.mean() if stat is None else stat(x))
    reps = replicates(stat, x, n_boot, generator(seed))
    if np.ptp(reps) <= SLACK:
        return [observed, observed]
    if stat is None:
        # The mean without item i has a closed form, so the common case needs no loop.
        jackknife = (x.sum() - x) / (x.size - 1)
    else:
        jackknife = np.array([float(stat(np.delete(x, i))) for i in range(x.size)])
    return bca_limits(reps, observed, jackknife, level)


def boot_studentized(xs: Sequence[float], seed: int = 0, n_boot: int = 2000, level: float = 0.95) -> list[float]:
    """Return the bootstrap-t interval of the mean, without the replicates that have no spread.

    [x, x] where all values are equal, NaN below 2 values."""
    x = np.asarray(xs, dtype=float)
    if x.size < 2:
        return [NAN, NAN]
    mean, se = float(x.mean()), float(x.std(ddof=1) / math.sqrt(x.size))
    t_values = []
    for draw in index_draws(x.size, n_boot, generator(seed)):
        rows = x[draw]
        # t* is undefined where all drawn values are equal.
        rows = rows[np.ptp(rows, axis=1) > 0]
        errors = rows.std(axis=1, ddof=1) / math.sqrt(x.size)
        t_values.append((rows.mean(axis=1) - mean) / errors)
    return studentized_limits(np.concatenate(t_values), mean, se, level)


def cluster_clt(xs: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> dict[str, float]:
    """Return the mean of rows with its clustered errors and t limits.

    Returns
    -------
    {mean, se, se_cr1, lo, hi}: `se` is Miller's (arXiv:2411.00640). `se_cr1` is `se` times
    sqrt(G/(G - 1)) for G clusters; the limits use it with G - 1 degrees of freedom. Errors and
    limits are NaN with one cluster.
    """
    x = np.asarray(xs, dtype=float)
    if x.size == 0:
        return dict.fromkeys(("mean", "se", "se_cr1", "lo", "hi"), NAN)
    sums, sizes = cluster_sums(x, np.asarray(clusters))
    mean = float(x.mean())
    n_clusters = sums.size
    if n_clusters < 2:
        return {"mean": mean, "se": NAN, "se_cr1": NAN, "lo": NAN, "hi": NAN}
    se = float(np.linalg.norm(sums - mean * sizes) / x.size)
    cr1 = se * math.sqrt(n_clusters / (n_clusters - 1))
    half = t_quantile(0.5 + level / 2, n_clusters - 1) * cr1
    return {"mean": mean, "se": se, "se_cr1": cr1, "lo": mean - half, "hi": mean + half}


def conf_seq(xs: Sequence[float] | np.ndarray, alpha: float = 0.05, rho: float | None = None, n_opt: int = 100) -> list[float]:
    """Return the asymptotic confidence sequence of the mean after len(xs) points.

    It is valid at all looks together (Robbins' normal mixture; Waudby-Smith et al.,
    arXiv:2103.06476) and tightest near `n_opt` points. NaN below 2 points. `rho` None chooses the mixture's scale from `n_opt`.
    """
    x = np.asarray(xs, dtype=float)
    if x.size < 2:
        return [NAN, NAN]
    mean, half = float(x.mean()), conf_seq_half(float(x.std(ddof=1)), x.size, alpha, rho, n_opt)
    return [mean - half, mean + half]


def conf_seq_half(sd: float, t: int, alpha: float = 0.05, rho: float | None = None, n_opt: int = 100) -> float:
    """Return the half-width of `conf_seq` after t points with standard deviation `sd`."""
    if rho is None:
        # The paper's formula for the rho that makes the sequence about tightest at n_opt points.
        rho_squared = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / n_opt
    else:
        rho_squared = rho**2
    growth = t * rho_squared + 1
    return sd * math.sqrt(growth / (t * t * rho_squared) * math.log(growth / alpha**2))


def by(p: Sequence[float]) -> list[float]:
    """Adjust for the false discovery rate under any dependence (Benjamini & Yekutieli 2001)."""
    # Allowing any dependence costs the factor of the harmonic sum.
    return _adjusted(p, lambda q: _step_up(q) * (1 / np.arange(1, q.size + 1)).sum())


def n_two_prop(p1: float, p2: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the number of items per arm to tell two independent proportions apart; infinite where
    they are equal. The variance is pooled under the null (Fleiss 1981)."""
    if p1 == p2:
        return math.inf
    pooled = (p1 + p2) / 2
    null = z_quantile(1 - alpha / 2) * math.sqrt(2 * pooled * (1 - pooled))
    alternative = z_quantile(power) * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return math.ceil((null + alternative) ** 2 / (p1 - p2) ** 2 - SLACK)


def retention_pairs(
    sem_votes: Sequence[Sequence[bool]], path_votes: Sequence[Sequence[bool]], rule: str = "majority"
) -> dict[str, float]:
    """Return {kept, total, rate}. A pair is kept if both its votes on meaning (`sem_votes`) and
    those on the solution path pass `rule`. Raises BadInput for unequal lengths."""
    if len(sem_votes) != len(path_votes):
        raise BadInput(f"Both checks must cover the same pairs: got {len(sem_votes)} and {len(path_votes)}.")
    kept = sum(passes(meaning, rule) and passes(path, rule) for meaning, path in zip(sem_votes, path_votes, strict=True))
    return {"kept": kept, "total": len(sem_votes), "rate": retention(kept, len(sem_votes))["rate"]}


def krippendorff_alpha(ratings: Sequence[Sequence], level: str = "nominal") -> float:
    """Return Krippendorff's alpha of `ratings[rater][unit]`, None where missing.

    `level` is nominal or interval. Units with fewer than two ratings are dropped. NaN where no unit
    is left or the expected disagreement is 0.
    """
    if level not in ("nominal", "interval"):
        raise BadInput(f"Krippendorff's alpha is offered for nominal and interval ratings, not for {level!r}.")
    counts, categories = _unit_counts([unit for unit in _units(ratings) if len(unit) >= 2])
    if len(categories) < 2:
        return math.nan
    if level == "nominal":
        return _alpha_of_counts(counts, 1 - np.eye(len(categories)))
    values = np.array(categories, dtype=float)
    return _alpha_of_counts(counts, np.subtract.outer(values, values) ** 2)


def two_prop(k1: int, n1: int, k2: int, n2: int) -> dict[str, float]:
    """Return {z, p, fisher}: `pooled_z` with its two-sided p, and the p of Fisher's exact test; NaN
    for an empty set."""
    from scipy.stats import fisher_exact

    if not n1 or not n2:
        return {"z": math.nan, "p": math.nan, "fisher": math.nan}
    z, p = pooled_z(k1, n1, k2, n2)
    return {"z": z, "p": p, "fisher": float(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)}


def inflation_pp(k_target: int, n_target: int, k_retro: int, n_retro: int, level: float = 0.95) -> dict[str, object]:
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
    half = float(norm.ppf(0.5 + level / 2)) * math.sqrt(p1 * (1 - p1) / n_target + p2 * (1 - p2) / n_retro)
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


def tost_two_prop(k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05) -> dict[str, float | bool]:
    """Return {equivalent, lo, hi}: the (1 - 2 alpha) Newcombe interval, and whether it lies inside
    (-margin, margin)."""
    if not n1 or not n2:
        return {"equivalent": False, "lo": math.nan, "hi": math.nan}
    low, high = newcombe_diff(k1, n1, k2, n2, 1 - 2 * alpha)
    return {"equivalent": -margin < low and high < margin, "lo": low, "hi": high}


def stud_perm(db: ArrayLike, dc: ArrayLike, seed: int = 0, m: int = 9999) -> dict[str, float]:
    """Test by studentised permutation whether the benchmark's mean drop is larger (Janssen 1997).

    Returns {t, p_one_sided} from `m` permutations. Both are NaN if a set has fewer than two items.
    """
    observed, draw = permuted_t(db, dc, generator(seed))
    return {"t": observed, "p_one_sided": monte_carlo_p(observed, draw, m, max_m=m).p}


def coverage(perturbed: Sequence) -> dict[str, float]:
    """Return how many items the rewrite method could perturb, as {k, n, rate, lo, hi} (Wilson).

    `perturbed` has one value per item; None or NaN means that the item could not be perturbed.
    """
    k = sum(value is not None and not (isinstance(value, float) and math.isnan(value)) for value in perturbed)
    low, high = wilson(k, len(perturbed))
    return {"k": k, "n": len(perturbed), "rate": k / len(perturbed) if len(perturbed) else math.nan, "lo": low, "hi": high}


def tost_mean(d: float, se: float, margin: float, df: float | None = None, alpha: float = 0.05) -> dict[str, float | bool]:
    """Run two one-sided tests of |theta| < margin (Schuirmann 1987).

    `d` is the estimate of theta and `se` its standard error. The law is Student's t with `df`
    degrees of freedom, or normal if `df` is None. `equivalent` is p < `alpha`.
    """
    from scipy.stats import norm
    from scipy.stats import t as student

    if math.isnan(d) or math.isnan(se):
        return {"p": math.nan, "p_lower": math.nan, "p_upper": math.nan, "equivalent": False}
    # Without any spread the difference is known exactly: it is inside the margin or outside.
    if se <= 0:
        p_lower, p_upper = float(d <= -margin), float(d >= margin)
    else:
        law = norm if df is None else student(df)
        p_lower, p_upper = float(law.sf((d + margin) / se)), float(law.cdf((d - margin) / se))
    # Equivalence needs both tests to reject (intersection-union), so the larger p counts.
    p = max(p_lower, p_upper)
    return {"p": p, "p_lower": p_lower, "p_upper": p_upper, "equivalent": p < alpha}


def corrected_accuracy(correct: Sequence[int], flagged: Sequence[int]) -> dict[str, float]:
    """Return the source's contamination-corrected accuracy: {raw, corrected, n_kept}.

    `corrected` is the accuracy of unflagged items, NaN if there is none. Flagging selects items
    that are right, so it lowers accuracy even without memory. Compare it with the same exclusion of
    controls (`loss_analysis.CorrectedAccuracy`). Raises BadInput for unequal lengths.
    """
    right, is_flagged = np.asarray(correct, dtype=float), np.asarray(flagged, dtype=bool)
    if right.shape != is_flagged.shape:
        raise BadInput(f"Correctness and flags must cover the same items: got {len(right)} and {len(is_flagged)}.")
    unflagged = right[~is_flagged]
    return {
        "raw": float(right.mean()) if len(right) else math.nan,
        "corrected": float(unflagged.mean()) if len(unflagged) else math.nan,
        "n_kept": len(unflagged),
    }
