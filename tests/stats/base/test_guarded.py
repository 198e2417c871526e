"""Clustered tests: rare claims between equal models, and few losses to the plain clustered t."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import f_oneway
from scipy.stats import t as student

from flipcore.stats.base.chance_lead import correlation_left_open
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import ClusterSums, GuardedSide, guarded_limits, guarded_t, task_mean

SIGNED = (-1.0, 1.0)
RUNS = 400
# Clusters of 1 to 60 items: a third of all are in 4 of 40.
UNEVEN = tuple(np.geomspace(1, 60, 40).round().astype(int))


def clustered(n_clusters, size):
    return np.repeat(np.arange(n_clusters), size)


def independent(rng, clusters, better, worse, runs=RUNS):
    """Differences of 0/1 scores whose items are independent, whatever cluster they are in."""
    u = rng.random((runs, len(clusters)))
    return (u < better).astype(float) - ((u >= better) & (u < better + worse))


def together(rng, clusters, better, worse, runs=RUNS):
    """The same with one draw per cluster: whole clusters differ."""
    u = rng.random((runs, clusters.max() + 1))[:, clusters]
    return (u < better).astype(float) - ((u >= better) & (u < better + worse))


def found(x, clusters):
    return float(np.mean(guarded_t(x, SIGNED, clusters).p_above < 0.025))


def test_a_lead_is_found_nearly_as_often_as_by_the_plain_clustered_t():
    """57 clusters of 25, .15 against .10: .96 by the plain test, .15 with a whole unseen cluster."""
    clusters = clustered(57, 25)
    assert found(independent(np.random.default_rng(1), clusters, 0.15, 0.10), clusters) > 0.9


def found_by_plain_t(x, clusters):
    from scipy.special import stdtr

    means = FamilyMeans.from_values(x.T, clusters)
    return float(np.mean(stdtr(means.df, -means.values / np.maximum(means.se, 1e-300)) < 0.025))


def passages(rng, clusters, gain, spread, runs=RUNS):
    """Model B is better by `gain` logits, in some clusters by `spread` more than in others."""
    per_cluster = (runs, clusters.max() + 1)
    item = rng.normal(0.8, 1.0, (runs, clusters.size)) + rng.normal(0, 1, per_cluster)[:, clusters]
    lead = gain / 2 + spread / 2 * rng.normal(0, 1, per_cluster)[:, clusters]
    right_a, right_b = (rng.random(item.shape) < 1 / (1 + np.exp(-(item + s * lead))) for s in (-1, 1))
    return right_b.astype(float) - right_a


@pytest.mark.parametrize(
    ("sizes", "gain", "spread"),
    [((10,) * 20, 0.8, 0.0), ((10,) * 20, 0.8, 1.0), ((5,) * 40, 0.6, 0.5), (UNEVEN, 0.6, 0.5)],
    ids=["20 × 10", "20 × 10, gains vary", "40 × 5, gains vary", "1 to 60 items, gains vary"],
)
def test_a_better_model_is_found_in_four_fifths_of_what_the_plain_clustered_t_finds(sizes, gain, spread):
    """With an unseen cluster that followed by the upper limit of its correlation: .73 to .92."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    x = passages(np.random.default_rng(11), clusters, gain, spread, runs=1_000)
    assert found(x, clusters) > 0.8 * found_by_plain_t(x, clusters)


@pytest.mark.parametrize("world", [independent, together])
@pytest.mark.parametrize(("n_clusters", "size", "rate"), [(12, 5, 0.1), (20, 10, 0.05), (40, 5, 0.3)])
def test_equal_models_are_rarely_told_apart(world, n_clusters, size, rate):
    clusters = clustered(n_clusters, size)
    x = world(np.random.default_rng(2), clusters, rate, rate)
    assert found(x, clusters) <= 0.028 + 2 * (0.028 * 0.972 / RUNS) ** 0.5


def test_the_correlation_is_1_where_clusters_differ_whole_and_small_where_items_are_independent():
    clusters = clustered(60, 10)
    for world, low, high in ((together, 0.99, 1.0), (independent, 0.0, 0.15)):
        x = world(np.random.default_rng(3), clusters, 0.2, 0.2, runs=5).T
        limits = ClusterSums.from_values(x, clusters).with_largest_correlation.correlation
        assert ((low <= limits) & (limits <= high)).all(), (world, limits)


def test_adverse_events_in_whole_clusters_count_although_the_differences_do_not_agree():
    """Two clusters lost whole among scattered wins: the differences as a whole agree little."""
    clusters = clustered(40, 10)
    rng = np.random.default_rng(4)
    x = (rng.random(400) < 0.5).astype(float)
    x[clusters < 2] = -1.0
    (limit,) = ClusterSums.from_values(x[:, None], clusters).with_largest_correlation.correlation
    assert limit == pytest.approx(1.0)


def test_values_that_never_vary_are_guarded_as_whole_clusters():
    clusters = clustered(10, 4)
    x = np.zeros((40, 1))
    assert ClusterSums.from_values(x, clusters).with_largest_correlation.correlation == pytest.approx([1.0])


def test_events_that_every_item_is_say_nothing_of_clustering():
    """All are above 0, and vary within their clusters alone."""
    sums = ClusterSums.from_values(np.tile([0.25, 0.75], 20)[:, None], clustered(10, 4))
    assert sums.with_largest_correlation.correlation == pytest.approx([0.0])


def test_clusters_of_one_item_are_the_test_without_clusters():
    x = independent(np.random.default_rng(5), np.arange(80), 0.2, 0.1, runs=20)
    alone, single = guarded_t(x, SIGNED), guarded_t(x, SIGNED, np.arange(80))
    assert np.allclose(alone.p_above, single.p_above, atol=2e-3)


def test_limits_and_test_never_contradict_each_other():
    clusters = clustered(20, 6)
    x = independent(np.random.default_rng(6), clusters, 0.25, 0.12, runs=50)
    low, high = guarded_limits(x, x, SIGNED, 0.025, clusters)
    test = guarded_t(x, SIGNED, clusters)
    assert ((low > 0) == (test.p_above < 0.025)).all() and ((high < 0) == (test.p_below < 0.025)).all()


def losses_in_clusters(rng, clusters, rate, correlation, runs=RUNS):
    """Wins and losses at one rate: wins come alone, losses in some clusters more than in others."""
    odds = (1 - correlation) / correlation
    chance = rng.beta(rate * odds, (1 - rate) * odds, (runs, clusters.max() + 1))[:, clusters]
    lost = rng.random((runs, len(clusters))) < chance
    won = ~lost & (rng.random((runs, len(clusters))) < rate / (1 - rate))
    return won.astype(float) - lost


@pytest.mark.parametrize(
    ("n_clusters", "size", "rate", "correlation"),
    [
        (12, 10, 0.08, 0.5),
        (30, 10, 0.03, 0.5),
        (40, 5, 0.04, 0.5),
        pytest.param(57, 25, 0.01, 0.2, marks=pytest.mark.slow),
        pytest.param(57, 25, 0.02, 0.5, marks=pytest.mark.slow),
        pytest.param(12, 25, 0.06, 0.5, marks=pytest.mark.slow),
    ],
)
def test_losses_that_come_in_clusters_are_feared_where_few_were_seen(n_clusters, size, rate, correlation):
    """By the plain t up to .3 of them are told apart, by the unseen cluster alone .17 of 57 × 25."""
    clusters = clustered(n_clusters, size)
    x = losses_in_clusters(np.random.default_rng(8), clusters, rate, correlation, runs=1_000)
    assert float(np.mean(guarded_t(x, SIGNED, clusters).p < 0.05)) <= 0.05 + 0.007


def losses_alone(rng, clusters, rate, correlation, runs):
    """No wins, and losses in some clusters more than in others: a model worse by `rate`."""
    odds = (1 - correlation) / correlation
    chance = rng.beta(rate * odds, (1 - rate) * odds, (runs, clusters.max() + 1))[:, clusters]
    return -(rng.random((runs, len(clusters))) < chance).astype(float)


@pytest.mark.parametrize(
    ("n_clusters", "size", "rate", "correlation"),
    [(20, 10, 0.05, 0.2), (30, 10, 0.02, 0.5), pytest.param(57, 25, 0.02, 0.2, marks=pytest.mark.slow)],
)
def test_a_worse_model_is_rarely_shown_to_lose_less_than_it_does(n_clusters, size, rate, correlation):
    """Where losses exceeded wins, losses counted as independent: .06 to .16 instead of .025."""
    clusters = clustered(n_clusters, size)
    x = losses_alone(np.random.default_rng(13), clusters, rate, correlation, runs=1_000)
    low, _ = guarded_limits(x, x, SIGNED, 0.025, clusters)
    assert float(np.mean(low > -rate)) <= 0.025 + 0.01
    side = GuardedSide.from_sums(ClusterSums.from_values(x.T, clusters), SIGNED, SIGNED[0], is_clustered=True)
    assert float(np.mean(side.p(-rate) < 0.025)) == pytest.approx(float(np.mean(low > -rate)), abs=0.002)


def unequal_items(rng, clusters, rate, correlation, runs=RUNS):
    """The same of items that are unequally likely to differ, in either direction; 1 in 5 by thrice
    the mean."""
    odds = (1 - correlation) / correlation
    weights = np.where(rng.random((runs, len(clusters))) < 0.2, 3.0, 0.5)
    chance = rng.beta(rate * odds, (1 - rate) * odds, (runs, clusters.max() + 1))[:, clusters]
    lost = rng.random(weights.shape) < np.minimum(chance * weights, 1.0)
    # A chance is cut at 1, so wins are as many as losses are left.
    chance_of_win = weights * lost.mean() / ((1 - lost) * weights).mean()
    return (~lost & (rng.random(weights.shape) < chance_of_win)).astype(float) - lost


@pytest.mark.slow
@pytest.mark.parametrize("world", [losses_in_clusters, unequal_items])
@pytest.mark.parametrize("correlation", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(
    "sizes",
    [
        UNEVEN,
        (100, *(10,) * 40),
        pytest.param((200, *(10,) * 20), marks=pytest.mark.slow),
        pytest.param(tuple(np.geomspace(1, 60, 80).round().astype(int)), marks=pytest.mark.slow),
    ],
    ids=["1 to 60 items", "a fifth in one", "half in one", "80 of 1 to 60"],
)
def test_equal_models_are_rarely_told_apart_on_clusters_of_unequal_size(world, correlation, sizes):
    """By the plain t .28 of 40 clusters of 1 to 60 items, with a correlation of .5."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    x = world(np.random.default_rng(12), clusters, rate=0.04, correlation=correlation, runs=1_000)
    assert float(np.mean(np.nan_to_num(guarded_t(x, SIGNED, clusters).p, nan=1.0) < 0.05)) <= 0.05 + 0.007


def wins_and_losses(rng, clusters, wins, losses, runs=RUNS):
    """So many wins and losses, on items drawn at random."""
    x = np.zeros((runs, clusters.size))
    for row in x:
        drawn = rng.permutation(clusters.size)
        row[drawn[:wins]], row[drawn[wins : wins + losses]] = 1.0, -1.0
    return x


@pytest.mark.slow
@pytest.mark.parametrize(("wins", "losses"), [(16, 0), (16, 1), (20, 4)])
def test_many_wins_and_few_losses_are_found(wins, losses):
    """The plain t finds them always; with Student's quantile for the lead .98, .05 and .67 of 20 × 10."""
    for n_clusters, size in ((20, 10), (30, 10), (100, 3)):
        clusters = clustered(n_clusters, size)
        x = wins_and_losses(np.random.default_rng(9), clusters, wins, losses)
        assert found(x, clusters) > 0.85
        assert guarded_t(-x, SIGNED, clusters).p_below == pytest.approx(guarded_t(x, SIGNED, clusters).p_above)


def test_a_few_losses_that_come_together_weigh_more_than_the_same_alone():
    clusters = clustered(20, 10)
    alone = np.zeros(200)
    alone[np.arange(20) * 10] = 1.0
    together = alone.copy()
    alone[[1, 11, 21, 31]] = -1.0
    together[1:5] = -1.0
    p_alone, p_together = guarded_t(np.stack([alone, together]), SIGNED, clusters).p_above
    assert 10 * p_alone < p_together


def test_limits_and_test_never_contradict_each_other_where_few_lose():
    clusters = clustered(20, 10)
    rng = np.random.default_rng(10)
    numbers = ((10, 0), (12, 1), (20, 4), (60, 2))
    x = np.concatenate([wins_and_losses(rng, clusters, wins, losses, runs=60) for wins, losses in numbers])
    for values in (x, -x):
        low, high = guarded_limits(values, values, SIGNED, 0.025, clusters)
        test = guarded_t(values, SIGNED, clusters)
        assert ((low > 0) == (test.p_above < 0.025)).all() and ((high < 0) == (test.p_below < 0.025)).all()
        assert (low <= values.mean(axis=1)).all() and (values.mean(axis=1) <= high).all()
    assert 0.2 < (guarded_t(x, SIGNED, clusters).p_above < 0.025).mean() < 0.8


def test_the_correlation_left_open_by_no_event_is_the_largest_and_by_many_alone_is_small():
    sizes = np.full((50, 3), 10.0)
    counts = np.zeros((50, 3))
    counts[:7, 1] = 1.0
    counts[:3, 2] = (8.0, 6.0, 9.0)
    none, alone, together = correlation_left_open(counts, sizes)
    assert (none, together) == (0.5, 0.5)
    assert alone < 0.15


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.05, -0.02])
def test_limits_and_test_agree_at_a_margin_where_few_losses_were_seen_too(margin):
    """Few losses at a margin: the same law, with a true sum of the margin times the items."""
    clusters = clustered(20, 10)
    x = np.vstack(
        [
            losses_in_clusters(np.random.default_rng(9), clusters, 0.02, 0.4, runs=40),
            independent(np.random.default_rng(9), clusters, 0.2, 0.02, runs=40),
        ]
    )
    above, below = (
        GuardedSide.from_sums(ClusterSums.from_values(x.T, clusters), SIGNED, end, is_clustered=True) for end in SIGNED
    )
    low, high = above.limit(0.025), below.limit(0.025)
    assert ((low > margin) == (above.p(margin) < 0.025)).all()
    assert ((high < margin) == (below.p(margin) < 0.025)).all()
    assert 0 < np.mean(low > margin) < 1


def test_a_mean_of_weighted_items_is_that_of_items_counted_so_often():
    rng, clusters = np.random.default_rng(10), clustered(15, 6)
    x, often = independent(rng, clusters, 0.3, 0.2, runs=1).T, rng.integers(1, 4, clusters.size)
    repeated = ClusterSums.from_values(np.repeat(x, often, axis=0), np.repeat(clusters, often))
    weights = np.zeros((15, clusters.size))
    weights[clusters, np.arange(clusters.size)] = often
    parts = [np.ones(x.shape), np.maximum(x, 0), np.maximum(-x, 0), x > 0, x < 0]
    squares = [(often[:, None] * part**2).sum(axis=0) for part in parts[1:3]]
    weighted = ClusterSums(*(weights @ part for part in parts), *squares)
    for end in SIGNED:
        sides = [GuardedSide.from_sums(sums, SIGNED, end, is_clustered=True) for sums in (repeated, weighted)]
        assert sides[0].limit(0.025) == pytest.approx(sides[1].limit(0.025))


def test_the_mean_of_a_task_is_guarded_by_the_formulas():
    """Ten clusters that are all (.5, .5, -1, 0): nothing speaks for clustering, but few events leave it open."""
    values, clusters = np.tile([0.5, 0.5, -1.0, 0.0], 10), clustered(10, 4)
    bounds, unseen = (-1.0, 0.5), (1.5, 2.0)
    tested = task_mean([(values, clusters), (values, None)], bounds, unseen)
    assert tested.means == pytest.approx([0.0, 0.0]) and tested.value == 0 and tested.is_testable
    assert tested.variances == pytest.approx([0.0, values.var(ddof=1) / 40]) and tested.degrees[1] == 39
    for row, (end, weight, n_events) in enumerate(zip(bounds, unseen, (10, 20), strict=True)):
        chance = 0.05 ** (1 / n_events)
        sum_of_cluster = end * (1 + 3 * (1 - chance) / (1 + 2 * chance))
        size = 40 + 4 * weight
        mean = weight * sum_of_cluster / size
        squares = 10 * (0 - 4 * mean) ** 2 / (1 - 4 / size)
        squares += weight * (sum_of_cluster - 4 * mean) ** 2 / (1 - 4 / size)
        expected = [(mean, squares / size**2)]
        size = 40 + weight
        mean = weight * end / size
        expected.append((mean, ((values**2).sum() + weight * end**2 - size * mean**2) / size / (size - 1)))
        assert tested.means_with_unseen[row] == pytest.approx([mean for mean, _ in expected])
        assert tested.variances_with_unseen[row] == pytest.approx([variance for _, variance in expected])


def test_without_an_event_an_unseen_cluster_is_as_the_values_say():
    """The guard of few events needs one: without it nothing speaks for clustering at either end."""
    values, clusters = np.tile([0.25, 0.25, 0.25, 0.0], 10), clustered(10, 4)
    tested = task_mean([(values, clusters)], (-1.0, 1.0), (1.0, 1.0))
    assert tested.means_with_unseen[0] == pytest.approx([(7.5 - 1) / 44])
    assert tested.means_with_unseen[1, 0] > (7.5 + 1) / 44
    # The first half of the clusters with 1 in the place of 0; and a task of two items.
    values[3:20:4] = 1
    clustered_task, pair = task_mean([(values, clusters), (values[2:4], None)], SIGNED, (1.0, 1.0)).variances
    assert clustered_task == pytest.approx(values.reshape(10, 4).mean(axis=1).var(ddof=1) / 10)
    assert pair == pytest.approx((1 - 0.25) ** 2 / 4)


@pytest.mark.parametrize(
    ("sizes", "is_testable"),
    [((5, 5), True), ((5, 4), False), ((9, 1), False), ((10,), True), ((9,), False), ((8, 2), True), ((1,) * 10, False)],
)
def test_tasks_are_tested_from_ten_items_on_of_which_each_has_two(sizes, is_testable):
    tested = task_mean([(np.arange(n) % 2 * 1.0, None) for n in sizes], SIGNED, (1.0, 1.0))
    assert tested.is_testable == is_testable
    if is_testable and len(sizes) == 1:
        x = np.append(np.arange(10) % 2, (-1.0,))
        error = x.std() / 10**0.5
        assert tested.p_above(0.1) == pytest.approx(student.cdf((0.1 - x.mean()) / error, 9))
        assert tested.limits(0.05)[0] == pytest.approx(x.mean() - student.ppf(0.95, 9) * error)
        y = np.append(np.arange(10) % 2, (1.0,))
        assert tested.p_below(0.9) == pytest.approx(student.cdf((y.mean() - 0.9) / y.std() * 10**0.5, 9))
        assert tested.limits(0.05)[1] == pytest.approx(y.mean() + student.ppf(0.95, 9) * y.std() / 10**0.5)


@pytest.mark.parametrize(
    ("numbers", "is_testable"), [((6,), True), ((5,), False), ((4, 4), True), ((2, 3), False), ((2, 9), True)]
)
def test_tasks_are_tested_from_six_effective_clusters_on(numbers, is_testable):
    """k² / Σ 1/n clusters: 4.8 of two and three, 6.5 of two and nine."""
    tasks = [(np.arange(3 * n) % 2 * 1.0, clustered(n, 3)) for n in numbers]
    assert task_mean(tasks, SIGNED, (1.0, 1.0)).is_testable == is_testable


def test_bounds_may_be_whole_numbers():
    """Clusters with the bounds (-1, 1) raised an error of numpy."""
    values, families = np.tile([1.0, 0.0, -1.0, 1.0], 15), np.repeat(np.arange(20), 3)
    assert guarded_t(values, (-1, 1), families) == guarded_t(values, (-1.0, 1.0), families)


@pytest.mark.parametrize(
    "groups",
    [
        [[1, 1, 1, 0], [0, 0, -1], [1, 0, 1, 1, 1], [0, -1, 0, 0, 0, 1]],
        [[1, 1, 1, 0], [0, -1, -1, -1, -1]],  # one degree of freedom between clusters
        [[0.5, 0.2], [1], [-1], [1], [0.5]],  # and one within them
    ],
)
def test_the_typical_correlation_is_that_of_an_analysis_of_variance(groups):
    """The F ratio over its median, and the mean size n0 of clusters of unequal size."""
    sizes = np.array([len(group) for group in groups])
    n_clusters, n = sizes.size, sizes.sum()
    ratio = f_oneway(*groups).statistic / f_distribution.ppf(0.5, n_clusters - 1, n - n_clusters)
    mean_size = (n - (sizes**2).sum() / n) / (n_clusters - 1)
    values = np.concatenate(groups)[:, None].astype(float)
    sums = ClusterSums.from_values(values, np.repeat(np.arange(n_clusters), sizes))
    (correlation,) = sums.with_typical_correlation.correlation
    assert correlation == pytest.approx((ratio - 1) / (ratio - 1 + mean_size))
    assert 0.1 < correlation < 1
    for unit in (1e-8, 1e8):  # a change of the unit changes no correlation
        sums = ClusterSums.from_values(unit * values, np.repeat(np.arange(n_clusters), sizes))
        assert sums.with_typical_correlation.correlation == pytest.approx([correlation])
    raised = ClusterSums.from_values(values + 100, np.repeat(np.arange(n_clusters), sizes))
    assert raised.with_typical_correlation.correlation == pytest.approx([correlation])


def test_rare_events_have_the_small_variance_that_they_have():
    """Two of 400 items are above 0, and the unseen one is at -1: a mean of 1/401 and a sum of squares of 3."""
    test = guarded_t(np.repeat([1.0, 0.0], [2, 398]), SIGNED)
    error = np.sqrt((3 / 401 - 1 / 401**2) / 400)
    assert float(test.p_above) == pytest.approx(student.sf(1 / 401 / error, 399))
