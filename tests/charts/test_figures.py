"""Figures draw the numbers they were given: stacks that add up, missing as missing, names as text, colours that tell apart."""

import base64
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.charts.flips import decomposition_bars, flip_panels, matrix, sequence, split_bar
from flipcore.charts.holdout import equivalence_figure
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.memory import (
    CLAIMED,
    MAX_CURVES,
    NONE_SHOWN,
    OPEN,
    WITHHELD,
    DetectorMark,
    balance_figure,
    detector_rows,
    level_curves,
    slopes,
)
from flipcore.charts.score import ScoreBars, score_figure
from flipcore.charts.theme import DARK, LIGHT, caption
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.board import packed
from flipcore.reports.browser_data.cutoffs import loss_line
from flipcore.reports.browser_data.flip_map import UNDEFINED, permille
from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.base.gate_rules import paraphrase_gate
from flipcore.stats.holdout.verdict import difficulty_test
from flipcore.stats.holdout.versions import result_of
from flipcore.stats.memory.loss_analysis import loss_test
from flipcore.stats.memory.matching import MAX_IMBALANCE, Balance
from tests.conftest import ROOT
from tests.lab.simulations.looks import conf_seq_path
from tests.reports.browser_data.test_margins import made

HOSTILE = "<a href='http://x'>axis</a>"


def estimate(value, half=0.1, n=40):
    return Estimate(value, value - half, value + half, 0.95, "clt_cluster", n, None)


def cell(axis="option_order", extractor="first_token", alone=0.4, both=0.1, reference=0.2, floor=0.05, is_reference=False):
    return SimpleNamespace(
        axis=axis,
        extractor=extractor,
        T=estimate(alone + both),
        A_plus=estimate(alone),
        both=estimate(both),
        A_minus=estimate(reference),
        W=estimate(floor),
        W_ref=estimate(2 * floor),
        is_reference=is_reference,
    )


def channel(part: float) -> float:
    return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    """WCAG 2's relative luminance of #rrggbb."""
    return float(np.dot([0.2126, 0.7152, 0.0722], [channel(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5)]))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_bar_holds_the_three_parts_and_a_tick_on_either_total():
    # T is what flips under the compared extractor, so it ends after "both"; G begins where "both" does
    *parts, floor, floor_ref = split_bar(cell(), LIGHT).data
    assert [part.x[0] for part in parts] == pytest.approx([0.4, 0.1, 0.2])
    assert (floor.x[0], floor_ref.x[0]) == pytest.approx((0.05, 0.4 + 0.1))
    bars = decomposition_bars([cell()], str, LIGHT).data
    assert [bar.y[0] for bar in bars] == pytest.approx([0.4, 0.1, 0.2, 0.05, 0.5])


def test_the_references_own_bar_is_one_part():
    *parts, floor, floor_ref = decomposition_bars([cell(is_reference=True)], str, LIGHT).data
    assert [part.y[0] for part in parts] == pytest.approx([0.0, 0.5, 0.0]) and np.isnan(floor_ref.y[0])


def test_the_total_carries_its_interval_where_it_ends():
    bars = decomposition_bars([cell()], str, LIGHT).data
    assert (bars[1].error_y.array[0], bars[1].error_y.arrayminus[0]) == pytest.approx((0.1, 0.1))
    bare = SimpleNamespace(**vars(cell()) | {"T": Estimate(0.5, np.nan, np.nan, 0.95, "none", 5, None)})
    assert decomposition_bars([bare], str, LIGHT).data[1].error_y.array == (0.0,)


def test_names_that_are_data_are_text_in_a_picture():
    drawn = decomposition_bars([cell(axis=HOSTILE, extractor=HOSTILE)], str, LIGHT)
    assert "<a" not in str(drawn.data[0].x) and "&lt;a" in str(drawn.data[0].x)
    assert "<a" not in str(matrix(np.eye(2), [HOSTILE, "b"], LIGHT).data[0].x)


def test_a_matrix_leaves_the_diagonal_and_what_is_missing_empty():
    heat, numbers = matrix(np.array([[0.0, 0.25], [np.nan, 0.0]]), ["a", "b"], LIGHT).data
    assert np.isnan(heat.z[0][0]) and np.isnan(heat.z[1][1]) and np.isnan(heat.z[1][0]) and heat.z[0][1] == 0.25
    assert [list(row) for row in heat.text] == [["", "25%"], ["", ""]]
    assert (list(numbers.x), list(numbers.y), list(numbers.text)) == (["b"], ["a"], ["25%"])


def test_packed_shares_come_back_within_half_a_thousandth_and_missing_as_minus_one():
    shares = np.array([[0.0, 0.3333, 1.0], [np.nan, 0.0004, 0.9996]])
    back = np.frombuffer(base64.b64decode(permille(shares)), dtype="<i2")
    assert back.tolist() == [0, 333, 1000, UNDEFINED, 0, 1000]


def test_packed_floats_are_32_bit_and_little_endian():
    assert np.frombuffer(base64.b64decode(packed([1.5, np.nan, -2], "<f4")), dtype="<f4").tolist()[::2] == [1.5, -2.0]


def test_a_cut_offs_sentences_name_only_tables_that_are_there():
    rng = generator(0, "cutoff")
    test = loss_test([str(i) for i in range(80)], rng.normal(0.5, 1, 80), rng.normal(0, 1, 60))
    line = loss_line(test, 0.5, "nats", ("benchmark", "control"))
    import re

    sentences = [text for steps in (line.headlines[0].sentence, *line.lines) for _, text in steps]
    used = {name for sentence in sentences for name, _ in re.findall(r"\{(\w+)\|(\w+)\}", sentence)}
    assert used <= set(line.numbers) and len(used) == 5 and len({len(table) for table in line.numbers.values()}) == 1
    assert [sum(group["shares"]) for group in line.rows[0].pictures[0]["groups"]] == pytest.approx([1.0, 1.0])
    least = np.frombuffer(base64.b64decode(loss_line(test, 0.5, "nats", ("b", "c"), simultaneous=True).numbers["low"]), "<f4")
    assert np.nanmin(least) == 0.0  # a share is never below nothing


def test_level_curves_draw_each_text_once_and_count_all():
    means = np.linspace(1, 0, 4) * np.ones((500, 1))
    rest, flagged = level_curves(means, np.arange(500) < 3, list("abcd"), LIGHT, "y").data
    assert (rest.name, flagged.name) == ("not flagged (497)", "flagged (3)")
    assert rest.y.count(None) == MAX_CURVES and flagged.y.count(None) == 3 and flagged.y[:4] == pytest.approx(means[0])


def test_the_band_of_a_sequence_closes_around_its_mean():
    path = conf_seq_path(np.arange(60) % 2)
    band, line = sequence({"a": path}, LIGHT, "rate").data
    assert len(band.x) == 2 * len(line.x) == 120 and np.nanmax(np.asarray(band.y, dtype=float)) >= np.nanmax(line.y)


def test_slopes_run_from_before_to_after_in_percent():
    found = SimpleNamespace(accuracy_before=estimate(0.9), accuracy_after=estimate(0.6))
    first, second = slopes(found, SimpleNamespace(**vars(found) | {"accuracy_after": estimate(0.9)}), ("b", "c"), LIGHT).data
    assert list(first.y) == pytest.approx([90, 60]) and list(second.y) == pytest.approx([90, 90])
    assert list(first.error_y.array) == pytest.approx([10, 10]) and (first.name, second.name) == ("b (n = 40)", "c (n = 40)")


def test_a_caption_names_level_kinds_n_and_seed_of_what_is_there():
    several = [Estimate(0.5, 0.4, 0.6, 0.95, "bca", 20, 7), Estimate(0.1, 0.0, 0.2, 0.95, "wilson", 32, None), missing(3)]
    assert caption("What it shows.", several) == "What it shows. 95% intervals (bca, wilson), n = 20 to 32, seed 7."
    assert caption("Few.", [Estimate(0.5, math.nan, math.nan, 0.95, "none", 4, None)]) == "Few. No interval, n = 4."
    assert caption("Nothing.", [missing(3)]) == "Nothing."


def test_every_chart_says_what_it_shows():
    for path in (ROOT / "flipcore" / "charts").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.stem == "theme" or text.count("laid_out(") == text.count("says="), path.stem


# Balance before and after matching: a row a trait, and the most that a paired claim may rest on.


def test_each_trait_has_a_dot_before_and_one_after_within_sight_of_the_bounds():
    figure = balance_figure([Balance("length", 0.8, 0.1), Balance("steps", -1.2, 0.0)], LIGHT)
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in figure.data] == [
        ("all controls", [0.8, -1.2], [0, 1]),
        ("pairs", [0.1, 0.0], [0, 1]),
    ]
    assert sorted({shape.x0 for shape in figure.layout.shapes}) == [-MAX_IMBALANCE, MAX_IMBALANCE]
    low, high = figure.layout.xaxis.range
    assert low < -1.2 and high > 1.2


def test_a_trait_that_is_missing_leaves_the_range_as_it_is():
    figure = balance_figure([Balance("steps", float("nan"), float("nan"))], LIGHT)
    assert figure.layout.xaxis.range[1] == 2.2 * MAX_IMBALANCE


# Small multiples: one panel a model, one scale.


def test_every_panel_has_its_own_cells_and_all_share_one_scale():
    rates = {"A": np.array([[0.0, 1.0], [np.nan, 0.5]]), "B<b>": np.array([[0.2, 0.2], [0.1, 0.0]])}
    means = {"A": np.array([0.0, 0.75]), "B<b>": np.array([0.15, np.nan])}
    figure = flip_panels(rates, means, ["option_order", "label_set"], LIGHT, "items")
    assert [one.z.shape for one in figure.data] == [(2, 2), (2, 2)] and {one.coloraxis for one in figure.data} == {"coloraxis"}
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert [one.text for one in figure.layout.annotations] == ["A", "B&lt;b&gt;"]
    assert figure.layout.xaxis.ticktext == ("option order<br><b>0%</b>", "label set<br><b>75%</b>")
    assert figure.layout.xaxis2.ticktext == ("option order<br><b>15%</b>", "label set<br><b>–</b>")


# A panel a test, a column a version, the margin as a tick.


@cache  # in a test, as every worker imports this file
def versions():
    difficulty = result_of(difficulty_test(60, 100, 40, 100))
    old = {"difficulty": difficulty, "prediction": result_of(made("prediction", p=0.01, value=0.7, bound=(0.0, 0.75)))}
    new = {"prediction": result_of(made("prediction", value=0.52, bound=(0.0, 0.57)))}
    return [{"label": "v1", "results": old}, {"label": "v2", "results": new}]


def test_only_tests_that_some_version_ran_have_a_panel():
    figure = equivalence_figure(versions(), DARK)
    assert [one.text for one in figure.layout.annotations] == ["Similarity of difficulty", "Prediction accuracy"]
    assert equivalence_figure([], DARK).data == ()


def test_points_are_estimates_with_the_bound_above_them_and_symbols_say_the_state():
    points = [trace for trace in equivalence_figure(versions(), DARK).data if trace.customdata is not None]
    difficulty, prediction = points
    assert list(difficulty.x) == ["v1"] and round(difficulty.y[0], 6) == 20 and list(difficulty.marker.symbol) == ["x"]
    assert list(prediction.x) == ["v1", "v2"] and list(prediction.marker.symbol) == ["x", "circle"]
    assert [round(y + up, 6) for y, up in zip(prediction.y, prediction.error_y.array, strict=True)] == [0.75, 0.57]
    assert list(prediction.error_y.arrayminus) == [0.0, 0.0]
    layout = equivalence_figure(versions(), DARK).layout
    assert (layout.yaxis.tickformat, layout.yaxis2.tickformat) == ("", ".0%"), "a share of right guesses is a percentage"


def test_the_margin_of_difficulty_is_drawn_on_both_sides():
    ticks = [tuple(trace.y) for trace in equivalence_figure(versions()[:1], DARK).data if trace.customdata is None]
    assert ticks == [(10.0,), (-10.0,), (0.6,)]


# The most inflated model stands on top; what is not known is not drawn.


def inflation(*counts):
    return difficulty_test(*counts).estimate


@cache
def inflated():
    return [
        Inflated("small", 0.6, 0.58, inflation(60, 100, 58, 100)),
        Inflated("large", 0.9, 0.7, inflation(90, 100, 70, 100)),
        Inflated("none", 0.5, 0.55, inflation(50, 100, 55, 100)),
    ]


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


def test_models_are_sorted_by_inflation_with_the_largest_on_top():
    figure = inflation_figure(inflated(), LIGHT)
    shown = trace(figure, "inflation")
    assert list(shown.y) == ["none", "small", "large"] and [round(x, 6) for x in shown.x] == [-5, 2, 20]
    assert figure.layout.yaxis.range[1] > 2 and shown.text[2] == "+20.0"
    assert list(trace(figure, "benchmark").x) == [0.5, 0.6, 0.9] and list(trace(figure, "holdout").x) == [0.55, 0.58, 0.7]


def test_the_whiskers_are_the_interval():
    shown = trace(inflation_figure(inflated(), LIGHT), "inflation")
    estimate = inflated()[1].inflation
    assert math.isclose(shown.x[2] + shown.error_x.array[2], 100 * estimate.high)
    assert math.isclose(shown.x[2] - shown.error_x.arrayminus[2], 100 * estimate.low)


def test_published_figures_without_accuracies_have_no_left_half_and_no_whisker():
    figure = inflation_figure([Inflated("GPT-4", math.nan, math.nan, without_interval(0.111, 0))], LIGHT)
    assert {one.name for one in figure.data} == {"inflation"} and list(figure.data[0].error_x.array) == [0.0]


# Rows of estimates: dots where the values are, whiskers to the ends, filled where the whole interval clears the bound.


def test_only_what_clears_the_bound_with_its_whole_interval_is_filled():
    open_gate, shut = paraphrase_gate(60, 60).accepted, paraphrase_gate(55, 63).accepted
    figure = interval_rows([("open", open_gate), ("shut", shut)], LIGHT, 0.8, "wanted", is_share=True)
    dots = figure.data[0]
    assert list(dots.marker.symbol) == ["circle", "circle-open"] and list(dots.x) == [1.0, 55 / 63]
    assert dots.x[1] - dots.error_x.arrayminus[1] == pytest.approx(shut.low)
    assert dots.x[1] + dots.error_x.array[1] == pytest.approx(shut.high)
    assert figure.layout.shapes[0].x0 == 0.8 and "80%" in figure.layout.annotations[0].text


def test_a_missing_estimate_keeps_its_row_and_a_name_is_text():
    figure = interval_rows([("<b>x</b>", missing()), ("y", Estimate(0.2, -0.4, 0.6, 0.95, "percentile", 20, 0))], LIGHT)
    assert figure.layout.yaxis.ticktext[0] != "<b>x</b>" and len(figure.layout.yaxis.tickvals) == 2
    assert figure.layout.xaxis.range[0] < -0.4 and figure.data[0].error_x.array[0] == 0.0


# The picture of a score: a thick bar in thinner ones, and every dot says what it is.


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
    assert dots == {"a prompt": [0.6], "another extractor": [0.5], "own prompt": [0.8]}
    assert figure.layout.yaxis.ticktext[0] != "<b>m</b>"
    assert not any(math.isnan(x) for one in figure.data for x in one.x)
    assert "n = 40" in figure.layout.meta["caption"]


def test_a_name_stands_in_the_legend_once():
    figure = score_figure([ScoreBars(name, 0.7, INSIDE, {"a": 0.6}) for name in "xy"], LIGHT)
    shown = [one.name for one in figure.data if one.showlegend is not False]
    assert len(shown) == len(set(shown)) and "a prompt" in shown


def test_detectors_stand_by_kind_of_items_with_their_verdict_in_shape_and_what_chance_gives():
    marks = [
        DetectorMark("drop gap", "problems", "undecided", OPEN, "Undecided.", estimate(0.2)),
        DetectorMark(
            HOSTILE,
            "problems",
            "memory",
            CLAIMED,
            "Memory: 9 of 10.",
            Estimate(0.9, 0.7, 0.9, 0.95, "one-sided", 10, None),
            chance=0.05,
            is_share=True,
        ),
        DetectorMark("loss", "passages", "none shown", NONE_SHOWN, "None.", estimate(0.1)),
        DetectorMark("pearl", "passages", "not claimed", WITHHELD, "A gate is closed.", estimate(0.3)),
        DetectorMark("answer loss", "passages", "no answers", NONE_SHOWN, "No answer.", missing()),
    ]
    figure = detector_rows(marks, LIGHT)
    titles = figure.layout.yaxis.ticktext
    assert titles[0] == "<b>problems</b>" and titles[3] == "<b>passages</b>" and len(titles) == 6  # answer loss has no row
    assert "<a" not in titles[2]
    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name) == ["memory", "undecided", "none shown", "not claimed", "by chance"]
    axes = {name: trace.xaxis for name, trace in by_name.items()}
    assert (axes["memory"], axes["undecided"]) == ("x2", "x")  # a share and a gap
    assert "points" in figure.layout.xaxis.title.text and "%" in figure.layout.xaxis2.title.text
    assert sum(trace.showlegend is not False for trace in figure.data if trace.name == "by chance") == 1
    memory = by_name["memory"]
    assert (memory.x[0], memory.y[0], memory.marker.symbol) == (90, 2, "circle")
    assert memory.error_x.array[0] == 0 and memory.error_x.arrayminus[0] == pytest.approx(20)
    assert by_name["not claimed"].x[0] == pytest.approx(30) and "9 of 10" in memory.customdata[0][1]
    assert [list(trace.x) for trace in figure.data if trace.name == "by chance"] == [[0, 0, 0], [5]]
    assert "xaxis2" not in detector_rows(marks[2:], LIGHT).layout  # of gaps alone, one axis
