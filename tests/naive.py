"""Slow loops as the definition of truth: what the vectorised statistics are compared with. Nothing here is fast or shared."""

import math
from itertools import combinations

import numpy as np


def flips(a, b, policy):
    """Do two answers disagree? None where the pair does not count."""
    if policy == "drop" and (a is None or b is None):
        return None
    if a is None and b is None:
        return policy == "always_flip"
    return a != b


def share(pairs, policy):
    """Share of (a, b) pairs that flip, NaN without any."""
    outcomes = [flips(a, b, policy) for a, b in pairs]
    outcomes = [o for o in outcomes if o is not None]
    return sum(outcomes) / len(outcomes) if outcomes else math.nan


def item_flip_rate(answers, policy="own_class"):
    if all(a is None for a in answers):
        return math.nan
    return share(combinations(answers, 2), policy)


def mean(xs):
    """Mean of what is defined."""
    xs = [x for x in xs if not math.isnan(x)]
    return sum(xs) / len(xs) if xs else math.nan


def null_floor(samples_by_variant, policy="own_class"):
    """W, B of one item: within variants and between variants, each variant (pair) counting once."""
    if all(a is None for samples in samples_by_variant for a in samples):
        return {"W": math.nan, "B": math.nan, "excess": math.nan}
    w = mean([share(combinations(samples, 2), policy) for samples in samples_by_variant])
    b = mean([share([(a, b) for a in first for b in second], policy) for first, second in combinations(samples_by_variant, 2)])
    return {"W": w, "B": b, "excess": b - w}


def decompose(ans_e, ans_ref, policy="own_class"):
    t, g, plus, minus, both = [], [], [], [], []
    for e, ref in zip(ans_e, ans_ref, strict=True):
        t_i, g_i = item_flip_rate(e, policy), item_flip_rate(ref, policy)
        if math.isnan(t_i) or math.isnan(g_i):
            continue
        t.append(t_i)
        g.append(g_i)
        pairs = [(flips(e[j], e[k], policy), flips(ref[j], ref[k], policy)) for j, k in combinations(range(len(e)), 2)]
        pairs = [pair for pair in pairs if None not in pair]
        for kind, wanted in ((plus, (True, False)), (minus, (False, True)), (both, (True, True))):
            kind.append(pairs.count(wanted) / len(pairs) if pairs else math.nan)
    return {
        "n_items": len(t),
        "T": mean(t),
        "G": mean(g),
        "A": mean([a - b for a, b in zip(t, g, strict=True)]),
        "A_plus": mean(plus),
        "A_minus": mean(minus),
        "both": mean(both),
    }


def null_bounds(answers, alphabet):
    """Smallest and largest flip rate over every way to fill the NULLs from `alphabet`."""
    if len(answers) < 2:
        return math.nan, math.nan
    rates = []

    def fill(done, rest):
        if not rest:
            rates.append(item_flip_rate(done))
            return
        for answer in alphabet if rest[0] is None else [rest[0]]:
            fill(done + [answer], rest[1:])

    fill([], list(answers))
    return min(rates), max(rates)


def bootstrap_means(columns, seed, n_boot):
    """One rng.integers draw of items a replicate, applied to every column; NaN items leave their column's mean."""
    rng = np.random.default_rng(seed)
    n = len(columns)
    out = []
    for _ in range(n_boot):
        draw = rng.integers(0, n, size=n)
        out.append([mean([columns[i][k] for i in draw]) for k in range(len(columns[0]))])
    return np.array(out)


def cluster_se(xs, clusters):
    """Miller's clustered standard error, cross-products and all."""
    centre = sum(xs) / len(xs)
    total = sum(
        (xs[i] - centre) * (xs[j] - centre) for i in range(len(xs)) for j in range(len(xs)) if clusters[i] == clusters[j]
    )
    return math.sqrt(total) / len(xs)


def auc(y, s):
    """Share of (1, 0) pairs in which the 1 scores higher, ties one half."""
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, ya in zip(s, y, strict=True)
        if ya == 1
        for b, yb in zip(s, y, strict=True)
        if yb == 0
    ]
    return sum(wins) / len(wins) if wins else math.nan


def sign_flip_p(differences):
    """Exact two-sided p over all 2^n sign patterns."""
    n = len(differences)
    observed = abs(sum(differences)) / n
    at_least = 0
    for pattern in range(2**n):
        total = sum(d if pattern >> i & 1 else -d for i, d in enumerate(differences))
        at_least += abs(total) / n >= observed - 1e-12
    return at_least / 2**n
