"""Telling two sets apart by a classifier: out-of-fold scores, and a p-value from permuting the
whole cross-validation.

The classifier is a callable (train X, train labels, test X) -> scores of label 1, with 0.5 as the
threshold. So this module needs no machine-learning package. Folds share training data, so the p of
a binomial test of the hits is too small by half. Entries written from one another must be in the
same fold, or the classifier learns that a close neighbour is of the other set.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, Estimate
from flipcore.stats.base.intervals import wilson, z_quantile

FitPredict = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
FOLDS = 5
PERMUTATIONS = 199
SLACK = 1e-12


def grouped_folds(
    labels: np.ndarray, groups: np.ndarray, n_folds: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the (n,) fold of each row: groups stay whole, and each fold gets both labels evenly.

    Groups are sorted by size and share of label 1, in random order among equals, and go to the
    folds in turn. Raises BadInput for fewer groups than folds.
    """
    names, code = np.unique(groups, return_inverse=True)
    if len(names) < n_folds:
        raise BadInput(
            f"{n_folds} folds need at least as many groups and {len(names)} came: use fewer folds."
        )
    ones, sizes = np.bincount(code, weights=labels), np.bincount(code)
    # lexsort is stable, so groups of the same size and share keep their random order.
    order = rng.permutation(len(names))
    order = order[np.lexsort((sizes[order], ones[order] / sizes[order]))]
    fold_of_group = np.empty(len(names), dtype=int)
    fold_of_group[order] = np.arange(len(names)) % n_folds
    return fold_of_group[code]


def out_of_fold(
    X: np.ndarray, labels: np.ndarray, folds: np.ndarray, fit_predict: FitPredict
) -> np.ndarray:
    """Return (n,) scores, each from a classifier trained without any row of that fold."""
    scores = np.empty(len(labels))
    for fold in np.unique(folds):
        test = folds == fold
        scores[test] = fit_predict(X[~test], labels[~test], X[test])
    return scores


def balanced_accuracy(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean of the two labels' hit rates at a threshold of 0.5; NaN with one label. A
    score of exactly 0.5 is half a hit."""
    if np.unique(labels).size < 2:
        return math.nan
    hit = np.where(scores == 0.5, 0.5, (scores > 0.5) == (labels == 1))
    return float(np.mean([hit[labels == label].mean() for label in (0, 1)]))


@dataclass(frozen=True)
class Separability:
    """Out-of-fold results.

    `p` is the one-sided (b+1)/(m+1) of balanced accuracy under permutation of the whole
    cross-validation; `p_below` is the same for an accuracy that is too low. `k_correct` of `n` is
    the count that the source reports. `upper` is a one-sided 95% bound on balanced accuracy: the
    larger of the binomial bound and one from the spread `null_sd` of the permutations. `too_few`
    says why nothing may be claimed, else "".
    """

    balanced: Estimate
    upper: float
    null_sd: float
    auc: float
    p: float
    n_permutations: int
    k_correct: int
    n: int
    too_few: str = ""
    p_below: float = 1.0


def separability(
    X: np.ndarray,
    labels: Sequence[int] | np.ndarray,
    fit_predict: FitPredict,
    groups: Sequence | np.ndarray | None = None,
    *,
    paired: bool = False,
    n_folds: int = FOLDS,
    m: int = PERMUTATIONS,
    seed: int = 0,
    watch: Callable[[int, int], None] = lambda step, m: None,
) -> Separability:
    """Return the cross-validated separability of two sets, with a permutation test.

    Labels are permuted within groups if `paired`. Otherwise whole groups are shuffled where no
    group has both labels (templates), and single rows where one has. Each permutation repeats the
    whole cross-validation.

    Parameters
    ----------
    X : (n, ...) rows.
    labels : (n,) 0 or 1.
    fit_predict : (train X, train labels, test X) -> scores of label 1, with 0.5 as the threshold.
    groups : (n,) names; the rows of a group are in one fold. None: each row is a group.
    paired : True if each group has one row of either label.
    m : number of permutations.
    watch : called after each permutation with the number done and `m`.

    Raises
    ------
    BadInput
        For unequal lengths, one label only, or `paired` groups that are not pairs.
    """
    y = np.asarray(labels, dtype=int)
    if groups is None:
        group = np.arange(len(y))
    else:
        group = np.unique(np.asarray(groups), return_inverse=True)[1]
    _check(len(X), y, group, paired=paired)
    rng = generator(seed)
    observed, scores = _cross_validate(X, y, group, fit_predict, n_folds, rng)
    draws = np.empty(m)
    for k in range(m):
        shuffled = _relabelled(y, group, rng, paired=paired)
        draws[k] = _cross_validate(X, shuffled, group, fit_predict, n_folds, rng)[0]
        watch(k + 1, m)
    return _summary(y, group, observed, scores, draws, paired=paired)


def _check(n_rows: int, y: np.ndarray, group: np.ndarray, *, paired: bool) -> None:
    if n_rows != len(y) or len(group) != len(y):
        raise BadInput(
            f"Rows, labels and groups must be equally many: got {n_rows}, {len(y)} and "
            f"{len(group)}."
        )
    if set(np.unique(y)) != {0, 1}:
        raise BadInput("Telling two sets apart needs rows of both, labelled 0 and 1.")
    if paired and not (np.bincount(group) == 2).all():
        raise BadInput("A paired test needs exactly two rows per group, one of each set.")
    if paired and not (np.bincount(group, weights=y) == 1).all():
        raise BadInput("A paired test needs one row of either set in each group.")


def _summary(
    y: np.ndarray,
    group: np.ndarray,
    observed: float,
    scores: np.ndarray,
    draws: np.ndarray,
    *,
    paired: bool,
) -> Separability:
    """Compare the observed scores (n,) with the balanced accuracies (m,) of the permutations."""
    # The slack makes accuracies that differ only by rounding count as ties.
    b, m = int((draws >= observed - SLACK).sum()), len(draws)
    n_below = int((draws <= observed + SLACK).sum())
    n_correct = int(((scores > 0.5) == (y == 1)).sum())
    low, high = _balanced_limits(y, scores, observed, 0.95)
    note = "Hits count as independent."
    balanced = Estimate(
        observed, low, high, level=0.95, method="wilson", n=len(y), seed=None, note=note
    )
    null_sd = float(draws.std())
    # An observed accuracy below one half does not lower the bound, because guessing worse than a
    # coin does not show that the sets are alike. The upper end of a two-sided 90% interval is a
    # one-sided 95% bound.
    upper = max(
        _balanced_limits(y, scores, observed, 0.90)[1],
        max(observed, 0.5) + z_quantile(0.95) * null_sd,
    )
    p, p_below = ((n + 1) / (m + 1) for n in (b, n_below))
    too_few = _too_few(y, group, paired=paired)
    return Separability(
        balanced,
        upper,
        null_sd=null_sd,
        auc=auc(y, scores),
        p=p,
        n_permutations=m,
        k_correct=n_correct,
        n=len(y),
        too_few=too_few,
        p_below=p_below,
    )


def _too_few(y: np.ndarray, group: np.ndarray, *, paired: bool) -> str:
    """Say why these rows support no claim, else "". A label has fewer than ten groups, or some
    group has both labels and some group (the same or another) a label twice."""
    fewest = min(len(set(group[y == label].tolist())) for label in (0, 1))
    if fewest < MIN_N:
        return f"{fewest} entries or sources in one set, and at least {MIN_N} are needed"
    n_zeros, n_ones = np.bincount(group, weights=1 - y), np.bincount(group, weights=y)
    has_mixed_group = ((n_zeros > 0) & (n_ones > 0)).any()
    # Single rows are then shuffled, as if rows of one label and one source were independent.
    if not paired and has_mixed_group and max(n_zeros.max(), n_ones.max()) > 1:
        return (
            "entries share sources across the sets and within them, so no shuffling of labels is "
            "fair"
        )
    return ""


def _cross_validate(
    X: np.ndarray,
    y: np.ndarray,
    group: np.ndarray,
    fit_predict: FitPredict,
    n_folds: int,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """Run a whole cross-validation on newly drawn folds; return balanced accuracy and scores."""
    scores = out_of_fold(X, y, grouped_folds(y, group, n_folds, rng), fit_predict)
    return balanced_accuracy(y, scores), scores


def _relabelled(
    y: np.ndarray, group: np.ndarray, rng: np.random.Generator, *, paired: bool
) -> np.ndarray:
    """Return (n,) labels shuffled as the null hypothesis allows."""
    if not paired:
        sizes, ones = np.bincount(group), np.bincount(group, weights=y)
        # Groups of one label each (templates) are exchangeable only as wholes.
        if sizes.max() > 1 and ((ones == 0) | (ones == sizes)).all():
            return rng.permutation((ones > 0).astype(int))[group]
        return rng.permutation(y)
    return np.where(rng.integers(0, 2, size=group.max() + 1)[group] == 1, 1 - y, y)


def _balanced_limits(
    y: np.ndarray, scores: np.ndarray, value: float, level: float
) -> tuple[float, float]:
    """Return the limits of balanced accuracy `value` from the Wilson limits of both hit rates."""
    hit = (scores > 0.5) == (y == 1)
    below, above = [], []
    for label in (0, 1):
        k, n = int(hit[y == label].sum()), int((y == label).sum())
        low, high = wilson(k, n, level)
        below.append(k / n - low)
        above.append(high - k / n)
    # MOVER: the two hit rates rest on different rows, so their distances add by squares.
    return value - math.hypot(*below) / 2, value + math.hypot(*above) / 2


def logistic(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Return (test rows,) scores of L2 logistic regression (C = 1, balanced class weights). Columns
    are standardised by the training rows. Raises BadInput unless these have both labels."""
    if len(np.unique(y_train)) < 2:
        raise BadInput("Telling two sets apart needs rows of both, labelled 0 and 1.")
    learners()
    from sklearn.linear_model import LogisticRegression

    # From the training rows alone: test rows must not influence their own prediction.
    mean, sd = X_train.mean(axis=0), X_train.std(axis=0)
    scale = np.where(sd > 0, sd, 1)
    model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=1_000)
    model.fit((X_train - mean) / scale, y_train)
    return model.predict_proba((X_test - mean) / scale)[:, 1]


def auc(y: Sequence[int] | np.ndarray, s: Sequence[float] | np.ndarray) -> float:
    """Return the Mann-Whitney AUC of scores `s` for y = 1 over y = 0; NaN with one class. Ties
    count 1/2."""
    weights = np.ones((1, len(y)))
    return float(weighted_auc(np.asarray(y), np.asarray(s, dtype=float), weights)[0])


def weighted_auc(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (replicates,) AUC with `weights` (replicates, rows); NaN where a class has none. With
    draw counts as weights, one call computes all replicates of a bootstrap."""
    if y.size == 0:
        return np.full(len(weights), np.nan)
    _, group = np.unique(scores, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    ones = np.add.reduceat((weights * (y == 1))[:, order], starts, axis=1)
    zeros = np.add.reduceat((weights * (y != 1))[:, order], starts, axis=1)
    # Equal scores form a group: its zeros count half for its ones.
    below = np.cumsum(zeros, axis=1) - zeros / 2
    pairs = ones.sum(axis=1) * zeros.sum(axis=1)
    return np.divide(
        (ones * below).sum(axis=1), pairs, out=np.full(len(weights), np.nan), where=pairs > 0
    )
