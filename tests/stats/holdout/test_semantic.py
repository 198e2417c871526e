import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.holdout import semantic
from tests.lab.simulations.planted_memory import embedding_sets


def slow_mean_cosine(E):
    pairs = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in itertools.combinations(np.asarray(E, float), 2)]
    return float(np.mean(pairs))


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 99))
def test_sums_of_unit_vectors_give_the_mean_of_all_pairs(n, d, seed):
    E = generator(seed).standard_normal((n, d)) + 0.1
    assert semantic.mean_pairwise_cos_fast(E) == pytest.approx(slow_mean_cosine(E))


def test_a_single_text_has_no_pairs():
    assert math.isnan(semantic.mean_pairwise_cos_fast([[1.0, 0.0]]))
    assert math.isnan(semantic.mmd2_cos([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]))
    assert math.isnan(semantic.perm_test_semantic([[1.0]], [[1.0], [2.0]])["p"])
    assert math.isnan(semantic.perm_test_mmd([[1.0]], [[1.0], [2.0]])["p"])


def test_a_vector_without_direction_is_an_error_that_names_it():
    with pytest.raises(BadInput, match="Embedding 1 has length 0"):
        semantic.mean_pairwise_cos_fast([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(BadInput, match="Embedding 0 has length nan"):
        semantic.mmd2_cos([[math.nan, 0.0]], [[1.0, 0.0]])
    with pytest.raises(BadInput, match="1 dimensions"):
        semantic.unit_vectors([1.0, 2.0])


def test_mmd_is_its_definition():
    rng = generator(1)
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    cross = np.mean([x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x in X for y in Y])
    assert semantic.mmd2_cos(X, Y) == pytest.approx(slow_mean_cosine(X) + slow_mean_cosine(Y) - 2 * cross)


@pytest.mark.parametrize("which", ["target", "retro"])
def test_going_through_all_regroupings_agrees_with_scipy(which):
    # 126 regroupings of 4 and 5; the two-sided p of A.1 is that of |f - fbar|
    rng = generator(2)
    T, R = rng.standard_normal((4, 3)) + 0.5, rng.standard_normal((5, 3))
    pooled = semantic.mean_pairwise_cos_fast(np.concatenate([T, R]))
    rows = np.concatenate([T, R])
    group, other = (range(4), range(4, 9)) if which == "target" else (range(4, 9), range(4))

    def distance(a, b):
        return abs(slow_mean_cosine(rows[a.astype(int)]) - pooled)

    exact = permutation_test((list(group), list(other)), distance, vectorized=False, alternative="greater", n_resamples=np.inf)
    found = semantic.perm_test_semantic(T, R, which, enumerate_all=True)
    assert (found["n_perm"], found["fbar"]) == (126, pytest.approx(pooled))
    assert found["p"] == pytest.approx(exact.pvalue)


def test_random_regroupings_agree_with_all_of_them():
    rng = generator(3)
    T, R = rng.standard_normal((5, 3)) + 0.4, rng.standard_normal((6, 3))
    exact = semantic.perm_test_semantic(T, R, enumerate_all=True)["p"]
    found = semantic.perm_test_semantic(T, R, m=9_999, seed=4)
    assert found["n_perm"] == 9_999 and found["p_source"] == pytest.approx((found["p"] * 10_000 - 1) / 9_999)
    assert binomtest(round(found["p"] * 10_000) - 1, 9_999, exact).pvalue > 1e-3


def test_the_mean_over_all_regroupings_is_the_pooled_mean():
    units = semantic.unit_vectors(generator(5).standard_normal((8, 3)))
    values = np.concatenate([semantic._mean_cos(sums, 3) for sums in semantic.all_sums(units, 3)])
    assert values.mean() == pytest.approx(semantic.mean_pairwise_cos_fast(units))


def test_identical_sets_are_as_ordinary_as_can_be():
    E = [[1.0, 0.0]] * 4
    assert semantic.perm_test_semantic(E, E, m=99)["p"] == 1.0 and semantic.perm_test_mmd(E, E, m=99)["p"] == 1.0


def test_an_unknown_group_is_refused():
    with pytest.raises(BadInput, match="'both'"):
        semantic.perm_test_semantic([[1.0]], [[1.0]], "both")


def test_paired_labels_swap_within_pairs():
    # three pairs give 8 swaps; the Monte Carlo p of the paired MMD is the share of the 8. Across the sets the pairs themselves
    # are left out, so the swaps have a mean of exactly 0; p is that of the MMD with them
    rng = generator(6)
    T, R = (semantic.unit_vectors(rng.standard_normal((3, 2))) for _ in range(2))

    def without_pairs(X, Y):
        cross = np.mean([X[i] @ Y[j] for i in range(3) for j in range(3) if i != j])
        return slow_mean_cosine(X) + slow_mean_cosine(Y) - 2 * cross

    swaps = [
        (np.where(keep, R, T), np.where(keep, T, R))
        for keep in (np.array(choice)[:, None] for choice in itertools.product([False, True], repeat=3))
    ]
    values, whole = ([kind(X, Y) for X, Y in swaps] for kind in (without_pairs, semantic.mmd2_cos))
    exact, with_pairs = (np.mean(np.array(one) >= one[0] - 1e-12) for one in (values, whole))
    found = semantic.perm_test_mmd(T, R, m=7_999, seed=1, paired=True)
    assert np.mean(values) == pytest.approx(0, abs=1e-12) and exact == with_pairs
    assert found["obs"] == pytest.approx(values[0])
    assert binomtest(round(found["p"] * 8_000) - 1, 7_999, exact).pvalue > 1e-3
    with pytest.raises(BadInput, match="equally long"):
        semantic.perm_test_mmd(T, R[:2], paired=True)


def test_the_centre_of_the_paired_within_test_is_the_mean_over_swaps():
    rng = generator(7)
    T, R = (semantic.unit_vectors(rng.standard_normal((3, 2))) for _ in range(2))
    swaps = [
        slow_mean_cosine(np.where(np.array(choice)[:, None], R, T)) for choice in itertools.product([False, True], repeat=3)
    ]
    found = semantic.perm_test_within_paired(T, R, m=99)
    assert found["fbar"] == pytest.approx(np.mean(swaps)) and found["obs"] == pytest.approx(slow_mean_cosine(T))
    default = semantic.perm_test_within_paired(T, R)
    assert default["n_perm"] == 9_999 and default["p"] * 10_000 == pytest.approx(round(default["p"] * 10_000))
    alone = semantic.perm_test_within_paired(T[:1], R[:1])
    assert math.isnan(alone["p"]) and alone["n_perm"] == 0
    with pytest.raises(BadInput, match="got 3 and 2"):
        semantic.perm_test_within_paired(T, R[:2])


@pytest.mark.parametrize("paired", [False, True])
def test_the_upper_bound_of_the_mmd_is_the_largest_that_is_not_rejected(paired):
    """At the bound m the distance from the estimate is 1.645 √(null² + 4 m s). s is the largest
    variance of the difference of the means, here over 4,000 directions of the plane."""
    rng = generator(12)
    X, Y = (semantic.unit_vectors(rng.standard_normal((9, 2)) + shift) for shift in (0.5, 1.5))
    found = semantic.perm_test_mmd(X, Y, m=99, paired=paired)
    s = 0.0
    for angle in np.linspace(0, math.pi, 4_000):
        direction = np.array([math.cos(angle), math.sin(angle)])
        parts = [(X - Y) @ direction] if paired else [X @ direction, Y @ direction]
        s = max(s, sum(part.var(ddof=1) / 9 for part in parts))
    distance = 1.6448536 * math.sqrt(found["null_sd"] ** 2 + 4 * found["upper"] * s)
    assert found["upper"] - found["obs"] == pytest.approx(distance, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_of_the_mmd_holds_where_the_sets_differ_too(paired):
    # shifted by 1 across a common mean of length 4; the spread under no difference alone would hold it .4 and .2 of the time
    rng = generator(11)
    far, place = np.eye(1, 32)[0] * 4, np.eye(2, 32)[1]

    def drawn(n):
        common = rng.standard_normal((n, 32)) * math.sqrt(0.7 if paired else 0)
        own = rng.standard_normal((2, n, 32)) * math.sqrt(0.3 if paired else 1)
        return semantic.unit_vectors(common + own[0] + far), semantic.unit_vectors(common + own[1] + far + place)

    X, Y = drawn(200_000)
    true = float(((X.mean(axis=0) - Y.mean(axis=0)) ** 2).sum())
    found = [semantic.perm_test_mmd(*drawn(200), m=99, seed=seed, paired=paired) for seed in range(120)]
    held = sum(abs(one["obs"] - true) <= 1.645 * one["se"] for one in found)
    narrow = sum(abs(one["obs"] - true) <= 1.645 * one["null_sd"] for one in found)
    assert binomtest(held, 120, 0.9, alternative="less").pvalue > 0.01 and narrow < 80
    assert all(one["se"] >= one["null_sd"] > 0 for one in found)


def rejections(runs, rng, **change):
    hits = np.zeros(3)
    for seed in range(runs):
        T, R = embedding_sets(rng, **change)
        hits += [semantic.perm_test_semantic(T, R, which, m=199, seed=seed)["p"] < 0.05 for which in ("target", "retro")] + [
            semantic.perm_test_mmd(T, R, m=199, seed=seed)["p"] < 0.05
        ]
    return hits


@pytest.mark.slow
def test_the_semantic_tests_have_their_nominal_size():
    for hits in rejections(200, generator(8)).tolist():
        assert binomtest(int(hits), 200, 0.05, alternative="greater").pvalue > 1e-3


@pytest.mark.slow
def test_the_within_cosine_is_blind_to_a_shift_and_mmd_to_spread():
    """With 100 simulations, 80 v 80 in 32 dimensions. Shifts of .85 and 1.1 across the common mean give the stated
    powers: within .04-.16 and .06-.34, MMD .86 and 1.00; spread x 1.15: within .83, MMD .19."""
    small, large = (rejections(100, generator(9), shift=shift) / 100 for shift in (0.85, 1.1))
    spread = rejections(100, generator(10), spread=1.15) / 100
    assert small[2] == pytest.approx(0.86, abs=0.1) and max(small[:2]) < 0.28
    assert large[2] > 0.96 and max(large[:2]) < 0.48
    assert spread[:2] == pytest.approx([0.83, 0.83], abs=0.11) and spread[2] == pytest.approx(0.19, abs=0.11)
