"""The scale of grades that a log does not declare."""

import pytest

from flipcore.core.grade_scales import named_scale, scale_of, usual_scale


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


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("Moyenne (/20)", (0.0, 20.0)),
        ("note /10", (0.0, 10.0)),
        ("Bewertung_1bis5", (1.0, 5.0)),
        ("Clarity (1-7)", (1.0, 7.0)),
        ("score 0 to 100", (0.0, 100.0)),
        ("answer_correctness/v1/score", None),
        ("recall/5_at_3", None),
        ("gpt-4-1", None),
        ("rating_2024-05", None),
    ],
)
def test_a_name_may_give_the_scale(name, scale):
    """A mean of 14.5 out of 20 was one "on a scale from 9.5 to 18"."""
    assert named_scale(name) == scale
    if scale:
        assert scale_of({"scorer": name, "low": scale[1] - 1, "high": scale[1]}) == scale
        assert scale_of({"scorer": name, "low": scale[0] - 1, "high": scale[1] + 1}) != scale


def test_a_declared_scale_stands_before_that_of_the_name():
    assert scale_of({"scorer": "note /20", "low": 4.0, "high": 5.0, "is_declared": True}) == (4.0, 5.0)
