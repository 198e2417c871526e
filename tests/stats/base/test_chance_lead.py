"""The lead of equal models by chance, against sums over clusters one by one."""

import math

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import norm

from flipcore.core.randomness import generator
from flipcore.stats.base.chance_lead import _CORRELATIONS, LIKELIHOOD_DROP, correlation_left_open
from flipcore.stats.base.guarded import ClusterSums

# Equal sizes, single items, a cluster with a third of all, and clusters of many sizes.
SIZES = [(5,) * 20, (1,) * 15 + (4,) * 10, (40, *(4,) * 20), tuple(range(1, 21))]


def slow_limit(counts, sizes):
    """The largest correlation whose likelihood is near the best: a sum over all clusters."""
    rate = min((sum(counts) + 0.5) / max(sum(sizes), 1), 0.99)
    likelihoods = []
    for correlation in _CORRELATIONS:
        a, b = (share * (1 - correlation) / correlation for share in (rate, 1 - rate))
        terms = [betaln(a + k, b + n - k) - betaln(a, b) for k, n in zip(counts, sizes, strict=True)]
        likelihoods.append(math.fsum(terms))
    is_open = [likelihood >= max(likelihoods) - LIKELIHOOD_DROP for likelihood in likelihoods]
    return max(correlation for correlation, is_left in zip(_CORRELATIONS, is_open, strict=True) if is_left)


@pytest.mark.parametrize("sizes", SIZES, ids=["equal", "two sizes", "a third in one", "1 to 20"])
def test_the_limit_is_that_of_a_sum_over_all_clusters(sizes):
    """Columns: no event, one, one in each cluster, all items, and draws; one column has no item in some clusters."""
    rng = generator(1)
    n = np.repeat(np.array(sizes)[:, None], 8, axis=1)
    n[::3, 7] = 0
    counts = np.zeros(n.shape, dtype=int)
    counts[0, 1], counts[:, 2], counts[:, 3] = 1, 1, n[:, 3]
    chances = rng.beta(0.5, 2.0, size=len(sizes))
    counts[:, 4:6] = rng.binomial(n[:, 4:6], [[0.1, 0.4]])
    counts[:, 6:] = rng.binomial(n[:, 6:], chances[:, None])
    limits = correlation_left_open(counts.astype(float), n.astype(float))
    assert limits.tolist() == [slow_limit(counts[:, k].tolist(), n[:, k].tolist()) for k in range(8)]
    assert limits[0] == 0.5 and len(set(limits.tolist())) > 2


def test_without_a_column_or_an_item_no_correlation_is_excluded():
    assert correlation_left_open(np.zeros((3, 0)), np.zeros((3, 0))).shape == (0,)
    assert correlation_left_open(np.zeros((3, 1)), np.zeros((3, 1))).tolist() == [0.5]


@pytest.mark.parametrize("sizes", SIZES, ids=["equal", "two sizes", "a third in one", "1 to 20"])
def test_only_a_lead_needs_the_correlation_of_its_losses(sizes):
    """Column by column by the formulas: p of no lead is at least .5, of a tie .5."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    x = generator(2).choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=(len(clusters), 6))
    x[:, 1] *= -1
    x[:, 2] = np.where(np.arange(len(clusters)) < 4, [1.0, -1.0, 1.0, -1.0] + [0.0] * (len(clusters) - 4), 0)
    x[:, 3] = np.abs(x[:, 3])
    lead = ClusterSums.from_values(x, clusters).lead(-1.0)
    p, limits = lead.p(), lead.limit(0.025)
    assert p[2] == 0.5 and 0.5 < p[1] <= 1 and (p[[0, 3]] < 0.5).all()
    n = np.array(sizes, dtype=float)
    typical = (n**2).sum() / n.sum()
    for k, values in enumerate(x.T):
        won, lost = (np.bincount(clusters, weights=np.maximum(s * values, 0)) for s in (1, -1))

        def variance(sums):
            return ((sums - sums.sum() / n.sum() * n) ** 2 / (1 - n / n.sum())).sum()

        unit = 1 + (typical - 1) * slow_limit(lost.tolist(), sizes)
        total, ahead = np.abs(values).sum(), values.sum()
        favourable = variance(won) / won.sum()
        if ahead > 0:
            noise = total / 2 * favourable + max(total / 2 * unit, variance(lost))
            assert p[k] == pytest.approx(norm.sf(ahead / math.sqrt(noise)))
        # At its limit, as a margin, the lead is as unlikely as `alpha`.
        margin = limits[k] * n.sum()
        noise = (total + margin) / 2 * favourable + max((total - margin) / 2 * unit, variance(lost))
        assert margin < -total or norm.sf((ahead - margin) / math.sqrt(noise)) == pytest.approx(0.025)
