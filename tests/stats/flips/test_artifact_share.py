"""A/T: the ratio, its interval, and when there is none."""

import numpy as np
import pytest
from scipy.stats import binomtest

from flipcore.core.randomness import generator
from flipcore.stats.flips.decomposition import artifact_shares
from tests.lab.simulations.planted import PlantedTruth, planted_columns


def test_the_share_is_a_ratio_of_sums_not_a_mean_of_ratios():
    # A = .5 + 0 + 0, T = .5 + .5 + 0: half of the flips are artifact
    found = artifact_shares([np.array([[0.5, 0.5], [0.0, 0.5], [0.0, 0.0]])], 0.95, 0, 500)[0]
    assert found.value == 0.5 and found.n == 3


def test_nothing_flips_nothing_is_shared():
    found = artifact_shares([np.zeros((20, 2))], 0.95, 0, 100)[0]
    assert found.text() == "–" and found.note == "n/a: nothing flips."
    assert artifact_shares([np.empty((0, 2))], 0.95, 0, 100)[0].text() == "–"


def test_undefined_items_leave_the_ratio():
    cell = np.array([[0.5, 1.0], [0.0, 1.0], [np.nan, np.nan]] * 10)
    found = artifact_shares([cell], 0.95, 0, 500)[0]
    assert found.value == pytest.approx(0.25) and found.n == 20


def test_a_share_that_is_always_one_has_no_interval():
    found = artifact_shares([np.array([[0.5, 0.5]] * 20)], 0.95, 0, 100)[0]
    assert found.value == 1.0 and not found.has_interval


@pytest.mark.slow
def test_the_interval_of_the_share_covers():
    truth, covered, n_sims = PlantedTruth(0.30, 0.10), 0, 600
    rng = generator(0, "share")
    for simulation in range(n_sims):
        columns = planted_columns(150, truth, rng)
        found = artifact_shares([columns[:, [2, 0]]], 0.95, simulation, 499)[0]
        covered += found.low <= truth.A / truth.T <= found.high
    assert binomtest(covered, n_sims, 0.93, alternative="less").pvalue > 0.01
