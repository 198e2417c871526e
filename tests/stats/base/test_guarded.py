"""Rule S: the unseen item of a cluster is followed by the others as much as the data allow."""

import numpy as np
import pytest

from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import _largest_correlation, guarded_limits, guarded_t

SIGNED = (-1.0, 1.0)
RUNS = 400


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
        limits = _largest_correlation(x, clusters, FamilyMeans.of(x, clusters))
        assert ((low <= limits) & (limits <= high)).all(), (world, limits)


def test_adverse_events_in_whole_clusters_count_although_the_differences_do_not_agree():
    """Two clusters lost whole among scattered wins: the differences as a whole agree little."""
    clusters = clustered(40, 10)
    rng = np.random.default_rng(4)
    x = (rng.random(400) < 0.5).astype(float)
    x[clusters < 2] = -1.0
    (limit,) = _largest_correlation(x[:, None], clusters, FamilyMeans.of(x[:, None], clusters))
    assert limit == pytest.approx(1.0)


def test_values_that_never_vary_are_guarded_as_whole_clusters():
    clusters = clustered(10, 4)
    x = np.zeros((40, 1))
    assert _largest_correlation(x, clusters, FamilyMeans.of(x, clusters)) == pytest.approx([1.0])


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
    ("n_clusters", "size", "rate"),
    [(12, 10, 0.08), (30, 10, 0.03), (40, 5, 0.04), pytest.param(57, 25, 0.01, marks=pytest.mark.slow)],
)
def test_losses_that_come_in_clusters_are_feared_where_few_were_seen(n_clusters, size, rate):
    """Without it .07 of 30 × 10 and of 57 × 25 are told apart, by the plain t .17 and .13."""
    clusters = clustered(n_clusters, size)
    correlation = 0.2 if size == 25 else 0.5
    x = losses_in_clusters(np.random.default_rng(8), clusters, rate, correlation, runs=1_000)
    assert float(np.mean(guarded_t(x, SIGNED, clusters).p < 0.05)) <= 0.05 + 0.007
