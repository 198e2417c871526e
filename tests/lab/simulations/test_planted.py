"""Planted populations have the truth that they state."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.core.randomness import generator
from tests import naive
from tests.lab.simulations.planted import (
    PlantedTruth,
    deviation_of,
    flip_rate_of,
    pair_rates,
    planted_columns,
    planted_pair,
    planted_readouts,
)


@pytest.mark.parametrize("truth", [PlantedTruth(0.31, 0.155), PlantedTruth(0.30, 0.10), PlantedTruth(0.1, 0.1)])
def test_the_sample_means_approach_the_truth(truth):
    columns = planted_columns(40_000, truth, generator(1))
    assert columns.mean(axis=0) == pytest.approx(truth.values, abs=0.01)


@given(st.floats(0, 0.288))
def test_deviation_and_flip_rate_undo_each_other(rate):
    assert flip_rate_of(deviation_of(rate)) == pytest.approx(rate, abs=1e-9)


def test_a_flip_rate_beyond_two_answers_is_refused():
    with pytest.raises(ValueError, match="out of reach"):
        deviation_of(0.4)


def test_rates_of_two_valued_answers_are_the_flip_rates():
    answers = planted_pair(30, PlantedTruth(0.3, 0.1), generator(2))[0]
    assert pair_rates(answers) == pytest.approx([naive.item_flip_rate(row) for row in answers.tolist()])


def test_readouts_hold_the_same_population():
    frame = planted_readouts(50, PlantedTruth(0.3, 0.1), generator(3))
    e, reference = planted_pair(50, PlantedTruth(0.3, 0.1), generator(3))
    assert frame["answer"].tolist() == [str(a) for a in np.concatenate([e.ravel(), reference.ravel()])]
    assert (frame["variant"] == "base").sum() == 100
