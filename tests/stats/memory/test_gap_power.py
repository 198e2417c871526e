"""What a study could find: by the rule itself, against its own case of no gap."""

import math

import numpy as np
import pytest

from flipcore.stats.memory.gap_power import GapDesign, detectable_gap, rule_power

DESIGNS = [
    GapDesign((80, 120), accuracy, *rates)
    for accuracy in ((0.96, 0.67), (0.67, 0.96), (0.7, 0.7))
    for rates in ((0.1, 0.1), (0.3, 0.25))
]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_gap_is_what_the_benchmark_loses_more_in_points(design):
    for gap in (0.0, 0.1, 0.25):
        breaks, fixes = design.rates(gap)
        assert 0 < breaks < 1
        lost = design.accuracy[0] * breaks - (1 - design.accuracy[0]) * fixes
        assert lost - design.drop == pytest.approx(gap)
    breaks, fixes = design.rates(design.most)
    assert breaks == pytest.approx(1) and fixes == design.fixes


def test_where_the_control_gains_more_than_the_benchmark_can_the_gap_begins_there():
    design = GapDesign((80, 120), (0.96, 0.67), 0.02, 0.3)
    assert design.least == pytest.approx(0.0456) and design.rates(design.least) == pytest.approx((0, 1))
    assert detectable_gap(design, n_runs=40) > design.least


@pytest.mark.parametrize("design", DESIGNS)
def test_without_a_gap_the_rule_fires_as_rarely_as_it_promises(design):
    """Unequal accuracies alone made it fire in 83 of 100 runs, and a gap of 1 pp the smallest that is found."""
    assert rule_power(design, 0.0) <= 0.06
    found = detectable_gap(design, n_runs=60)
    assert 0.1 < found < 0.3 and rule_power(design, found) >= 0.7


def test_what_cannot_be_found_is_not_a_number():
    assert math.isnan(detectable_gap(GapDesign((9, 500), (0.7, 0.7), 0.1, 0.1)))
    assert math.isnan(detectable_gap(GapDesign((15, 15), (0.2, 0.2), 0.1, 0.1), n_runs=40))
    assert np.isfinite(detectable_gap(GapDesign((400, 400), (0.9, 0.9), 0.02, 0.02), n_runs=40))
