"""A small control that lost little by chance: the lower limit against a large benchmark."""

import numpy as np
import pytest

from flipcore.stats.memory.three_scales import scale_gaps


def items(n, right, broken):
    before, after = np.zeros(n), np.zeros(n)
    before[:right], after[broken:right] = 1, 1
    return before, after


@pytest.mark.parametrize("scale", [0, 1, 2])
def test_only_a_control_that_is_less_certain_than_the_benchmark_lowers_the_limit(scale):
    """Without caution the limits of two sets would be each other's mirror images."""
    large, small = items(1_200, 1_000, 300), items(60, 30, 4)
    against_small, against_large = scale_gaps(large, small)[scale], scale_gaps(small, large)[scale]
    assert np.isclose(against_small.value, -against_large.value)
    assert against_small.low < -against_large.high - 1e-3
    even = scale_gaps(items(200, 150, 40), items(200, 150, 40))[scale]
    assert np.isclose(even.low, -even.high)


def test_families_keep_their_labels_beside_the_one_item_that_is_added():
    large, small = items(1_200, 1_000, 300), items(60, 40, 8)
    families = (np.repeat(np.arange(300), 4), np.repeat(np.arange(30), 2).astype(str))
    assert all(np.isfinite(one.low) for one in scale_gaps(large, small, families=families))
