"""The verdict on a published score, against a random half and against fresh questions."""

import numpy as np
import pytest

from flipcore.claims.memory_gap import FAMILY_LEVEL
from flipcore.claims.memory_score import ASSERTIONS, score_claim
from flipcore.stats.memory.published_score import FRESH, RANDOM, score_gap


def gap_of(n_right, n_right_of_controls, control, n=100):
    return score_gap(*(np.repeat([1.0, 0.0], [k, n - k]) for k in (n_right, n_right_of_controls)), control)


@pytest.mark.parametrize(
    ("control", "found", "none"),
    [
        (RANDOM, "Memory: published questions are answered better", "No memory shown: the published score is"),
        (FRESH, "Published questions are answered better", "No higher score is shown: the published score is"),
    ],
)
def test_only_a_random_half_speaks_of_memory(control, found, none):
    assert score_claim(gap_of(90, 60, control)).text.startswith(found)
    for adjusted in (None, 1.0):  # a correction makes nothing undecided that was not found alone
        assert score_claim(gap_of(60, 60, control), adjusted, 3).text.startswith(none)


def test_a_corrected_p_decides_at_its_level():
    higher = gap_of(90, 60, RANDOM)
    assert score_claim(higher, FAMILY_LEVEL, 3).is_made
    above = score_claim(higher, np.nextafter(FAMILY_LEVEL, 1), 3)
    assert not above.is_made and above.text.startswith("Undecided: the published score is +30.0 points")


def test_each_claim_about_a_published_score_errs_in_one_of_forty():
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS} == {(FAMILY_LEVEL / 2, 1)} == {(0.025, 1)}
