"""Random numbers for statistics: bootstrap of items, sign flips, Monte Carlo p-values.

The resampling unit is the item. A bootstrap replicate is one ``rng.integers(0, n, size=n)`` applied
to every column at once, so all values of an item stay together. For means only the number of times
that an item is drawn matters, so replicates are a product (draw counts) @ (columns). Two shortcuts
have the same distribution but use other random numbers. With few distinct rows, only their counts
are drawn. With many items, counts are drawn without indices.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

N_BOOT_SOURCE = 2_000
N_BOOT = 9_999
N_PERMUTATIONS = 9_999
SLACK = 1e-12
_CHUNK_SIZE = 500_000  # numbers held in memory at a time
# From here on counts are drawn, not indices: at 12,000 items this takes a fifth of the time.
_MANY_ITEMS = 2_000
_FEW_ITEMS = 500  # below it the draws depend only on the seed and the number of items


def index_draws(n: int, n_boot: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield (chunk, n) arrays of item indices, `n_boot` rows in all.

    The indices are those of one ``rng.integers(0, n, size=n)`` per replicate, because PCG64 keeps
    its spare half-word between calls.
    """
    chunk = max(1, _CHUNK_SIZE // max(n, 1))
    for start in range(0, n_boot, chunk):
        yield rng.integers(0, n, size=(min(chunk, n_boot - start), n), dtype=np.int32)


def replicate_sums(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) sums of `columns` (n items, k) over one joint draw of items per replicate.
    Equal columns are computed once."""
    columns = np.asarray(columns, dtype=float)
    n = len(columns)
    first_columns, _, column_numbers = _distinct_rows(columns.T, columns.shape[1])
    columns = np.ascontiguousarray(columns[:, first_columns])
    # Each distinct row costs a binomial draw, about as much as 16 indices.
    first_rows, sizes, _ = _distinct_rows(columns, n // 16 if n >= _FEW_ITEMS else 0)
    if first_rows.size:
        row_counts = rng.multinomial(n, sizes / n, size=n_boot)
        return (row_counts @ columns[first_rows])[:, column_numbers]
    if n >= _MANY_ITEMS:
        return _sums_by_counts(columns, n_boot, rng)[:, column_numbers]
    sums = np.empty((n_boot, columns.shape[1]))
    start = 0
    for draw in index_draws(n, n_boot, rng):
        counts = np.empty(draw.shape)
        # One product of counts and columns serves all columns; indexing would copy each column.
        for row, indices in enumerate(draw):
            counts[row] = np.bincount(indices, minlength=n)
        sums[start : start + len(draw)] = counts @ columns
        start += len(draw)
    return sums[:, column_numbers]


def _sums_by_counts(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) sums from drawn counts."""
    n = len(columns)
    center = columns.mean(axis=0)
    # Single precision halves the time of the product. With centered columns its error is about a
    # millionth of the standard error.
    centered = (columns - center).astype(np.float32)
    chunk = max(1, _CHUNK_SIZE // n)
    parts = [
        count_draws(n, min(chunk, n_boot - start), rng).astype(np.float32) @ centered
        for start in range(0, n_boot, chunk)
    ]
    return n * center + np.concatenate(parts)


def count_draws(n: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return (rows, n) counts (uint8) of how often each of n items is drawn in n draws.

    No indices are drawn. Independent Poisson counts, given their sum N, are a multinomial of N
    draws. Their mean is 5 deviations below 1, so N stays below n; a row with a larger N is drawn
    again. The missing n - N draws are then added as indices. A Poisson count comes from 16 random
    bits, which changes its variance by about one part in 10,000.
    """
    # Each 64-bit integer gives four words of 16 bits.
    words = (
        rng.integers(0, 2**64, size=math.ceil(rows * n / 4), dtype=np.uint64)
        .view(np.uint16)[: rows * n]
        .reshape(rows, n)
    )
    counts = np.zeros((rows, n), dtype=np.uint8)
    for cut in _poisson_cuts(1 - 5 / math.sqrt(n)):
        counts += words < cut
    lacking = n - counts.sum(axis=1, dtype=np.int64)
    for row in np.flatnonzero(lacking < 0):
        counts[row], lacking[row] = count_draws(n, 1, rng)[0], 0
    added = np.repeat(np.arange(rows) * n, lacking) + rng.integers(0, n, size=lacking.sum())
    # Adding a plain 1, or using two-dimensional indices, takes 20 times as long.
    np.add.at(counts.reshape(-1), added, np.uint8(1))
    return counts


def _poisson_cuts(mean: float) -> list[int]:
    """Return how many of the 65,536 words stand for more than 0, 1, 2, … events, down to 1 word."""
    cuts, term, tail = [], math.exp(-mean), 1.0
    while round(65_536 * (tail - term)) > 0:
        tail -= term
        cuts.append(round(65_536 * tail))
        term *= mean / len(cuts)
    return cuts


def _distinct_rows(rows: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first index and the count of each distinct row, and each row's distinct number.
    All three are empty for more than `limit` distinct rows, because the search then stops."""
    # By bytes: numpy's unique over an axis is far slower.
    number_of: dict[bytes, int] = {}
    rows = np.ascontiguousarray(rows)
    numbers = np.empty(len(rows), dtype=int)
    for row_index, row in enumerate(rows):
        numbers[row_index] = number_of.setdefault(row.tobytes(), len(number_of))
        if len(number_of) > limit:
            return (np.empty(0, dtype=int),) * 3
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    return first, counts, numbers


def replicate_means(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) means of `columns` (n items, k) over one joint item draw per replicate.

    A NaN value is left out of its own column only. A replicate without any item of a column is NaN.
    """
    columns = np.asarray(columns, dtype=float)
    is_defined = ~np.isnan(columns)
    k = columns.shape[1]
    # Only columns with a hole need a count of drawn items; in all other columns it is n.
    with_holes = np.flatnonzero(~is_defined.all(axis=0))
    sums = replicate_sums(
        np.hstack([np.where(is_defined, columns, 0.0), is_defined[:, with_holes]]), n_boot, rng
    )
    n = np.full((n_boot, k), float(len(columns)))
    n[:, with_holes] = sums[:, k:]
    return np.divide(sums[:, :k], n, out=np.full((n_boot, k), np.nan), where=n > 0)


@dataclass(frozen=True, slots=True)
class MonteCarloP:
    """p = (b+1)/(m+1) for b of m draws at least as extreme, and the 99% interval of b/m."""

    p: float
    low: float
    high: float
    b: int
    m: int

    @property
    def p_source(self) -> float:
        """b/m, the p of source 002 (A.1), which can be 0."""
        return self.b / self.m if self.m else float("nan")


def monte_carlo_p(
    observed: float,
    draw: Callable[[int], np.ndarray],
    m: int = N_PERMUTATIONS,
    alpha: float = 0.05,
    max_m: int = 16 * N_PERMUTATIONS,
) -> MonteCarloP:
    """Return the p of `observed`; large values are extreme, and ties count.

    `draw(k)` returns k values of the statistic under the null. The number of draws is doubled, up
    to `max_m`, as long as the 99% interval of p contains `alpha`. NaN for a NaN statistic.
    """
    if np.isnan(observed):
        return MonteCarloP(p=float("nan"), low=float("nan"), high=float("nan"), b=0, m=0)
    b, n_draws, step = 0, 0, m
    while True:
        # The slack makes statistics that differ only by rounding count as ties.
        b += int(np.count_nonzero(draw(step) >= observed - SLACK))
        n_draws += step
        low, high = _clopper_pearson_99(b, n_draws)
        step = min(n_draws, max_m - n_draws)
        if not low < alpha < high or step <= 0:
            return MonteCarloP((b + 1) / (n_draws + 1), low, high, b, n_draws)


def _clopper_pearson_99(b: int, m: int) -> tuple[float, float]:
    from scipy.special import betaincinv

    low = 0.0 if b == 0 else float(betaincinv(b, m - b + 1, 0.005))
    high = 1.0 if b == m else float(betaincinv(b + 1, m - b, 0.995))
    return low, high


def sign_flip_p(
    differences: np.ndarray,
    rng: np.random.Generator,
    m: int = N_PERMUTATIONS,
    alpha: float = 0.05,
    *,
    one_sided: bool = False,
) -> MonteCarloP:
    """Test by random sign flips whether paired differences (n,) are symmetric about 0.

    The statistic is |mean|, or the mean for the one-sided alternative above 0. NaN differences are
    left out; the p is NaN without any difference.
    """
    d = np.asarray(differences, dtype=float)
    d = d[~np.isnan(d)]
    if d.size == 0:
        return monte_carlo_p(float("nan"), lambda k: np.empty(0))
    sizes, counts = np.unique(np.round(np.abs(d), 12), return_counts=True)
    statistic = (lambda mean: mean) if one_sided else np.abs

    def draw(k: int) -> np.ndarray:
        # With few distinct sizes, it is enough to draw the number of plus signs of each size.
        if 4 * sizes.size <= d.size:
            n_plus = rng.binomial(counts, 0.5, size=(k, sizes.size))
            return statistic((2 * n_plus - counts) @ sizes / d.size)
        chunk = max(1, _CHUNK_SIZE // d.size)
        means = []
        for start in range(0, k, chunk):
            bits = rng.integers(0, 2, size=(min(chunk, k - start), d.size), dtype=np.int8)
            signs = 2.0 * bits - 1.0
            means.append(statistic(signs @ d / d.size))
        return np.concatenate(means)

    return monte_carlo_p(float(statistic(d.mean())), draw, m, alpha)
