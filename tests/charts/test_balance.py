"""Balance before and after matching: a row a trait, and the most that a paired claim may rest on."""

from flipcore.charts.balance import balance_figure
from flipcore.charts.theme import LIGHT
from flipcore.stats.memory.matching import WORST, Balance


def test_each_trait_has_a_dot_before_and_one_after_within_sight_of_the_bounds():
    figure = balance_figure([Balance("length", 0.8, 0.1), Balance("steps", -1.2, 0.0)], LIGHT)
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in figure.data] == [
        ("all controls", [0.8, -1.2], [0, 1]),
        ("pairs", [0.1, 0.0], [0, 1]),
    ]
    assert sorted({shape.x0 for shape in figure.layout.shapes}) == [-WORST, WORST]
    low, high = figure.layout.xaxis.range
    assert low < -1.2 and high > 1.2


def test_a_trait_that_is_missing_leaves_the_range_as_it_is():
    figure = balance_figure([Balance("steps", float("nan"), float("nan"))], LIGHT)
    assert figure.layout.xaxis.range[1] == 2.2 * WORST
