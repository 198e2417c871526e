"""Rank intervals: slow definitions, known orders, and what they may never do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.ranking.order import AHEAD, BEHIND, NOT_COMPARED, OPEN, TIED, better_p, order, rank_limits
from flipcore.stats.ranking.ways import scores
from tests.stats.ranking.worlds import readouts

OWN, OTHER = ("identity", "base", "regex"), ("label_set", "lower", "regex")


def order_of(**right):
    return order(scores(readouts({model: {OWN: letters, OTHER: letters[::-1]} for model, letters in right.items()})))


def test_ranks_are_those_of_the_means_and_ties_share_one():
    one = order_of(A="1111", B="1100", C="0011", D="0000")
    assert one.ranks[0].tolist() == [1, 2, 2, 4]
    assert one.leads(0, 1).tolist() == [1, 1] and one.leads(1, 2).tolist() == [0, 0] and one.leads(3, 0).tolist() == [-1, -1]


def test_a_clear_order_of_many_items_has_ranks_without_width():
    right = {"A": "1" * 190 + "0" * 10, "B": "1" * 120 + "0" * 80, "C": "1" * 40 + "0" * 160}
    one = order_of(**right)
    best, worst = rank_limits(one.adjusted(np.array([True, True])), 0.05)
    assert best.tolist() == worst.tolist() == [[1, 2, 3]] * 2


def test_below_ten_items_every_rank_is_open():
    one = order_of(A="111111111", B="000000000")
    best, worst = rank_limits(one.adjusted(np.array([True, True])), 0.05)
    assert np.isnan(one.p).all() and best.tolist() == [[1, 1]] * 2 and worst.tolist() == [[2, 2]] * 2


@pytest.mark.parametrize("n", [8, 12])
def test_a_difference_has_the_level_of_both_one_sided_limits(n):
    """Half of the items lead. Below ten items the difference has no limits."""
    difference = order_of(A="1" * n, B="10" * (n // 2)).difference(0, 0, 1, 0.05)
    assert (difference.value, difference.level, difference.n) == (0.5, pytest.approx(0.9), n)
    assert difference.has_interval == (n >= 10)


def test_a_way_counts_for_a_pair_where_both_were_read_and_unread_answers_leave_it_open():
    one = order(
        scores(
            readouts(
                {"A": {OWN: "11110", OTHER: "1111u"}, "B": {OWN: "uuuuu", OTHER: "000uu"}, "C": {OWN: "11100", OTHER: "11000"}}
            )
        )
    )
    assert one.leads(0, 1).tolist() == [NOT_COMPARED, AHEAD]
    assert one.leads(2, 0).tolist() == [BEHIND, BEHIND] and one.leads(1, 2).tolist() == [NOT_COMPARED, OPEN]
    assert one.leads(0, 0).tolist()[0] == TIED and np.isnan(one.means[0, 1])


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_of_a_difference_excludes_0_exactly_where_its_p_is_small_enough(seed):
    rng = np.random.default_rng(seed)
    letters = {
        name: "".join(rng.choice(list("10u"), 40, p=(share, 0.95 - share, 0.05))) for name, share in (("A", 0.9), ("B", 0.55))
    }
    one = order_of(**letters)
    for j, k in ((0, 1), (1, 0)):
        for alpha in (0.005, 0.025, 0.1, one.p[0, j, k] * 0.999, one.p[0, j, k] * 1.001):
            if 0 < alpha < 0.5:
                found = one.difference(0, j, k, alpha)
                assert (found.low > 0) == (one.p[0, j, k] < alpha) and found.low <= found.value <= found.high


@pytest.mark.slow
def test_holm_is_over_all_pairs_in_both_directions_of_the_ways_in_the_family():
    rng = np.random.default_rng(1)
    right = {
        name: "".join(map(str, (rng.random(60) < share).astype(int)))
        for name, share in zip("ABC", (0.9, 0.7, 0.4), strict=True)
    }
    one = order_of(**right)
    raw = one.p[~np.isnan(one.p)]
    assert raw.size == 12
    assert one.adjusted(np.array([True, True]))[~np.isnan(one.p)] == pytest.approx(multipletests(raw, method="holm")[1])
    alone = one.adjusted(np.array([True, False]))
    assert np.isnan(alone[1]).all() and np.nanmin(alone[0]) == pytest.approx(np.nanmin(one.p[0]) * 6)


def test_p_of_a_pair_is_the_guarded_t_of_its_differences():
    values = np.array([[1, 0], [1, 1], [1, 0], [0, 0], [1, 0], [1, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]], dtype=float)
    test = guarded_t(values[:, 0] - values[:, 1], (-1, 1))
    p = better_p(values, values)
    assert (p[0, 1], p[1, 0]) == pytest.approx((float(test.p_above), float(test.p_below)))
    repeated = np.repeat(values, 3, axis=0)
    assert better_p(repeated, repeated, np.repeat(np.arange(11), 3))[0, 1] == pytest.approx(p[0, 1])
    assert better_p(repeated, repeated)[0, 1] < p[0, 1] / 2  # items that are copies are no further evidence


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(0, 1000), st.sampled_from([0.001, 0.05, 0.3]))
def test_a_rank_lies_in_its_interval_and_a_stricter_level_never_narrows_it(n_models, seed, alpha):
    rng = np.random.default_rng(seed)
    right = {f"m{i}": "".join(map(str, (rng.random(30) < rng.random()).astype(int))) for i in range(n_models)}
    one = order_of(**right)
    p = one.adjusted(np.array([True, True]))
    best, worst = rank_limits(p, alpha)
    assert (best <= one.ranks).all() and (one.ranks <= worst).all()
    best_strict, worst_strict = rank_limits(p, alpha / 10)
    assert (best_strict <= best).all() and (worst_strict >= worst).all()


@pytest.mark.parametrize(("p", "is_shown"), [(0.05, True), (0.05 + 1e-15, True), (0.051, False), (np.nan, False)])
def test_ranks_follow_from_p_up_to_alpha_itself(p, is_shown):
    best, worst = rank_limits(np.array([[np.nan, p], [1.0, np.nan]]), 0.05)
    assert (best.tolist(), worst.tolist()) == (([1, 2], [1, 2]) if is_shown else ([1, 1], [2, 2]))
