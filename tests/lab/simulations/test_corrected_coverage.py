"""The simulated coverage of corrected scores, on few studies; the command runs them all."""

import numpy as np
import pytest

from flipcore.core.randomness import generator
from tests.lab.simulations.corrected_coverage import World, coverage, draw, worlds


def test_a_reader_errs_as_often_as_planted_and_labels_come_question_by_question():
    world = World(3000, 2, 0.8, 0.2, 1.0, 3000)
    score = draw(world, generator(1))
    assert score.n_labels == 3000 and len(np.unique(score.families[score.is_labelled])) == 3000
    assert abs(score.n_disagreements / 3000 - 0.2 * (1.5 * 0.8 + 0.5 * 0.2)) < 0.02
    assert score.estimate.low <= 0.8 <= score.estimate.high and not score.raw.low <= 0.8 <= score.raw.high


@pytest.mark.slow
def test_corrected_intervals_hold_what_they_say():
    usual, rare = coverage(World(100, 4, 0.8, 0.2, 1.0, 100), 200), coverage(World(300, 1, 0.8, 0.02, 0.0, 100), 200)
    assert usual["normal limits"] > 0.9 and usual["they hold"] > 0.9 and usual["width beside labels alone"] < 1
    assert rare["normal limits"] < 0.1 and rare["exact limits hold"] > 0.93 and rare["width beside labels alone"] < 0.9


def test_the_worlds_are_of_every_kind():
    every = list(worlds())
    assert {one.error for one in every} == {0.02, 0.1, 0.2, 0.4} and {one.n_labels for one in every} == {30, 100, 300}
