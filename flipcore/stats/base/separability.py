"""Telling two sets apart by a classifier: out-of-fold scores, and a p-value from permuting the
whole cross-validation.

The classifier is a callable (train X, train labels, test X) -> scores of label 1 (0.5 divides), so
this module needs no machine-learning package. Folds share training data, so a binomial test of the
hits is too small by half; entries written from one another sit in one fold, or the classifier
learns that a close neighbour means "the other set".
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
    """Return (n,) fold of each row: groups stay whole, and each fold gets its share of both labels.

    Groups come in random order within their make-up (labels contained), and are dealt out in turn.
    """
    names, code = np.unique(groups, return_inverse=True)
    if len(names) < n_folds:
        raise BadInput(
            f"{n_folds} folds need at least as many groups and {len(names)} came: use fewer folds."
        )
    ones, sizes = np.bincount(code, weights=labels), np.bincount(code)
    # A stable sort of a random order: random within groups of one make-up.
    order = rng.permutation(len(names))
    order = order[np.lexsort((sizes[order], ones[order] / sizes[order]))]
    fold_of_group = np.empty(len(names), dtype=int)
    fold_of_group[order] = np.arange(len(names)) % n_folds
    return fold_of_group[code]


def out_of_fold(
    X: np.ndarray, labels: np.ndarray, folds: np.ndarray, fit_predict: FitPredict
) -> np.ndarray:
    """Return (n,) scores, each from a classifier that saw no row of the fold."""
    scores = np.empty(len(labels))
    for fold in np.unique(folds):
        test = folds == fold
        scores[test] = fit_predict(X[~test], labels[~test], X[test])
    return scores


def balanced_accuracy(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean of the two labels' hit rates at a score of 0.5; a score of exactly 0.5 is
    half a hit. One label only: NaN."""
    hit = np.where(scores == 0.5, 0.5, (scores > 0.5) == (labels == 1))
    rates = [
        hit[labels == label].mean() if (labels == label).any() else math.nan for label in (0, 1)
    ]
    return float(np.mean(rates))


@dataclass(frozen=True)
class Separability:
    """Out-of-fold results. `p` is one-sided, (b+1)/(m+1), of balanced accuracy under permutation of
    the whole cross-validation, `p_below` the same for an accuracy that is too low; `k_correct` of
    `n` is what the source counts. `upper` is a one-sided 95% bound on
    balanced accuracy: the wider of the binomial one and that from the spread of the permutations,
    `null_sd`; never counted from below one half, because guessing worse than a coin is no evidence
    of sameness. `too_few` says why nothing may be claimed, else ""."""

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

    Labels are permuted within groups where `paired`; where no group has both labels (templates)
    whole groups are shuffled; otherwise rows are. The whole cross-validation runs again each time.

    Parameters
    ----------
    X : (n, ...) rows.
    labels : (n,) 0 or 1.
    fit_predict : (train X, train labels, test X) -> scores of label 1, divided at 0.5.
    groups : (n,) names; the rows of a group sit in one fold.
    paired : True where each group has one row of either label.
    m : number of permutations.
    watch : told after each permutation how many of how many are done.

    Raises
    ------
    BadInput
        With one label only, or when `paired` groups are not pairs.
    """
    y = np.asarray(labels, dtype=int)
    if groups is None:
        group = np.arange(len(y))
    else:
        group = np.unique(np.asarray(groups), return_inverse=True)[1]
    _check(len(X), y, group, paired=paired)
    rng = generator(seed)
    observed, scores = _run(X, y, group, fit_predict, n_folds, rng)
    draws = np.empty(m)
    for k in range(m):
        shuffled = _relabelled(y, group, rng, paired=paired)
        draws[k] = _run(X, shuffled, group, fit_predict, n_folds, rng)[0]
        watch(k + 1, m)
    return _summary(y, group, observed, scores, draws, paired=paired)


def _check(n_rows: int, y: np.ndarray, group: np.ndarray, *, paired: bool) -> None:
    if n_rows != len(y) or len(group) != len(y):
        raise BadInput(
            f"Rows, labels and groups must be equally many: came {n_rows}, {len(y)} and "
            f"{len(group)}."
        )
    if set(np.unique(y)) != {0, 1}:
        raise BadInput("Telling two sets apart needs rows of both, labelled 0 and 1.")
    if paired and not (np.bincount(group) == 2).all():
        raise BadInput("A paired test needs exactly two rows a group, one of each set.")
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
    b, m = int((draws >= observed - SLACK).sum()), len(draws)
    n_below = int((draws <= observed + SLACK).sum())
    k = int(((scores > 0.5) == (y == 1)).sum())
    low, high = _balanced_limits(y, scores, observed, 0.95)
    balanced = Estimate(
        observed, low, high, 0.95, "wilson", len(y), None, "Hits count as independent."
    )
    null_sd = float(draws.std())
    # The wider of two bounds; from below one half nothing is gained, because guessing worse than a
    # coin is no evidence of sameness.
    upper = max(
        _balanced_limits(y, scores, observed, 0.90)[1],
        max(observed, 0.5) + z_quantile(0.95) * null_sd,
    )
    p, p_below = ((n + 1) / (m + 1) for n in (b, n_below))
    too_few = _too_few(y, group, paired=paired)
    return Separability(balanced, upper, null_sd, auc(y, scores), p, m, k, len(y), too_few, p_below)


def _too_few(y: np.ndarray, group: np.ndarray, *, paired: bool) -> str:
    """Say why no claim rests on these rows: fewer than ten groups of one label, or shared groups
    that are no pairs."""
    fewest = min(len(set(group[y == label].tolist())) for label in (0, 1))
    if fewest < MIN_N:
        return f"{fewest} entries or sources in one set, and at least {MIN_N} are needed"
    shared = len(set(group[y == 0].tolist()) & set(group[y == 1].tolist()))
    if not paired and shared and (np.bincount(group) > 1).sum() != shared:
        return (
            "entries share sources across the sets and within them, so no shuffling of labels is "
            "fair"
        )
    return ""


def _run(
    X: np.ndarray,
    y: np.ndarray,
    group: np.ndarray,
    fit_predict: FitPredict,
    n_folds: int,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """Run a whole cross-validation, folds drawn anew: (balanced accuracy, scores)."""
    scores = out_of_fold(X, y, grouped_folds(y, group, n_folds, rng), fit_predict)
    return balanced_accuracy(y, scores), scores


def _relabelled(
    y: np.ndarray, group: np.ndarray, rng: np.random.Generator, *, paired: bool
) -> np.ndarray:
    """Return (n,) labels shuffled as the null hypothesis allows."""
    if not paired:
        sizes, ones = np.bincount(group), np.bincount(group, weights=y)
        # Groups of one label each (templates) are exchangeable as wholes, their rows are not.
        if sizes.max() > 1 and ((ones == 0) | (ones == sizes)).all():
            return rng.permutation((ones > 0).astype(int))[group]
        return rng.permutation(y)
    return np.where(rng.integers(0, 2, size=group.max() + 1)[group] == 1, 1 - y, y)


def _balanced_limits(
    y: np.ndarray, scores: np.ndarray, value: float, level: float
) -> tuple[float, float]:
    """Return the limits of half the sum of two shares, each with Wilson's interval, joined by
    squares (MOVER)."""
    hit = (scores > 0.5) == (y == 1)
    parts = []
    for label in (0, 1):
        k, n = int(hit[y == label].sum()), int((y == label).sum())
        low, high = wilson(k, n, level)
        parts.append((k / n - low, high - k / n))
    # The hit rates of the two labels rest on different rows, so their distances add by squares.
    below, above = (math.hypot(parts[0][i], parts[1][i]) / 2 for i in (0, 1))
    return value - below, value + above


def logistic(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Fit and predict by L2 logistic regression (C = 1, balanced) on columns standardised by the
    training rows."""
    learners()
    from sklearn.linear_model import LogisticRegression

    # From the training rows alone: the test rows must not shape what is predicted of them.
    mean, sd = X_train.mean(axis=0), X_train.std(axis=0)
    scale = np.where(sd > 0, sd, 1)
    model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=1_000)
    model.fit((X_train - mean) / scale, y_train)
    return model.predict_proba((X_test - mean) / scale)[:, 1]


# Area under the ROC curve, with ties and with weights, so that a bootstrap of items is one matrix
# of counts.


def auc(y: Sequence[int] | np.ndarray, s: Sequence[float] | np.ndarray) -> float:
    """Return the Mann-Whitney AUC of scores s for y = 1 over y = 0, ties count 1/2; one class only
    -> NaN."""
    return float(weighted_auc(np.asarray(y), np.asarray(s, dtype=float), np.ones((1, len(y))))[0])


def weighted_auc(y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (replicates,) AUC where row i counts weights[:, i] times; NaN where a class has no
    weight."""
    if y.size == 0:
        return np.full(len(weights), np.nan)
    _, group = np.unique(s, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    ones = np.add.reduceat((weights * (y == 1))[:, order], starts, axis=1)
    zeros = np.add.reduceat((weights * (y != 1))[:, order], starts, axis=1)
    # Equal scores are one group, whose zeros count half for its ones.
    below = np.cumsum(zeros, axis=1) - zeros / 2
    pairs = ones.sum(axis=1) * zeros.sum(axis=1)
    return np.divide(
        (ones * below).sum(axis=1), pairs, out=np.full(len(weights), np.nan), where=pairs > 0
    )
