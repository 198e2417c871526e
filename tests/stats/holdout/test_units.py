"""Each holdout test in its own unit: points, MMD², a share."""

from types import SimpleNamespace

import pytest

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.holdout import units


def planted(name, bound=(-0.05, 0.1), detectable=0.2):
    return SimpleNamespace(name=name, estimate=Estimate(0.02, *bound, 0.9, "x", 40, None), bound=bound, detectable=detectable)


@pytest.mark.parametrize(
    ("name", "margin", "text"),
    [
        ("difficulty", 0.1, "±10 pp"),
        ("semantic", 0.0123, "0.012 MMD²"),
        ("prediction", 0.6, "0.60"),
        ("semantic", None, "none"),
    ],
)
def test_a_margin_stands_in_the_unit_of_its_test(name, margin, text):
    assert units.margin_text(name, margin) == text


@pytest.mark.parametrize(
    ("name", "text"), [("difficulty", "[-5.0, 10.0]"), ("prediction", "at most 0.10"), ("odd one out", "at most 0.10")]
)
def test_a_bound_is_an_interval_or_the_most_that_a_share_can_be(name, text):
    assert units.bound_text(planted(name)).replace("−", "-") == text


@pytest.mark.parametrize(
    ("name", "detectable", "text"),
    [("difficulty", 0.2, "20.0 pp"), ("prediction", 0.2, "0.70 against 0.50"), ("semantic", float("nan"), "unknown")],
)
def test_what_could_be_detected_is_unknown_where_answers_do_not_tell(name, detectable, text):
    assert units.detectable_text(planted(name, detectable=detectable)) == text


def test_mmd2_has_as_many_digits_as_the_data_leave_open():
    assert units.decimals(planted("semantic", (0.0, 0.002))) == 4 and units.decimals(planted("semantic", (0.0, 2e-6))) == 7
    assert units.decimals(planted("semantic", (0.1, 0.1))) == 4 and units.unit("semantic") == "MMD²"
