"""Two scores paired item by item, or template by template."""

import numpy as np
import pytest
from scipy import stats

from flipcore.core.randomness import generator
from flipcore.stats.audit.groups import group_spread
from flipcore.stats.audit.paired import grade_gap, n_to_decide, paired_scores
from flipcore.stats.audit.score_rate import score_rates
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.base.intervals import SIGNED


def test_templates_are_the_unit_where_items_share_them():
    # ten templates of twenty items each rise and fall together
    rng = np.random.default_rng(2)
    shift = np.repeat(rng.choice((-1, 1), 10), 20)
    first, second = np.where(shift > 0, 0, 1), np.where(shift > 0, 1, 0)
    alone, together = paired_scores(first, second), paired_scores(first, second, np.repeat(np.arange(10), 20))
    assert together.difference.high - together.difference.low > 3 * (alone.difference.high - alone.difference.low)
    assert together.p > alone.p


def test_every_item_that_differs_is_counted_once():
    """Two samples of which one was right are half a point: the row of a table must add up to its difference."""
    first, second = [0.0, 0.0, 1.0, 0.5, 1.0, 0.0, np.nan], [1.0, 1.0, 0.0, 1.0, 1.0, 0.5, 1.0]
    found = paired_scores(first, second)
    assert (found.first_only, found.second_only, found.n_partly, found.n_items) == (1, 2, 2, 6)
    assert found.difference.value == pytest.approx((2 - 1 + 0.5 + 0.5) / 6)


@pytest.mark.parametrize("world", ["single", "samples", "families"])
def test_p_and_interval_say_one_thing(world):
    """ "Undecided whether A and B differ: +12.5 points [+1.8, +23.2], p = .062" was printed of 5 of 40 items."""
    rng = np.random.default_rng(3)
    for run in range(40):
        lift, samples = 0.1 + 0.3 * (run % 3), 1 if world != "samples" else 3
        first = rng.binomial(samples, 0.5, 40) / samples
        second = np.where(rng.random(40) < lift, 1.0, first)
        found = paired_scores(
            first, second, np.repeat(np.arange(10), [1, 1, 2, 2, 2, 4, 4, 8, 8, 8]) if world == "families" else None
        )
        assert (found.p <= 0.05) == found.difference.excludes_zero()
        assert found.difference.low <= found.difference.value <= found.difference.high


@pytest.mark.parametrize("families", [None, np.repeat(np.arange(20), 2)])
def test_p_and_interval_say_one_thing_at_another_level(families):
    rng = np.random.default_rng(4)
    for _ in range(40):
        first = rng.integers(0, 2, 40).astype(float)
        second = np.where(rng.random(40) < 0.2, 1.0, first)
        found = paired_scores(first, second, families, level=0.8)
        assert found.difference.level == pytest.approx(0.8)
        assert (found.p <= 0.2) == found.difference.excludes_zero()


def test_five_items_of_forty_are_enough_and_said_with_an_interval_above_nothing():
    found = paired_scores([1.0] * 30 + [0.0] * 10, [1.0] * 35 + [0.0] * 5)
    assert found.p < 0.05 and 0 < found.difference.low < 0.125 and found.difference.method == "tango"


def test_families_of_very_unequal_weight_carry_no_p():
    families = np.repeat(np.arange(14), [40] + [1] * 13)  # they weigh as much as 1.7 equal ones
    found = paired_scores(np.zeros(53), np.ones(53), families)
    assert np.isnan(found.p) and not found.difference.has_interval


def test_where_nothing_differs_in_few_families_the_interval_still_has_a_width():
    # two families of 8 and six single items weigh as much as 3.6 equal ones: an interval, no claim
    families = np.repeat(np.arange(8), [8, 8, 1, 1, 1, 1, 1, 1])
    found = paired_scores(np.ones(22), np.ones(22), families)
    assert found.difference.value == 0 and found.difference.low == -found.difference.high < -0.05
    assert np.isnan(found.p) and found.difference.is_too_short


# Standard errors by groups and the permutation p of the groups being alike.


def test_the_p_is_that_of_the_one_way_analysis_of_variance():
    rng = generator(3)
    groups = np.repeat(np.arange(12), 20)
    x = rng.normal(0, 1, 240) + rng.normal(0, 0.25, 12)[groups]
    found = group_spread(x, groups)
    assert found.p == pytest.approx(stats.f_oneway(*(x[groups == g] for g in range(12))).pvalue, abs=0.025)
    assert (found.n_groups, found.by_item) == (12, pytest.approx(x.std(ddof=1) / 240**0.5)) and found.ratio > 1


@pytest.mark.slow
def test_equal_groups_are_called_apart_at_the_level_and_apart_ones_are():
    rng, groups = generator(4), np.repeat(np.arange(15), [40] + [3] * 14)
    p = [group_spread((rng.random(82) < 0.9).astype(float), groups, seed).p for seed in range(300)]
    assert np.mean(np.array(p) <= 0.05) <= 0.085
    assert group_spread((np.arange(82) < 40).astype(float), groups).p < 0.005


# SCORE's rate counts an answer at the original place as right whatever stood there.


def test_scores_rate_for_a_model_that_always_says_a():
    n, k = 1000, 10
    original = np.where(np.arange(n) < 95, 0, 1 + np.arange(n) % 9)
    shown = np.tile(np.arange(k), (n, 1))
    harness, true = score_rates(np.zeros((n, k), dtype=int), shown, original)
    assert (round(harness, 3), round(true, 3)) == (0.819, 0.724)
    # by hand, with the share that has its right option there: share + (1 - share)(K - 2)/K, and (1 - share)(K - 2)/K
    assert (harness, true) == pytest.approx((0.095 + 0.905 * 8 / 10, 0.905 * 8 / 10))


@pytest.mark.parametrize(("clusters", "n"), [(None, 12), (np.repeat(np.arange(3), 4), 3), (np.zeros(12, dtype=int), 1)])
def test_the_gap_of_grades_counts_its_clusters(clusters, n):
    first, second = np.repeat((2.0, 4.0), 6), np.tile((3.0, 4.0, 5.0), 4)
    found = grade_gap(first, second, clusters, alpha=0.05, low=1.0, high=5.0)
    assert found.n == n and found.value == pytest.approx(1.0)


def test_as_many_graded_items_as_are_named_decide_four_times_in_five():
    """Twelve items with t = 2.9 gave p = .76, and nothing said why."""
    twelve = np.array([0.0, 0.25, 0.25, 0.5, 0.25, 0.0, 0.5, 0.25, -0.25, 0.25, 0.5, 0.0])
    assert float(guarded_t(twelve, SIGNED).p) > 0.05 > stats.ttest_1samp(twelve, 0).pvalue
    n = round(n_to_decide(twelve, 0.025))
    draws = generator(0, "graded").choice(twelve, (2_000, n))
    assert 0.72 < float((guarded_t(draws, SIGNED).p <= 0.05).mean()) < 0.9
    assert n_to_decide(np.zeros(12), 0.025) == np.inf == n_to_decide(np.array([0.5, -0.5] * 6), 0.025)


def test_an_item_of_two_versions_counts_as_one_pair():
    shown = np.array([[0, 1, -1], [1, 1, 1]])
    answers = np.array([[0, 1, 2], [1, 1, 0]])
    # the first item's pair agrees, for both answers are right; of the second's three one does
    assert score_rates(answers, shown, [0, 1])[1] == pytest.approx((1 + 1 / 3) / 2)
    assert np.isnan(score_rates(answers[:, :1], shown[:, :1], [0, 1])).all()
