"""Likeness of two sets of texts in an embedding space by mean pairwise cosines.

The test is that of Haimes et al. (2024, arXiv:2410.09247, appendix A.1), called the source here:
could target and retro-holdout be two random groups of one pool? A regrouping draws the groups anew.
For unit vectors, the sum of cosines over all pairs of a group is (||sum u||^2 - n) / 2. So a
regrouping needs only a vector sum, not a matrix of cosines. E, T, R, X, Y are (n, d) arrays of
embeddings, one row per text.
"""

import math
from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.intervals import z_quantile

ENUMERATE_UP_TO = 200_000  # regroupings; more are sampled
ROWS_AT_ONCE = 512  # regroupings whose sums are in memory together
SLACK = 1e-12  # of float sums, so that a regrouping equal to the observed one counts as extreme


def unit_vectors(E: ArrayLike) -> np.ndarray:
    """Return the rows of E scaled to length 1. Raises BadInput for a zero or non-finite row, and
    for an array that is not two-dimensional."""
    vectors = np.asarray(E, dtype=float)
    if vectors.ndim != 2:
        raise BadInput(
            "Embeddings must be a table with one row per text: got an array with "
            f"{vectors.ndim} dimensions."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    # A vector without direction would have cosine NaN with all others.
    bad_rows = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad_rows):
        row = bad_rows[0]
        raise BadInput(
            f"Embedding {row} has length {lengths[row]:g}, so it has no direction and no "
            "cosine: embed that text again or leave it out."
        )
    return vectors / lengths[:, None]


def _mean_cos(sums: np.ndarray, n: int) -> np.ndarray:
    """Return the mean pairwise cosine of groups of `n` unit vectors from their sums (groups, d)."""
    return ((sums**2).sum(axis=-1) - n) / (n * (n - 1))


def mean_pairwise_cos_fast(E: ArrayLike) -> float:
    """Return the mean cosine over all pairs of rows; NaN below two rows."""
    units = unit_vectors(E)
    return float(_mean_cos(units.sum(axis=0), len(units))) if len(units) > 1 else math.nan


def mmd2_cos(X: ArrayLike, Y: ArrayLike) -> float:
    """Return the unbiased squared maximum mean discrepancy with the cosine kernel: mean cosine
    within X + mean within Y - 2 mean cross cosine. NaN below two rows in a set."""
    x, y = unit_vectors(X), unit_vectors(Y)
    if min(len(x), len(y)) < 2:
        return math.nan
    return float(_mmd2(x.sum(axis=0), len(x), y.sum(axis=0), len(y)))


def _mmd2(
    sum_x: np.ndarray, n_x: int, sum_y: np.ndarray, n_y: int, source_pairs: float | None = None
) -> np.ndarray:
    """Return MMD^2 from sums of unit vectors. `source_pairs` is the sum of cosines within source
    pairs; None if the sets are not paired."""
    cross, n_pairs = (sum_x * sum_y).sum(axis=-1), n_x * n_y
    if source_pairs is not None:
        # Source pairs are alike because one entry was written from the other, so the mean across
        # the sets leaves them out. Swaps then have a mean of exactly 0, and their p-values stay.
        cross, n_pairs = cross - source_pairs, n_x * (n_x - 1)
    return _mean_cos(sum_x, n_x) + _mean_cos(sum_y, n_y) - 2 * cross / n_pairs


def _mmd2_se(x: np.ndarray, y: np.ndarray, null_sd: float, *, paired: bool) -> float:
    """Return the standard error of MMD^2. If the sets differ, it grows with the spread of the
    entries along the difference of the means."""
    direction = x.mean(axis=0) - y.mean(axis=0)
    projections = [(x - y) @ direction] if paired else [x @ direction, y @ direction]
    spread = 4 * sum(part.var(ddof=1) / len(part) for part in projections)
    # The direction is estimated from the same entries, so `spread` includes the null variance
    # twice, and it is subtracted once. The null spread stays the minimum.
    return math.sqrt(max(null_sd**2, spread - null_sd**2))


def _mmd2_upper(
    x: np.ndarray, y: np.ndarray, observed: float, null_sd: float, *, paired: bool
) -> float:
    """Return the one-sided 95% upper bound of MMD^2: the largest m for which a test does not reject
    "MMD^2 is m or more". If MMD^2 is m, its variance is null_sd^2 + 4 * m * s, where s is the
    variance of the difference of the means along its own direction."""
    parts = [x - y] if paired else [x, y]
    # The true direction is unknown. If the sets look alike by chance, its estimate is too short:
    # in .06 to .17 of simulations the bound observed + 1.645 * se was below the truth, where .05
    # was meant. So s is the largest variance over all directions.
    largest = float(np.linalg.eigvalsh(sum(np.cov(part.T) / len(part) for part in parts))[-1])
    z = z_quantile(0.95)
    discriminant = 4 * z**2 * largest * (observed + z**2 * largest) + (z * null_sd) ** 2
    return observed + 2 * z**2 * largest + math.sqrt(max(0.0, discriminant))


def random_sums(
    units: np.ndarray, n: int, m: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield blocks of sums (regroupings, d), `m` regroupings in all. Each sum is over `n` rows of
    `units` drawn without replacement."""
    mask = np.zeros(len(units), dtype=np.uint8)
    mask[:n] = 1
    for start in range(0, m, ROWS_AT_ONCE):
        # The product of masks and vectors sums a whole block of regroupings at once.
        masks = rng.permuted(np.tile(mask, (min(ROWS_AT_ONCE, m - start), 1)), axis=1)
        yield masks.astype(units.dtype) @ units


def all_sums(units: np.ndarray, n: int) -> Iterator[np.ndarray]:
    """Yield blocks of sums (regroupings, d), one for each choice of `n` rows of `units`."""
    choices = combinations(range(len(units)), n)
    while block := list(islice(choices, ROWS_AT_ONCE)):
        masks = np.zeros((len(block), len(units)))
        np.put_along_axis(masks, np.array(block), 1.0, axis=1)
        yield masks @ units


def swapped_sums(
    first: np.ndarray, second: np.ndarray, m: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield blocks of sums (regroupings, d) of the first group, `m` regroupings in all. In each of
    them the members of every pair swap sides with a chance of one half."""
    # A swap adds the pair's difference to the sum of the first group.
    difference = second - first
    for start in range(0, m, ROWS_AT_ONCE):
        swap = rng.integers(0, 2, size=(min(ROWS_AT_ONCE, m - start), len(first)), dtype=np.uint8)
        yield first.sum(axis=0) + swap.astype(first.dtype) @ difference


def perm_test_semantic(
    T: ArrayLike,
    R: ArrayLike,
    which: str = "target",
    m: int = 9999,
    seed: int = 0,
    *,
    enumerate_all: bool = False,
) -> dict[str, float]:
    """Run the source's two-sided permutation test of one group's mean pairwise cosine.

    `which` is the group, target or retro. Returns {obs, fbar, p, p_source, n_perm}:

    - `obs` is the mean cosine of the group. `fbar` is its mean over all regroupings, which equals
      the mean cosine of the pooled pairs.
    - Let b be the number of regroupings at least as far from `fbar` as `obs`. With `enumerate_all`
      all C(N, n) regroupings are used, and `p` is the share of these. Otherwise `m` random
      regroupings give `p` = (b + 1) / (m + 1), and the source's `p_source` = b / m, which can be 0.

    Values are NaN for a group of fewer than two.
    """
    if which not in ("target", "retro"):
        raise BadInput(f"The group came as {which!r}: it is target or retro.")
    target, retro = unit_vectors(T), unit_vectors(R)
    group, remainder = (target, retro) if which == "target" else (retro, target)
    n = len(group)
    if n < 2 or len(remainder) < 1:
        return {"obs": math.nan, "fbar": math.nan, "p": math.nan, "p_source": math.nan, "n_perm": 0}
    units = np.concatenate([group, remainder])
    observed, mean = float(_mean_cos(group.sum(axis=0), n)), mean_pairwise_cos_fast(units)
    blocks = all_sums(units, n) if enumerate_all else random_sums(units, n, m, generator(seed))
    distances = np.concatenate([np.abs(_mean_cos(sums, n) - mean) for sums in blocks])
    n_as_extreme = int(np.sum(distances >= abs(observed - mean) - SLACK))
    p_source = n_as_extreme / len(distances)
    p = p_source if enumerate_all else (n_as_extreme + 1) / (m + 1)
    return {"obs": observed, "fbar": mean, "p": p, "p_source": p_source, "n_perm": len(distances)}


def perm_test_mmd(
    T: ArrayLike, R: ArrayLike, m: int = 9999, seed: int = 0, *, paired: bool = False
) -> dict[str, float]:
    """Run the one-sided permutation test of MMD^2.

    With `paired`, row i of R was written from row i of T. Then labels swap within pairs only, and
    the mean across the sets leaves the pairs out. Returns {obs, p, n_perm, se, null_sd, critical,
    upper}:

    - `p` = (b + 1) / (m + 1), where b permutations have an MMD^2 of at least `obs`.
    - `null_sd` and `critical` are the standard deviation and the 95% point of the permutations.
    - `se` is the standard error of `obs`, and `upper` its one-sided 95% bound, for comparison with
      a margin.

    Values are NaN below two rows in a set.
    """
    target, retro = unit_vectors(T), unit_vectors(R)
    n_t, n_r = len(target), len(retro)
    if min(n_t, n_r) < 2:
        undefined = dict.fromkeys(("obs", "p", "se", "null_sd", "critical", "upper"), math.nan)
        return undefined | {"n_perm": 0}
    if paired and n_t != n_r:
        raise BadInput(
            f"Paired sets must be equally long: got {n_t} targets and {n_r} holdout entries."
        )
    rng = generator(seed)
    total = target.sum(axis=0) + retro.sum(axis=0)
    if paired:
        blocks = swapped_sums(target, retro, m, rng)
    else:
        blocks = random_sums(np.concatenate([target, retro]), n_t, m, rng)
    source_pairs = float((target * retro).sum()) if paired else None
    observed = float(_mmd2(target.sum(axis=0), n_t, retro.sum(axis=0), n_r, source_pairs))
    values = np.concatenate([_mmd2(sums, n_t, total - sums, n_r, source_pairs) for sums in blocks])
    null_sd = float(values.std())
    n_as_extreme = int(np.sum(values >= observed - SLACK))
    return {
        "obs": observed,
        "p": (n_as_extreme + 1) / (m + 1),
        "n_perm": m,
        "se": _mmd2_se(target, retro, null_sd, paired=paired),
        "null_sd": null_sd,
        "critical": float(np.quantile(values, 0.95)),
        "upper": _mmd2_upper(target, retro, observed, null_sd, paired=paired),
    }


def perm_test_within_paired(
    T: ArrayLike, R: ArrayLike, which: str = "target", m: int = 9999, seed: int = 0
) -> dict[str, float]:
    """Run `perm_test_semantic` for source-paired sets: labels swap within pairs, and fbar is the
    mean over all swaps."""
    target, retro = unit_vectors(T), unit_vectors(R)
    group, partners = (target, retro) if which == "target" else (retro, target)
    if len(group) != len(partners):
        raise BadInput(
            f"Paired sets must be equally long: got {len(group)} and {len(partners)} entries."
        )
    n = len(group)
    if n < 2:
        return {"obs": math.nan, "fbar": math.nan, "p": math.nan, "n_perm": 0}
    observed = float(_mean_cos(group.sum(axis=0), n))
    # A fair swap puts either member of pair i into the group, with a mean at the pair's midpoint.
    # So the mean cosine over all swaps is the mean product of the midpoints of two pairs i != j.
    midpoints = (group + partners) / 2
    mean = float((np.sum(midpoints.sum(axis=0) ** 2) - np.sum(midpoints**2)) / (n * (n - 1)))
    blocks = swapped_sums(group, partners, m, generator(seed))
    distances = np.concatenate([np.abs(_mean_cos(sums, n) - mean) for sums in blocks])
    n_as_extreme = int(np.sum(distances >= abs(observed - mean) - SLACK))
    return {"obs": observed, "fbar": mean, "p": (n_as_extreme + 1) / (m + 1), "n_perm": m}
