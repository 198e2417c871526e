"""The scale of grades that a log does not declare."""

import pytest

from flipcore.core.grade_scales import scale_of, usual_scale


@pytest.mark.parametrize(
    ("seen", "scale"),
    [
        ((4.0, 5.0), (1.0, 5.0)),  # "4.87 on a scale from 4 to 5"
        ((2.0, 4.5), (1.0, 5.0)),
        ((3.0, 8.0), (1.0, 10.0)),
        ((2.0, 6.0), (1.0, 6.0)),
        ((1.13, 2.2), (1.13, 2.2)),
        ((5.0, 5.0), (1.0, 5.0)),
        ((1.0, 4.0), (1.0, 4.0)),
        ((1.0, 3.0), (1.0, 3.0)),
        ((0.0, 5.0), (0.0, 5.0)),
        ((0.0, 1.0), (0.0, 1.0)),
        ((1.0, 1.0), (1.0, 1.0)),
        ((1.5, 10.5), (1.5, 10.5)),
        ((-1.0, 5.0), (-1.0, 5.0)),
        ((12.0, 16.0), (12.0, 16.0)),
        ((54.0, 83.7), (0.0, 100.0)),
        ((5.6, 9.4), (0.0, 10.0)),
        ((2.3, 4.7), (2.3, 4.7)),
        ((0.4, 9.4), (0.4, 9.4)),
        ((0.0, 100.0), (0.0, 100.0)),
        ((0.5, 80.0), (0.5, 80.0)),
        ((20.0, 50.0), (20.0, 50.0)),
        ((-1.0, 80.0), (-1.0, 80.0)),
        ((80.0, 101.0), (80.0, 101.0)),
    ],
)
def test_an_end_that_no_grade_reached_counts_all_the_same(seen, scale):
    assert usual_scale(*seen) == scale


def test_a_declared_scale_is_kept_and_the_range_of_rows_is_not():
    assert scale_of({"low": 4.0, "high": 5.0}) == (1.0, 5.0)
    assert scale_of({"low": 4.0, "high": 5.0, "is_declared": True}) == (4.0, 5.0)
    assert scale_of({"scorer": "correct"}) == (0.0, 1.0)
