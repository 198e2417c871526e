"""Differences of two corrected scores: by hand where people labelled everything, and narrower where models share questions."""

import math

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.score.corrected import corrected, corrected_difference, holm_p


def scored(right, misread, n_labels, rng):
    people = np.full(right.size, math.nan)
    at = rng.permutation(right.size)[:n_labels]
    people[at] = right[at]
    return corrected(right != misread, people)


def made(n=300, n_labels=150, error=0.2):
    rng = generator(4)
    ease = rng.random(n)
    rights = [rng.random(n) < np.clip(ease + more, 0, 1) for more in (0.1, 0.0)]
    one, two = (scored(right, rng.random(n) < error, n_labels, rng) for right in rights)
    return one, two, np.arange(n).astype(str), rights


def test_where_everything_is_labelled_it_is_the_paired_difference_of_what_people_say():
    one, two, units, rights = made(n_labels=300)
    both = corrected_difference(one, units, two, units)
    paired = clustered_mean(rights[0] - rights[1].astype(float), units, bounds=None)
    assert both.value == pytest.approx(paired.value) and both.se == pytest.approx(paired.se, rel=0.01)
    assert both.p == pytest.approx(paired.p, rel=0.1)


def test_the_value_is_the_difference_of_both_scores_and_shared_questions_make_it_narrower():
    one, two, units, _ = made()
    both = corrected_difference(one, units, two, units)
    assert both.value == pytest.approx(one.estimate.value - two.estimate.value)
    others = corrected_difference(one, units, two, np.char.add("other ", units))
    assert others.value == pytest.approx(both.value) and both.se < others.se
    low, high = both.estimate(0.95).low, both.estimate(0.95).high
    assert low < both.value < high and both.estimate(0.99).high > high and both.n == 150


def test_without_ten_disagreements_there_is_no_p_and_holm_is_over_those_that_have_one():
    one, two, units, _ = made(error=0.02)
    few = corrected_difference(one, units, two, units)
    assert math.isnan(few.p) and not few.estimate(0.95).has_interval
    tested = corrected_difference(*[part for pair in zip(made()[:2], (units, units), strict=True) for part in pair])
    p = holm_p([tested, few, tested])
    assert p[0] == pytest.approx(min(1, 2 * tested.p)) and math.isnan(p[1])
