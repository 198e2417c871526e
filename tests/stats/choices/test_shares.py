"""Limits of shares on their own: Wilson's definition, and tests that invert them."""

import numpy as np
import pytest
from scipy.stats import t

from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.guarded import ClusterSums, ItemSums
from flipcore.stats.choices.shares import ShareSide


@pytest.mark.parametrize("is_lower", [False, True])
@pytest.mark.parametrize(
    ("values", "n_effective"),
    [
        # 0 and 1 have eleven times the variance of their mean; grades vary less, but no more than twelve answers count.
        ([0, 0, 0, 1] * 3, 11),
        ([0.25, 0.75] * 6, 12),
        ([0.5] * 12, 12),
        ([0.0] * 12, 12),
        ([1.0] * 12, 12),
    ],
)
def test_at_a_limit_the_share_is_t_standard_errors_away(values, n_effective, is_lower):
    x = np.array(values, dtype=float)
    side = ShareSide.from_sums(ItemSums.from_values(x[None]), is_lower=is_lower)
    for alpha in (0.025, 0.2):
        (limit,) = side.limit(alpha)
        distance = t.ppf(1 - alpha, 11) * np.sqrt(limit * (1 - limit) / n_effective)
        assert limit - x.mean() == pytest.approx(-distance if is_lower else distance, abs=1e-9)
        assert side.p(limit) == pytest.approx([alpha]) or limit in (0, 1)


def test_below_ten_items_or_six_clusters_there_is_no_limit():
    for n, is_nan in ((9, True), (10, False)):
        side = ShareSide.from_sums(ItemSums.from_values(np.ones((1, n))), is_lower=False)
        assert np.isnan(side.df[0]) == np.isnan(side.p(0.5)[0]) == np.isnan(side.limit(0.05)[0]) == is_nan
    for n_clusters, size, is_nan in ((5, 4, True), (6, 4, False), (9, 1, True), (10, 1, False)):
        clusters = np.repeat(np.arange(n_clusters), size)
        sums = ClusterSums.from_values((np.arange(clusters.size) % 3 == 0)[:, None] * 1.0, clusters)
        side = ShareSide.from_sums(sums, is_lower=True)
        assert np.isnan(side.df[0]) == np.isnan(side.p(0.5)[0]) == is_nan


def test_limits_over_clusters_are_those_of_a_mean_over_families():
    clusters = np.repeat(np.arange(8), [5, 3, 3, 2, 4, 1, 3, 3])
    x = (np.arange(clusters.size) % 3 == 0) * 1.0
    of_families = clustered_mean(x, clusters, level=0.9)
    sums = ClusterSums.from_values(x[:, None], clusters)
    limits = [ShareSide.from_sums(sums, is_lower=is_lower).limit(0.05)[0] for is_lower in (True, False)]
    assert limits == pytest.approx([of_families.low, of_families.high])
