"""A family counts as one unit, also where a column lacks an item of it."""

import numpy as np
import pytest

from flipcore.stats.base.clusters import by_family


def test_an_item_that_a_column_lacks_leaves_its_family():
    x = np.array([[1.0, np.nan], [0.0, 0.5], [1.0, np.nan]])
    found = by_family(x, np.array([0, 0, 1]))
    assert found[:, 0].mean() == pytest.approx(2 / 3) and found[0, 1] == 0.5 and np.isnan(found[1, 1])
