"""The three contrasts: above their floors or none, and never surer than what unread answers allow."""

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.flips.contrast import parts_test
from tests.lab.claims import flips as worlds


def cell(plus=0.4, minus=0.0, both=0.1, n=60, again=True):
    (one,) = worlds.in_words(worlds.parts(plus, minus, both, again=again)(generator(3), n))
    return one


def test_the_larger_part_alone_has_a_small_p():
    compared, reference, genuine = (
        parts_test(cell(*shares)).p.round(3).tolist() for shares in ((0.5, 0, 0.05), (0, 0.5, 0.05), (0.02, 0, 0.5))
    )
    assert compared[0] == reference[1] == genuine[2] == 0
    assert min(compared[1:]) > 0.5 and min(genuine[:2]) > 0.5 and reference[0] > 0.5


def test_without_reruns_nothing_is_asked_of_genuine_flips():
    test = parts_test(cell(0, 0, 0.5, again=False))
    assert not test.above_floor and np.isnan(test.p[2]) and not np.isnan(test.p[:2]).any()
    assert parts_test(cell(0, 0, 0.5)).above_floor


def test_what_reruns_flip_is_no_change():
    (one,) = worlds.in_words(worlds._noise(0.25, 0.0)(generator(1), 200))
    test = parts_test(one)
    assert one.A_plus.value > 0.15 and abs(one.A_plus_excess.value) < 0.05 and (test.p > 0.01).all()


def test_an_answer_that_never_came_weighs_against_every_contrast():
    draw = worlds._lost_where(0.4, 0.1, 1.0, failed=False)
    (one,) = worlds.in_words(draw(generator(3), 80))
    test = parts_test(one)
    assert (test.p[:2] >= test.p_read[:2]).all() and test.p[0] > test.p_read[0]
