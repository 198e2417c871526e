"""The contrast of artifact and genuine: above both floors or none, and never surer than the worst case of cut answers."""

import numpy as np
import pytest

from flipcore.stats.flips.contrast import contrast, contrast_values
from flipcore.stats.flips.decomposition import COLUMNS


def cell(difference, artifact=np.nan, genuine=np.nan):
    """(items, quantities) with A - G and the two excesses over their floors."""
    values = np.full((len(difference), len(COLUMNS)), np.nan)
    for name, column in (("A_minus_G", difference), ("A_excess", artifact), ("G_excess", genuine)):
        values[:, list(COLUMNS).index(name)] = column
    return values


@pytest.fixture
def difference():
    return 0.3 + 0.1 * np.random.default_rng(0).standard_normal(40)


def test_without_floors_the_raw_difference_counts(difference):
    values, above_floor = contrast_values(cell(difference))
    assert not above_floor and values is not None and values.tolist() == difference.tolist()


def test_with_both_floors_the_excesses_count_and_with_a_gap_neither_does(difference):
    genuine = np.zeros(40)
    assert contrast_values(cell(difference, difference - 0.1, genuine))[1]
    genuine[3] = np.nan
    assert not contrast_values(cell(difference, difference - 0.1, genuine))[1]


def test_the_direction_is_that_of_the_larger_part(difference):
    more, less = contrast(cell(difference)), contrast(cell(-difference))
    assert (more.direction, less.direction, more.n) == (1, -1, 40)
    assert max(more.p, less.p) < 1e-5


def test_a_worst_case_on_the_other_side_withdraws_the_p(difference):
    sure = contrast(cell(difference), (difference - 0.05, difference + 0.05))
    open_ = contrast(cell(difference), (-difference, difference))
    assert sure.p < 0.001 and open_.p == 1.0
