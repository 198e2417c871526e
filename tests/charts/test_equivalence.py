"""A panel a test, a column a version, the margin as a tick."""

from flipcore.charts.equivalence import equivalence_figure
from flipcore.charts.theme import DARK
from flipcore.stats.holdout.verdict import difficulty_test
from flipcore.stats.holdout.versions import result_of
from tests.reports.browser_data.test_margins import made

HARD = result_of(difficulty_test(60, 100, 40, 100))
OLD = {"difficulty": HARD, "prediction": result_of(made("prediction", p=0.01, value=0.7, bound=(0.0, 0.75)))}
NEW = {"prediction": result_of(made("prediction", value=0.52, bound=(0.0, 0.57)))}
VERSIONS = [{"label": "v1", "results": OLD}, {"label": "v2", "results": NEW}]


def test_only_tests_that_some_version_ran_have_a_panel():
    figure = equivalence_figure(VERSIONS, DARK)
    assert [one.text for one in figure.layout.annotations] == ["Similarity of difficulty", "Prediction accuracy"]


def test_points_are_estimates_with_the_bound_above_them_and_symbols_say_the_state():
    points = [one for one in equivalence_figure(VERSIONS, DARK).data if one.customdata is not None]
    difficulty, prediction = points
    assert list(difficulty.x) == ["v1"] and round(difficulty.y[0], 6) == 20 and list(difficulty.marker.symbol) == ["x"]
    assert list(prediction.x) == ["v1", "v2"] and list(prediction.marker.symbol) == ["x", "circle"]
    assert [round(y + up, 6) for y, up in zip(prediction.y, prediction.error_y.array, strict=True)] == [0.75, 0.57]
    assert list(prediction.error_y.arrayminus) == [0.0, 0.0]


def test_the_margin_of_difficulty_is_drawn_on_both_sides():
    ticks = [tuple(one.y) for one in equivalence_figure(VERSIONS[:1], DARK).data if one.customdata is None]
    assert ticks == [(10.0,), (-10.0,), (0.6,)]
