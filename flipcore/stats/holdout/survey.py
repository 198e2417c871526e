"""The odd-one-out survey: people look for the one of three entries that is from the retro-holdout
(source 002, appendix F).

An entry that is odd is found by everybody, so answers about one entry are not independent: rows as
units read .09 to .17 at a nominal .05. Entries are the clusters, and annotators too.
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
    """Accuracy clustered by entry and annotator with its two-sided p; `upper` is its one-sided 95%
    bound; `p_source` the source's binomial test of rows; `se` the clustered standard error.
    `too_few` says why nothing may be claimed, else ""; it holds for annotators like these only
    where ten or more answered (`n_annotators`), otherwise for these alone."""

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
    """Test an accuracy of 1/3 from rows of (hit 0/1, holdout entry shown, annotator). NaN hits
    leave; fewer than two entries: no test. The entries of one annotator alone are independent
    answers, so their test is the exact binomial one; and so is that of answers that are all equal,
    of which there are as many as there are entries or annotators, whichever are fewer. Fewer than
    ten annotators are no sample of people: then entries alone are the clusters, and the result
    holds for these annotators."""
    outcomes = np.asarray(hits, dtype=float)
    is_answered = ~np.isnan(outcomes)
    x = outcomes[is_answered]
    entry, annotator = np.asarray(entries)[is_answered], np.asarray(annotators)[is_answered]
    n, n_entries, n_annotators = len(x), len(set(entry.tolist())), len(set(annotator.tolist()))
    p_source = odd_one_out(int(x.sum()), n)["p_two_sided"]
    if n_annotators == 1 and n_entries == n > 1:
        return _exact(
            int(x.sum()), n, level, p_source, (n, 1), "One annotator: it holds for this one alone."
        )
    # Too few people to be a sample of people, and entries enough to be clusters.
    these_alone = 1 < n_annotators < MIN_N <= n_entries
    fewer = n_entries if these_alone else min(n_entries, n_annotators)
    df = fewer - 1
    if not n:
        se = math.nan
    elif these_alone:
        se = cluster_se(*cluster_sums(x, entry.tolist()))
    else:
        se = two_way_se(x, entry, annotator)
    if df >= 1 and x.min() == x.max():
        return _exact(
            int(x[0]) * fewer,
            fewer,
            level,
            p_source,
            (n_entries, n_annotators),
            f"All {n:,} answers are equal, so they count as one of each of the {fewer:,} "
            f"{'entries' if n_entries == fewer else 'annotators'}.",
        )
    if df < 1 or not se > 0:
        estimate = missing(n, level, "Too few entries or annotators: no clustered interval.")
        return OddOneOut(estimate, math.nan, math.nan, se, p_source, n_entries, n_annotators)
    value = float(x.mean())
    half = t_quantile(0.5 + level / 2, df) * se
    note = f"It holds for these {n_annotators} annotators alone." if these_alone else ""
    estimate = Estimate(
        value, max(0.0, value - half), min(1.0, value + half), level, "clt_cluster", n, None, note
    )
    return OddOneOut(
        estimate,
        _two_sided_t(abs(value - CHANCE) / se, df),
        value + t_quantile(0.95, df) * se,
        se,
        p_source,
        n_entries,
        n_annotators,
    )


def _exact(
    k: int, n: int, level: float, p_source: float, sizes: tuple[int, int], note: str
) -> OddOneOut:
    """Return the result of `k` hits in `n` independent answers: Clopper and Pearson's limits and
    the binomial test."""
    low, high = clopper_pearson(k, n, level)
    estimate = Estimate(k / n, low, high, level, "clopper_pearson", n, None, note)
    return OddOneOut(
        estimate,
        odd_one_out(k, n)["p_two_sided"],
        clopper_pearson(k, n, 0.90)[1],
        math.sqrt(CHANCE * (1 - CHANCE) / n),
        p_source,
        *sizes,
    )


def two_way_se(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the standard error of a mean of rows clustered two ways (Cameron, Gelbach & Miller
    2011), never below either one-way."""
    by_first, by_second = (
        cluster_se(*cluster_sums(x, clusters.tolist())) for clusters in (first, second)
    )
    # A separator that no name has, so that "a" with "bc" is not "ab" with "c".
    pairs = [f"{a}\x1f{b}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    by_pair = cluster_se(*cluster_sums(x, pairs))
    # The inclusion-exclusion sum may come out below either part, or negative.
    return math.sqrt(max(by_first**2, by_second**2, by_first**2 + by_second**2 - by_pair**2))


def _two_sided_t(t: float, df: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -t))
