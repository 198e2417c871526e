"""The advice on the next call against an equal split, on few studies; the command runs them all."""

import numpy as np
import pytest

from flipcore.stats.score.next_calls import half_width
from tests.lab.simulations.allocation import advice, draw, lines, worlds


@pytest.mark.slow
def test_the_split_that_is_advised_costs_no_more_than_an_equal_one_and_gains_where_there_is_something_to_gain():
    every = [advice(parts, study, 1_000, 6) for parts in list(worlds())[::5] for study in ((60, 8, 1), (300, 4, 1))]
    assert max(one.split.max() for one in every) < 1.05
    assert np.mean([(one.split < 1).mean() for one in every if one.gain > 0.05]) > 0.9
    assert max(one.next_calls.max() for one in every) < 1.05
    (table,) = [list(lines(every, 6, 0))]
    assert len([line for line in table if line.startswith("| 0.")]) == len(every)


def test_a_planned_half_width_is_that_of_such_studies_where_their_parts_are_large():
    parts = next(one for one in worlds() if one.wordings > 0.05)
    one = advice(parts, (60, 8, 1), 1_000, 40)
    assert one.planned == pytest.approx(1, abs=0.1)
    cells = draw(parts, (60, 8, 1), np.random.default_rng(0))
    assert cells.shape == (60, 8) and half_width(parts, 60, 8, 1) > 0.1
