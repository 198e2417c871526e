"""The drop gap (source 000, perturbbench): accuracy lost under rewriting, benchmark minus control.

The parameters' short names are fixed by `tests/cases.json` and mean the same in all functions:

bo, bp : benchmark, original and perturbed (n_benchmark,): 1 or 0 per item, right or wrong before
    and after rewriting.
co, cp : the same for the control (n_control,).
o, p : the same for either set.
db, dc : drops per item, before - after, over the mean of an item's rewrites.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.randomness import generator
from flipcore.stats.base.intervals import bonett_price, mover, newcombe_diff
from flipcore.stats.base.paired import FLAT, SLACK, before_and_after, discordant

MAX_DRAWN = 500_000  # indices drawn at once, to limit memory
MANY_VALUES = 40  # with more distinct drops, permutations are drawn item by item


def drop_gap_source(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, seed: int = 0, n_boot: int = 2000
) -> dict[str, float | bool]:
    """Compute source 000's estimator with the same random numbers as its code: the gap with a 95%
    percentile bootstrap interval.

    `flag_literal` is the source's rule, "the interval excludes zero", which also flags a negative
    gap as memorization. `flag_directional` is low > 0. If a set is empty, all numbers are NaN and
    both flags are False.
    """
    bo, bp = before_and_after(bo, bp)
    co, cp = before_and_after(co, cp)
    if not len(bo) or not len(co):
        return {
            "bench_drop": math.nan,
            "ctrl_drop": math.nan,
            "gap": math.nan,
            "gap_lo": math.nan,
            "gap_hi": math.nan,
            "flag_literal": False,
            "flag_directional": False,
        }
    bench_drop, ctrl_drop = float(bo.mean() - bp.mean()), float(co.mean() - cp.mean())
    # The source draws its bootstrap from seed + 1.
    rng = generator(seed + 1)
    gaps = np.empty(n_boot)
    chunk = max(1, MAX_DRAWN // (len(bo) + len(co)))
    for start in range(0, n_boot, chunk):
        rows = slice(start, min(start + chunk, n_boot))
        # The source calls the generator once per set and replicate, benchmark first. One call with
        # an upper bound per column draws the same numbers.
        bounds = np.repeat([len(bo), len(co)], [len(bo), len(co)])
        draws = rng.integers(0, np.broadcast_to(bounds, (rows.stop - rows.start, len(bounds))))
        bench, ctrl = draws[:, : len(bo)], draws[:, len(bo) :]
        bench_drops = bo[bench].mean(axis=1) - bp[bench].mean(axis=1)
        gaps[rows] = bench_drops - (co[ctrl].mean(axis=1) - cp[ctrl].mean(axis=1))
    low, high = (float(end) for end in np.percentile(gaps, [2.5, 97.5]))
    return {
        "bench_drop": bench_drop,
        "ctrl_drop": ctrl_drop,
        "gap": bench_drop - ctrl_drop,
        "gap_lo": low,
        "gap_hi": high,
        # The source's code takes "excludes zero" as two-sided; its text may mean low > 0.
        "flag_literal": low > 0 or high < 0,
        "flag_directional": low > 0,
    }


def gap_score(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, level: float = 0.95
) -> dict[str, float | bool]:
    """Return the gap with Bonett-Price intervals of both drops, joined by MOVER.

    The interval never has width 0. `flag` is low > 0. An empty set: NaN and no flag.
    """
    bench_broken, bench_fixed, n_bench = discordant(bo, bp)
    ctrl_broken, ctrl_fixed, n_ctrl = discordant(co, cp)
    if not n_bench or not n_ctrl:
        return {"gap": math.nan, "lo": math.nan, "hi": math.nan, "flag": False}
    bench_drop = (bench_broken - bench_fixed) / n_bench
    ctrl_drop = (ctrl_broken - ctrl_fixed) / n_ctrl
    bench_limits = bonett_price(bench_broken, bench_fixed, n_bench, level)
    ctrl_limits = bonett_price(ctrl_broken, ctrl_fixed, n_ctrl, level)
    # MOVER assumes independent drops, which two sets of different items have.
    low, high = mover(bench_drop, bench_limits, ctrl_drop, ctrl_limits)
    return {"gap": bench_drop - ctrl_drop, "lo": low, "hi": high, "flag": low > 0}


def permuted_t(
    db: ArrayLike, dc: ArrayLike, rng: np.random.Generator
) -> tuple[float, Callable[[int], np.ndarray]]:
    """Return the observed Welch's t of drops, and a function that draws k values of it under
    permutation. With fewer than two items in a set, t is NaN and nothing is drawn."""
    first, second = np.asarray(db, dtype=float), np.asarray(dc, dtype=float)
    n1, n2 = len(first), len(second)
    if min(n1, n2) < 2:
        return math.nan, lambda k: np.empty(0)
    # The sums of the first group determine those of the second, so only the first is drawn.
    pool = np.concatenate([first, second])
    total, squares = pool.sum(), (pool**2).sum()

    def draw(k: int) -> np.ndarray:
        s1, q1 = _permuted_sums(pool, n1, k, rng)
        return _welch_t(s1, q1, total - s1, squares - q1, n1, n2)

    observed = _welch_t(first.sum(), (first**2).sum(), second.sum(), (second**2).sum(), n1, n2)
    return float(observed), draw


def _permuted_sums(
    pool: np.ndarray, n: int, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw `n` values of `pool` without replacement, `m` times: return (m,) sums and (m,) sums of
    squares."""
    values, counts = np.unique(pool, return_counts=True)
    # With few distinct values, it is faster to draw how often each one falls into the group.
    if len(values) <= MANY_VALUES:
        draws = rng.multivariate_hypergeometric(counts, n, size=m, method="marginals")
        return draws @ values, draws @ values**2
    first = np.array([rng.permutation(pool)[:n] for _ in range(m)])
    return first.sum(axis=1), (first**2).sum(axis=1)


def _welch_t(s1, q1, s2, q2, n1: int, n2: int):
    """Compute Welch's t from sums s and sums of squares q. Without variance t is 0 where the means
    are equal, else infinite."""
    gap = np.asarray(s1 / n1 - s2 / n2, dtype=float)
    variance = (q1 - s1**2 / n1) / (n1 - 1) / n1 + (q2 - s2**2 / n2) / (n2 - 1) / n2
    # Equal values leave rounding errors as their variance, which must count as 0.
    flat = variance <= FLAT
    t = gap / np.sqrt(np.where(flat, 1, variance))
    return np.where(flat, np.where(np.abs(gap) <= SLACK, 0.0, np.copysign(np.inf, gap)), t)


def cond_drop(o: ArrayLike, p: ArrayLike) -> dict[str, float]:
    """Return P(wrong after | right before) as {k, n, rate}: `k` of the `n` items that were right
    before break. `rate` is NaN if n is 0."""
    before, after = before_and_after(o, p)
    was_right = before == 1
    k, n = int(np.sum(was_right & (after == 0))), int(np.sum(was_right))
    return {"k": k, "n": n, "rate": k / n if n else math.nan}


def cond_gap(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, level: float = 0.95
) -> dict[str, float | bool]:
    """Return the difference of the conditional drops, benchmark - control, with Newcombe's
    interval. `flag` is low > 0. NaN and no flag if a set has no item that was right before."""
    bench, ctrl = cond_drop(bo, bp), cond_drop(co, cp)
    if not bench["n"] or not ctrl["n"]:
        return {"gap": math.nan, "lo": math.nan, "hi": math.nan, "flag": False}
    low, high = newcombe_diff(bench["k"], bench["n"], ctrl["k"], ctrl["n"], level)
    return {"gap": bench["rate"] - ctrl["rate"], "lo": low, "hi": high, "flag": low > 0}
