"""The most inflated model stands on top; what is not known is not drawn."""

import math

from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.theme import LIGHT
from flipcore.stats.base.estimate import without_interval
from flipcore.stats.holdout.verdict import difficulty_test


def inflation(*counts):
    return difficulty_test(*counts).estimate


ROWS = [
    Inflated("small", 0.6, 0.58, inflation(60, 100, 58, 100)),
    Inflated("large", 0.9, 0.7, inflation(90, 100, 70, 100)),
    Inflated("none", 0.5, 0.55, inflation(50, 100, 55, 100)),
]


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


def test_models_are_sorted_by_inflation_with_the_largest_on_top():
    figure = inflation_figure(ROWS, LIGHT)
    shown = trace(figure, "inflation")
    assert list(shown.y) == ["none", "small", "large"] and [round(x, 6) for x in shown.x] == [-5, 2, 20]
    assert figure.layout.yaxis.range[1] > 2 and shown.text[2] == "+20.0 pp"
    assert list(trace(figure, "target").x) == [0.5, 0.6, 0.9] and list(trace(figure, "retro").x) == [0.55, 0.58, 0.7]


def test_the_whiskers_are_the_interval():
    shown = trace(inflation_figure(ROWS, LIGHT), "inflation")
    estimate = ROWS[1].inflation
    assert math.isclose(shown.x[2] + shown.error_x.array[2], 100 * estimate.high)
    assert math.isclose(shown.x[2] - shown.error_x.arrayminus[2], 100 * estimate.low)


def test_published_figures_without_accuracies_have_no_left_half_and_no_whisker():
    figure = inflation_figure([Inflated("GPT-4", math.nan, math.nan, without_interval(0.111, 0))], LIGHT)
    assert {one.name for one in figure.data} == {"inflation"} and list(figure.data[0].error_x.array) == [0.0]
