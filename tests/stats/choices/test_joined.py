"""Tests of the least of several means, and of losses, from tests of each."""

from types import SimpleNamespace

import numpy as np

from flipcore.stats.choices.joined import LeastMeanTests
from flipcore.stats.choices.losses import LossTests


class OneMean:
    """Limits `distance` · (1 - alpha) from two means; the p are given, and fall by `null`."""

    def __init__(self, means, above, below):
        self.means, self.above, self.below = np.array(means), np.array(above), np.array(below)

    def limits(self, alpha):
        return self.means - (1 - alpha), self.means + (1 - alpha)

    def p(self, null, *, below=False):
        return (self.below if below else self.above) - null


def test_the_least_mean_is_above_where_all_are_and_below_where_one_is():
    tests = LeastMeanTests([OneMean([3, 5], [0.2, 0.3], [0.6, 0.03]), OneMean([4, 1], [0.1, 0.5], [0.7, 0.2])])
    low, high = tests.limits(0.1)
    assert np.allclose(low, [3 - 0.9, 1 - 0.9]) and np.allclose(high, [3 + 0.95, 1 + 0.95])
    assert np.allclose(tests.p(0.05), [0.15, 0.45])
    assert np.allclose(tests.p(0.01, below=True), [1.0, 0.04])  # of two, so 2 · .59 is 1


def test_a_gain_is_a_loss_with_the_other_sign():
    losses = [
        SimpleNamespace(limits=(-0.1, 0.3), p_small=0.2, p_large=0.7),
        SimpleNamespace(limits=(0.1, 0.2), p_small=0.9, p_large=0.01),
    ]
    tests = LossTests(losses)
    low, high = tests.limits(0.05)
    assert low.tolist() == [-0.3, -0.2] and high.tolist() == [0.1, -0.1]
    assert tests.p(0.0).tolist() == [0.2, 0.9] and tests.p(0.0, below=True).tolist() == [0.7, 0.01]
