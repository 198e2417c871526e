"""Shares below a tenth: intervals that hold, and bounds that do not fall when a flip is added."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.intervals import UNIT, cluster_clt
from flipcore.stats.base.joint_means import JointMeans
from tests.lab.simulations.planted import deviations, pair_rates


def default(x):
    return JointMeans(np.asarray(x, dtype=float)[:, None], 0, 199).estimates("default", [0.95], [UNIT])[0][0]


@pytest.mark.parametrize("n", [10, 15, 29, 30, 40, 80, 150, 1319])
def test_no_bound_falls_when_an_item_flips_more(n):
    found = [default(np.arange(n) < k) for k in range(n // 2)]
    assert (np.diff([one.high for one in found]) >= -1e-12).all()
    assert (np.diff([one.low for one in found]) >= -1e-12).all()


@pytest.mark.parametrize("n", [15, 30, 80])
def test_no_bound_falls_when_one_pair_more_flips(n):
    # one deviating answer of four flips 3 of 6 pairs; the flips of an item come one after the other
    rng = generator(3, n)
    x, low, high = np.zeros(n), 0.0, default(np.zeros(n)).high
    while True:
        x[rng.integers(n)] += 1 / 6
        x = np.minimum(x, 1.0)
        if x.mean() >= 0.1:
            break
        one = default(x)
        assert one.high >= high - 1e-12 and one.low >= low - 1e-12
        low, high = one.low, one.high


def test_one_flip_of_thirty_bounds_no_lower_than_none():
    none, one = default(np.zeros(30)), default(np.arange(30) < 1)
    assert none.high == pytest.approx(0.114, abs=1e-3) and one.high >= none.high and one.method == "wilson"


def test_from_thirty_items_and_a_tenth_on_the_interval_is_the_old_one():
    x = generator(1).random(40)
    same = JointMeans(x[:, None]).estimates("clt_cluster", [0.95], [UNIT])[0][0]
    assert replace(default(x), coverage=None) == replace(same, coverage=None)  # as a kind for all shares it covers less


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "n", "v"), [(0.03, 30, 4), (0.05, 50, 4), (0.08, 80, 2), (0.05, 150, 2), (0.03, 500, 2)])
def test_a_rare_share_is_covered(rate, n, v):
    # the t interval held .858 of these at rate .03, n = 80 and 150, v = 4
    rng, runs = generator(6, rate, n), 500
    held = 0
    for _ in range(runs):
        one = default(pair_rates(deviations(n, v, rate, rng)))
        held += one.low <= rate <= one.high
    assert held / runs >= 0.92


def test_families_have_the_clustered_mean_and_error():
    rng = generator(2)
    families, x = rng.integers(0, 12, 60), rng.random(60)
    joint = JointMeans(x[:, None], families=families)
    by_name = cluster_clt(x, families)
    assert (joint.values[0], joint.se[0], joint.n[0]) == pytest.approx((by_name["mean"], by_name["se_cr1"], 12))
    assert joint.limits("clt_cluster", [0.95])[:, 0, 0].tolist() == pytest.approx([by_name["lo"], by_name["hi"]])
    one, wanted = joint.estimates("default", [0.95], [UNIT])[0][0], clustered_mean(x, families)
    assert one.method == "families" and (one.low, one.high) == pytest.approx((wanted.low, wanted.high))
