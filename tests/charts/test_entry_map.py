"""The map and its histograms: every entry once, in its set's colour, its text as text."""

import json

import numpy as np
import pytest

from flipcore.charts.entry_map import MAX_DRAWN, OTHERS, Colouring, entry_map
from flipcore.charts.holdout import giveaway_bars, nearest_histogram, pair_likeness
from flipcore.charts.theme import DARK, LIGHT, as_text

PLACES = np.arange(12.0).reshape(6, 2).astype(np.float32)
LABELS = np.array([0, 0, 0, 1, 1, 1])
TEXTS = [f"entry {i}" for i in range(6)]


def drawn_rows(figure) -> list[int]:
    return sorted(row for trace in figure.data if trace.customdata is not None for (row,) in trace.customdata)


@pytest.mark.parametrize(
    "colouring",
    [
        Colouring("set"),
        Colouring("length", numbers=np.arange(6.0)),
        Colouring("known", numbers=np.array([1, np.nan, 3, 4, np.nan, 6])),
        Colouring("category", groups=["a", "b", "", "a", "c", "c"]),
    ],
)
@pytest.mark.parametrize("c", [LIGHT, DARK])
def test_every_entry_is_drawn_once(colouring, c):
    figure = entry_map(PLACES, LABELS, TEXTS, colouring, c)
    assert drawn_rows(figure) == list(range(6)) and {trace.type for trace in figure.data} == {"scatter"}
    for trace in figure.data:
        rows = [row for (row,) in trace.customdata]
        assert trace.x.tolist() == PLACES[rows, 0].tolist() and trace.y.tolist() == PLACES[rows, 1].tolist()
        assert {trace.marker.symbol} == {("circle", "diamond-open")[label] for label in LABELS[rows]}


def test_only_many_entries_need_the_graphics_card():
    n = MAX_DRAWN + 1
    many = entry_map(np.zeros((n, 2)), np.zeros(n, dtype=int), ["x"] * n, Colouring("set"), LIGHT, ringed=[0])
    assert {trace.type for trace in many.data} == {"scattergl"}


def test_what_a_click_sends_back_is_a_plain_list():
    figure = json.loads(entry_map(PLACES, LABELS, TEXTS, Colouring("set"), LIGHT).to_json())
    assert [trace["customdata"] for trace in figure["data"]] == [[[0], [1], [2]], [[3], [4], [5]]]


def test_an_unknown_number_has_the_colour_of_what_is_undefined():
    figure = entry_map(PLACES, LABELS, TEXTS, Colouring("known", numbers=np.array([1, np.nan, 3, 4, 5, 6])), LIGHT)
    unknown = [trace for trace in figure.data if trace.name == "benchmark, unknown"]
    assert len(unknown) == 1 and unknown[0].marker.color == LIGHT.undefined and list(unknown[0].customdata) == [[1]]


def test_rare_categories_share_one_colour():
    n = 30
    groups = [f"often {i % 6}" for i in range(24)] + [f"rare {i}" for i in range(6)]
    figure = entry_map(np.zeros((n, 2)), np.zeros(n, dtype=int), ["x"] * n, Colouring("c", groups=groups), LIGHT)
    others = [trace for trace in figure.data if trace.name == OTHERS]
    assert len(figure.data) == 7 and len(others) == 1 and others[0].marker.color == LIGHT.undefined
    assert [row for (row,) in others[0].customdata] == list(range(24, 30))


def test_rings_answer_no_click():
    figure = entry_map(PLACES, LABELS, TEXTS, Colouring("set"), LIGHT, ringed=[1, 4])
    ring = figure.data[-1]
    assert ring.marker.symbol == "circle-open" and ring.customdata is None and ring.hoverinfo == "skip"
    assert ring.x.tolist() == PLACES[[1, 4], 0].tolist()


def test_the_pointer_either_clicks_or_draws():
    assert entry_map(PLACES, LABELS, TEXTS, Colouring("set"), LIGHT).layout.dragmode == "pan"
    assert entry_map(PLACES, LABELS, TEXTS, Colouring("set"), LIGHT, lasso=True).layout.dragmode == "lasso"


@pytest.mark.parametrize(
    "text, shown",
    [
        ("<b>bold</b> & <img src=x onerror=alert(1)>", "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;img src=x onerror=alert(1)&gt;"),
        ("one\ntwo", "one<br>two"),
        ("", ""),
    ],
)
def test_text_is_shown_letter_by_letter(text, shown):
    assert as_text(text) == shown
    figure = entry_map(PLACES[:2], LABELS[[0, 3]], [text, "plain"], Colouring("set"), LIGHT)
    assert figure.data[0].hovertext[0] == f"benchmark<br>{shown}" and figure.data[1].hovertext[0] == "holdout<br>plain"


def test_a_group_named_in_html_is_shown_as_text():
    figure = entry_map(PLACES, LABELS, TEXTS, Colouring("c", groups=["<b>x</b>"] * 6), LIGHT)
    assert {trace.name for trace in figure.data} == {"&lt;b&gt;x&lt;/b&gt;"}
    assert list(giveaway_bars(["<i>"], [1.0], [0.5], [2.0], LIGHT, title="pull").layout.yaxis.ticktext) == ["&lt;i&gt;"]


def test_pairs_are_shown_as_shares_of_their_own_set():
    figure = pair_likeness(np.linspace(0, 1, 5), np.array([1, 2, 1, 0]), np.array([0, 0, 10, 30]), LIGHT)
    target, retro = (np.square(trace.y) for trace in figure.data)
    assert target == pytest.approx([0.25, 0.5, 0.25, 0]) and retro == pytest.approx([0, 0, 0.25, 0.75])


def test_bars_say_what_they_hold_and_mark_what_is_chosen():
    closest = np.array([0.1, 0.2, 0.9, 0.1, 0.9, 0.9])
    figure = nearest_histogram(closest, LABELS, LIGHT, selection=[2, 3], n_bins=4)
    target, front, retro, front_retro = figure.data
    third = 100 / 3
    assert target.y.tolist() == pytest.approx([2 * third, 0, 0, third])
    assert retro.y.tolist() == pytest.approx([third, 0, 0, 2 * third])
    assert front.y.tolist() == pytest.approx([0, 0, 0, third])
    assert front_retro.y.tolist() == pytest.approx([third, 0, 0, 0])
    assert list(target.customdata[0]) == pytest.approx([0.1, 0.3, 0]) and front.customdata is None
    held = [(low, high) for low, high, label in retro.customdata if label == 1]
    assert sum(((closest[3:] >= low - 1e-9) & (closest[3:] <= high + 1e-9)).sum() for low, high in held) >= 3


def test_equal_cosines_still_have_bars():
    figure = nearest_histogram(np.full(6, 0.5), LABELS, LIGHT)
    assert sum(figure.data[0].y) == pytest.approx(100)


def test_bars_to_the_left_speak_for_the_target():
    figure = giveaway_bars(["how", "what"], [-2.0, 1.0], [-2.5, 0.5], [-1.5, 1.5], LIGHT, title="log odds")
    assert [(trace.name, list(trace.x), trace.marker.color) for trace in figure.data] == [
        ("speaks for the benchmark", [-2.0], LIGHT.target),
        ("speaks for the holdout", [1.0], LIGHT.retro),
    ]
    assert figure.data[0].error_x.arrayminus == pytest.approx([0.5]) and list(figure.data[1].y) == [1]


def test_the_smaller_set_is_drawn_over_the_larger_and_the_legend_keeps_its_order():
    for n_retro in (3, 7):
        figure = entry_map(np.zeros((10, 2)), np.repeat([0, 1], [10 - n_retro, n_retro]), ["a"] * 10, Colouring("set"), LIGHT)
        sizes = [len(trace.x) for trace in figure.data]
        assert sizes == [7, 3]
        assert [trace.name for trace in sorted(figure.data, key=lambda trace: trace.legendrank)] == ["benchmark", "holdout"]
