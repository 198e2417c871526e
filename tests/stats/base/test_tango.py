"""Paired right and wrong: against enumeration, and test and interval that say one thing."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.tango import MOST_EXACT, loss_limits, p_above, p_below, p_two_sided, tango_z, upper_loss


def trinomial(b, c, n, lost, mended):
    stay = 1 - lost - mended
    ways = math.comb(n, b) * math.comb(n - b, c)
    return ways * lost**b * mended**c * (stay ** (n - b - c) if stay > 0 else float(b + c == n))


def enumerated(b, c, n, loss, grid=400):
    """The largest probability over a grid of the nuisance of a statistic as small as this one, term by term."""
    here, largest = float(tango_z(b, c, n, loss)), 0.0
    extreme = [(i, j) for i in range(n + 1) for j in range(n + 1 - i) if tango_z(i, j, n, loss) <= here + 1e-9]
    low, high = max(0.0, -loss), (1 - loss) / 2
    for mended in np.linspace(low, high, grid):
        largest = max(largest, sum(trinomial(i, j, n, mended + loss, mended) for i, j in extreme))
    return largest


@pytest.mark.parametrize(
    ("b", "c", "n", "loss"), [(1, 0, 12, 0.2), (0, 0, 10, 0.1), (3, 1, 14, 0.3), (2, 5, 12, 0.0), (1, 3, 9, -0.1)]
)
def test_the_exact_p_is_the_enumerated_one(b, c, n, loss):
    assert p_below(b, c, n, loss) == pytest.approx(enumerated(b, c, n, loss), abs=3e-4)


def test_the_statistic_at_no_loss_is_mcnemars():
    assert float(tango_z(9, 4, 40, 0.0)) == pytest.approx(5 / math.sqrt(13))


@pytest.mark.parametrize("n", [10, 22, 150])
def test_where_nothing_changed_the_bound_is_the_exact_one(n):
    assert upper_loss(0, 0, n) == pytest.approx(1 - 0.05 ** (1 / n), abs=1e-5)


@pytest.mark.parametrize(("n", "margin"), [(22, 0.1), (40, 0.05)])
def test_a_loss_at_the_margin_is_called_smaller_in_at_most_a_twentieth(n, margin):
    """By enumeration; Tango's normal z said so in .051-.071, Bonett and Price's limits in .053-.098."""
    pairs = [(b, c) for b in range(n + 1) for c in range(n + 1 - b) if b - c < n * margin]
    said = [(b, c) for b, c in pairs if tango_z(b, c, n, margin) < -1.3 and p_below(b, c, n, margin) <= 0.05]
    worst = max(sum(trinomial(b, c, n, mended + margin, mended) for b, c in said) for mended in (0.0, 0.01, 0.03, 0.1, 0.2))
    assert 0.01 < worst <= 0.05


@pytest.mark.parametrize("n", [12, 40, 100, MOST_EXACT + 1, 1319])
def test_interval_and_test_say_one_thing(n):
    rng = generator(1, n)
    for _ in range(8):
        b, c = (int(x) for x in rng.integers(0, max(2, n // 6), 2))
        low, high = loss_limits(b, c, n)
        assert (p_two_sided(b, c, n) <= 0.05) == (low >= 0 or high <= 0)
        assert -1 <= low <= (b - c) / n <= high <= 1
        assert p_above(b, c, n) == p_below(c, b, n)


def test_counts_that_are_of_no_set_are_refused():
    with pytest.raises(BadInput, match="5 items that broke and 6 that mended are not of one set of 10"):
        p_below(5, 6, 10)
    assert math.isnan(p_below(0, 0, 0)) and math.isnan(upper_loss(0, 0, 0)) and math.isnan(p_two_sided(0, 0, 0))
    assert (p_below(1, 0, 10, 1.0), p_below(1, 0, 10, -1.0)) == (0.0, 1.0)
