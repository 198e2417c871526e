"""Figures draw the numbers they were given: stacks that add up, missing as missing, names as text, colours that tell apart."""

import base64
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.charts.bars import decomposition_bars
from flipcore.charts.captions import caption
from flipcore.charts.curves import MOST_GREY, level_curves
from flipcore.charts.equivalence import equivalence_figure
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.matrix import matrix
from flipcore.charts.sequence import sequence
from flipcore.charts.slopes import slopes
from flipcore.charts.split_bar import split_bar
from flipcore.charts.theme import LIGHT
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.cutoffs import loss_line, packed
from flipcore.reports.browser_data.flip_map import UNDEFINED, permille
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.base.simultaneous import conf_seq_path
from flipcore.stats.memory.loss_analysis import loss_test
from tests.conftest import ROOT

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
    assert [list(row) for row in heat.text] == [["", "0.25"], ["", ""]]
    assert (list(numbers.x), list(numbers.y), list(numbers.text)) == (["b"], ["a"], ["0.25"])


def test_packed_shares_come_back_within_half_a_thousandth_and_missing_as_minus_one():
    shares = np.array([[0.0, 0.3333, 1.0], [np.nan, 0.0004, 0.9996]])
    back = np.frombuffer(base64.b64decode(permille(shares)), dtype="<i2")
    assert back.tolist() == [0, 333, 1000, UNDEFINED, 0, 1000]


def test_packed_floats_are_32_bit_and_little_endian():
    assert np.frombuffer(base64.b64decode(packed([1.5, np.nan, -2])), dtype="<f4").tolist()[::2] == [1.5, -2.0]


def test_a_cut_offs_sentences_name_only_tables_that_are_there():
    rng = generator(0, "cutoff")
    test = loss_test([str(i) for i in range(80)], rng.normal(0.5, 1, 80), rng.normal(0, 1, 60))
    line = loss_line(test, 0.5, "nats", ("benchmark", "control"))
    import re

    used = {name for sentence in line["lines"] for name, _ in re.findall(r"\{(\w+)\|(\w+)\}", sentence)}
    assert used <= {*line["tables"], "at"} and len({len(table) for table in line["tables"].values()}) == 1
    assert [sum(group["shares"]) for group in line["groups"]] == pytest.approx([1.0, 1.0])
    least = np.frombuffer(base64.b64decode(loss_line(test, 0.5, "nats", ("b", "c"), simultaneous=True)["tables"]["low"]), "<f4")
    assert np.nanmin(least) == 0.0  # a share is never below nothing


def test_level_curves_draw_each_text_once_and_count_all():
    means = np.linspace(1, 0, 4) * np.ones((500, 1))
    rest, flagged = level_curves(means, np.arange(500) < 3, list("abcd"), LIGHT, "y").data
    assert (rest.name, flagged.name) == ("not flagged (497)", "flagged (3)")
    assert rest.y.count(None) == MOST_GREY and flagged.y.count(None) == 3 and flagged.y[:4] == pytest.approx(means[0])


def test_the_band_of_a_sequence_closes_around_its_mean():
    path = conf_seq_path(np.arange(60) % 2)
    band, line = sequence({"a": path}, LIGHT, "rate").data
    assert len(band.x) == 2 * len(line.x) == 120 and np.nanmax(np.asarray(band.y, dtype=float)) >= np.nanmax(line.y)


def test_slopes_run_from_before_to_after_in_percent():
    found = SimpleNamespace(accuracy_before=estimate(0.9), accuracy_after=estimate(0.6))
    first, second = slopes(found, SimpleNamespace(**vars(found) | {"accuracy_after": estimate(0.9)}), ("b", "c"), LIGHT).data
    assert list(first.y) == pytest.approx([90, 60]) and list(second.y) == pytest.approx([90, 90])
    assert list(first.error_y.array) == pytest.approx([10, 10]) and (first.name, second.name) == ("b (n = 40)", "c (n = 40)")


def test_inflation_is_sorted_and_without_accuracies_half_the_picture():
    rows = [Inflated("low", 0.5, 0.4, estimate(0.1)), Inflated("high", 0.9, 0.6, estimate(0.3))]
    drawn = inflation_figure(rows, LIGHT)
    assert list(drawn.data[-1].y) == ["low", "high"] and list(drawn.data[-1].x) == pytest.approx([10, 30])
    alone = inflation_figure([replace(row, target=float("nan"), retro=float("nan")) for row in rows], LIGHT)
    assert [trace.name for trace in alone.data] == ["inflation"]
    bare = inflation_figure([replace(rows[0], inflation=missing(level=0.95, note="none"))], LIGHT)
    assert list(bare.data[-1].error_x.array) == [0.0]


def test_a_test_that_no_version_ran_has_no_panel_and_a_state_its_own_mark():
    one = {"value": 0.02, "bound": (-0.05, 0.09), "margin": 0.1, "state": "equivalent"}
    other = {"value": 0.3, "bound": (0.2, 0.4), "margin": 0.1, "state": "different"}
    drawn = equivalence_figure(
        [{"label": "1", "results": {"difficulty": one}}, {"label": "2", "results": {"difficulty": other}}], LIGHT
    )
    marks = drawn.data[0]
    assert list(marks.y) == pytest.approx([2, 30]) and list(marks.marker.symbol) == ["circle", "x"]
    assert len(drawn.layout.annotations) == 1 and equivalence_figure([], LIGHT).data == ()


def test_a_caption_names_level_kinds_n_and_seed_of_what_is_there():
    several = [Estimate(0.5, 0.4, 0.6, 0.95, "bca", 20, 7), Estimate(0.1, 0.0, 0.2, 0.95, "wilson", 32, None), missing(3)]
    assert caption("What it shows.", several) == "What it shows. 95 % intervals (bca, wilson), n = 20 to 32, seed 7."
    assert caption("Few.", [Estimate(0.5, math.nan, math.nan, 0.95, "none", 4, None)]) == "Few. No interval, n = 4."
    assert caption("Nothing.", [missing(3)]) == "Nothing."


def test_every_chart_says_what_it_shows():
    for path in (ROOT / "flipcore" / "charts").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.stem == "theme" or text.count("laid_out(") == text.count("says="), path.stem
