"""Looking more than once: bands over a grid and sequences over time hold everywhere at once."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.simultaneous import bounded_path
from tests.lab.simulations.looks import conf_seq_path, max_t_band
from tests.source_statistics import MIN_LOOK, conf_seq


def test_a_band_of_one_setting_is_nearly_the_ordinary_interval_and_more_settings_widen_it():
    x = generator(0).normal(size=(200, 30))
    one, many = max_t_band(x[:, :1], n_boot=4000), max_t_band(x, n_boot=4000)
    assert one.critical == pytest.approx(1.96, abs=0.12)
    assert 2.6 < many.critical < 3.4  # Sidak for 30 independent settings: 3.13
    assert many.high - many.values == pytest.approx(many.critical * JointMeans(x).se)


def test_settings_that_say_the_same_cost_nothing():
    x = generator(1).normal(size=(100, 1))
    assert max_t_band(np.repeat(x, 20, axis=1)).critical == pytest.approx(max_t_band(x).critical)


def test_a_setting_without_spread_has_no_limits_and_spoils_no_other():
    x = generator(2).normal(size=(50, 3))
    x[:, 1] = 0.0
    x[1:, 2] = np.nan
    found = max_t_band(x, n_boot=500)
    assert np.isnan(found.low[1:]).all() and found.critical == pytest.approx(max_t_band(x[:, :1], n_boot=500).critical)
    nothing = max_t_band(np.zeros((5, 2)))
    assert np.isnan(nothing.critical) and np.isnan(nothing.low).all()


@pytest.mark.slow
def test_the_band_holds_its_level_over_a_slider_where_single_intervals_do_not():
    # 20 settings looked at with 95% intervals are wrong somewhere in .42 of the cases, the band in .067
    rng, wrong, n_sims = generator(3, "band"), 0, 500
    for simulation in range(n_sims):
        x = rng.normal(size=(150, 1)) * 0.7 + rng.normal(size=(150, 20)) * 0.7
        found = max_t_band(x, seed=simulation, n_boot=499)
        wrong += bool(((found.low > 0) | (found.high < 0)).any())
    assert binomtest(wrong, n_sims, 0.07, alternative="greater").pvalue > 0.01


def test_a_path_is_the_sequence_after_every_item():
    x = generator(4).random(60) + 1e8  # far from 0: running sums must not lose the spread
    path = conf_seq_path(x)
    for t in (MIN_LOOK, 37, 60):
        assert [path.low[t - 1], path.high[t - 1]] == pytest.approx(conf_seq(x[:t]), rel=0, abs=1e-6)
        assert path.means[t - 1] == pytest.approx(x[:t].mean())
    assert np.isnan(path.low[: MIN_LOOK - 1]).all() and path.level == 0.95


def test_a_path_leaves_out_what_is_missing_and_has_no_limits_without_spread():
    assert conf_seq_path([1.0, np.nan, 0.0]).t.tolist() == [1, 2]
    assert np.isnan(conf_seq_path(np.ones(50)).low).all()
    assert conf_seq_path([]).t.size == 0


def wrong_somewhere(path_of, rate, n_sims=1000):
    """Data sets in which the 95% path excludes the rate after some item from the 20th to the 500th."""
    rng, wrong = generator(5, "watch", rate), 0
    for _ in range(n_sims):
        path = path_of((rng.random(500) < rate).astype(float))
        wrong += bool(((path.low[19:] > rate) | (path.high[19:] < rate)).any())
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_watching_a_bounded_path_all_the_time_is_wrong_in_at_most_one_case_of_twenty(rate):
    assert binomtest(wrong_somewhere(bounded_path, rate), 1000, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
def test_the_asymptotic_path_holds_for_common_outcomes_and_not_for_rare_ones():
    # why bounded_path exists: an independent simulation has .018-.027 for the asymptotic sequence, which is right near .5 only
    assert binomtest(wrong_somewhere(conf_seq_path, 0.5), 1000, 0.05, alternative="greater").pvalue > 0.01
    assert binomtest(wrong_somewhere(conf_seq_path, 0.05), 1000, 0.05, alternative="greater").pvalue < 0.01


def test_a_bounded_path_by_the_slow_way():
    x = generator(6).random(40)
    path = bounded_path(2 * x - 1, bounds=(-1.0, 1.0))
    low, high, bets, seen = -1.0, 1.0, [], []
    squares, penalty, weighted = 0.25, 0.0, 0.0
    for t, value in enumerate(x, start=1):
        before = (0.5 + sum(seen)) / t
        bet = min(math.sqrt(2 * math.log(40) / (squares / t * t * math.log(1 + t))), 0.5)
        penalty += (value - before) ** 2 * (-math.log(1 - bet) - bet)
        weighted += bet * value
        bets.append(bet)
        seen.append(value)
        squares += (value - (0.5 + sum(seen)) / (t + 1)) ** 2
        half = (math.log(40) + penalty) / sum(bets)
        low, high = max(low, 2 * (weighted / sum(bets) - half) - 1), min(high, 2 * (weighted / sum(bets) + half) - 1)
        assert (path.low[t - 1], path.high[t - 1]) == pytest.approx((low, high))


def test_a_bounded_path_refuses_values_beyond_its_bounds_and_starts_anywhere():
    with pytest.raises(BadInput, match="give wider bounds"):
        bounded_path([0.5, 1.5])
    assert bounded_path([]).t.size == 0
    first = bounded_path([1.0, np.nan])
    assert (first.low[0], first.high[0], first.t.size) == (0.0, 1.0, 1)
