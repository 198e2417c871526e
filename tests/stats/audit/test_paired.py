"""Two scores paired item by item, or template by template."""

import numpy as np
import pytest

from flipcore.stats.audit.paired import paired_scores


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
