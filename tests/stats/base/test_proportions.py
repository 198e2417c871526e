"""Closed-form intervals against published figures, and a count that is none."""

import math

import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.base import proportions as p


def test_intervals_are_those_of_their_papers():
    assert p.wilson(1, 10) == pytest.approx([0.0179, 0.4042], abs=1e-4)
    assert p.clopper_pearson(0, 10) == pytest.approx([0, 0.3085], abs=1e-4)
    assert p.newcombe_diff(56, 70, 48, 80) == pytest.approx([0.0524, 0.3339], abs=1e-4)  # Newcombe 1998, table II, method 10
    assert p.hoeffding(0.5, 100) == pytest.approx([0.5 - 0.1358, 0.5 + 0.1358], abs=1e-4)


def test_a_paired_difference_adds_one_pair_to_each_discordant_count():
    shares = (13 / 52, 5 / 52)
    half = 1.959964 * math.sqrt((sum(shares) - (shares[0] - shares[1]) ** 2) / 52)
    assert p.bonett_price(12, 4, 50) == pytest.approx([8 / 52 - half, 8 / 52 + half], abs=1e-6)


def test_limits_join_by_squares_and_stay_within_their_ends():
    assert p.mover(0.8, [0.7, 0.9], 0.5, [0.4, 0.6]) == pytest.approx([0.3 - math.hypot(0.1, 0.1), 0.3 + math.hypot(0.1, 0.1)])
    assert p.wilson(0, 5)[0] == 0 and p.wilson(5, 5)[1] == 1


def test_no_cases_have_no_interval_and_more_hits_than_cases_are_refused():
    pairs = (p.wilson(0, 0), p.clopper_pearson(0, 0), p.newcombe_diff(0, 0, 1, 2), p.bonett_price(0, 0, 0), p.hoeffding(0, 0))
    assert all(math.isnan(limit) for pair in pairs for limit in pair)
    with pytest.raises(BadInput, match="3 of 2 is not a share"):
        p.wilson(3, 2)
