"""Rows of estimates: dots where the values are, whiskers to the ends, filled where the whole interval clears the bound."""

import pytest

from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import LIGHT
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.base.gate_rules import paraphrase_gate


def test_only_what_clears_the_bound_with_its_whole_interval_is_filled():
    open_gate, shut = paraphrase_gate(60, 60).accepted, paraphrase_gate(55, 63).accepted
    figure = interval_rows([("open", open_gate), ("shut", shut)], LIGHT, 0.8, "wanted")
    dots = figure.data[0]
    assert list(dots.marker.symbol) == ["circle", "circle-open"] and list(dots.x) == [1.0, 55 / 63]
    assert dots.x[1] - dots.error_x.arrayminus[1] == pytest.approx(shut.low)
    assert dots.x[1] + dots.error_x.array[1] == pytest.approx(shut.high)
    assert figure.layout.shapes[0].x0 == 0.8 and "0.80" in figure.layout.annotations[0].text


def test_a_missing_estimate_keeps_its_row_and_a_name_is_text():
    figure = interval_rows([("<b>x</b>", missing()), ("y", Estimate(0.2, -0.4, 0.6, 0.95, "percentile", 20, 0))], LIGHT)
    assert figure.layout.yaxis.ticktext[0] != "<b>x</b>" and len(figure.layout.yaxis.tickvals) == 2
    assert figure.layout.xaxis.range[0] < -0.4 and figure.data[0].error_x.array[0] == 0.0
