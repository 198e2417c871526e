import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory.operand_size import operand_check


def test_numbers_of_the_same_size_pass_and_larger_ones_do_not():
    rng = generator(0)
    old = np.round(10 ** rng.uniform(0, 3, 400)) + 1
    same, larger = operand_check(old, rng.permutation(old)), operand_check(old, 10 * old)
    assert same.p == 1.0 and same.sentence().startswith("No difference in size was seen between")
    assert larger.p < 1e-6 and larger.median_ratio == 10 and "are not of the size" in larger.sentence()


def test_the_statistic_is_scipys_on_log_magnitudes():
    old, new = [1, 2, 3, 40, -5], [2, 2, 30, 41, 6]
    expected = ks_2samp(np.log10(np.abs(old)), np.log10(new))
    found = operand_check(old, new)
    assert (found.statistic, found.p) == (expected.statistic, expected.pvalue)
    assert found.median_ratio == pytest.approx(1.2)  # ratios 2, 1, 10, 41/40, 6/5


def test_zeros_have_no_magnitude_and_are_counted():
    found = operand_check([0, 3, 2], [5, 0, 2])
    assert (found.n, found.n_zero) == (1, 2)
    assert math.isnan(operand_check([], []).p) and operand_check([], []).sentence() == "No number was resampled."


def test_numbers_without_a_partner_are_refused():
    with pytest.raises(BadInput, match="got 1 and 2"):
        operand_check([1], [1, 2])
