"""One score per item from the scores of its epochs, as Inspect's reducers compute it."""

import re
from collections import Counter
from math import comb

import pandas as pd

MEAN = "mean"
# pass_k is what Inspect calls pass^k.
_OF_K = re.compile(r"(at_least|pass_at|pass_hat|pass_k)_(\d+)")


def is_known(reducer: str) -> bool:
    """Return True if `item_scores` can compute the reducer."""
    return reducer in (MEAN, "median", "mode", "max") or bool(_OF_K.fullmatch(reducer))


def item_scores(scores: pd.Series, items: pd.Series, reducer: str = MEAN) -> pd.Series:
    """Return one score per item from `scores` and `items`, one row per epoch; NaN scores are left
    out.

    `reducer` is `mean`, `median`, `mode` (the first of equally frequent scores), `max`, or one of
    these with a number k. `at_least_k` is 1 where k epochs are right. `pass_at_k` is the chance
    that one of k drawn epochs is right (unbiased, Chen and others, arXiv 2107.03374). `pass_hat_k`
    (Inspect's `pass_k_k`) is the chance that all k are (Yao and others, arXiv 2406.12045). For an
    item with fewer than k epochs, `pass_at_k` is 1, as in Inspect, and `pass_hat_k` is NaN.
    """
    by_item = scores.dropna().groupby(items, sort=False)
    match = _OF_K.fullmatch(reducer)
    if not match:
        return by_item.agg(_most_common if reducer == "mode" else reducer).astype(float)
    kind, k = match[1], int(match[2])
    n = by_item.size()
    n_right = (scores.dropna() >= 1).groupby(items, sort=False).sum()
    compute = {
        "at_least": _at_least,
        "pass_at": _pass_at,
        "pass_hat": _pass_hat,
        "pass_k": _pass_hat,
    }[kind]
    # Python integers, because binomials of some hundred epochs exceed 64 bits.
    pairs = zip(n.tolist(), n_right.tolist(), strict=True)
    values = [compute(n_epochs, right, k) for n_epochs, right in pairs]
    return pd.Series(values, n.index, dtype=float)


def _most_common(scores: pd.Series) -> float:
    return Counter(scores).most_common(1)[0][0]


def _at_least(n: int, n_right: int, k: int) -> float:
    return float(n_right >= k)


def _pass_at(n: int, n_right: int, k: int) -> float:
    return 1.0 if n - n_right < k else 1 - comb(n - n_right, k) / comb(n, k)


def _pass_hat(n: int, n_right: int, k: int) -> float:
    return comb(n_right, k) / comb(n, k) if n >= k else float("nan")
