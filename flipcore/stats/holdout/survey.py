"""The odd-one-out survey: people guess which of three entries is from the retro-holdout (source
002, appendix F).

Everybody finds a strange entry, so answers about one entry are not independent: with answers as the
units, a test at a nominal .05 rejects in .09 to .17. So entries are clusters, and annotators too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.stats.base.estimate import MIN_N, Estimate, missing
from flipcore.stats.base.intervals import clopper_pearson, cluster_se, cluster_sums, t_quantile
from flipcore.stats.holdout.source_rules import odd_one_out

CHANCE = 1 / 3


@dataclass(frozen=True)
class OddOneOut:
    """Accuracy clustered by entry and annotator, with its two-sided p and standard error. `upper`
    is the one-sided 95% bound of the accuracy. `p_source` is the source's binomial test of answers.
    From ten annotators on the result holds for people like these, below for these alone."""

    accuracy: Estimate
    p: float
    upper: float
    se: float
    p_source: float
    n_entries: int
    n_annotators: int

    @property
    def too_few(self) -> str:
        """Say why nothing may be claimed, else ""."""
        if self.n_entries < MIN_N:
            return f"answers on {self.n_entries} holdout entries, and at least {MIN_N} are needed"
        return "too few answers for a test" if math.isnan(self.p) else ""


def odd_one_out_survey(
    hits: ArrayLike,
    entries: Sequence | np.ndarray,
    annotators: Sequence | np.ndarray,
    level: float = 0.95,
) -> OddOneOut:
    """Test an accuracy of 1/3 from one hit (0 or 1), holdout entry and annotator per answer.

    NaN hits are left out. Without a second entry or annotator to cluster by, there is no test. Two
    cases have the exact binomial test: a single annotator, whose answers are independent, and equal
    answers, which count as one per entry or per annotator, whichever are fewer. Fewer than ten
    annotators are not a sample of people: then only entries are clusters, and the result holds for
    these annotators alone.
    """
    outcomes = np.asarray(hits, dtype=float)
    is_answered = ~np.isnan(outcomes)
    x = outcomes[is_answered]
    entry, annotator = np.asarray(entries)[is_answered], np.asarray(annotators)[is_answered]
    n, n_entries, n_annotators = len(x), len(set(entry.tolist())), len(set(annotator.tolist()))
    p_source = odd_one_out(int(x.sum()), n)["p_two_sided"]
    if n_annotators == 1 and n_entries == n > 1:
        note = "One annotator: it holds for this one alone."
        return _exact(int(x.sum()), n, level, p_source, (n, 1), note)
    # Too few annotators to be a sample of people, but enough entries to be clusters.
    only_by_entry = 1 < n_annotators < MIN_N <= n_entries
    n_clusters = n_entries if only_by_entry else min(n_entries, n_annotators)
    df = n_clusters - 1
    if not n:
        se = math.nan
    elif only_by_entry:
        se = cluster_se(*cluster_sums(x, entry.tolist()))
    else:
        se = two_way_se(x, entry, annotator)
    if df >= 1 and x.min() == x.max():
        note = (
            f"All {n:,} answers are equal, so they count as one of each of the {n_clusters:,} "
            f"{'entries' if n_entries == n_clusters else 'annotators'}."
        )
        sizes = n_entries, n_annotators
        return _exact(int(x[0]) * n_clusters, n_clusters, level, p_source, sizes, note)
    if df < 1 or not se > 0:
        estimate = missing(n, level, "Too few entries or annotators: no clustered interval.")
        return OddOneOut(
            estimate,
            math.nan,
            upper=math.nan,
            se=se,
            p_source=p_source,
            n_entries=n_entries,
            n_annotators=n_annotators,
        )
    value = float(x.mean())
    half = t_quantile(0.5 + level / 2, df) * se
    note = f"It holds for these {n_annotators} annotators alone." if only_by_entry else ""
    low, high = max(0.0, value - half), min(1.0, value + half)
    estimate = Estimate(
        value, low, high, level=level, method="clt_cluster", n=n, seed=None, note=note
    )
    p = _two_sided_t(abs(value - CHANCE) / se, df)
    upper = value + t_quantile(0.95, df) * se
    return OddOneOut(
        estimate,
        p,
        upper=upper,
        se=se,
        p_source=p_source,
        n_entries=n_entries,
        n_annotators=n_annotators,
    )


def _exact(
    k: int, n: int, level: float, p_source: float, sizes: tuple[int, int], note: str
) -> OddOneOut:
    """Return the result of `k` hits in `n` independent answers, by Clopper and Pearson's limits and
    the binomial test. `sizes` are the numbers of entries and annotators."""
    low, high = clopper_pearson(k, n, level)
    estimate = Estimate(
        k / n, low, high, level=level, method="clopper_pearson", n=n, seed=None, note=note
    )
    # The upper end of a two-sided 90% interval is a one-sided 95% bound.
    _, upper = clopper_pearson(k, n, 0.90)
    p, se = odd_one_out(k, n)["p_two_sided"], math.sqrt(CHANCE * (1 - CHANCE) / n)
    return OddOneOut(estimate, p, upper, se, p_source, *sizes)


def two_way_se(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the standard error of a mean of values (n,) clustered two ways (Cameron, Gelbach &
    Miller 2011). It is never below either one-way error."""
    by_first, by_second = (
        cluster_se(*cluster_sums(x, clusters.tolist())) for clusters in (first, second)
    )
    # No name contains this separator, so "a" with "bc" differs from "ab" with "c".
    pairs = [f"{a}\x1f{b}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    by_pair = cluster_se(*cluster_sums(x, pairs))
    # The inclusion-exclusion sum may be below either part, or even negative.
    return math.sqrt(max(by_first**2, by_second**2, by_first**2 + by_second**2 - by_pair**2))


def _two_sided_t(t: float, df: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -t))
