"""The picture of a score: a thick bar in thinner ones, and every dot says what it is."""

import math

from flipcore.charts.score import ScoreBars, score_figure
from flipcore.charts.theme import LIGHT
from flipcore.stats.base.estimate import Estimate, missing

INSIDE = {
    "run again": missing(),
    "other questions": Estimate(0.7, 0.6, 0.8, 0.95, "crossed", 40, None),
    "other questions and wordings": Estimate(0.7, 0.5, 0.9, 0.95, "crossed", 40, None),
    "another wording, once": Estimate(0.7, 0.4, 1.0, 0.95, "prediction", 40, None),
}


def test_intervals_lie_in_one_another_and_a_missing_one_is_not_drawn():
    bars = ScoreBars("<b>m</b>", 0.7, INSIDE, {"way-1": 0.6}, {"Judge": 0.5}, {"own prompt": 0.8})
    figure = score_figure([bars], LIGHT)
    lines = [one for one in figure.data if one.mode == "lines"]
    assert [list(one.x) for one in lines] == [[0.4, 1.0], [0.5, 0.9], [0.6, 0.8]]
    widths = [one.line.width for one in lines]
    assert widths == sorted(widths)
    dots = {one.name: list(one.x) for one in figure.data if one.mode == "markers" and one.name}
    assert dots == {"a wording": [0.6], "another reader": [0.5], "own prompt": [0.8]}
    assert figure.layout.yaxis.ticktext[0] != "<b>m</b>"
    assert not any(math.isnan(x) for one in figure.data for x in one.x)
    assert "n = 40" in figure.layout.meta["caption"]


def test_a_name_stands_in_the_legend_once():
    figure = score_figure([ScoreBars(name, 0.7, INSIDE, {"a": 0.6}) for name in "xy"], LIGHT)
    shown = [one.name for one in figure.data if one.showlegend is not False]
    assert len(shown) == len(set(shown)) and "a wording" in shown
