"""Many means over the same items: each as if alone, all from one draw."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import intervals
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.guarded import guarded_limits
from flipcore.stats.base.intervals import SIGNED, UNIT, mean_interval
from flipcore.stats.base.joint_means import JointMeans, column_quantiles
from tests import naive
from tests.lab.simulations.planted import deviations, pair_rates
from tests.source_statistics import cluster_clt


def rates(n, k=3, seed=0):
    return np.round(np.random.default_rng(seed).random((n, k)), 1)


@pytest.mark.parametrize("kind", ["percentile", "bca", "studentized", "clt_cluster", "default"])
@pytest.mark.parametrize("n", [9, 14, 45])
def test_a_column_has_the_interval_that_it_has_alone(kind, n):
    columns = rates(n)
    together = JointMeans(columns, 3, 600).estimates(kind, [0.9, 0.95], [UNIT] * 3)
    for j in range(3):
        for estimate, level in zip(together[j], [0.9, 0.95], strict=True):
            alone = mean_interval(columns[:, j], kind=kind, level=level, seed=3, n_boot=600)
            assert (estimate.low, estimate.high) == pytest.approx((alone.low, alone.high), abs=1e-9, nan_ok=True)
            assert (estimate.method, estimate.n, estimate.seed, estimate.note) == (alone.method, n, alone.seed, alone.note)


def test_replicates_are_the_naive_joint_draw():
    columns = rates(8)
    columns[2, 1] = np.nan
    joint = JointMeans(columns, 5, 60)
    assert joint.replicates == pytest.approx(naive.bootstrap_means(columns.tolist(), 5, 60), nan_ok=True)


def test_items_that_a_column_lacks_leave_that_column_only():
    columns = rates(40)
    columns[:15, 0] = np.nan
    joint = JointMeans(columns)
    assert joint.n.tolist() == [25, 40, 40]
    assert joint.values[0] == pytest.approx(columns[15:, 0].mean())
    assert joint.se[0] == pytest.approx(columns[15:, 0].std(ddof=1) / 5)


def test_an_empty_column_is_missing_under_every_kind():
    columns = np.column_stack([rates(20)[:, 0], np.full(20, np.nan)])
    for kind in ("percentile", "bca", "studentized", "clt_cluster", "default"):
        empty = JointMeans(columns, 0, 200).estimates(kind, [0.95], [UNIT] * 2)[1][0]
        assert empty.text() == "–" and empty.note == "No item defines it."
    assert JointMeans(np.empty((0, 2))).estimates("default", [0.95], [UNIT] * 2)[0][0].n == 0


@pytest.mark.parametrize("kind", ["percentile", "bca", "studentized", "clt_cluster"])
def test_a_column_without_spread_takes_the_labelled_fallback(kind):
    columns = np.column_stack([np.zeros(40), rates(40)[:, 0], np.zeros(40)])
    zero, _, paired = (column[0] for column in JointMeans(columns, 0, 300).estimates(kind, [0.95], [UNIT, UNIT, SIGNED]))
    assert [zero.low, zero.high] == intervals.wilson(0, 40) and "Wilson's stands in" in zero.note
    assert [paired.low, paired.high] == intervals.bonett_price(0, 0, 40)


@pytest.mark.parametrize("n", [10, 20, 45])
def test_a_difference_takes_the_paired_t_and_an_unseen_item_where_few_items_carry_it(n):
    many = 0.3 + 0.2 * rates(n, seed=1)[:, 0]
    few = (np.arange(n) < 2).astype(float)
    table = JointMeans(np.column_stack([many, few, np.zeros(n)]), 0, 300).estimates("default", [0.95], [(-2.0, 2.0)] * 3)
    plain, guarded, nothing = (column[0] for column in table)
    alone = intervals.clt(many, t=True)
    assert plain.method == "clt_cluster" and (plain.low, plain.high) == pytest.approx((alone["lo"], alone["hi"]))
    test = guarded_limits(few, few, (-2.0, 2.0), 0.025)
    assert guarded.method == "guarded t" and (guarded.low, guarded.high) == pytest.approx(test)
    assert nothing.low == -nothing.high < 0  # nothing changes, and the interval has a width


def test_limits_widen_with_the_level():
    levels = [0.5, 0.8, 0.95, 0.99]
    for kind in ("percentile", "bca", "studentized", "clt_cluster"):
        low, high = JointMeans(rates(30), 0, 500).limits(kind, levels)
        assert (np.diff(low, axis=0) <= 1e-12).all() and (np.diff(high, axis=0) >= -1e-12).all()


@pytest.mark.parametrize("families", [None, np.arange(40) // 2])
@pytest.mark.parametrize("kind", ["percentile", "bca", "studentized", "clt_cluster", "default"])
def test_intervals_at_many_levels_are_those_of_each_level(kind, families):
    rare = (np.arange(40) == 3).astype(float)
    columns = np.column_stack([rates(40)[:, 0], np.zeros(40), np.full(40, np.nan), rare, rare - rates(40)[:, 1]])
    joint, levels, bounds = JointMeans(columns, 0, 300, families), [0.5, 0.8, 0.95, 0.999], [UNIT] * 4 + [SIGNED]
    together = joint.intervals(kind, levels, bounds)
    for at, level in enumerate(levels):
        for j, (one,) in enumerate(joint.estimates(kind, [level], bounds)):
            assert (together.low[at, j], together.high[at, j]) == pytest.approx((one.low, one.high), abs=0, nan_ok=True)
            assert together.methods[at, j] == one.method
    assert together.methods[-1, 2] == "none" and np.isnan(together.low[:, 2]).all()
    assert (together.high[1:] >= together.high[:-1])[:, [0, 1, 3, 4]].all()


def test_quantiles_of_columns_are_numpys():
    sample = np.random.default_rng(0).random((50, 2))
    sample[:7, 1] = np.nan
    shares = np.array([[0.1, 0.2], [0.9, 0.5]])
    found = column_quantiles(sample, shares)
    assert found[:, 0] == pytest.approx(np.percentile(sample[:, 0], [10, 90]))
    assert found[:, 1] == pytest.approx(np.percentile(sample[7:, 1], [20, 50]))
    assert np.isnan(column_quantiles(np.full((4, 1), np.nan), np.array([[0.5]]))).all()


def test_a_kind_that_is_not_joint_is_refused():
    for call in (
        lambda: JointMeans(rates(20)).estimates("wald", [0.95], [UNIT] * 3),
        lambda: JointMeans(rates(20)).limits("default", [0.95]),
    ):
        with pytest.raises(BadInput, match="choose one of default"):
            call()


# Shares below a tenth: intervals that hold, and bounds that do not fall when a flip is added.


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
