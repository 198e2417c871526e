import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.separability import (
    _balanced_limits,
    _summary,
    _too_few,
    balanced_accuracy,
    grouped_folds,
    logistic,
    out_of_fold,
    separability,
)


def nearest_mean(X_train, y_train, X_test):
    """A cheap classifier: the logistic of the difference of squared distances to the two centres."""
    centres = [X_train[y_train == label].mean(axis=0) for label in (0, 1)]
    gap = ((X_test - centres[0]) ** 2).sum(axis=1) - ((X_test - centres[1]) ** 2).sum(axis=1)
    return 1 / (1 + np.exp(-np.clip(gap, -50, 50)))


def nearest_neighbour(X_train, y_train, X_test):
    distances = ((X_test[:, None, :] - X_train[None, :, :]) ** 2).sum(axis=2)
    return y_train[distances.argmin(axis=1)].astype(float)


def majority(X_train, y_train, X_test):
    return np.full(len(X_test), float(y_train.mean() > 0.5))


def test_folds_keep_groups_whole_and_labels_balanced():
    rng = generator(0)
    labels = np.tile([0, 1], 50)
    groups = np.repeat(np.arange(50), 2)
    folds = grouped_folds(labels, groups, 5, rng)
    assert all(len(set(folds[groups == g])) == 1 for g in range(50))
    assert np.bincount(folds).tolist() == [20] * 5
    singles = grouped_folds(np.repeat([0, 1], [40, 10]), np.arange(50), 5, rng)
    assert [int((singles[40:] == f).sum()) for f in range(5)] == [2] * 5


def test_progress_is_told_after_every_permutation_and_changes_nothing():
    rows, labels = generator(3).normal(size=(40, 2)), np.repeat([0, 1], 20)
    told = []
    watched = separability(rows, labels, nearest_mean, m=7, watch=lambda done, m: told.append((done, m)))
    assert told == [(k, 7) for k in range(1, 8)] and watched == separability(rows, labels, nearest_mean, m=7)


def test_too_few_groups_for_the_folds_are_refused():
    with pytest.raises(BadInput, match="3 came"):
        grouped_folds(np.array([0, 1, 1]), np.arange(3), 5, generator(0))


def test_no_row_is_scored_by_a_classifier_that_saw_it():
    X = np.arange(20.0)[:, None]

    def seen(X_train, y_train, X_test):
        return np.isin(X_test[:, 0], X_train[:, 0]).astype(float)

    assert not out_of_fold(X, np.tile([0, 1], 10), np.arange(20) % 5, seen).any()


def test_scores_agree_with_scikit_learn():
    rng = generator(1)
    X, y = rng.standard_normal((120, 3)), rng.integers(0, 2, 120)
    X[y == 1, 0] += 1
    found = separability(X, y, logistic, m=9)
    rerun = generator(0)
    scores = out_of_fold(X, y, grouped_folds(y, np.arange(120), 5, rerun), logistic)
    assert found.balanced.value == pytest.approx(balanced_accuracy_score(y, scores > 0.5))
    assert found.auc == pytest.approx(roc_auc_score(y, scores))
    assert found.k_correct == ((scores > 0.5) == y).sum()


def test_sets_that_differ_are_told_apart():
    rng = generator(2)
    X = np.concatenate([rng.standard_normal((60, 4)), rng.standard_normal((60, 4)) + 1])
    found = separability(X, np.repeat([0, 1], 60), nearest_mean, m=99)
    assert found.p == 0.01 and found.balanced.low > 0.6
    assert found.upper >= found.balanced.value


def test_guessing_worse_than_a_coin_is_no_evidence_of_sameness():
    # every row has its twin in the other set, so the nearest training row says the wrong label; the bound is as if the
    # classifier had been a coin
    rows = generator(3).standard_normal((60, 4))
    X, y = np.concatenate([rows, rows + 0.01]), np.repeat([0, 1], 60)

    def twin(train, labels, test):
        return labels[np.linalg.norm(test[:, None] - train[None], axis=2).argmin(axis=1)].astype(float)

    found = separability(X, y, twin, m=19)
    assert found.balanced.high < 0.3 and found.upper == pytest.approx(0.5 + 1.644854 * found.null_sd)


def test_a_majority_classifier_of_unequal_sets_is_at_chance():
    # 1,319 against 50 makes plain accuracy 96.3%, balanced accuracy exactly one half
    y = np.repeat([0, 1], [1_319, 50])
    found = separability(np.zeros((len(y), 1)), y, majority, m=19)
    assert found.k_correct / found.n == pytest.approx(0.963, abs=1e-3)
    assert found.balanced.value == 0.5 and found.p == 1.0


def test_a_score_of_one_half_is_half_a_hit():
    assert balanced_accuracy(np.array([0, 1, 1]), np.array([0.5, 0.5, 1.0])) == pytest.approx((0.5 + 0.75) / 2)
    assert math.isnan(balanced_accuracy(np.array([1, 1]), np.array([1.0, 0.0])))


@pytest.mark.simulation
@pytest.mark.slow
def test_permuting_the_whole_cross_validation_has_its_size_and_the_binomial_test_has_not():
    # logistic, pure null: one-sided binomial .083 -> permutation .043
    rng, runs = generator(3), 250
    hits = np.zeros(2)
    for seed in range(runs):
        X, y = rng.standard_normal((80, 20)), np.repeat([0, 1], 40)
        found = separability(X, y, nearest_mean, m=99, seed=seed)
        hits += found.p <= 0.05, binomtest(found.k_correct, found.n, 0.5, alternative="greater").pvalue < 0.05
    assert binomtest(int(hits[0]), runs, 0.05, alternative="greater").pvalue > 1e-3
    assert hits[1] > hits[0]


@pytest.mark.simulation
@pytest.mark.slow
def test_source_paired_sets_need_grouped_folds_and_label_swaps():
    # 1-NN on pairs with correlation .9: accuracy .10 without groups, .50 with; label swaps keep the size
    rng, runs = generator(4), 80
    apart, together, p = [], [], []
    for seed in range(runs):
        source = rng.standard_normal((40, 20))
        pair = [math.sqrt(0.9) * source + math.sqrt(0.1) * rng.standard_normal((40, 20)) for _ in range(2)]
        X, y, groups = np.concatenate(pair), np.repeat([0, 1], 40), np.tile(np.arange(40), 2)
        apart.append(separability(X, y, nearest_neighbour, m=1, seed=seed).balanced.value)
        found = separability(X, y, nearest_neighbour, groups, paired=True, m=39, seed=seed)
        together.append(found.balanced.value)
        p.append(found.p)
    assert np.mean(apart) == pytest.approx(0.1, abs=0.03) and np.mean(together) == pytest.approx(0.5, abs=0.03)
    assert binomtest(int(np.sum(np.array(p) <= 0.05)), runs, 0.05, alternative="greater").pvalue > 1e-3


def test_pairs_that_are_not_pairs_are_refused():
    X, y = np.zeros((6, 1)), [0, 1, 0, 1, 0, 1]
    with pytest.raises(BadInput, match="exactly two rows"):
        separability(X, y, majority, [0, 0, 0, 1, 1, 2], paired=True)
    with pytest.raises(BadInput, match="one row of either set"):
        separability(X, y, majority, [0, 1, 0, 1, 2, 2], paired=True)
    with pytest.raises(BadInput, match="rows of both"):
        separability(X, [1] * 6, majority)
    with pytest.raises(BadInput, match="got 6, 2 and 2"):
        separability(X, [0, 1], majority)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_limits_of_balanced_accuracy_join_those_of_both_hit_rates(level):
    # six of ten zeros and nine of twelve ones are hits; a score of one half is none of a one
    y = np.repeat([0, 1], [10, 12])
    scores = np.array([0.2] * 5 + [0.5] + [0.7] * 4 + [0.6] * 9 + [0.5, 0.3, 0.3])
    distances = []
    for k, n in ((6, 10), (9, 12)):
        limits = binomtest(k, n).proportion_ci(level, method="wilson")
        distances.append((k / n - limits.low, limits.high - k / n))
    (low_0, high_0), (low_1, high_1) = distances
    expected = 0.7 - math.hypot(low_0, low_1) / 2, 0.7 + math.hypot(high_0, high_1) / 2
    assert _balanced_limits(y, scores, 0.7, level) == pytest.approx(expected)


def test_a_summary_counts_permutations_and_bounds_the_accuracy():
    y, group = np.repeat([0, 1], 10), np.arange(20)
    scores = np.array([0.2] * 8 + [0.7] * 2 + [0.6] * 7 + [0.4, 0.4, 0.5])
    draws = np.array([0.75, 0.75 - 1e-13, 0.75 + 1e-13, 0.8, 0.7, 0.3, 0.4])
    found = _summary(y, group, 0.75, scores, draws, paired=False)
    # ties by rounding count on both sides
    assert (found.p, found.p_below) == (5 / 8, 7 / 8)
    assert (found.k_correct, found.n, found.n_permutations, found.too_few) == (15, 20, 7, "")
    assert found.null_sd == pytest.approx(draws.std()) and found.balanced.level == 0.95
    high = _balanced_limits(y, scores, 0.75, 0.9)[1]
    assert found.upper == pytest.approx(max(high, 0.75 + 1.6448536 * draws.std()))
    narrow = _summary(y, group, 0.75, scores, np.array([0.5, 0.51]), paired=False)
    assert narrow.upper == pytest.approx(high)
    assert (found.balanced.low, found.balanced.high) == pytest.approx(_balanced_limits(y, scores, 0.75, 0.95))


@pytest.mark.parametrize(
    ("group", "paired", "why"),
    [
        (np.arange(20), False, ""),
        (np.append(np.arange(19), 18), False, "9 entries"),
        (np.maximum(np.arange(20), 1), False, "9 entries"),
        (np.tile(np.arange(10), 2), False, ""),
        (np.tile(np.arange(10), 2), True, ""),
    ],
)
def test_ten_sources_of_either_set_allow_a_claim(group, paired, why):
    assert _too_few(np.repeat([0, 1], 10), group, paired=paired).startswith(why)


@pytest.mark.parametrize("names", [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (0, 0, 1, 2), (1, 2, 0, 0)])
def test_sources_shared_across_and_within_sets_allow_no_claim(names):
    """In one source or in two. Of 24 sources with 7 entries of one set and 1 of the other, p was
    below .05 in .13 of simulated sets without a difference."""
    y, group = np.repeat([0, 1], 12), np.arange(24) + 5
    group[[0, 1, 12, 13]] = names
    group[2], group[14] = 3, 3
    why = _too_few(y, np.unique(group, return_inverse=True)[1], paired=False)
    assert why.startswith("entries share sources across the sets and within")
