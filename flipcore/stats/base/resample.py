"""The one place that draws random numbers for statistics: bootstrap of items, sign flips, Monte
Carlo p-values.

The resampling unit is the item. A bootstrap replicate is one ``rng.integers(0, n, size=n)`` applied
to every column at once, so everything that belongs to an item moves together. For means only the
counts of an item's draws matter, so replicates are a product (draw counts) @ (columns). Two short
cuts have the same distribution and another stream: where few rows differ, the counts of the
distinct rows are drawn; of many items, the counts are drawn without drawing any index.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

N_BOOT_SOURCE = 2_000
N_BOOT = 9_999
N_PERMUTATIONS = 9_999
SLACK = 1e-12
_CELLS = 500_000  # numbers in a chunk
# from here on counts are drawn, not indices: at 12,000 items in a fifth of the time
_MANY_ITEMS = 2_000
_FEW_ITEMS = 500  # below it the draws depend on the seed and the number of items alone


def index_draws(n: int, n_boot: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield (chunk, n) arrays of item indices, n_boot rows in all. PCG64 keeps its spare half-word,
    so a chunk holds what one ``rng.integers(0, n, size=n)`` per replicate would have drawn."""
    chunk = max(1, _CELLS // max(n, 1))
    for start in range(0, n_boot, chunk):
        yield rng.integers(0, n, size=(min(chunk, n_boot - start), n), dtype=np.int32)


def replicates(
    stat: Callable[[np.ndarray], float] | None,
    xs: np.ndarray,
    n_boot: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return (n_boot,) values of `stat` on resamples of xs (n,); None is the mean. The source's
    loop, draw for draw."""
    if stat is None:
        return np.concatenate([xs[draw].mean(axis=1) for draw in index_draws(xs.size, n_boot, rng)])
    values: list[float] = []
    for draw in index_draws(xs.size, n_boot, rng):
        values.extend(float(stat(xs[row])) for row in draw)
    return np.array(values)


def replicate_sums(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) sums of `columns` (n items, k) over one joint draw of items per replicate.
    Equal columns cost one."""
    columns = np.asarray(columns, dtype=float)
    n = len(columns)
    first, _, which = _distinct(columns.T, columns.shape[1])
    columns = np.ascontiguousarray(columns[:, first])
    # Each distinct row costs a binomial draw, about as much as 16 indices.
    rows, sizes, _ = _distinct(columns, n // 16 if n >= _FEW_ITEMS else 0)
    if rows.size:
        return (rng.multinomial(n, sizes / n, size=n_boot) @ columns[rows])[:, which]
    if n >= _MANY_ITEMS:
        return _sums_of_many(columns, n_boot, rng)[:, which]
    sums = np.empty((n_boot, columns.shape[1]))
    start = 0
    for draw in index_draws(n, n_boot, rng):
        counts = np.empty(draw.shape)
        # One product of counts and columns serves all columns, where gathering would copy each of
        # them.
        for row, indices in enumerate(draw):
            counts[row] = np.bincount(indices, minlength=n)
        sums[start : start + len(draw)] = counts @ columns
        start += len(draw)
    return sums[:, which]


def _sums_of_many(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) sums from drawn counts. Single precision halves the product's time; of
    centred columns, what it loses is about a millionth of the standard error."""
    n = len(columns)
    centre = columns.mean(axis=0)
    centred = (columns - centre).astype(np.float32)
    chunk = max(1, _CELLS // n)
    parts = [
        count_draws(n, min(chunk, n_boot - start), rng).astype(np.float32) @ centred
        for start in range(0, n_boot, chunk)
    ]
    return n * centre + np.concatenate(parts)


def count_draws(n: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return (rows, n) of uint8: how often each of n items is drawn in n draws, without drawing the
    indices.

    Given their sum N, independent Poisson counts are a multinomial of N draws; with a mean 5
    deviations below 1 the sum stays below n (a row where it does not is drawn again), and the n - N
    draws that lack are added as indices. The Poisson is read off 16 random bits, which moves the
    variance of a count by about one part in 10,000.
    """
    words = (
        rng.integers(0, 2**64, size=-(-rows * n // 4), dtype=np.uint64)
        .view(np.uint16)[: rows * n]
        .reshape(rows, n)
    )
    counts = np.zeros((rows, n), dtype=np.uint8)
    for cut in _poisson_cuts(1 - 5 / math.sqrt(n)):
        counts += words < cut
    lacking = n - counts.sum(axis=1, dtype=np.int64)
    # More draws than n, five deviations out: such a row is drawn again as a whole.
    for row in np.flatnonzero(lacking < 0):
        counts[row], lacking[row] = count_draws(n, 1, rng)[0], 0
    added = np.repeat(np.arange(rows) * n, lacking) + rng.integers(0, n, size=lacking.sum())
    # A plain 1, or indices of two dimensions, takes 20 times as long.
    np.add.at(counts.reshape(-1), added, np.uint8(1))
    return counts


def _poisson_cuts(mean: float) -> list[int]:
    """Return how many of 65,536 words mean more than 0, 1, 2, … events, without final zeros."""
    cuts, term, tail = [], math.exp(-mean), 1.0
    while round(65_536 * (tail - term)) > 0:
        tail -= term
        cuts.append(round(65_536 * tail))
        term *= mean / len(cuts)
    return cuts


def _distinct(rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first place, count and number of each distinct row, by its bytes (numpy's unique
    over an axis is far slower); nothing of more than `most`, which are not looked for further."""
    index_of: dict[bytes, int] = {}
    rows = np.ascontiguousarray(rows)
    which = np.empty(len(rows), dtype=int)
    for row_index, row in enumerate(rows):
        which[row_index] = index_of.setdefault(row.tobytes(), len(index_of))
        if len(index_of) > most:
            return (np.empty(0, dtype=int),) * 3
    _, first, counts = np.unique(which, return_index=True, return_counts=True)
    return first, counts, which


def replicate_means(columns: np.ndarray, n_boot: int, rng: np.random.Generator) -> np.ndarray:
    """Return (n_boot, k) means of `columns` (n items, k) over one joint item draw per replicate.
    NaN is an item that a column does not have: it leaves that column's mean and no other's. A
    replicate without any item of a column is NaN."""
    columns = np.asarray(columns, dtype=float)
    is_defined = ~np.isnan(columns)
    k = columns.shape[1]
    # Only columns with a hole need their own count of drawn items; the others have n.
    partial = np.flatnonzero(~is_defined.all(axis=0))
    sums = replicate_sums(
        np.hstack([np.where(is_defined, columns, 0.0), is_defined[:, partial]]), n_boot, rng
    )
    n = np.full((n_boot, k), float(len(columns)))
    n[:, partial] = sums[:, k:]
    return np.divide(sums[:, :k], n, out=np.full((n_boot, k), np.nan), where=n > 0)


@dataclass(frozen=True, slots=True)
class MonteCarloP:
    """p = (b+1)/(m+1), b of m draws at least as extreme, and the 99% interval of b/m."""

    p: float
    low: float
    high: float
    b: int
    m: int

    @property
    def p_source(self) -> float:
        """b/m, as source 002 (A.1) has it: it can be 0."""
        return self.b / self.m if self.m else float("nan")


def monte_carlo_p(
    observed: float,
    draw: Callable[[int], np.ndarray],
    m: int = N_PERMUTATIONS,
    alpha: float = 0.05,
    max_m: int = 16 * N_PERMUTATIONS,
) -> MonteCarloP:
    """Return the p of `observed`, where `draw(k)` gives k values of the statistic under the null;
    large is extreme, ties count. While the 99% interval of p straddles `alpha` the number of draws
    is doubled, up to max_m. A NaN statistic has a NaN p."""
    if np.isnan(observed):
        return MonteCarloP(float("nan"), float("nan"), float("nan"), 0, 0)
    b, n_draws, step = 0, 0, m
    while True:
        # Slack: a statistic that differs by rounding alone is a tie, and ties count.
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
    """Test by sign flips that paired differences (n,) are symmetric about 0: each keeps or changes
    its sign. Statistic |mean|, or the mean for the one-sided alternative above 0. NaN differences
    are left out; none left -> NaN."""
    d = np.asarray(differences, dtype=float)
    d = d[~np.isnan(d)]
    if d.size == 0:
        return monte_carlo_p(float("nan"), lambda k: np.empty(0))
    sizes, counts = np.unique(np.round(np.abs(d), 12), return_counts=True)
    shape = (lambda x: x) if one_sided else np.abs

    def draw(k: int) -> np.ndarray:
        # With few distinct sizes only the number of plus signs of each matters.
        if 4 * sizes.size <= d.size:
            n_plus = rng.binomial(counts, 0.5, size=(k, sizes.size))
            return shape((2 * n_plus - counts) @ sizes / d.size)
        chunk = max(1, _CELLS // d.size)
        means = []
        for start in range(0, k, chunk):
            signs = _random_signs(min(chunk, k - start), d.size, rng)
            means.append(shape(signs @ d / d.size))
        return np.concatenate(means)

    return monte_carlo_p(float(shape(d.mean())), draw, m, alpha)


def _random_signs(rows: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return 2.0 * rng.integers(0, 2, size=(rows, n), dtype=np.int8) - 1.0
