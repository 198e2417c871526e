"""The simulated coverage of a score's error bar, on few tables; the command runs them all."""

import pytest

from flipcore.core.randomness import generator
from flipcore.stats.score.error_bar import error_bar
from tests.lab.simulations.score_coverage import INTERVALS, World, coverage, draw, worlds


def test_the_planted_truth_of_a_large_table_is_its_mean():
    cells, truth = draw(World(4000, 40, 1, 1.0), generator(1))
    assert cells.mean.mean() == pytest.approx(truth["by_questions"], abs=0.02)
    assert abs(truth["by_questions"] - truth["by_wordings"]) < 0.1


@pytest.mark.slow
def test_intervals_hold_what_they_say_and_one_over_questions_alone_does_not_hold_other_wordings():
    world = World(60, 8, 3, 1.0)
    held = coverage(world, 300)
    assert min(held.values()) > 0.9
    rng = generator(0, "naive")
    tables = [draw(world, rng) for _ in range(200)]
    bars = [(error_bar(cells).by_questions, truth["by_wordings"]) for cells, truth in tables]
    assert sum(one.low <= truth <= one.high for one, truth in bars) < 0.85 * len(bars)


def test_the_worlds_are_of_every_kind():
    every = list(worlds())
    assert {one.graded for one in every} == {True, False}
    assert {one.family for one in every} == {1, 5}
    assert set(coverage(every[0], 2)) == set(INTERVALS)
