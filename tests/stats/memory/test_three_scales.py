"""A small control that lost little by chance: the lower limit against a large benchmark."""

import numpy as np
import pytest
from scipy.stats import t as student

from flipcore.stats.memory import three_scales
from flipcore.stats.memory.three_scales import scale_gaps


def items(n, right, broken):
    before, after = np.zeros(n), np.zeros(n)
    before[:right], after[broken:right] = 1, 1
    return before, after


@pytest.mark.parametrize("scale", [0, 1, 2])
def test_only_a_control_that_is_less_certain_than_the_benchmark_lowers_the_limit(scale):
    """Without caution the limits of two sets would be each other's mirror images."""
    large, small = items(1_200, 1_000, 300), items(60, 30, 4)
    against_small, against_large = scale_gaps(large, small)[scale], scale_gaps(small, large)[scale]
    assert np.isclose(against_small.value, -against_large.value)
    assert against_small.low < -against_large.high - 1e-3
    even = scale_gaps(items(200, 150, 40), items(200, 150, 40))[scale]
    assert np.isclose(even.low, -even.high)


def test_families_keep_their_labels_beside_the_one_item_that_is_added():
    large, small = items(1_200, 1_000, 300), items(60, 40, 8)
    families = (np.repeat(np.arange(300), 4), np.repeat(np.arange(30), 2).astype(str))
    assert all(np.isfinite(one.low) for one in scale_gaps(large, small, families=families))


@pytest.mark.parametrize("guess", [0.0, 0.25])
def test_losses_and_their_errors_are_those_of_the_formulas(guess):
    """50 items: 35 right, of which 10 break, and 5 of the 15 wrong are mended."""
    before, after = np.repeat([1.0, 0.0], [35, 15]), np.zeros(50)
    after[10:40] = 1
    losses = three_scales._losses(before, after, guess, None)
    b, a = (((right + 0.5) / 51 - guess) / (1 - guess) for right in (35, 30))
    assert losses["points"].value == pytest.approx(0.1 / (1 - guess))
    assert losses["share kept"].value == pytest.approx(np.log(b / a))
    assert losses["odds"].value == pytest.approx(np.log(b / (1 - b) / (a / (1 - a))))
    slopes = {"points": (1, 1), "share kept": (1 / b, 1 / a), "odds": (1 / b + 1 / (1 - b), 1 / a + 1 / (1 - a))}
    # one item that breaks and one that is mended are added to the variance
    before, after = np.append(before, (1, 0)), np.append(after, (0, 1))
    for scale, (slope_before, slope_after) in slopes.items():
        influence = (slope_before * before - slope_after * after) / (1 - guess)
        assert losses[scale].se == pytest.approx(influence.std(ddof=1) / 52**0.5)
        assert losses[scale].df == pytest.approx(49)


def test_one_item_has_no_loss_and_two_have():
    one, two = items(1, 1, 0), items(2, 1, 1)
    assert all(np.isnan([gap.value, gap.low, gap.high, gap.p]).all() for gap in scale_gaps(one, two))
    assert all(np.isnan(gap.value) for gap in scale_gaps(two, one))
    assert all(np.isfinite([gap.value, gap.low, gap.high, gap.p]).all() for gap in scale_gaps(two, two))


@pytest.mark.parametrize("n", [29, 30])
def test_from_thirty_items_on_the_interval_is_welchs(n):
    benchmark, control = items(n, 20, 8), items(n, 20, 8)
    points = scale_gaps(benchmark, control)[0]
    loss = three_scales._losses(*benchmark, 0.0, None)["points"]
    df = 2 * loss.df if n == 30 else loss.df  # two equal variances
    assert (points.value, points.p) == pytest.approx((0, 0.5))
    half = student.ppf(0.975, df) * loss.se * 2**0.5
    assert (points.low, points.high) == pytest.approx((-half, half))
    more = scale_gaps(items(n, 20, 19), control)[0]
    benchmark_loss = three_scales._losses(*items(n, 20, 19), 0.0, None)["points"]
    error = (loss.se**2 + benchmark_loss.se**2) ** 0.5
    df = loss.df if n == 29 else error**4 / (loss.se**4 / loss.df + benchmark_loss.se**4 / benchmark_loss.df)
    worse = three_scales._losses(np.append(control[0], 1.0), np.append(control[1], 0.0), 0.0, None)["points"].value
    caution = (worse - loss.value) * max(0, loss.se**2 - benchmark_loss.se**2) / error**2
    assert more.p == pytest.approx(student.cdf(-(11 / n - caution) / error, df)) and more.value == pytest.approx(11 / n)
    assert more.loses_more and not points.loses_more


@pytest.mark.parametrize(("low", "p", "is_lower"), [(0.0, 0.01, False), (0.01, 0.025, True), (0.01, 0.026, False)])
def test_a_loses_more_where_both_the_limit_and_p_say_so(low, p, is_lower):
    assert three_scales.ScaleGap("points", 0.1, low, 0.2, p).loses_more == is_lower
