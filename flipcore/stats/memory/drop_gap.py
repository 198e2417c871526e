"""The drop gap (source 000, perturbbench): accuracy lost under rewriting, benchmark minus control.

Throughout, `bo`, `bp` are 0/1 per item for the benchmark before (original) and after (perturbed),
`co`, `cp` for the control; `db`, `dc` are drops per item (before - after; the mean over rewrites
where there are several). b counts broken items (right -> wrong), c fixed ones (wrong -> right).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.randomness import generator
from flipcore.stats.base.intervals import bonett_price, mover, newcombe_diff, wilson
from flipcore.stats.base.paired import FLAT, SLACK, correctness, discordant, pairs
from flipcore.stats.base.power import n_for_gap, n_tost_two_prop, n_two_prop
from flipcore.stats.base.resample import monte_carlo_p

_CELLS = 500_000  # indices that are drawn at once
MANY_VALUES = 40  # above this many distinct drops a permutation is drawn item by item


def drop_gap_source(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, seed: int = 0, n_boot: int = 2000
) -> dict[str, float | bool]:
    """Compute source 000's estimator bit for bit: its generator (seed + 1), benchmark then control
    indices in each replicate.

    `flag_literal` is the source's rule, "the interval excludes zero", which also flags a negative
    gap as memorization; `flag_directional` asks for low > 0. An empty set: NaN and no flag.
    """
    bo, bp = pairs(bo, bp)
    co, cp = pairs(co, cp)
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
    chunk = max(1, _CELLS // (len(bo) + len(co)))
    for start in range(0, n_boot, chunk):
        rows = slice(start, min(start + chunk, n_boot))
        # One call draws what a call per set and replicate would: the ends stand side by side.
        ends = np.repeat([len(bo), len(co)], [len(bo), len(co)])
        draws = rng.integers(0, np.broadcast_to(ends, (rows.stop - rows.start, len(ends))))
        bi, ci = draws[:, : len(bo)], draws[:, len(bo) :]
        gaps[rows] = (bo[bi].mean(axis=1) - bp[bi].mean(axis=1)) - (
            co[ci].mean(axis=1) - cp[ci].mean(axis=1)
        )
    low, high = (float(end) for end in np.percentile(gaps, [2.5, 97.5]))
    return {
        "bench_drop": bench_drop,
        "ctrl_drop": ctrl_drop,
        "gap": bench_drop - ctrl_drop,
        "gap_lo": low,
        "gap_hi": high,
        # "Excludes zero" is two-sided in the source's code, whatever its text means.
        "flag_literal": low > 0 or high < 0,
        "flag_directional": low > 0,
    }


def gap_score(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, level: float = 0.95
) -> dict[str, float | bool]:
    """Return the gap with Bonett-Price intervals of both drops, joined by MOVER: never degenerate,
    flags on low > 0."""
    b1, c1, n1 = discordant(bo, bp)
    b2, c2, n2 = discordant(co, cp)
    if not n1 or not n2:
        return {"gap": math.nan, "lo": math.nan, "hi": math.nan, "flag": False}
    first, second = (b1 - c1) / n1, (b2 - c2) / n2
    # Different items in the two sets: their drops are independent, as MOVER assumes.
    low, high = mover(
        first, bonett_price(b1, c1, n1, level), second, bonett_price(b2, c2, n2, level)
    )
    return {"gap": first - second, "lo": low, "hi": high, "flag": low > 0}


def stud_perm(db: ArrayLike, dc: ArrayLike, seed: int = 0, m: int = 9999) -> dict[str, float]:
    """Run the studentised permutation test of drops between the sets, one-sided: benchmark >
    control (Janssen 1997).

    Returns {t, p_one_sided = (b + 1) / (m + 1)}. Fewer than two items in a set: NaN.
    """
    observed, draw = permuted_t(db, dc, generator(seed))
    return {"t": observed, "p_one_sided": monte_carlo_p(observed, draw, m, max_m=m).p}


def permuted_t(
    db: ArrayLike, dc: ArrayLike, rng: np.random.Generator
) -> tuple[float, Callable[[int], np.ndarray]]:
    """Return Welch's t of drops as observed (NaN with fewer than two items in a set), and a
    function that draws k of it under permutation."""
    first, second = np.asarray(db, dtype=float), np.asarray(dc, dtype=float)
    n1, n2 = len(first), len(second)
    if min(n1, n2) < 2:
        return math.nan, lambda k: np.empty(0)
    # Sums and squares of one group fix those of the other, so a permutation draws one group only.
    pool = np.concatenate([first, second])
    total, squares = pool.sum(), (pool**2).sum()

    def draw(k: int) -> np.ndarray:
        s1, q1 = _permuted_sums(pool, n1, k, rng)
        return _welch_t(s1, q1, total - s1, squares - q1, n1, n2)

    return float(
        _welch_t(first.sum(), (first**2).sum(), second.sum(), (second**2).sum(), n1, n2)
    ), draw


def _permuted_sums(
    pool: np.ndarray, n: int, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return `m` sums and sums of squares of `n` values drawn from `pool` once each."""
    values, counts = np.unique(pool, return_counts=True)
    # With few distinct values, how often each falls into the first group says all.
    if len(values) <= MANY_VALUES:
        draws = rng.multivariate_hypergeometric(counts, n, size=m, method="marginals")
        return draws @ values, draws @ values**2
    first = np.array([rng.permutation(pool)[:n] for _ in range(m)])
    return first.sum(axis=1), (first**2).sum(axis=1)


def _welch_t(s1, q1, s2, q2, n1: int, n2: int):
    """Compute Welch's t from sums and sums of squares; 0/0 is 0 and x/0 is infinite."""
    gap = np.asarray(s1 / n1 - s2 / n2, dtype=float)
    variance = (q1 - s1**2 / n1) / (n1 - 1) / n1 + (q2 - s2**2 / n2) / (n2 - 1) / n2
    # Sums of equal values leave a variance of rounding errors, which must count as none.
    flat = variance <= FLAT
    t = gap / np.sqrt(np.where(flat, 1, variance))
    return np.where(flat, np.where(np.abs(gap) <= SLACK, 0.0, np.copysign(np.inf, gap)), t)


def cond_drop(o: ArrayLike, p: ArrayLike) -> dict[str, float]:
    """Return P(wrong after | right before) as {k, n, rate}; NaN without a right item."""
    # Only an item that was right can break, so these items are the denominator.
    b, _, _ = discordant(o, p)
    n = int(np.sum(pairs(o, p)[0] == 1))
    return {"k": b, "n": n, "rate": b / n if n else math.nan}


def cond_gap(
    bo: ArrayLike, bp: ArrayLike, co: ArrayLike, cp: ArrayLike, level: float = 0.95
) -> dict[str, float | bool]:
    """Return the difference of the conditional drops, benchmark - control, with Newcombe's
    interval; flags on low > 0."""
    first, second = cond_drop(bo, bp), cond_drop(co, cp)
    if not first["n"] or not second["n"]:
        return {"gap": math.nan, "lo": math.nan, "hi": math.nan, "flag": False}
    low, high = newcombe_diff(first["k"], first["n"], second["k"], second["n"], level)
    return {"gap": first["rate"] - second["rate"], "lo": low, "hi": high, "flag": low > 0}


def coverage(perturbed: Sequence) -> dict[str, float]:
    """Return {k, n, rate} of the items that the rewrite method could perturb; None (or NaN) marks
    one that it could not."""
    k = sum(
        value is not None and not (isinstance(value, float) and math.isnan(value))
        for value in perturbed
    )
    low, high = wilson(k, len(perturbed))
    return {
        "k": k,
        "n": len(perturbed),
        "rate": k / len(perturbed) if len(perturbed) else math.nan,
        "lo": low,
        "hi": high,
    }


def tost_mean(
    d: float, se: float, margin: float, df: float | None = None, alpha: float = 0.05
) -> dict[str, float | bool]:
    """Run two one-sided tests of |theta| < margin (Schuirmann 1987), normal or with `df` t;
    equivalent iff p < alpha."""
    from scipy.stats import norm
    from scipy.stats import t as student

    if math.isnan(d) or math.isnan(se):
        return {"p": math.nan, "p_lower": math.nan, "p_upper": math.nan, "equivalent": False}
    # Without any spread the difference is certain: it lies inside the margin or outside.
    if se <= 0:
        p_lower, p_upper = float(d <= -margin), float(d >= margin)
    else:
        law = norm if df is None else student(df)
        p_lower, p_upper = float(law.sf((d + margin) / se)), float(law.cdf((d - margin) / se))
    # Equivalence needs both tests (intersection-union), so the larger p is that of the whole.
    p = max(p_lower, p_upper)
    return {"p": p, "p_lower": p_lower, "p_upper": p_upper, "equivalent": p < alpha}


__all__ = [
    "cond_drop",
    "cond_gap",
    "correctness",
    "coverage",
    "discordant",
    "drop_gap_source",
    "gap_score",
    "n_for_gap",
    "n_tost_two_prop",
    "n_two_prop",
    "pairs",
    "permuted_t",
    "stud_perm",
    "tost_mean",
]
