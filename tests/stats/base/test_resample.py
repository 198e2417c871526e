"""Random draws: reproducible, joint over columns, equal to the naive loop; Monte Carlo p-values that say how sure they are."""

import numpy as np
import pytest
from scipy.stats import binomtest, monte_carlo_test, permutation_test

from flipcore.core.randomness import generator
from flipcore.stats.base import resample
from tests import naive, source_statistics


@pytest.mark.parametrize("n", [1, 2, 7, 26, 127])
def test_chunks_hold_the_draws_of_one_call_a_replicate(n, monkeypatch):
    monkeypatch.setattr(resample, "_CHUNK_SIZE", 3 * n)
    rng = np.random.default_rng(3)
    one_by_one = [rng.integers(0, n, size=n).tolist() for _ in range(10)]
    chunks = list(resample.index_draws(n, 10, generator(3)))
    assert [len(chunk) for chunk in chunks] == [3, 3, 3, 1]
    assert np.concatenate(chunks).tolist() == one_by_one


def columns_with_holes(n, k, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.random((n, k))
    columns[rng.random((n, k)) < 0.2] = np.nan
    columns[:, 1] = columns[:, 0]
    return columns


def test_joint_means_are_the_naive_loops_with_items_missing_column_by_column():
    columns = columns_with_holes(9, 4)
    found = resample.replicate_means(columns, 40, generator(5))
    assert found == pytest.approx(naive.bootstrap_means(columns.tolist(), 5, 40), abs=1e-12, nan_ok=True)


def test_a_replicate_without_any_item_of_a_column_is_missing():
    columns = np.array([[1.0], [np.nan], [np.nan]])
    found = resample.replicate_means(columns, 200, generator(0))[:, 0]
    assert np.isnan(found).any() and set(found[~np.isnan(found)]) == {1.0}


def test_drawing_counts_of_distinct_rows_gives_the_same_distribution():
    # 400 items with 3 distinct rows take the multinomial; mean and spread of the replicates are known: x̄ and s/√n
    columns = np.column_stack([np.repeat([0.0, 0.5, 1.0], [100, 200, 100]), np.repeat([0.0, 0.0, 1.0], [100, 200, 100])])
    reps = resample.replicate_means(columns, 20_000, generator(1))
    sd = columns.std(axis=0) / np.sqrt(400)
    assert reps.mean(axis=0) == pytest.approx(columns.mean(axis=0), abs=4 * sd.max() / np.sqrt(20_000))
    assert reps.std(axis=0) == pytest.approx(sd, rel=0.03)
    assert np.corrcoef(reps.T)[0, 1] == pytest.approx(np.corrcoef(columns.T)[0, 1], abs=0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 2_001])
def test_drawn_counts_are_those_of_n_draws(n):
    counts = resample.count_draws(n, 300, generator(2))
    assert counts.shape == (300, n) and set(counts.sum(axis=1, dtype=int)) == {n}
    assert counts.tolist() == resample.count_draws(n, 300, generator(2)).tolist()


def test_a_count_is_binomial_and_two_counts_compete():
    # Binomial(n, 1/n): P(0) = (1 - 1/n)^n, variance 1 - 1/n; counts of two items have covariance -1/n. Even three items, where
    # nearly every draw is added as an index, and rows that came out too long are drawn again, follow it.
    counts = resample.count_draws(3, 60_000, generator(4)).astype(float)
    assert [
        binomtest(int((counts[:, 0] == k).sum()), 60_000, p).pvalue > 0.001
        for k, p in enumerate([8 / 27, 12 / 27, 6 / 27, 1 / 27])
    ] == [True] * 4
    assert np.cov(counts.T) == pytest.approx(np.where(np.eye(3) == 1, 2 / 3, -1 / 3), abs=0.02)
    many = resample.count_draws(2_500, 800, generator(5))
    assert binomtest(int((many == 0).sum()), many.size, (1 - 1 / 2_500) ** 2_500).pvalue > 0.001
    assert many.var() == pytest.approx(1 - 1 / 2_500, rel=4 * np.sqrt(3 / many.size) + 2e-4)  # a Poisson's 4th moment is 4


def test_a_counts_poisson_is_read_off_16_bits_within_a_part_in_ten_thousand():
    for mean in (0.89, 0.95, 0.99):
        tails = np.array(resample._poisson_cuts(mean)) / 65_536  # P(X > k)
        second = (2 * np.arange(len(tails)) + 1) @ tails
        assert tails.sum() == pytest.approx(mean, rel=3e-5) and second - tails.sum() ** 2 == pytest.approx(mean, rel=2e-4)


def test_many_items_give_the_spread_and_correlation_that_theory_knows():
    columns = np.column_stack([generator(6).random(3_000), generator(7).random(3_000)])
    columns = np.column_stack([columns, columns.sum(axis=1), 1e6 + columns[:, 0]])
    columns[:900, 1] = np.nan
    reps = resample.replicate_means(columns, 8_000, generator(8))
    n = (~np.isnan(columns)).sum(axis=0)
    sd = np.nanstd(columns, axis=0) / np.sqrt(n)
    assert reps.std(axis=0) == pytest.approx(sd, rel=0.03)
    assert (reps.mean(axis=0) - np.nanmean(columns, axis=0)) / sd == pytest.approx(np.zeros(4), abs=4 / np.sqrt(8_000))
    assert reps[:, 3] - 1e6 == pytest.approx(reps[:, 0], abs=1e-3 * sd[0])  # what single precision loses is no matter
    whole = np.corrcoef(columns[:, [0, 2]].T)[0, 1]
    assert np.corrcoef(reps[:, [0, 2]].T)[0, 1] == pytest.approx(whole, abs=0.02)


def test_replicates_of_any_statistic_use_the_same_draws():
    x = np.random.default_rng(2).random(11)
    assert source_statistics.replicates(np.mean, x, 30, generator(4)) == pytest.approx(
        source_statistics.replicates(None, x, 30, generator(4))
    )


def test_sign_flips_are_the_exact_test_within_monte_carlo_error():
    d = np.array([0.5, 0.5, -0.25, 0.75, 0.0, 0.25, 0.5, -0.5, 0.75])
    found = resample.sign_flip_p(d, generator(0), m=20_000)
    assert found.low <= naive.sign_flip_p(d) <= found.high


def test_sign_flips_of_many_different_sizes_are_scipys_paired_permutation_test():
    d = np.random.default_rng(8).normal(0.3, 1, size=12)
    for one_sided, alternative in ((False, "two-sided"), (True, "greater")):
        exact = permutation_test(
            (d, np.zeros(12)),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            vectorized=True,
            permutation_type="samples",
            n_resamples=np.inf,
            alternative=alternative,
        ).pvalue
        found = resample.sign_flip_p(d, generator(1), m=20_000, one_sided=one_sided)
        assert found.low <= exact <= found.high


def test_sign_flips_hold_their_size_under_the_null():
    rng = np.random.default_rng(11)
    rejected = sum(resample.sign_flip_p(rng.normal(size=20), rng, m=199, alpha=-1).p <= 0.05 for _ in range(1000))
    assert binomtest(rejected, 1000, 0.05, alternative="greater").pvalue > 0.01


def test_no_difference_at_all_is_p_one_and_no_data_is_missing():
    assert resample.sign_flip_p(np.zeros(30), generator(0)).p == 1.0
    assert np.isnan(resample.sign_flip_p(np.array([np.nan]), generator(0)).p)


def test_a_monte_carlo_p_is_never_zero_and_the_sources_can_be():
    found = resample.monte_carlo_p(10.0, np.zeros, m=99, alpha=0.1)
    assert (found.p, found.p_source, found.m) == (0.01, 0.0, 99)


def test_ties_count_as_at_least_as_extreme():
    assert resample.monte_carlo_p(0.3, lambda k: np.full(k, 0.1 + 0.2), m=99).p == 1.0


def test_the_monte_carlo_p_is_scipys():
    x = np.random.default_rng(4).normal(0.2, 1, 30)
    rng = np.random.default_rng(0)
    ours = resample.monte_carlo_p(x.mean(), lambda k: rng.normal(size=(k, 30)).mean(axis=1), m=9999)
    theirs = monte_carlo_test(
        x,
        lambda size: np.random.default_rng(1).normal(size=size),
        lambda a, axis: a.mean(axis=axis),
        vectorized=True,
        alternative="greater",
    )
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_draws_double_while_the_interval_of_p_straddles_alpha():
    straddling = resample.monte_carlo_p(0.95, lambda k: np.arange(k) / k, m=100, alpha=0.05, max_m=800)
    assert straddling.m == 800 and straddling.low < 0.05 < straddling.high
    assert resample.monte_carlo_p(0.5, lambda k: np.arange(k) / k, m=100, alpha=0.05, max_m=800).m == 100
